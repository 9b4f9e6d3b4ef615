# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a cloth's pins beside their group."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty

from . import change_listeners


def _is_target(values: Any, obj: bpy.types.Object) -> bool:
    """Return whether pins may follow an object: another mesh."""
    return obj.type == "MESH" and obj != values.id_data


class PinProperties:
    """Settings of pins; a base class of `MuslinObject`."""

    __slots__ = ()

    pin_stiffness: FloatProperty(
        name="Stiffness", description="How hard pins with a weight below 1 pull their vertices to their places. More "
        "lets them sag and swing less: at 1, a vertex of weight 0.5 swings five times a second. Vertices of weight 1 "
        "are held exactly, whatever the stiffness",
        default=1.0, min=0.0, max=1e6, soft_max=50.0, step=10, precision=2,
    )
    pin_target: PointerProperty(
        type=bpy.types.Object, name="Pin Target", poll=_is_target,
        description="Mesh object whose surface the pinned vertices follow, as a waistband follows a body: each from "
        "the nearest point of its surface at the first frame. None: they follow the animation of this object",
        update=change_listeners.notify,
    )

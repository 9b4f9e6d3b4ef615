# SPDX-License-Identifier: GPL-3.0-or-later
"""The rest shape of a cloth object: a shape key of its mesh, and positions that the rest shape follows."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.rest_settings import RestSettings
from . import unbaked_state
from .frame_window import FrameWindow

FloatArray = NDArray[np.float64]


def rest_positions(obj: bpy.types.Object, settings: RestSettings, matrix: FloatArray) -> FloatArray | None:
    """Return the rest positions (V, 3) [m] of the object's shape key in world space; None without one.

    `matrix` (4, 4) is that from the object's space [Blender units] to the world [m]. Modifiers do not act on them.

    Raises:
        core.MeshError: there is no such key, or it belongs to a bake.
    """
    if not settings.shape_key:
        return None
    keys = obj.data.shape_keys
    block = None if keys is None else keys.key_blocks.get(settings.shape_key)
    if block is None or settings.shape_key not in unbaked_state.users_shape_keys(obj):
        raise core.MeshError(f"has no shape key '{settings.shape_key}' of its own for its rest shape; choose another "
                             "one as Rest Shape Key in Muslin's panel, or none", object_name=obj.name)
    local = np.empty(3 * len(block.data), np.float32)
    block.data.foreach_get("co", local)
    return local.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def motion_options(name: str, settings: RestSettings, window: FrameWindow) -> dict[str, Any]:
    """Return keyword arguments of `core.Cloth` for the cloth `name`."""
    return {"rest_motion": window.trajectory(name)} if settings.dynamic else {}

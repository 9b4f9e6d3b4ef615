# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of an object's rest shape as a plain record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RestSettings:
    """Rest shape of one cloth object.

    Attributes:
        shape_key: name of the shape key that is the rest shape, "" for the mesh at the first frame.
        dynamic: whether the rest shape follows the object's animation.
    """

    shape_key: str
    dynamic: bool


def rest_settings_of(values: Any) -> RestSettings:
    """Return the settings of the rest shape in an object's `muslin`. A pattern has no shape key."""
    return RestSettings(shape_key=values.rest_shape_key if values.rest_shape != "UV" else "",
                        dynamic=bool(values.use_dynamic_mesh))

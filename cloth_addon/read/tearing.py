# SPDX-License-Identifier: GPL-3.0-or-later
"""Tearing of a cloth object, and its split mesh, for the core.

A mesh is split where vertices of borders are at one place in the mesh itself. Modifiers and transformations leave them
there only up to rounding, so all of them take the position of the first one.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.tearing_settings import TearingSettings
from . import garments, mesh_data
from .coincident_vertices import is_on_border
from .keyed_settings import KeyedSettings

ORIGIN = "muslin_tear_origin"
"""Name of the points' attribute of a split mesh: one more than the vertex that each one was before, 0 for new ones."""
FIELD = "Vertex Group of Tearing"


def is_split(obj: bpy.types.Object, settings: TearingSettings) -> bool:
    """Return whether vertices of an object at one place are joined: it was split for tearing, or tears."""
    return settings.used or ORIGIN in obj.data.attributes


def joined(positions: NDArray[np.float64], mesh: mesh_data.Mesh) -> NDArray[np.float64]:
    """Return positions (V, 3) in which vertices of borders at one place in the mesh have that of the first of them."""
    border = np.flatnonzero(is_on_border(mesh))
    _, first, place = np.unique(mesh_data.unkeyed_positions(mesh)[border], axis=0, return_index=True,
                                return_inverse=True)
    result = positions.copy()
    result[border] = positions[border[first[place.ravel()]]]
    return result


def tearing_options(obj: bpy.types.Object, settings: TearingSettings, keyed: KeyedSettings) -> dict[str, Any]:
    """Return keyword arguments of `core.Cloth`; none if it does not tear.

    Raises:
        core.ClothError: the mesh is not split, or there is no such vertex group.
    """
    if not settings.used:
        return {}
    places = mesh_data.unkeyed_positions(obj.data)[is_on_border(obj.data)]
    if len(np.unique(places, axis=0)) == len(places):
        raise core.ClothError("can tear, but its mesh is not split, and a bake adds no vertices: press Split for "
                              "Tearing in the panel Tearing, or switch Tearing off there", object_name=obj.name)
    weights = None
    if settings.group:
        weights = np.clip(garments.painted_weights(obj, settings.group, FIELD), 0.0, None)
        weights[~in_group(obj, settings.group)] = np.inf
    return {"tearing": core.Tearing(keyed.setting("tear_strength"), weights)}


def in_group(obj: bpy.types.Object, name: str) -> NDArray[np.bool_]:
    """Return which vertices (V,) are in the vertex group `name`; all for an attribute."""
    group = obj.vertex_groups.get(name)
    if group is None:
        return np.ones(len(obj.data.vertices), dtype=np.bool_)
    return mesh_data.group_weights(obj.data, group.index, outside=-1.0) >= 0.0

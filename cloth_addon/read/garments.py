# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams, buttons, patterns and painted maps of a cloth object as arguments of `core.Cloth`.

Seams are the mesh's loose edges between faces, as in Blender's own cloth. Buttons are the loose edges that have both
ends in a vertex group. A painted map is a vertex group, with weights from 0 to 1, or a float attribute of the points,
with any values.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.number_text import number_text
from ..properties.settings import GarmentSettings
from . import mesh_data

FloatArray = NDArray[np.float64]
STIFFNESS_FIELDS = {"stretch": "Stretch Group", "shear": "Shear Group", "bend": "Bending Group"}
"""Labels of the panel's fields."""


def garment_options(obj: bpy.types.Object, settings: GarmentSettings, mesh: core.ClothMesh) -> dict[str, Any]:
    """Return keyword arguments of `core.Cloth` for the object's `mesh`."""
    options: dict[str, Any] = {"sewing_time": settings.sewing_time}
    if settings.buttons:
        options["buttons"] = _buttons(obj, settings.buttons, mesh)
    if settings.sewing:
        options |= {"sewing": True, "sewing_force": settings.sewing_force}
    if settings.shrink_group:
        low, high = settings.shrink
        weights = painted_weights(obj, settings.shrink_group, "Shrink Group")
        options["rest_scale"] = scale = 1.0 - (low + weights * (high - low))
        _check(obj, weights, scale > 0.0, settings.shrink_group, "Shrink Group", "shrinks it to nothing")
    elif settings.shrink[0]:
        options["rest_scale"] = 1.0 - settings.shrink[0]
    if settings.wrinkle_group:
        weights = painted_weights(obj, settings.wrinkle_group, "Wrinkle Group")
        options |= {"rest_curvature": settings.wrinkle_curvature * weights, "curl_angle": settings.wrinkle_angle}
    for what, (group, factor) in settings.stiffness.items():
        if group:
            weights = painted_weights(obj, group, STIFFNESS_FIELDS[what])
            options[f"{what}_scale"] = scale = 1.0 + weights * (factor - 1.0)
            _check(obj, weights, scale >= 0.0, group, STIFFNESS_FIELDS[what], "makes its stiffness negative")
    return options


def painted_weights(obj: bpy.types.Object, name: str, field: str) -> FloatArray:
    """Return the weights (V,) of the vertex group or float attribute `name`; `field` is the panel's, for messages."""
    group = obj.vertex_groups.get(name)
    if group is not None:
        return mesh_data.group_weights(obj.data, group.index).astype(np.float64)
    attribute = obj.data.attributes.get(name)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "FLOAT":
        raise core.ClothError(f"has no vertex group and no float attribute of points '{name}'; choose another one as "
                              f"{field} in Muslin's panel, or none", object_name=obj.name)
    values = mesh_data.values(attribute).astype(np.float64)
    _check(obj, values, np.isfinite(values), name, field, "is not a number")
    return values


def _check(obj: bpy.types.Object, values: FloatArray, valid: NDArray[np.bool_], name: str, field: str, wrong: str
           ) -> None:
    """Raise ClothError for the first of the painted `values` (V,) that is not `valid` (V,)."""
    if not valid.all():
        vertex = int(np.argmin(valid))
        raise core.ClothError(f"'{name}', its {field} in Muslin's panel, is {number_text(values[vertex])} at vertex "
                              f"{vertex} ({int((~valid).sum())} such), which {wrong}; paint other values there",
                              object_name=obj.name)


def pattern(obj: bpy.types.Object, layer: str, uv: FloatArray, mesh: core.ClothMesh, size: float | None) -> FloatArray:
    """Return rest coordinates (T, 3, 2) [m] from `uv` (T, 3, 2), the corners of the triangles in the UV map `layer`.

    The UV square is `size` [m] wide. With None it is scaled so that the pattern has the area of the mesh.
    """
    if size is None:
        d1, d2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
        area = 0.5 * float(np.abs(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]).sum())
        if not area > 0.0:
            raise core.MeshError(f"UV map '{layer}' has no area to be a pattern; unwrap the mesh", object_name=obj.name)
        size = float(np.sqrt(mesh.areas.sum() / area))
    return size * uv


def _buttons(obj: bpy.types.Object, name: str, mesh: core.ClothMesh) -> list[tuple[int, int]]:
    """Return the pairs of vertices that are buttons: loose edges with both ends in the vertex group `name`."""
    group = obj.vertex_groups.get(name)
    if group is None:
        raise core.ClothError(f"has no vertex group '{name}' for its buttons; choose another one in Muslin's panel, or "
                              "none", object_name=obj.name)
    inside = mesh_data.group_weights(obj.data, group.index) > 0.0
    edges = mesh.loose_edges[inside[mesh.loose_edges].all(axis=1)]
    if not len(edges):
        raise core.ClothError(f"has no loose edge with both ends in its buttons' vertex group '{name}'; join the two "
                              "places of each button by an edge, or choose none", object_name=obj.name)
    return [(int(a), int(b)) for a, b in edges]

# SPDX-License-Identifier: GPL-3.0-or-later
"""What makes a garment of a cloth object: seams, buttons, the pattern in its UV map, and what is painted on it.

Seams are the mesh's loose edges between faces, as in Blender's own cloth. Buttons are loose edges, too: those whose
both ends are in a vertex group. What is painted is a vertex group, with weights from 0 to 1, or a float attribute of
the points, whose values are taken as such weights and may be any.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.settings import GarmentSettings
from . import mesh_data

FloatArray = NDArray[np.float64]
STIFFNESS_FIELDS = {"stretch": "Stretch Group", "shear": "Shear Group", "bend": "Bending Group"}
"""What the panel calls them."""


def options(obj: bpy.types.Object, settings: GarmentSettings, mesh: core.ClothMesh) -> dict[str, Any]:
    """Keyword arguments of `core.Cloth` for the object's `mesh`."""
    made: dict[str, Any] = {"sewing_time": settings.sewing_time}
    if settings.buttons:
        made["buttons"] = _buttons(obj, settings.buttons, mesh)
    if settings.sewing:
        made |= {"sewing": True, "sewing_force": settings.sewing_force}
    if settings.shrink_group:
        low, high = settings.shrink
        weights = painted(obj, settings.shrink_group, "Shrink Group")
        made["rest_scale"] = scale = 1.0 - (low + weights * (high - low))
        _check(obj, weights, scale > 0.0, settings.shrink_group, "Shrink Group", "shrinks it to nothing")
    elif settings.shrink[0]:
        made["rest_scale"] = 1.0 - settings.shrink[0]
    if settings.wrinkle_group:
        curl = painted(obj, settings.wrinkle_group, "Wrinkle Group")
        made |= {"rest_curvature": settings.wrinkle_curvature * curl, "curl_angle": settings.wrinkle_angle}
    for what, (group, most) in settings.stiffness.items():
        if group:
            weights = painted(obj, group, STIFFNESS_FIELDS[what])
            made[f"{what}_scale"] = scale = 1.0 + weights * (most - 1.0)
            _check(obj, weights, scale >= 0.0, group, STIFFNESS_FIELDS[what], "makes its stiffness negative")
    return made


def painted(obj: bpy.types.Object, name: str, where: str) -> FloatArray:
    """Weights (V,) of the vertex group or the float attribute `name`, which the panel's field `where` asks for."""
    group = obj.vertex_groups.get(name)
    if group is not None:
        return mesh_data.group_weights(obj.data, group.index).astype(np.float64)
    attribute = obj.data.attributes.get(name)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != "FLOAT":
        raise core.ClothError(f"has no vertex group and no float attribute of points '{name}'; choose another one as "
                              f"{where} in Muslin's panel, or none", object_name=obj.name)
    values = mesh_data.values(attribute).astype(np.float64)
    _check(obj, values, np.isfinite(values), name, where, "is not a number")
    return values


def _check(obj: bpy.types.Object, values: FloatArray, good: NDArray[np.bool_], name: str, where: str, wrong: str
           ) -> None:
    """Refuse what is painted, values (V,), where it is not `good` (V,)."""
    if not good.all():
        vertex = int(np.argmin(good))
        raise core.ClothError(f"'{name}', its {where} in Muslin's panel, is {values[vertex]:g} at vertex {vertex} "
                              f"({int((~good).sum())} such), which {wrong}; paint other values there",
                              object_name=obj.name)


def pattern(obj: bpy.types.Object, layer: str, uv: FloatArray, mesh: core.ClothMesh, size: float | None) -> FloatArray:
    """Rest coordinates (T, 3, 2) [m] from the UV map `layer`, of which these are the triangles' corners (T, 3, 2). Its
    square is `size` [m] wide; if None, so wide that the pattern has the area of the mesh."""
    if size is None:
        d1, d2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
        area = 0.5 * float(np.abs(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]).sum())
        if not area > 0.0:
            raise core.MeshError(f"UV map '{layer}' has no area to be a pattern; unwrap the mesh", object_name=obj.name)
        size = float(np.sqrt(mesh.areas.sum() / area))
    return size * uv


def _buttons(obj: bpy.types.Object, name: str, mesh: core.ClothMesh) -> list[tuple[int, int]]:
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

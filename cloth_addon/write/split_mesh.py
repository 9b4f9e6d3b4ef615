# SPDX-License-Identifier: GPL-3.0-or-later
"""Split a mesh along its possible tears, and join it again.

Copies of a vertex have its position in all shape keys, its weights and its attributes; face corners keep their UV maps,
colours and normals. The mesh remembers which vertex each one was.
"""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np

from ... import core
from ..properties import baked_record
from ..read import garments
from ..read.editable_checks import why_shared
from ..read.tearing import FIELD, ORIGIN, in_group


def split(obj: bpy.types.Object) -> int:
    """Split the mesh of a cloth at all edges that may tear, and return the number of vertices that are new.

    These are the edges between two faces, with both ends in the vertex group of tearing if there is one.

    Raises:
        core.ClothError: it cannot be changed, or no edge may tear.
    """
    _check(obj)
    mesh: Any = obj.data
    name = obj.muslin.tear_group
    before = len(mesh.vertices)
    tears = np.ones(before, dtype=np.bool_)
    if name:
        garments.painted_weights(obj, name, FIELD)
        tears = in_group(obj, name)
    bm = bmesh.new()
    try:
        bm.from_mesh(mesh)
        layer = bm.verts.layers.int.get(ORIGIN) or bm.verts.layers.int.new(ORIGIN)
        taken = max((vertex[layer] for vertex in bm.verts), default=0)
        for vertex in bm.verts:
            if vertex[layer] == 0:
                taken = vertex[layer] = taken + 1
        edges = [edge for edge in bm.edges if len(edge.link_faces) == 2
                 and all(tears[vertex.index] for vertex in edge.verts)]
        if not edges:
            raise core.ClothError("has no edge between two faces" + (
                f" with both ends in the group '{name}'; add vertices to it, or choose none" if name else
                " that is not split already"), object_name=obj.name)
        bmesh.ops.split_edges(bm, edges=edges)
        bm.to_mesh(mesh)
    finally:
        bm.free()
    mesh.update()
    return len(mesh.vertices) - before


def join(obj: bpy.types.Object) -> int:
    """Join the vertices of a mesh that `split` has made of one, and return the number of those that are gone.

    Vertices that were moved away from each other since then stay.

    Raises:
        core.ClothError: it cannot be changed, or is not split.
    """
    _check(obj)
    mesh: Any = obj.data
    before = len(mesh.vertices)
    bm = bmesh.new()
    try:
        bm.from_mesh(mesh)
        layer = bm.verts.layers.int.get(ORIGIN)
        if layer is None:
            raise core.ClothError("was not split for tearing; use Merge by Distance in Edit Mode to join borders that "
                                  "lie on each other", object_name=obj.name)
        first: dict[Any, Any] = {}
        others: dict[Any, Any] = {}
        for vertex in bm.verts:
            place = (vertex[layer], *vertex.co)
            if vertex[layer] and first.setdefault(place, vertex) is not vertex:
                others[vertex] = first[place]
        bmesh.ops.weld_verts(bm, targetmap=others)
        bm.verts.layers.int.remove(bm.verts.layers.int[ORIGIN])
        bm.to_mesh(mesh)
    finally:
        bm.free()
    mesh.update()
    return before - len(mesh.vertices)


def _check(obj: bpy.types.Object) -> None:
    """Raise SceneError if the vertices of an object cannot be changed."""
    mesh: Any = obj.data
    shared = why_shared(obj)
    for wrong, why in (
            (obj.mode == "EDIT", "is in Edit Mode; leave it (Tab) first"),
            (obj.mode == "SCULPT", "is in Sculpt Mode; go to Object Mode first"),
            (not mesh.is_editable, "its mesh is linked from another file; make it local (Object > Relations > Make "
                                   "Local)"),
            (bool(shared), shared),
            (baked_record.has_bake(obj), "has a bake of the mesh as it is; delete the bake first (Delete Bake)")):
        if wrong:
            raise core.SceneError(why, object_name=obj.name)

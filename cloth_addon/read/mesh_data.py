# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays from a Blender mesh, read by `foreach_get`."""

from __future__ import annotations

import itertools
from typing import Any

import bmesh
import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
Mesh = Any      # bpy.types.Mesh. For a type checker the class of Object.data depends on the object's type


def _read(collection: Any, name: str, width: int, dtype: Any) -> NDArray[Any]:
    """Return the property `name` of all items (n,), or (n, width) where width > 1."""
    values = np.empty(len(collection) * width, dtype)
    collection.foreach_get(name, values)
    return values.reshape(-1, width) if width > 1 else values


def _read_attribute(mesh: Mesh, name: str, width: int, collection: Any, instead: str) -> IntArray:
    """Return the whole numbers (n,) or (n, width) of an attribute, or the property `instead` of a collection.

    An attribute is read hundreds of times faster. While a mesh is edited it may be missing or empty.
    """
    attribute = mesh.attributes.get(name)
    if attribute is None or not len(collection) or len(attribute.data) != len(collection):
        return _read(collection, instead, width, np.int32)
    return _read(attribute.data, "value", width, np.int32)


def positions(mesh: Mesh) -> FloatArray:
    """Return positions (V, 3) in the object's own space [Blender units]."""
    if not len(mesh.vertices):
        return np.zeros((0, 3), np.float32)
    return _read(mesh.attributes["position"].data, "vector", 3, np.float32)


def vertex_normals(mesh: Mesh) -> FloatArray:
    """Return the normals (V, 3) of the vertices in the object's own space."""
    return _read(mesh.vertex_normals, "vector", 3, np.float32) if len(mesh.vertices) else np.zeros((0, 3), np.float32)


def unkeyed_positions(mesh: Mesh) -> FloatArray:
    """Return the positions (V, 3) of the mesh, or of its reference shape key, in its own space [Blender units]."""
    if mesh.shape_keys is None:
        return positions(mesh)
    return _read(mesh.shape_keys.reference_key.points, "co", 3, np.float32)


def edges(mesh: Mesh) -> IntArray:
    """Return the vertex indices (E, 2) of every edge."""
    return _read_attribute(mesh, ".edge_verts", 2, mesh.edges, "vertices")


def faces_at_edges(mesh: Mesh) -> NDArray[np.int64]:
    """Return the number of faces (E,) at each edge."""
    return np.bincount(_read(mesh.loops, "edge_index", 1, np.int32), minlength=len(mesh.edges))


def faces(mesh: Mesh, order: IntArray | None = None) -> list[list[int]]:
    """Return the vertex indices of every face; `order` (C,) of the corners within each face, as they are for None."""
    vertices, starts = corners(mesh)
    all_corners = (vertices if order is None else vertices[order]).tolist()
    return [all_corners[start:end] for start, end in itertools.pairwise([*starts.tolist(), len(all_corners)])]


def turned_over(mesh: Mesh) -> IntArray:
    """Return the order of all face corners (C,) in which each face points to its other side. It begins at the same
    corner, so that quads are cut at the same diagonal. Applied twice it changes nothing."""
    _, starts = corners(mesh)
    sizes = np.diff(starts, append=len(mesh.loops))
    start, size = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    order: IntArray = start + (start + size - np.arange(len(start))) % size
    return order


def corners(mesh: Mesh) -> tuple[IntArray, IntArray]:
    """Return the vertex indices (C,) of all face corners, and the first corner (F,) of each face."""
    return corner_vertices(mesh), _read(mesh.polygons, "loop_start", 1, np.int32)


def corner_vertices(mesh: Mesh) -> IntArray:
    """Return the vertex indices (C,) of all face corners."""
    return _read_attribute(mesh, ".corner_vert", 1, mesh.loops, "vertex_index")


def triangles(mesh: Mesh) -> IntArray:
    """Return the vertex indices (T, 3) of the triangles that Blender displays."""
    mesh.calc_loop_triangles()
    return _read(mesh.loop_triangles, "vertices", 3, np.int32)


def ngon_triangles(mesh: Mesh) -> IntArray:
    """Return the corners (N, 3) of the triangles by which Blender displays faces of five corners or more."""
    mesh.calc_loop_triangles()
    large = _read(mesh.polygons, "loop_total", 1, np.int32) > 4
    rows = large[_read(mesh.loop_triangles, "polygon_index", 1, np.int32)]
    return _read(mesh.loop_triangles, "loops", 3, np.int32)[rows]


def uv(mesh: Mesh, name: str, order: IntArray | None = None) -> FloatArray:
    """Return the UV map `name` (C, 2), one row per face corner in the `order` (C,), as they are for None."""
    found = _read(mesh.uv_layers[name].uv, "vector", 2, np.float32)
    return found if order is None else found[order]


def values(attribute: Any) -> FloatArray:
    """Return the values (n,) of a float attribute."""
    return _read(attribute.data, "value", 1, np.float32)


def point_values(mesh: Mesh, name: str, kind: str) -> FloatArray | None:
    """Return the values (V,), or vectors (V, 3), of the points' attribute `name`; None without one of type `kind`."""
    attribute = mesh.attributes.get(name)
    if attribute is None or attribute.domain != "POINT" or attribute.data_type != kind or not len(attribute.data):
        return None
    return _read(attribute.data, "vector", 3, np.float32) if kind == "FLOAT_VECTOR" else \
        _read(attribute.data, "value", 1, np.float32)


def group_weights(mesh: Mesh, group: int, outside: float = 0.0) -> FloatArray:
    """Return the weights (V,) in vertex group number `group`, and `outside` for vertices that are not in it."""
    weights = np.full(len(mesh.vertices), outside, np.float32)
    bm = bmesh.new()
    try:
        bm.from_mesh(mesh, face_normals=False, vertex_normals=False)
        layer = bm.verts.layers.deform.active
        if layer is not None:
            for i, vertex in enumerate(bm.verts):
                weights[i] = vertex[layer].get(group, outside)
    finally:
        bm.free()
    return weights

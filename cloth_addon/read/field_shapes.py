# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of force fields of the shapes Surface and Points: vertices, their normals, triangles and edges.

Blender takes the nearest point of the evaluated mesh, or all its vertices. A curve without faces has edges, and its
heights and axes are those of the nearest edge. Objects without a mesh act from their origin, as the shape Point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.number_text import number_text
from . import mesh_data
from .frame_window import LARGEST_COORDINATE, evaluated_object, to_world, vector_text

FloatArray = NDArray[np.float64]
WITH_MESH = ("MESH", "CURVE", "FONT", "SURFACE")
"""Types of objects whose shape Surface or Points has a mesh."""
WITH_ELEMENTS = ("SURFACE", "POINTS")
"""Shapes of fields that act from the elements of a mesh."""
LEAST_NORMAL = float(np.finfo(float).tiny)
"""Length of a normal below which it has no direction [-]."""


class FieldShape:
    """The mesh of one field object.

    Args:
        obj: the field.   shape: Blender's name of its shape.
        view_layer: with the dependency graph that evaluates it.
        unit: length of one Blender unit [m].

    Attributes:
        name: shape of the core's field.
        triangles: (T, 3), None for none.   edges: (E, 2) of a mesh without faces, None for none.

    The attributes are those of the frame at which `begin` was called.
    """

    def __init__(self, obj: bpy.types.Object, shape: str, view_layer: bpy.types.ViewLayer, unit: float) -> None:
        self._obj, self._view_layer, self._unit = obj, view_layer, unit
        self.name = shape.lower() if shape not in WITH_ELEMENTS or obj.type in WITH_MESH else "point"
        self.triangles: NDArray[Any] | None = None
        self.edges: NDArray[Any] | None = None
        self._count, self._first = -1, 0                                # number of vertices, not known yet

    def begin(self) -> None:
        """Note the elements of the mesh at the scene's frame. Without any the shape is "point", as in Blender."""
        if self.name not in ("surface", "points"):
            return
        with self._mesh() as mesh:
            if self.name == "surface":
                triangles, edges = mesh_data.triangles(mesh), mesh_data.edges(mesh)
                self.triangles = triangles if len(triangles) else None
                self.edges = edges if len(edges) and not len(triangles) else None
            if not len(mesh.vertices) or (self.name == "surface" and self.triangles is None and self.edges is None):
                self.name = "point"

    def samples(self, vertices_name: str, normals_name: str) -> dict[str, Callable[[], FloatArray]]:
        """Return the functions for the frame window that read the vertices (P, 3) [m] and normals (P, 3)."""
        found: dict[str, Callable[[], FloatArray]] = {}
        if self.name in ("surface", "points"):
            found[vertices_name] = self._vertices
        if self.name == "points":
            found[normals_name] = self._normals
        return found

    def _vertices(self) -> FloatArray:
        with self._checked_mesh() as mesh:
            vertices = to_world(mesh_data.positions(mesh), self._evaluated(), self._unit)
        valid = (np.abs(vertices) <= LARGEST_COORDINATE).all(axis=1)                            # False for nan, too
        if not valid.all():
            vertex = int(np.argmin(valid))
            raise self._error(f"vertex {vertex} is at {vector_text(vertices[vertex])} m at frame {self._frame()}, "
                              f"which is no number or above {number_text(LARGEST_COORDINATE)}; move it or delete it")
        return vertices

    def _normals(self) -> FloatArray:
        matrix = np.array(self._evaluated().matrix_world, np.float64)[:3, :3]
        with self._checked_mesh() as mesh:
            normals = mesh_data.vertex_normals(mesh).astype(np.float64) @ matrix.T
        return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), LEAST_NORMAL)

    @contextmanager
    def _checked_mesh(self) -> Iterator[Any]:
        """Yield the evaluated mesh. Raise SceneError if the number of its vertices has changed."""
        with self._mesh() as mesh:
            count = len(mesh.vertices)
            if self._count < 0:
                self._count, self._first = count, self._frame()
            if count != self._count:
                raise self._error(f"has {count} vertices at frame {self._frame()} and had {self._count} at frame "
                                  f"{self._first}; a force field of shape Surface or Points must keep them: switch off "
                                  "in the viewport the modifier that changes their number")
            yield mesh

    @contextmanager
    def _mesh(self) -> Iterator[Any]:
        """Yield the object's evaluated mesh at the scene's frame."""
        evaluated: Any = self._evaluated()
        if evaluated.type == "MESH":
            if self._obj.data.is_editmode:                              # the evaluated mesh has no arrays then
                raise self._error(f"is in Edit Mode at frame {self._frame()}; leave it (Tab) and bake again")
            yield evaluated.data
        else:
            made = evaluated.to_mesh()
            try:
                yield made
            finally:
                evaluated.to_mesh_clear()

    def _evaluated(self) -> bpy.types.Object:
        return evaluated_object(self._obj, self._view_layer)

    def _frame(self) -> int:
        scene: Any = self._view_layer.id_data
        return int(scene.frame_current)

    def _error(self, message: str) -> core.SceneError:
        return core.SceneError(message, object_name=self._obj.name)

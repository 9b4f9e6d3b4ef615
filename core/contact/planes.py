# SPDX-License-Identifier: GPL-3.0-or-later
"""The planes that hold vertices on their side of one moving surface (see `pairs` for the rules)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.numpy.surface_contacts import MAX_PER_VERTEX, SAME_SIDE
from .colliders import MovingSurface
from .containment import inside, nearest
from .distance import FACE

__all__ = ["MAX_PER_VERTEX", "SAME_SIDE", "Planes", "find_planes"]

@dataclass(frozen=True)
class Planes:
    """N planes.

    Attributes:
        vertex, triangle (N,): whose plane, and where on the surface.
        barycentric (N, 3): place on the triangle.
        normal (N, 3): unit normal towards the side to stay on.
        entered (N,): whether the vertex's path enters the surface.
    """

    vertex: IntArray
    triangle: IntArray
    barycentric: FloatArray
    normal: FloatArray
    entered: BoolArray

    def __getitem__(self, rows: IntArray | BoolArray) -> Planes:
        return Planes(
            self.vertex[rows], self.triangle[rows], self.barycentric[rows], self.normal[rows], self.entered[rows]
        )

    def __len__(self) -> int:
        return len(self.vertex)


def find_planes(
    surface: MovingSurface, x_t0: FloatArray, x_t1: FloatArray, reach: FloatArray, *, deep: bool
) -> tuple[Planes, FloatArray]:
    """Planes for vertices moving from x_t0 to x_t1 (V, 3) [m] near or through the surface.

    reach (V,) [m]: how far from the surface x_t1 is near it. `deep`: also for vertices further inside than that.
    Also each vertex's distance (V,) [m] from the surface at the start, negative inside: reach at most, and -inf, which
    says nothing, if it may have been further inside than that.
    """
    shape = surface.shape
    found, distance = current().surface_contacts.find(
        x_t0, x_t1, reach, surface.drift, surface.tree.order, surface.tree.nodes,
        (shape.triangles, shape.closed, shape.features, shape.degree),
        (surface.x_t0, surface.x_t1, surface.normals_t0, surface.normals_t1))
    planes = Planes(*found)
    if deep and shape.closed.any():
        clear = np.where(np.isfinite(distance), np.abs(distance), 0.0)
        maybe = distance < reach
        maybe |= surface.inside_t0(x_t0, clear) if surface.sealed else True
        maybe[planes.vertex] = False
        inner = _deep(surface, x_t1, np.flatnonzero(maybe))
        if len(inner):
            distance[inner.vertex[distance[inner.vertex] >= reach[inner.vertex]]] = -np.inf
            planes = _joined(planes, inner)
    return planes, distance


def _deep(surface: MovingSurface, x_t1: FloatArray, rows: IntArray) -> Planes:
    """The nearest way out for those vertices `rows` that are inside a closed part at the end of the step.

    How often the closed parts are wound around a vertex, summed up, is what `inside` counts. As long as they stay
    closed that grows only where the vertex goes through a triangle from its front, which is an entry, and what has
    entered has a plane. So of those without one nobody is inside at the end who was not at the start, whatever the
    surface did meanwhile. Who began on it may have been on either side, by rounding.
    """
    if len(rows) == 0:
        return _none()
    shape, tree = surface.shape, surface.tree_t1
    rows = rows[inside(x_t1[rows], surface.x_t1, shape.triangles, shape.closed, tree)]
    if len(rows) == 0:
        return _none()
    triangle, at = nearest(x_t1[rows], surface.x_t1, shape.triangles, tree)
    pseudo = surface.normals_t1[shape.features[triangle, at.feature]]
    outwards = (at.point - x_t1[rows]) / np.where(at.distance > 0.0, at.distance, 1.0)[:, None]
    usable = (at.feature != FACE) & (at.distance > 0.0)
    normal = np.where(usable[:, None], outwards, pseudo)
    return Planes(rows, triangle, at.barycentric, normal, np.zeros(len(rows), dtype=bool))


def _none() -> Planes:
    index, place = np.zeros(0, dtype=np.int64), np.zeros((0, 3))
    return Planes(index, index, place, place, np.zeros(0, dtype=bool))


def _joined(a: Planes, b: Planes) -> Planes:
    return Planes(
        np.concatenate([a.vertex, b.vertex]),
        np.concatenate([a.triangle, b.triangle]),
        np.concatenate([a.barycentric, b.barycentric]),
        np.concatenate([a.normal, b.normal]),
        np.concatenate([a.entered, b.entered]),
    )

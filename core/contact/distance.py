# SPDX-License-Identifier: GPL-3.0-or-later
"""Closest points: of a point and a triangle, and of two edges, for many pairs at once.

How they are found, and how exactly, `kernels.numpy.distances` says.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..kernels.numpy.distances import EDGES, FACE, VERTICES

__all__ = ["EDGES", "FACE", "VERTICES", "EdgeEdge", "PointTriangle", "edge_edge", "point_triangle"]


@dataclass(frozen=True)
class PointTriangle:
    """The closest point of a triangle, for each of P pairs.

    Attributes:
        barycentric (P, 3): weights of the corners, none negative, sum 1.
        point (P, 3) [m]: the closest point.
        distance (P,) [m]: from the query to it.
        feature (P,): FACE, one of EDGES or one of VERTICES: where the closest point lies.
    """

    barycentric: FloatArray
    point: FloatArray
    distance: FloatArray
    feature: IntArray


@dataclass(frozen=True)
class EdgeEdge:
    """The closest points of two edges, for each of P pairs.

    Attributes:
        s, t (P,): parameters in 0..1 from the first to the second end of edge a, edge b.
        point_a, point_b (P, 3) [m]: the closest points.
        distance (P,) [m]: between them.
    """

    s: FloatArray
    t: FloatArray
    point_a: FloatArray
    point_b: FloatArray
    distance: FloatArray


def point_triangle(p: FloatArray, a: FloatArray, b: FloatArray, c: FloatArray) -> PointTriangle:
    """Closest point of each triangle (a, b, c) to its p; all (P, 3) [m]."""
    return PointTriangle(*current().distances.point_triangle(p, a, b, c))


def edge_edge(a0: FloatArray, a1: FloatArray, b0: FloatArray, b1: FloatArray) -> EdgeEdge:
    """Closest points of each edge (a0, a1) and its edge (b0, b1); all (P, 3) [m]."""
    return EdgeEdge(*current().distances.edge_edge(a0, a1, b0, b1))

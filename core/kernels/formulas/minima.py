# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests for whether the distance between two pieces of surface has a minimum at a pair of primitives.

A vertex-triangle pair is a minimum if it is the closest one of all triangles around the feature (corner, edge or face)
of its closest point; a key of vertex and feature tells them apart. An edge-edge pair is a minimum if each edge is a
ridge: its triangles fold away from the other edge. Vectors are tuples of components, arrays (P,) or plain numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .distances import EDGES, FACE, VERTICES
from .vectors import Vector, divide, dot, length, scale, select, subtract

FEATURE_OF = np.array([FACE, VERTICES[0], VERTICES[1], EDGES[0], VERTICES[2], EDGES[2], EDGES[1], FACE])
"""Feature code of a closest point, by the sum of 1, 2, 4 for a weight on the first, second, third corner."""
SHARP = 0.2
"""Least sum of the sines by which the two triangles at a ridge fold away from the other edge [-]: about 12 degrees."""
LEANING = 0.1
"""Largest sine by which a triangle at a ridge may lean towards the other edge [-]."""


def corners_with_weight(u: FloatArray, v: FloatArray, w: FloatArray) -> IntArray:
    """Return the index into `FEATURE_OF` for the barycentric weights u, v, w of a closest point."""
    return select(u != 0.0, 1, 0) + select(v != 0.0, 2, 0) + select(w != 0.0, 4, 0)


def pair_key(first: Any, second: Any, size: Any) -> Any:
    """Return a number for an ordered pair of indices, unique for second < size."""
    return first * size + second


def edge_direction(start: Vector, end: Vector) -> Vector:
    """Return the unit vector from start to end."""
    d = subtract(end, start)
    return scale(1.0 / length(d), d)


def fold_sine(corner: Vector, start: Vector, along: Vector, n: Vector) -> Any:
    """Return the sine by which a triangle rises along n from its edge; 0 for a triangle without area.

    corner: vertex opposite the edge [m]. start, along: start [m] and unit direction of the edge. n: unit normal.
    """
    inward = subtract(corner, start)
    inward = subtract(inward, scale(dot(inward, along), along))
    return divide(dot(inward, n), length(inward))


def is_ridge(total: Any, both: Any, over_collider: Any) -> Any:
    """Return whether the triangles at an edge fold away from the other edge far enough for a ridge.

    total: sum of their `fold_sine`. both: the edge has two triangles. over_collider: the other edge is a collider's and
    this one is cloth, for which any fold counts.
    """
    return over_collider | (total >= select(both, SHARP, -LEANING))

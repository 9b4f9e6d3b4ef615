# SPDX-License-Identifier: GPL-3.0-or-later
"""Normals of the vertices of a surface."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..row_ops import cross, pick, unit


def area_vectors(x: FloatArray, triangles: IntArray) -> FloatArray:
    """Return the area vectors (T, 3) [m^2] of triangles (T, 3) at x (V, 3) [m], of twice their areas."""
    a, b, c = (pick(x, corner) for corner in triangles.T)
    return cross(b - a, c - a)


def vertex_normals(vectors: FloatArray, triangles: IntArray, count: int) -> FloatArray:
    """Return the unit normals (V, 3) of `count` vertices from the area vectors (T, 3) of triangles (T, 3); 0 of those
    without triangles."""
    flat = triangles.T.ravel()
    sums = np.stack([np.bincount(flat, np.tile(column, 3), count) for column in vectors.T], axis=1)
    return unit(sums.astype(np.float64))                        # without triangles bincount returns integers

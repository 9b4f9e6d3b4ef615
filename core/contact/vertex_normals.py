# SPDX-License-Identifier: GPL-3.0-or-later
"""Normals of the vertices of a surface."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..row_ops import pick, unit


def area_vectors(x: FloatArray, triangles: IntArray) -> FloatArray:
    """Return the area vectors (T, 3) [m^2] of triangles (T, 3) at x (V, 3) [m], of twice their areas."""
    return 2.0 * np.asarray(current().area_vectors.area_vectors(triangles, x))


def vertex_normals(vectors: FloatArray, triangles: IntArray, count: int, some: IntArray | None = None) -> FloatArray:
    """Return the unit normals (V, 3) of `count` vertices from the area vectors (T, 3) of triangles (T, 3), or of `some`
    vertices alone (n, 3); 0 of those without triangles."""
    sums = current().group_sums.sums(triangles, vectors, count)
    return unit(sums if some is None else pick(sums, some))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace rows of a table of pairs: those of a few vertices that were searched for anew."""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...row_ops import any_of, pick

Rows = tuple[IntArray, IntArray, int, FloatArray, FloatArray, FloatArray, FloatArray]
"""A table of P pairs: vertices (P, 4), primitives (P, 2), number of pairs with a triangle, which come first, weights
(P, 4), normals (P, 3), distances (P,) [m], and distances to keep (P,) [m]."""


def replaced(old: Rows, marked: BoolArray, new: Rows) -> Rows:
    """Return the rows of `old` without a `marked` vertex (V,), and the rows of `new`; of both, those with a triangle
    come first."""
    kept = np.flatnonzero(~any_of(pick(marked, old[0])))
    few, n, m = int(np.searchsorted(kept, old[2])), old[2], new[2]
    vertices, primitives, weights, normals, distances, keeps = (
        np.concatenate([pick(a[:n], kept[:few]), b[:m], pick(a, kept[few:]), b[m:]])
        for a, b in zip(columns_of(old), columns_of(new), strict=True))
    return vertices, primitives, few + m, weights, normals, distances, keeps


def columns_of(rows: Rows) -> tuple[IntArray, IntArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the arrays of a table."""
    return rows[0], rows[1], rows[3], rows[4], rows[5], rows[6]

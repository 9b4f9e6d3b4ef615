# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums over the vertex pairs that several elements share."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def sum_over_pairs(ends: IntArray, vertex_count: int, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the distinct pairs (E, 2) among `ends` (n, 2), and the sums of `values` (n, m) over each pair (E, m).

    A pair has its smaller vertex first; pairs are in lexicographic order.
    """
    ordered = np.sort(ends, axis=1)
    keys, at = np.unique(ordered[:, 0] * vertex_count + ordered[:, 1], return_inverse=True)
    pairs: IntArray = np.column_stack(np.divmod(keys, vertex_count))
    sums = [np.bincount(at.reshape(-1), weights=column, minlength=len(keys)) for column in values.T]
    return pairs, np.stack(sums, axis=1)

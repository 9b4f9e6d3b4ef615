# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of vertices that several elements name, each once, with what the elements add up to."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def sum_over_pairs(ends: IntArray, vertex_count: int, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """The different pairs among ends (n, 2), the smaller vertex first, in lexicographic order: (E, 2); and of each
    column of values (n, m) the sum over each pair (E, m)."""
    ordered = np.sort(ends, axis=1)
    keys, at = np.unique(ordered[:, 0] * vertex_count + ordered[:, 1], return_inverse=True)
    pairs: IntArray = np.column_stack(np.divmod(keys, vertex_count))
    sums = [np.bincount(at.reshape(-1), weights=column, minlength=len(keys)) for column in values.T]
    return pairs, np.stack(sums, axis=1)

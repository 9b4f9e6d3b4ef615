# SPDX-License-Identifier: GPL-3.0-or-later
"""Replace rows of a table of pairs, compiled: each row is read and written once.

NumPy copies each column twice, and gathers the vertices of all pairs first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray
from ..numpy.pair_rows import Rows, columns_of
from .kernel_cache import njit
from .options import KERNEL
from .thread_pool import LEAST_ROWS, share


def replaced(old: Rows, marked: BoolArray, new: Rows) -> Rows:
    """Return the rows of `old` without a marked vertex, and those of `new`; arguments as in `kernels.numpy`."""
    rows, between = np.empty(len(old[0]), dtype=np.int64), new[2]
    total = _unmarked(np.ascontiguousarray(old[0]), marked, rows)
    kept = rows[:total]
    faces, count = int(np.searchsorted(kept, old[2])), total + len(new[0])
    columns = (np.empty((count, 4), dtype=np.int64), np.empty((count, 2), dtype=np.int64), np.empty((count, 4)),
               np.empty((count, 3)), np.empty(count), np.empty(count))
    share(_copy, total, LEAST_ROWS, kept, faces, between, *map(np.ascontiguousarray, columns_of(old)), *columns)
    for column, added in zip(columns, columns_of(new), strict=True):
        column[faces:faces + between] = added[:between]
        column[total + between:] = added[between:]
    vertices, primitives, weights, normals, distances, keeps = columns
    return vertices, primitives, faces + between, weights, normals, distances, keeps


@njit(**KERNEL)
def _unmarked(vertices: Any, marked: Any, rows: Any) -> Any:
    """Write the numbers of pairs (P, 4) without a marked vertex to `rows` (P,), and return how many there are."""
    count = 0
    for p in range(len(vertices)):
        if not (marked[vertices[p, 0]] or marked[vertices[p, 1]] or marked[vertices[p, 2]] or marked[vertices[p, 3]]):
            rows[count] = p
            count += 1
    return count


@njit(**KERNEL)
def _copy(begin: Any, stop: Any, kept: Any, faces: Any, gap: Any, vertices: Any, primitives: Any, weights: Any,
          normals: Any, distances: Any, keeps: Any, to_vertices: Any, to_primitives: Any, to_weights: Any,
          to_normals: Any, to_distances: Any, to_keeps: Any) -> None:
    """Copy pairs `kept` begin..stop - 1: the first `faces` to their places, the others `gap` rows behind theirs."""
    for n in range(begin, stop):
        p, q = kept[n], n
        if n >= faces:
            q = n + gap
        for k in range(4):
            to_vertices[q, k] = vertices[p, k]
            to_weights[q, k] = weights[p, k]
        for k in range(3):
            to_normals[q, k] = normals[p, k]
        to_primitives[q, 0], to_primitives[q, 1] = primitives[p, 0], primitives[p, 1]
        to_distances[q], to_keeps[q] = distances[p], keeps[p]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs at which the distance between two pieces of surface has a minimum, compiled: one pair after the other.

Arguments and results are those of `kernels.numpy.minima`. `whole` counts keys in a hash table where NumPy sorts them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas import minima as formulas
from ..formulas.minima import (
    FEATURE_OF,
    LEANING,
    corners_with_weight,
    edge_direction,
    fold_sine,
    is_ridge,
    pair_key,
)
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_VERTICES, share
from .vectors import at, scale

register(formulas, INLINED)
SPREAD = 0x9E3779B97F4A7C15 - 2**64
"""Multiplier of the hash of keys: 2^64 over the golden ratio, odd (Knuth, Fibonacci hashing)."""


def keys(primitives: IntArray, weights: FloatArray, faces: int, table: IntArray, count: int, edges: int,
         vertices: int) -> IntArray:
    """Return one number for each pair (P,): of the vertex and the feature of its closest point, or of both edges."""
    result = np.empty(len(primitives), dtype=np.int64)
    _keys(np.ascontiguousarray(primitives), np.ascontiguousarray(weights), faces, table, count, edges, vertices, result)
    return result


def whole(key: IntArray, degree: IntArray) -> IntArray:
    """Return the first row of each key (N,) that occurs as often as its feature's degree (F,), in ascending order."""
    bits = max(2 * len(key), 2).bit_length()
    slots, counts = np.full(1 << bits, -1), np.zeros(len(key), dtype=np.int64)
    complete = np.zeros(len(key), dtype=np.bool_)
    _whole(np.ascontiguousarray(key), degree, bits, slots, counts, complete)
    return np.flatnonzero(complete)


def ridges(vertices: IntArray, primitives: IntArray, weights: FloatArray, normals: FloatArray, opposite: IntArray,
           x: FloatArray, cloth: int) -> BoolArray:
    """Return for each pair of edges (P,) whether both are ridges and their closest points inside the edges."""
    result = np.empty(len(vertices), dtype=np.bool_)
    share(_ridges, len(vertices), LEAST_VERTICES, np.ascontiguousarray(vertices), np.ascontiguousarray(primitives),
          np.ascontiguousarray(weights), np.ascontiguousarray(normals), opposite, np.ascontiguousarray(x), cloth,
          result)
    return result


@njit(**KERNEL)
def _keys(primitives: Any, weights: Any, faces: Any, table: Any, count: Any, edges: Any, vertices: Any, result: Any
          ) -> None:
    """Write the keys to `result` (P,)."""
    for p in range(len(primitives)):
        one, other = primitives[p, 0], primitives[p, 1]
        if p < faces:
            code = FEATURE_OF[corners_with_weight(weights[p, 1], weights[p, 2], weights[p, 3])]
            result[p] = pair_key(one, table[other, code], count)
        else:
            result[p] = vertices * count + pair_key(one, other, edges)


@njit(**KERNEL)
def _whole(key: Any, degree: Any, bits: Any, slots: Any, counts: Any, complete: Any) -> None:
    """Write to `complete` (N,) which rows `whole` returns.

    slots (2^bits,), -1 before: hash table with linear probing, of the first row of each key; counts (N,): how often the
    key of a first row occurs.
    """
    last = len(slots) - 1
    for p in range(len(key)):
        slot = ((key[p] * SPREAD) >> (64 - bits)) & last
        while slots[slot] >= 0 and key[slots[slot]] != key[p]:
            slot = (slot + 1) & last
        if slots[slot] < 0:
            slots[slot] = p
        first = slots[slot]
        counts[first] += 1
        complete[first] = counts[first] == degree[key[p] % len(degree)]


@njit(**KERNEL)
def _ridges(begin: Any, stop: Any, vertices: Any, primitives: Any, weights: Any, normals: Any, opposite: Any, x: Any,
            cloth: Any, result: Any) -> None:
    """Write to `result` (P,) which of the pairs begin..stop - 1 are two ridges."""
    for p in range(begin, stop):
        result[p] = False
        if weights[p, 0] != 0.0 and weights[p, 1] != 0.0 and weights[p, 2] != 0.0 and weights[p, 3] != 0.0:
            n, a, b, c, d = at(normals, p), vertices[p, 0], vertices[p, 1], vertices[p, 2], vertices[p, 3]
            result[p] = (_folds(at(x, a), at(x, b), n, opposite, primitives[p, 0], x, c >= cloth)
                         and _folds(at(x, c), at(x, d), scale(-1.0, n), opposite, primitives[p, 1], x, a >= cloth))


@njit(**INNER)
def _folds(start: Any, end: Any, n: Any, opposite: Any, edge: Any, x: Any, over_collider: Any) -> Any:
    """Return whether the edge from start to end [m] is a ridge towards the unit vector -n; opposite (E, 2)."""
    along = edge_direction(start, end)
    total, both = 0.0, True
    for k in range(2):
        corner = opposite[edge, k]
        if corner >= 0:
            sine = fold_sine(at(x, corner), start, along, n)
            if not sine >= -LEANING:
                return False
            total += sine
        else:
            both = False
    return is_ridge(total, both, over_collider)

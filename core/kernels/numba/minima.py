# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the distance between two pieces of surface has a minimum, compiled: one pair after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..numpy import minima as reference
from ..numpy.minima import LEANING, SHARP
from .kernel_cache import njit
from .options import INNER, KERNEL
from .thread_pool import LEAST_VERTICES, share
from .vectors import at, dot, scale, subtract

FEATURE_CODES = tuple(int(code) for code in reference.FEATURE_OF)
SPREAD = 0x9E3779B97F4A7C15 - 2**64
"""An odd number whose product with a key has high bits that tell keys apart: 2^64 over the golden ratio."""


def keys(primitives: IntArray, weights: FloatArray, faces: int, table: IntArray, count: int, edges: int,
         vertices: int) -> IntArray:
    """A number for each pair (P,), as in `reference`."""
    result = np.empty(len(primitives), dtype=np.int64)
    _keys(np.ascontiguousarray(primitives), np.ascontiguousarray(weights), faces, table, count, edges, vertices, result)
    return result


def whole(key: IntArray, degree: IntArray) -> IntArray:
    """Rows where a key (N,) that is there often enough is for the first time, as in `reference`."""
    bits = max(2 * len(key), 2).bit_length()
    slots, counts = np.full(1 << bits, -1), np.zeros(len(key), dtype=np.int64)
    complete = np.zeros(len(key), dtype=np.bool_)
    _whole(np.ascontiguousarray(key), degree, bits, slots, counts, complete)
    return np.flatnonzero(complete)


def ridges(vertices: IntArray, primitives: IntArray, weights: FloatArray, normals: FloatArray, opposite: IntArray,
           x: FloatArray, cloth: int) -> BoolArray:
    """Which of the pairs of edges are two ridges that cross (P,), as in `reference`."""
    result = np.empty(len(vertices), dtype=np.bool_)
    share(_ridges, len(vertices), LEAST_VERTICES, np.ascontiguousarray(vertices), np.ascontiguousarray(primitives),
          np.ascontiguousarray(weights), np.ascontiguousarray(normals), opposite, np.ascontiguousarray(x), cloth,
          result)
    return result


@njit(**KERNEL)
def _keys(primitives: Any, weights: Any, faces: Any, table: Any, count: Any, edges: Any, vertices: Any, result: Any
          ) -> None:
    for p in range(len(primitives)):
        one, other = primitives[p, 0], primitives[p, 1]
        if p < faces:
            corners = 0
            for k in range(3):
                corners += (1 << k) if weights[p, 1 + k] != 0.0 else 0
            result[p] = one * count + table[other, FEATURE_CODES[corners]]
        else:
            result[p] = vertices * count + one * edges + other


@njit(**KERNEL)
def _whole(key: Any, degree: Any, bits: Any, slots: Any, counts: Any, complete: Any) -> None:
    """Each key's first row is kept in a table of twice as many slots, the next free one from where the key belongs."""
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
    for p in range(begin, stop):
        result[p] = False
        if weights[p, 0] != 0.0 and weights[p, 1] != 0.0 and weights[p, 2] != 0.0 and weights[p, 3] != 0.0:
            n, a, b, c, d = at(normals, p), vertices[p, 0], vertices[p, 1], vertices[p, 2], vertices[p, 3]
            result[p] = (_folds(at(x, a), at(x, b), n, opposite, primitives[p, 0], x, c >= cloth)
                         and _folds(at(x, c), at(x, d), scale(-1.0, n), opposite, primitives[p, 1], x, a >= cloth))


@njit(**INNER)
def _folds(start: Any, end: Any, n: Any, opposite: Any, edge: Any, x: Any, over_solid: Any) -> Any:
    """Whether the triangles at the edge from start to end fold away from where -n points to."""
    along = subtract(end, start)
    along = scale(1.0 / np.sqrt(dot(along, along)), along)
    total, number = 0.0, 0
    for k in range(2):
        corner = opposite[edge, k]
        if corner >= 0:
            inward = subtract(at(x, corner), start)
            inward = subtract(inward, scale(dot(inward, along), along))
            size = np.sqrt(dot(inward, inward))
            sine = dot(inward, n) / (size if size > 0.0 else 1.0)
            if not sine >= -LEANING:
                return False
            total += sine
            number += 1
    return over_solid or total >= (SHARP if number == 2 else -LEANING)

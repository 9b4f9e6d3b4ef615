# SPDX-License-Identifier: GPL-3.0-or-later
"""Gaps, forces and stiffness matrix of pair contacts, compiled: one pair after the other, as pairs share vertices, or
one vertex after the other.

Arguments and results are those of `kernels.numpy.pair_penalty`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import pair_penalty as formulas
from ..formulas.pair_penalty import contact_block, gap, product_beside_diagonal
from ..formulas.vectors import weighted_sum
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_VERTICES, share
from .vectors import add, at, at_corners, four, scale

register(formulas, INLINED)


def gaps(vertices: IntArray, weights: FloatArray, normals: FloatArray, fixed: FloatArray, base: FloatArray,
         velocity: FloatArray, h: float) -> FloatArray:
    """Return n . (sum_i w_i x_i + fixed) (P,) [m] for fixed (P, 3) [m], at x = base + h velocity (V, 3) [m]."""
    result = np.empty(len(vertices))
    _gaps(vertices, weights, normals, fixed, np.ascontiguousarray(base), np.ascontiguousarray(velocity), h, result)
    return result


def scattered(vertices: IntArray, weights: FloatArray, force: FloatArray, count: int) -> FloatArray:
    """Return the sum of w_i f at each of `count` vertices (V, 3), for the force f (P, 3) of each pair."""
    result = np.zeros((count, 3))
    _add_scattered(vertices, weights, force, result)
    return result


def diagonal(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
             count: int) -> FloatArray:
    """Return the diagonal blocks of C (V, 3, 3) for `count` vertices."""
    result = np.zeros((count, 3, 3))
    _add_diagonal(vertices, weights, normals, along, across, result)
    return result


def add_product(vertices: IntArray, weights: FloatArray, normals: FloatArray, along: FloatArray, across: FloatArray,
                x: FloatArray, result: FloatArray) -> None:
    """Add the product of C, without its diagonal blocks, and x (V, 3) to result (V, 3)."""
    starts, entries, totals = places_of(vertices, len(x))
    share(totals_of_pairs, len(vertices), LEAST_VERTICES, vertices, weights, x, totals)
    share(products_of_vertices, len(x), LEAST_VERTICES, starts, entries, weights, normals, along, across, totals, x,
          result)


def places_of(vertices: IntArray, count: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return where the vertices (P, 4) of pairs are, by vertex, and a workspace (P, 3).

    Vertex i is entry e % 4 of pair e // 4 for each e of entries[starts[i]:starts[i + 1]], in ascending order. So
    threads can add up the products of each vertex, in the order of the pairs.
    """
    starts, entries = np.zeros(count + 1, dtype=np.int64), np.empty(vertices.size, dtype=np.int64)
    _sort_entries(vertices, starts, entries)
    return starts, entries, np.empty((len(vertices), 3))


@njit(**KERNEL)
def _gaps(vertices: Any, weights: Any, normals: Any, fixed: Any, base: Any, velocity: Any, h: Any, result: Any) -> None:
    """Write the gaps to `result` (P,) [m]."""
    for p in range(len(vertices)):
        i, j, k, m = four(vertices, p)
        x = (_moved(base, velocity, h, i), _moved(base, velocity, h, j), _moved(base, velocity, h, k),
             _moved(base, velocity, h, m))
        result[p] = gap(four(weights, p), x, at(fixed, p), at(normals, p))


@njit(**INLINED)
def _moved(base: Any, velocity: Any, h: Any, i: Any) -> Any:
    """Return the position base + h velocity of vertex i [m]; base (V, 3) [m], velocity (V, 3) [m/s], h [s]."""
    return add(at(base, i), scale(h, at(velocity, i)))


@njit(**KERNEL)
def _add_scattered(vertices: Any, weights: Any, force: Any, result: Any) -> None:
    """Add each pair's w_i f to `result` (V, 3), for forces f (P, 3)."""
    for p in range(len(vertices)):
        for k in range(4):
            for axis in range(3):
                result[vertices[p, k], axis] += weights[p, k] * force[p, axis]


@njit(**KERNEL)
def _add_diagonal(vertices: Any, weights: Any, normals: Any, along: Any, across: Any, result: Any) -> None:
    """Add each pair's diagonal blocks w_i^2 B to `result` (V, 3, 3)."""
    for p in range(len(vertices)):
        block = contact_block(along[p], across[p], at(normals, p))
        for k in range(4):
            i, square = vertices[p, k], weights[p, k] ** 2
            for row in range(3):
                for column in range(3):
                    result[i, row, column] += square * block[row][column]


@njit(**KERNEL)
def _sort_entries(vertices: Any, starts: Any, entries: Any) -> None:
    """Write `starts` (V + 1,), zero before, and `entries` (4 P,) of `places_of`."""
    last = len(starts) - 1
    for p in range(len(vertices)):
        for k in range(4):
            starts[vertices[p, k] + 1] += 1
    for i in range(last):
        starts[i + 1] += starts[i]
    for p in range(len(vertices)):
        for k in range(4):
            entries[starts[vertices[p, k]]] = 4 * p + k
            starts[vertices[p, k]] += 1
    for i in range(last, 0, -1):
        starts[i] = starts[i - 1]
    starts[0] = 0


@njit(**KERNEL)
def totals_of_pairs(begin: Any, end: Any, vertices: Any, weights: Any, x: Any, totals: Any) -> None:
    """Write sum_i w_i x_i of pairs begin..end - 1 to totals (P, 3)."""
    for p in range(begin, end):
        totals[p, 0], totals[p, 1], totals[p, 2] = weighted_sum((0.0, 0.0, 0.0), four(weights, p),
                                                                at_corners(x, vertices, p))


@njit(**KERNEL)
def products_of_vertices(begin: Any, end: Any, starts: Any, entries: Any, weights: Any, normals: Any, along: Any,
                         across: Any, totals: Any, x: Any, result: Any) -> None:
    """Add the products of all pairs, without diagonal blocks, to vertices begin..end - 1 of result (V, 3)."""
    for i in range(begin, end):
        for e in range(starts[i], starts[i + 1]):
            p, k = entries[e] // 4, entries[e] % 4
            part = product_beside_diagonal(weights[p, k], at(x, i), at(totals, p), along[p], across[p], at(normals, p))
            for axis in range(3):
                result[i, axis] += part[axis]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths of edges, and relaxation of edges that are too long in front of planes, compiled.

The loop goes from edge to edge in the order of sets; NumPy moves all edges of a set at once.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import KERNEL
from .thread_pool import LEAST_VERTICES, share


def lengths(x: FloatArray, edges: IntArray) -> FloatArray:
    """Return the lengths (E,) [m] of edges (E, 2) with vertices at x (V, 3) [m]."""
    found = np.empty(len(edges))
    share(_lengths, len(edges), LEAST_VERTICES, np.ascontiguousarray(x), edges, found)
    return found


def growth(x: FloatArray, edges: IntArray, before: FloatArray, rest: FloatArray) -> FloatArray:
    """Return the stretch (E,) [-] that edges (E, 2) of lengths `before` (E,) [m] have gained with vertices at
    x (V, 3) [m], as of `integrators.step_strain.added_strain`."""
    found = np.empty(len(edges))
    share(_growth, len(edges), LEAST_VERTICES, np.ascontiguousarray(x), edges, before, rest, found)
    return found


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _growth(begin, end, x, edges, before, rest, found):  # type: ignore[no-untyped-def]
    """Write the growth of edges begin..end - 1 to `found` (E,) [-]."""
    for e in range(begin, end):
        i, j = edges[e, 0], edges[e, 1]
        a, b, c = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        found[e] = (np.sqrt(a * a + b * b + c * c) - max(before[e], rest[e])) / rest[e]


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def _lengths(begin, end, x, edges, found):  # type: ignore[no-untyped-def]
    """Write the lengths of edges begin..end - 1 to `found` (E,) [m]."""
    for e in range(begin, end):
        i, j = edges[e, 0], edges[e, 1]
        a, b, c = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        found[e] = np.sqrt(a * a + b * b + c * c)


@njit(**KERNEL)  # type: ignore[untyped-decorator]
def relax(x, edges, longest, weights, starts, corners, shares, normals, least, sets, close, room, sweeps,  # type: ignore[no-untyped-def]
          further):
    """Move x (V, 3) [m] until all edges are short enough and all points are in front of their planes, in place; return
    the number of sweeps.

    Arguments are described in `kernels.numpy.strain`.
    """
    count = len(starts) - 1
    for sweep in range(sweeps):
        worst, lack, part = 0.0, 0.0, further if 5 * sweep < 4 * sweeps else 1.0
        for number in range(count):
            s = number if sweep % 2 == 0 else count - 1 - number
            for e in range(starts[s], starts[s + 1]):
                i, j = edges[e, 0], edges[e, 1]
                a, b, c = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                length, moves = np.sqrt(a * a + b * b + c * c), weights[i] + weights[j]
                if length > longest[e] and moves > 0.0:
                    over = length - longest[e]
                    worst = max(worst, over / longest[e])
                    pull = part * over / (length * moves)
                    x[i, 0] += weights[i] * pull * a
                    x[i, 1] += weights[i] * pull * b
                    x[i, 2] += weights[i] * pull * c
                    x[j, 0] -= weights[j] * pull * a
                    x[j, 1] -= weights[j] * pull * b
                    x[j, 2] -= weights[j] * pull * c
        for p in range(len(corners)):
            height, moves = -least[p], 0.0
            for k in range(4):
                v, share = corners[p, k], shares[p, k]
                height += share * (normals[p, 0] * x[v, 0] + normals[p, 1] * x[v, 1] + normals[p, 2] * x[v, 2])
                moves += share * share * weights[v]
            if height < 0.0 and moves > 0.0:
                lack = max(lack, -height)
                for k in range(4):
                    v = corners[p, k]
                    push = -height / moves * shares[p, k] * weights[v]
                    for axis in range(3):
                        x[v, axis] += push * normals[p, axis]
        if worst <= close and lack <= room:
            return sweep + 1
    return sweeps

# SPDX-License-Identifier: GPL-3.0-or-later
"""The stretch that a step adds to a mesh: one number that tells whether the step was too long, and an energy."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray

FEW_EDGES = ((1e-2, 0.21), (1e-3, 2.0))
"""Pairs of a part of all edges and the largest stretch beyond it, over the stretch that the settings allow [-]. Single
edges of wrinkles turn further than a linear step can follow, and are shortened at its end (`turned_edges`): a smaller
step for the whole cloth because of them costs more than it improves."""
SINGLE_EDGE_FACTOR = 4.0
"""Largest stretch of the longest edge, over the stretch that the settings allow [-]: beyond that a spike is visible."""
SPIKE_GROWTH = 0.3
"""Largest growth of single edges in a step, over their rest lengths [-]; edges of a fold grow by a quarter."""
COARSE_EDGES = 1000
"""Smallest number of edges of a cloth for which the longest ones are taken apart."""
UNSETTLED_FACTOR = 0.1
"""Largest stretch in such a coarse cloth if contacts still changed after the last solve, over the stretch that the
settings allow [-]."""


def of_most(added: FloatArray, enough: float = 0.0, *, settled: bool = True) -> float:
    """Return the stretch of most edges [-], to be compared with the stretch that the settings allow.

    It is the largest stretch over `SINGLE_EDGE_FACTOR`, or the largest without a few edges over the factor of
    `FEW_EDGES`, whichever is more.

    Args:
        added: (E,) stretch that the step adds to each edge [-].
        enough: results below it need not be exact [-].
        settled: whether contacts no longer changed after the last solve.
    """
    longest = float(added.max(initial=0.0))
    if len(added) < COARSE_EDGES:
        return longest if settled else longest / UNSETTLED_FACTOR
    result = longest / SINGLE_EDGE_FACTOR
    large = added[added > enough * min(times for _, times in FEW_EDGES)]
    for part, times in FEW_EDGES:
        rank = int(part * len(added)) + 1
        if len(large) >= rank:
            result = max(result, float(np.partition(large, -rank)[-rank]) / times)
    return result


def is_spiky(added: FloatArray) -> bool:
    """Return whether a few edges are stretched so much more than the others that a spike is visible.

    added: (E,) stretch that the step adds to each edge [-].
    """
    if not len(added) or added.max() <= SPIKE_GROWTH:
        return False
    return int(np.count_nonzero(added > SPIKE_GROWTH)) <= FEW_EDGES[0][0] * len(added)


def edge_stiffness(edges: IntArray, stiffness: FloatArray) -> FloatArray:
    """Return an estimate of the stiffness of edges (E, 2) as springs (E,) [N/m].

    stiffness: (V,) trace of each vertex's block of K [N/m]. The edges of a vertex share it; a spring adds to both ends.
    """
    share = stiffness / np.maximum(np.bincount(edges.ravel(), minlength=len(stiffness)), 1)
    mean: FloatArray = 0.5 * (share[edges[:, 0]] + share[edges[:, 1]])
    return mean


def energy(longer: FloatArray, stiffness: FloatArray) -> float:
    """Return an estimate of the energy of edges that grow by `longer` (E,) [m], with `stiffness` (E,) [N/m], in [J]."""
    grown = np.maximum(longer, 0.0)
    grown *= grown
    grown *= stiffness
    return 0.5 * float(np.sum(grown))

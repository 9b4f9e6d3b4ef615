# SPDX-License-Identifier: GPL-3.0-or-later
"""The stretch that a step adds to a mesh: one number that tells whether the step was too long, and an energy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray

FEW_EDGES = ((1e-2, 0.21), (1e-3, 2.0))
"""Pairs of a part of all edges and the largest stretch beyond it, over the stretch that the settings allow [-]. Single
edges of wrinkles turn further than a linear step can follow, and are shortened at its end (`turned_edges`) or pull
in the next one: a smaller step for the whole cloth because of them costs more than it improves."""
DRIVEN_EDGES = ((1e-2, 0.1), (1e-3, 0.4))
"""The same in steps in which pins or colliders move the cloth [-]: what turned edges keep adds up from step to step as
long as they do."""
SINGLE_EDGE_FACTOR = 4.0
"""Largest stretch of the longest edge, over the stretch that the settings allow [-]: beyond that a spike is visible."""
SPIKE_GROWTH = 0.3
"""Largest growth of single edges in a step, over their rest lengths [-]; edges of a fold grow by a quarter."""
COARSE_EDGES = 1000
"""Smallest number of edges of a cloth for which the longest ones are taken apart."""
UNSETTLED_FACTOR = 0.1
"""Largest stretch in such a coarse cloth if contacts still changed after the last solve, over the stretch that the
settings allow [-]."""


def added_strain(before: FloatArray, after: FloatArray, rest_lengths: FloatArray) -> FloatArray:
    """Return the stretch (E,) [-] that a step adds to each edge, from its lengths `before` and `after` (E,) [m].

    An edge that was shorter than its rest length may go back to that: a shorter step would not prevent it.
    """
    added: FloatArray = after - np.maximum(before, rest_lengths)
    added /= rest_lengths
    return added


def largest_of_most(added: FloatArray, cloths: Sequence[slice], enough: float = 0.0, *, settled: bool = True,
                    driven: bool = False) -> float:
    """Return the largest `of_most` of several cloths, whose edges are the ranges `cloths` of `added` (E,) [-]."""
    found = [of_most(added[span], enough, settled=settled, driven=driven) for span in cloths]
    return float(np.max(found, initial=0.0))


def any_spiky(added: FloatArray, cloths: Sequence[slice]) -> bool:
    """Return whether any of several cloths, whose edges are the ranges `cloths` of `added` (E,) [-], is spiky."""
    return any(is_spiky(added[span]) for span in cloths)


def of_most(added: FloatArray, enough: float = 0.0, *, settled: bool = True, driven: bool = False) -> float:
    """Return the stretch of most edges [-], to be compared with the stretch that the settings allow.

    It is the largest stretch over `SINGLE_EDGE_FACTOR`, or the largest without a few edges over the factor of
    `FEW_EDGES` or `DRIVEN_EDGES`, whichever is more.

    Args:
        added: (E,) stretch that the step adds to each edge [-].
        enough: results below it need not be exact [-].
        settled: whether contacts no longer changed after the last solve.
        driven: whether pins or colliders move the cloth.
    """
    longest = float(added.max(initial=0.0))
    if len(added) < COARSE_EDGES:
        return longest if settled else longest / UNSETTLED_FACTOR
    result, few = longest / SINGLE_EDGE_FACTOR, DRIVEN_EDGES if driven else FEW_EDGES
    for part, times in few:
        rank, least = int(part * len(added)) + 1, max(enough, result) * times
        if longest <= least:                                         # a smaller one would not change the result
            continue
        large = added > least
        if np.count_nonzero(large) >= rank:
            result = max(result, float(np.partition(added[large], -rank)[-rank]) / times)
    return result


def is_spiky(added: FloatArray) -> bool:
    """Return whether a few edges are stretched so much more than the others that a spike is visible.

    added: (E,) stretch that the step adds to each edge [-].
    """
    if not len(added) or added.max() <= SPIKE_GROWTH:
        return False
    return int(np.count_nonzero(added > SPIKE_GROWTH)) <= FEW_EDGES[0][0] * len(added)


def energy(longer: FloatArray, stiffness: FloatArray) -> float:
    """Return an estimate of the energy of edges that grow by `longer` (E,) [m], with `stiffness` (E,) [N/m], in [J]."""
    grown = np.maximum(longer, 0.0)
    grown *= grown
    grown *= stiffness
    return 0.5 * float(np.sum(grown))

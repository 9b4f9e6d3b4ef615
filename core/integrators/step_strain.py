# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a step stretches a mesh: in one number that says whether the step was too long, and as energy."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray

OF_FEW = ((1e-2, 0.21), (1e-3, 2.0))
"""Part of the edges that may be stretched by more in a step than the others, and by how many times as much as asked for
the others may be [-]. One edge in a hundred shows as cloth that is longer. Single ones do not: where a fine sheet folds
or hits a solid, edges of its wrinkles turn by more than a linear step can follow, and are brought back at its end
(`integrators/turned_edges.py`). To halve the step for all on their behalf takes three times as long, and what moves
with less damping then wrinkles more: a hanging sheet of 200^2 vertices never found back from a sixteenth of a frame."""
SINGLE = 4.0
"""How many times as much the longest may be stretched [-]: beyond that a spike shows."""
SPIKE = 0.3
"""Growth of single edges in a step, over their rest length, up to which they are left to the next one [-]: cloth that
is pressed by cloth had some of 1.4 to 1.9 times their length. Those of a fold grow by a quarter."""
COUNTS = 1000
"""Edges of a cloth below which there are no few: none is stretched by more than asked."""
UNSETTLED = 0.1
"""Part of that by which one may be stretched there in a step whose contacts changed to its last solve [-]: single edges
grew by four tenths where sheets that lie on one another hit the floor. In a fine mesh that costs steps, and betters
nothing that shows."""


def of_most(added: FloatArray, enough: float = 0.0, *, settled: bool = True) -> float:
    """What a step adds to the stretch of most edges, of what it adds to each, `added` (E,) [-], to be compared with
    what it may: the largest over `SINGLE`, or what all but a few are stretched by over what `OF_FEW` lets them, if that
    is more. What is not above `enough` need not be exact. `settled`: whether contacts no longer changed in the step.
    """
    longest = float(added.max(initial=0.0))
    if len(added) < COUNTS:
        return longest if settled else longest / UNSETTLED
    result = longest / SINGLE
    large = added[added > enough * min(times for _, times in OF_FEW)]
    for part, times in OF_FEW:
        rank = int(part * len(added)) + 1
        if len(large) >= rank:
            result = max(result, float(np.partition(large, -rank)[-rank]) / times)
    return result


def is_spiky(added: FloatArray) -> bool:
    """Whether a few edges are stretched by so much more than the others, of what a step adds to each, `added` (E,) [-],
    that a spike shows."""
    if not len(added) or added.max() <= SPIKE:
        return False
    return int(np.count_nonzero(added > SPIKE)) <= OF_FEW[0][0] * len(added)


def edge_stiffness(edges: IntArray, stiffness: FloatArray) -> FloatArray:
    """About how stiff edges (E, 2) are, as if they were springs (E,) [N/m].

    stiffness (V,) [N/m]: the trace of each vertex's block of K, which its edges share; a spring adds its own to both.
    """
    share = stiffness / np.maximum(np.bincount(edges.ravel(), minlength=len(stiffness)), 1)
    mean: FloatArray = 0.5 * (share[edges[:, 0]] + share[edges[:, 1]])
    return mean


def energy(longer: FloatArray, stiffness: FloatArray) -> float:
    """About the energy [J] that edges take where they grow, each by `longer` (E,) [m]; stiffness (E,) [N/m]: theirs."""
    grown = np.maximum(longer, 0.0)
    grown *= grown
    grown *= stiffness
    return 0.5 * float(np.sum(grown))

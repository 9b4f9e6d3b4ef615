# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a step stretches a mesh: in one number that says whether the step was too long, and as energy."""

from __future__ import annotations

import numpy as np

from .arrays import FloatArray, IntArray

FEW = 1000
"""Edges of which one may be stretched by more in a step than the others."""
MORE = 2.0
"""How many times as much [-]: where a fine sheet hits a solid, single edges turn by more than a linear step can follow.
To halve the step for all on their behalf takes three times as long, and they are back at their length a frame later."""


def of_most(added: FloatArray, enough: float = 0.0) -> float:
    """What a step adds to the stretch of most edges, of what it adds to each, `added` (E,) [-]: the largest of all but
    one in `FEW`, or that of the few over `MORE` if it is more; the largest of all where that is not above `enough`.
    """
    most, few = float(added.max(initial=0.0)), len(added) // FEW
    if few == 0 or most <= enough:
        return most
    return max(most / MORE, float(np.partition(added, -1 - few)[-1 - few]))


def energy(longer: FloatArray, edges: IntArray, stiffness: FloatArray) -> float:
    """About the energy [J] that edges (E, 2) take where they grow, each by `longer` (E,) [m], as if they were springs.

    stiffness (V,) [N/m]: the trace of each vertex's block of K, which its edges share; a spring adds its own to both.
    """
    share = stiffness / np.maximum(np.bincount(edges.ravel(), minlength=len(stiffness)), 1)
    grown = np.maximum(longer, 0.0)
    return 0.25 * float(np.sum(grown * grown * (share[edges[:, 0]] + share[edges[:, 1]])))

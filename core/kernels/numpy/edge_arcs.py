# SPDX-License-Identifier: GPL-3.0-or-later
"""Compute the changes of edges from tangents to arcs; the theory is in `core/model/arc_ends.py`."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas.edge_arcs import back_to_the_arc


def back_to_arcs(edges: IntArray, start: FloatArray, quaternions: FloatArray, end: FloatArray, least: float
                 ) -> FloatArray:
    """Return the changes (E, 3) [m] of edges (E, 2) that bring them back to arcs, as of `back_to_the_arc`.

    Args:
        start, end: (V, 3) positions at the start of the step and at the end of its solve [m].
        quaternions: (V, 4) expected rotations of the vertices; an edge takes the mean of its ends.
        least: smallest cosine that is taken [-].
    """
    i, j = edges.T
    before, after = (tuple((x.take(j, axis=0) - x.take(i, axis=0)).T) for x in (start, end))
    turn = tuple((quaternions.take(i, axis=0) + quaternions.take(j, axis=0)).T)
    return np.column_stack(back_to_the_arc(before, turn, after, least))

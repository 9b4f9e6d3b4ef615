# SPDX-License-Identifier: GPL-3.0-or-later
"""Bring the end of a linear step from tangents to arcs.

A step is linear in the motion: an edge that turns by an angle phi further than expected goes along the tangent of its
arc. Its forces take it to be as long as its part along the expected direction n, |e| cos phi, and at that length they
are in balance. It is longer by phi^2 / 2, and in the next step this pulls as if the cloth were stretched, all across
it. The end is therefore shifted by the d that minimises

    1/2 d . M d + h^2 / 2 sum_e k_e |d_j - d_i - t_e|^2,      t_e = (cos phi - 1) e

with the masses M and the stiffness k of edges: the global step of projective dynamics of springs (Liu et al. 2013),
whose lengths are those of the solve. Its matrix is constant, and factored once for each step size. Velocities stay: a
shift of 1 mm in a step would be one of 2 cm/s.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..linear.preconditioners.constant_matrix import ConstantMatrix, ScalarElements
from .turned_start import TurnedStart


class ArcEnds:
    """The shifts of one system.

    Args:
        edges: (E, 2) of its cloths.
        mass: (V,) [kg].
        positions: (V, 3) at rest [m].
        stiffness: returns that of the edges (E,) [N/m].
    """

    def __init__(self, edges: IntArray, mass: FloatArray, positions: FloatArray,
                 stiffness: Callable[[], FloatArray]) -> None:
        self._edges, self._mass, self._positions, self._made_stiffness = edges, mass, positions, stiffness

    @cached_property
    def _stiffness(self) -> FloatArray:
        """Return the stiffness of edges as a column (E, 1) [N/m]."""
        return self._made_stiffness()[:, None]

    @cached_property
    def _matrix(self) -> ConstantMatrix:
        spring = np.array([[1.0, -1.0], [-1.0, 1.0]])
        stiffness = self._stiffness[:, :, None] * spring
        return ConstantMatrix([ScalarElements(self._edges, stiffness, np.zeros_like(stiffness))], self._positions)

    def shift(self, start: TurnedStart, x: FloatArray, h: float, held: IntArray, least: float) -> FloatArray:
        """Return the shift d (V, 3) [m] of the end of a step.

        Args:
            start: of the step, with the expected rotations.
            x: (V, 3) end of the solve [m].
            h: step size of the solve [s].
            held: vertices (n,) that stay.
            least: smallest cos phi that is taken [-].
        """
        i, j = self._edges.T
        t = current().edge_arcs.back_to_arcs(self._edges, start.x, start.quaternions, x, least)
        t *= h * h * self._stiffness
        sums = current().group_sums.sums
        pull = sums(j[:, None], t, len(x)) - sums(i[:, None], t, len(x))
        d: FloatArray = self._matrix.factor(h, self._mass, held, single=False).solve(pull)
        d[held] = 0.0
        return d

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending of threads by the curvature at a vertex between its two neighbours: Kim 2008 (000).

Columns are e = x2 - x0 and the second difference c, which is x2 - 2 x1 + x0 on a thread of equal segments dl. For
segments of rest lengths a and b it is c = dl ((x2 - x1)/b - (x1 - x0)/a) with dl = (a + b)/2, zero for a straight
thread.

    curvature  kappa = 2 |c| / (dl |e|)                                            [1/m]
    energy     psi   = k_b dl kappa^2 / 2 = q |c|^2 / |e|^2,   q = 2 k_b / dl      [J]
    stress     P_c   = 2 q c / |e|^2,    P_e = -2 q |c|^2 e / |e|^4                [N]

k_b [N m^2] is the bending stiffness of the thread; in a sheet it is B times the spacing of threads. The source prints
f_(i+1) = k_b kappa^2 dl (c / |c|^2 - e / |e|^2); the force of the energy has the opposite sign. No term divides by |c|,
so a straight thread has no force and a finite stiffness.

Between two segments at the angle theta, kappa is 2 tan(theta/2) / dl, which is infinite for a thread that is folded
back. For a finite energy |e|^2 is replaced by |e|^2 + s, with sqrt(s) = FOLDED_SPAN times the length of e at rest. This
changes the stiffness of a straight thread by FOLDED_SPAN^2.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..component_algebra import Columns, add_blocks, direction, dot, identity_block, length, outer, scale, transpose
from ..stencil import Condition, ElementForce, Parameters, Stencil, Tangent

FOLDED_SPAN = 1e-2
"""Length of e that the energy uses for a thread folded back onto itself, over the length at rest [-]."""


def curvature_force(vertices: IntArray, before: FloatArray, after: FloatArray, stiffness: FloatArray,
                    damping: float) -> ElementForce:
    """Return bending at the middle vertices of `vertices` (E, 3).

    Args:
        before, after: rest lengths of the two segments (E,) [m].
        stiffness: k_b (E,) [N m^2].
        damping: tau [s].
    """
    dl = 0.5 * (before + after)
    weights = np.zeros((len(vertices), 3, 2))
    weights[:, :, 0] = (-1.0, 0.0, 1.0)
    weights[:, 0, 1], weights[:, 2, 1] = dl / before, dl / after
    weights[:, 1, 1] = -(weights[:, 0, 1] + weights[:, 2, 1])
    parameters = (2.0 * stiffness / dl, (2.0 * FOLDED_SPAN * dl) ** 2)
    return ElementForce(Stencil(vertices, weights), ThreadCurvature(), parameters, damping)


class ThreadCurvature:
    """Parameters: q [N m], s [m^2]."""

    name = "curvature"
    constant_tangent = False
    linear = False
    stiffness_parameters = {"bend": (0,)}

    def energy(self, F: Columns, p: Parameters) -> FloatArray:
        """Return psi (E,) [J]."""
        e, c = F
        q, s = p
        return q * dot(c, c) / (dot(e, e) + s)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """Return P_e, P_c [N]."""
        e, c = F
        q, s = p
        square = dot(e, e) + s
        return (scale(-2.0 * q * dot(c, c) / (square * square), e), scale(2.0 * q / square, c))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return the exact H, which is indefinite where the thread is bent."""
        e, c = F
        q, s = p
        square = dot(e, e) + s
        bent = 2.0 * q * dot(c, c) / (square * square)
        mixed = outer(-4.0 * q / (square * square), e, c)
        along = add_blocks(identity_block(-bent), outer(4.0 * bent / square, e, e))
        return ((along, mixed), (transpose(mixed), identity_block(2.0 * q / square)))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Return 2 q J^T J with J = dw/dF of w = c / sqrt(|e|^2 + s) and psi = q |w|^2; it is positive semi-definite.
        """
        e, c = F
        q, s = p
        square = dot(e, e) + s
        mixed = outer(-2.0 * q / (square * square), e, c)
        along = outer(2.0 * q * dot(c, c) / (square * square * square), e, e)
        return ((along, mixed), (transpose(mixed), identity_block(2.0 * q / square)))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """Return the condition |w| = kappa dl / 2; a straight thread has no direction to be damped along."""
        e, c = F
        q, s = p
        square = dot(e, e) + s
        size = np.sqrt(square)
        return ((2.0 * q, (scale(-length(c) / (square * size), e), scale(1.0 / size, direction(c)))),)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending of threads (000): the curvature at a vertex between its two neighbours on a thread.

Columns are e = x2 - x0 and the second difference c, which is x2 - 2 x1 + x0 on a thread of equal segments dl. On
segments of rest lengths a and b it is c = dl ((x2 - x1)/b - (x1 - x0)/a) with dl = (a + b)/2: zero when straight.

    curvature  kappa = 2 |c| / (dl |e|)                                            [1/m]
    energy     psi   = k_b dl kappa^2 / 2 = q |c|^2 / |e|^2,   q = 2 k_b / dl      [J]
    stress     P_c   = 2 q c / |e|^2,    P_e = -2 q |c|^2 e / |e|^4                [N]

with k_b [N m^2] the stiffness of the thread: of a sheet, B times the threads' distance. The slide prints f_(i+1) = k_b
kappa^2 dl (c / |c|^2 - e / |e|^2); the energy gives it the opposite sign. Nothing divides by |c|, so a straight thread
has no force and a finite stiffness. Between two segments that make the angle theta, kappa is 2 tan(theta/2) / dl: a
thread that is folded back costs more than any force has. So that it can be computed, |e|^2 stands for |e|^2 + s with
s the square of a hundredth of the length of e at rest: 1e-4 of the stiffness.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..component_algebra import Columns, add_blocks, direction, dot, identity_block, length, outer, scale, transpose
from ..stencil import Condition, ElementForce, Parameters, Stencil, Tangent

FOLDED_SPAN = 1e-2
"""Length of e of a thread that is folded back, which the energy knows as no shorter, over that at rest [-]."""


def curvature_force(vertices: IntArray, before: FloatArray, after: FloatArray, stiffness: FloatArray,
                    damping: float) -> ElementForce:
    """Bending at the middle ones of vertices (E, 3).

    Args:
        before, after: rest lengths of the segments on both sides (E,) [m]; stiffness: k_b (E,) [N m^2].
        damping: [s].
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
        """psi (E,) [J]."""
        e, c = F
        q, s = p
        return q * dot(c, c) / (dot(e, e) + s)

    def stress(self, F: Columns, p: Parameters) -> Columns:
        """P_e, P_c."""
        e, c = F
        q, s = p
        square = dot(e, e) + s
        return (scale(-2.0 * q * dot(c, c) / (square * square), e), scale(2.0 * q / square, c))

    def tangent(self, F: Columns, p: Parameters) -> Tangent:
        """Exact; indefinite where the thread is bent."""
        e, c = F
        q, s = p
        square = dot(e, e) + s
        bent = 2.0 * q * dot(c, c) / (square * square)
        mixed = outer(-4.0 * q / (square * square), e, c)
        along = add_blocks(identity_block(-bent), outer(4.0 * bent / square, e, e))
        return ((along, mixed), (transpose(mixed), identity_block(2.0 * q / square)))

    def projected_tangent(self, F: Columns, p: Parameters) -> Tangent:
        """2 q J^T J with J = dw/dF of w = c / sqrt(|e|^2 + s), psi = q |w|^2: what is semi-definite by form."""
        e, c = F
        q, s = p
        square = dot(e, e) + s
        mixed = outer(-2.0 * q / (square * square), e, c)
        along = outer(2.0 * q * dot(c, c) / (square * square * square), e, e)
        return ((along, mixed), (transpose(mixed), identity_block(2.0 * q / square)))

    def conditions(self, F: Columns, p: Parameters) -> tuple[Condition, ...]:
        """|w|, which is kappa dl / 2; a straight thread has no direction to be damped along."""
        e, c = F
        q, s = p
        square = dot(e, e) + s
        size = np.sqrt(square)
        return ((2.0 * q, (scale(-length(c) / (square * size), e), scale(1.0 / size, direction(c)))),)

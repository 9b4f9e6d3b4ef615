# SPDX-License-Identifier: GPL-3.0-or-later
"""The constant matrix of 004 (projective dynamics) for any forces that are a stencil and a law.

    K_ij = sum_c omega_c w_ic w_jc,      omega_c = |H_cc| at rest (Frobenius norm)

For a law whose stiffness acts along one direction per column, such as stretch and shear of 001 or a spring, omega_c is
that stiffness; where it acts along all three, such as a soft pin, it is up to sqrt(3) times that.

Bending is left out: it reaches two rings of vertices, which would double every separator of the factor, and adds
B / (k dx^2), less than a thousandth, to what the plane of the cloth has already.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..linear.preconditioners.constant_matrix import ScalarElements
from ..stencils.stencil import ElementForce

WIDEST = 3
"""Elements of more vertices than this are left out: what bends."""


def scalar_elements(forces: Sequence[ElementForce], x: FloatArray) -> list[ScalarElements]:
    """The forces' parts of the constant matrix, read off at x (V, 3) [m]."""
    families = []
    for force in forces:
        if force.stencil.vertices.shape[1] <= WIDEST:
            K = _weights(force, x)
            families.append(ScalarElements(force.stencil.vertices, K, force.damping * K))
    return families


def _weights(force: ElementForce, x: FloatArray) -> FloatArray:
    """sum_c omega_c w_ic w_jc (E, k, k) [N/m]."""
    H = force.law.projected_tangent(force.stencil.gather(x), force.parameters)
    w = force.stencil.weights
    total = np.zeros((len(w), w.shape[1], w.shape[1]))
    for c in range(w.shape[2]):
        omega = np.sqrt(sum(entry * entry for row in H[c][c] for entry in row))
        total += (omega[:, None] * w[:, :, c])[:, :, None] * w[:, None, :, c]
    return total

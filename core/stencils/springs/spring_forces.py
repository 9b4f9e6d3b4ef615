# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs of a fabric, with or without a compression of its own."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..stencil import ElementForce, Stencil
from .spring import Spring
from .two_sided_spring import TwoSidedSpring


def spring_force(stencil: Stencil, k: FloatArray, c: FloatArray | None, rest: FloatArray, damping: tuple[float, float]
                 ) -> ElementForce:
    """Return springs.

    Args:
        stencil: their elements.
        k, c: (E,) stiffness against tension and against compression [N/m]; c is None if they do not differ.
        rest: (E,) lengths [m].
        damping: tau [s] of tension and of compression; the first counts for both if c is None.
    """
    if c is None:
        return ElementForce(stencil, Spring(), (k, rest), damping[0])
    most, one = max(damping), np.ones(len(rest))
    tk, tc = (tau / most if most else 1.0 for tau in damping)
    return ElementForce(stencil, TwoSidedSpring(bool((10.0 * c < k).any())), (k, c, tk * one, tc * one, rest), most)

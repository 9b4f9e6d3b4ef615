# SPDX-License-Identifier: GPL-3.0-or-later
"""Conjugate gradients with operators that are functions of Python. The compiled kernels make a solve one call."""

from __future__ import annotations

from ...arrays import FloatArray
from ..formulas import conjugate_gradients as formulas
from ..formulas.linear_equations import Equations
from ..layouts import OperatorArrays


def solve(equations: Equations, arrays: tuple[OperatorArrays | None, ...], b: FloatArray, z: FloatArray,
          start: FloatArray, guess: bool, scale: float, good: float, tolerance: float, limit: int
          ) -> tuple[FloatArray, int, float, bool, bool, float]:
    """Return the solution and how the solve ended, as of `formulas.conjugate_gradients`.

    arrays: what compiled kernels take for the operators A, P^-1 and S; None of one that they do not have. Not read
    here.
    """
    return formulas.solve(equations, b, z, start, guess, scale, good, tolerance, limit)

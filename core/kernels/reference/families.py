# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that share a stencil, as a whole: their energy, force, stiffness and damping, law by law on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray

if TYPE_CHECKING:
    from ...linear.block_matrix import BlockMatrix
    from ...stencils.stencil import ElementForce, Stencil

Family = Sequence["ElementForce"]
"""Forces with one stencil."""


def energy(family: Family, x: FloatArray) -> float:
    """The sum of psi [J] at x (V, 3)."""
    F = family[0].stencil.gather(x)
    return float(sum(np.sum(force.law.energy(F, force.parameters)) for force in family))


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """total (V, 3) [N] += f at x (V, 3)."""
    stencil = family[0].stencil
    F = stencil.gather(x)
    P = _sum([np.array(force.law.stress(F, force.parameters)) for force in family])
    total -= stencil.scatter(P, len(x))


def add_stiffness(family: Family, x: FloatArray, factor: float, matrix: BlockMatrix, *, exact: bool) -> None:
    """matrix += factor K, K = -df/dx at x (V, 3), semi-definite element by element unless `exact`."""
    F = family[0].stencil.gather(x)
    H = _sum([np.array((f.law.tangent if exact else f.law.projected_tangent)(F, f.parameters)) for f in family])
    assemble(family[0].stencil, H, factor, matrix)


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray) -> None:
    """total (V, 3) [N] += the damping of those that are damped, at x and velocities v (V, 3)."""
    stencil = family[0].stencil
    F, rate = stencil.gather(x), stencil.gather(v)
    total -= stencil.scatter(_sum([np.array(f.damping_stress(F, rate)) for f in family if f.damping]), len(x))


def add_damping(family: Family, x: FloatArray, factor: float, matrix: BlockMatrix) -> None:
    """matrix += factor D, D = -df/dv of those that are damped, at x (V, 3)."""
    F = family[0].stencil.gather(x)
    assemble(family[0].stencil, _sum([np.array(f.damping_tangent(F)) for f in family if f.damping]), factor, matrix)


def assemble(stencil: Stencil, H: FloatArray, factor: float, matrix: BlockMatrix) -> None:
    """matrix += factor sum_cd w_ic w_jd H_cd of elements with H (C, C, 3, 3, E)."""
    matrix.add(matrix.pattern.family(stencil.vertices), stencil.blocks(H), factor)


def _sum(parts: list[FloatArray]) -> FloatArray:
    return reduce(np.add, parts)

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


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray) -> None:
    """total (V, 3) [N] += the damping of those that are damped, at x and velocities v (V, 3)."""
    stencil = family[0].stencil
    F, rate = stencil.gather(x), stencil.gather(v)
    total -= stencil.scatter(_sum([np.array(f.damping_stress(F, rate)) for f in family if f.damping]), len(x))


def add_tangents(family: Family, x: FloatArray, factor: float, matrix: BlockMatrix, *, exact: bool,
                 damped_at: FloatArray, damping: float, common: FloatArray | None) -> None:
    """matrix += factor K + damping D + the blocks of `common`.

    K = -df/dx at x (V, 3), semi-definite element by element unless `exact`; D = -df/dv at `damped_at` (V, 3) of those
    that are damped; see `add_common`.
    """
    stencil = family[0].stencil
    H = _tangent_sum(family, x, factor, exact, damped_at, damping)
    blocks = stencil.blocks(H)
    if common is not None:
        blocks += (common[:, :, None] * common[:, None, :])[:, None, None]
    matrix.add(matrix.pattern.family(stencil.vertices), blocks)


def tangents(family: Family, x: FloatArray, factor: float, *, exact: bool, damped_at: FloatArray,
             damping: float) -> FloatArray:
    """factor H + damping D of each element, to be kept: (E, C (C + 1) / 2, 9), blocks c <= d row by row."""
    H = _tangent_sum(family, x, factor, exact, damped_at, damping)
    C = len(H)
    upper = np.stack([H[c, d].reshape(9, -1) for c in range(C) for d in range(c, C)])
    return upper.transpose(2, 0, 1)                                # each entry's numbers side by side, for products


def _tangent_sum(family: Family, x: FloatArray, factor: float, exact: bool, damped_at: FloatArray,
                 damping: float) -> FloatArray:
    """(C, C, 3, 3, E)"""
    stencil = family[0].stencil
    F = stencil.gather(x)
    tangents = [(f.law.tangent if exact else f.law.projected_tangent)(F, f.parameters) for f in family]
    H = factor * _sum([np.array(tangent) for tangent in tangents])
    damped = [force for force in family if force.damping and damping]
    if damped:
        G = F if x is damped_at else stencil.gather(damped_at)
        H += damping * _sum([np.array(force.damping_tangent(G)) for force in damped])
    return H


def add_common(stencil: Stencil, common: FloatArray, matrix: BlockMatrix) -> None:
    """matrix += q q^T between every two vertices of each element, and of each with itself; q = common (E, 3)."""
    E, k = stencil.vertices.shape
    blocks = (common[:, :, None] * common[:, None, :])[:, None, None]
    matrix.add(matrix.pattern.family(stencil.vertices), np.broadcast_to(blocks, (E, k, k, 3, 3)))


def _sum(parts: list[FloatArray]) -> FloatArray:
    return reduce(np.add, parts)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a system that depend on positions alone: every element force, and weight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np

from .arrays import FloatArray
from .linear.block_matrix import BlockMatrix, BlockPattern
from .stencils.stencil import ElementForce, Stencil, add_columns, add_tangents


class ElasticForces:
    """Energy, force and stiffness of element forces and a constant weight (V, 3) [N].

    `constant` is the stiffness of the forces whose law has a constant tangent, see `constant_stiffness`.
    """

    def __init__(self, forces: Sequence[ElementForce], pattern: BlockPattern, weight: FloatArray,
                 constant: BlockMatrix) -> None:
        self._pattern, self._weight, self._constant = pattern, weight, constant
        self._families = by_stencil(forces)

    def energy(self, x: FloatArray) -> float:
        """Elastic energy minus weight . x [J] at x (V, 3)."""
        total = -float(np.sum(self._weight * x))
        for family in self._families:
            F = family[0].stencil.gather(x)
            total += float(sum(np.sum(force.law.energy(F, force.parameters)) for force in family))
        return total

    def force(self, x: FloatArray) -> FloatArray:
        """f = -dE/dx + weight (V, 3) [N] at x (V, 3)."""
        total = self._weight.copy()
        for family in self._families:
            stencil = family[0].stencil
            F = stencil.gather(x)
            P = family[0].law.stress(F, family[0].parameters)
            for force in family[1:]:
                P = add_columns(P, force.law.stress(F, force.parameters))
            total -= stencil.scatter(P, len(x))
        return total

    def magnitude(self, x: FloatArray) -> FloatArray:
        """Sum of the absolute contributions to each entry of `force`: what its rounding error is relative to."""
        total = np.abs(self._weight)
        for family in self._families:
            stencil = family[0].stencil
            F = stencil.gather(x)
            sizes = Stencil(stencil.vertices, np.abs(stencil.weights))
            for force in family:
                P = force.law.stress(F, force.parameters)
                total += sizes.scatter(tuple((np.abs(a), np.abs(b), np.abs(c)) for a, b, c in P), len(x))
        return total

    def stiffness(self, x: FloatArray, factor: float, *, exact: bool = False) -> BlockMatrix:
        """`factor` times K = -df/dx at x (V, 3), each element's part made positive semi-definite unless `exact`."""
        matrix = BlockMatrix(self._pattern, factor * self._constant.data)
        for family in self._families:
            changing = [force for force in family if not force.law.constant_tangent]
            if changing:
                stencil = family[0].stencil
                F = stencil.gather(x)
                tangents = [(f.law.tangent if exact else f.law.projected_tangent)(F, f.parameters) for f in changing]
                H = reduce(add_tangents, tangents)
                matrix.add(self._pattern.family(stencil.vertices), stencil.blocks(H), factor)
        return matrix


def by_stencil(forces: Iterable[ElementForce]) -> list[list[ElementForce]]:
    """Forces that share a stencil together, as they gather and assemble once."""
    families: dict[int, list[ElementForce]] = {}
    for force in forces:
        families.setdefault(id(force.stencil), []).append(force)
    return list(families.values())


def constant_stiffness(forces: Sequence[ElementForce], pattern: BlockPattern) -> BlockMatrix:
    """K = -df/dx of the forces whose law has a constant tangent."""
    matrix = BlockMatrix(pattern)
    for force in forces:
        if force.law.constant_tangent:
            F = force.stencil.gather(np.zeros((pattern.vertex_count, 3)))
            matrix.add(pattern.family(force.stencil.vertices),
                       force.stencil.blocks(force.law.projected_tangent(F, force.parameters)))
    return matrix

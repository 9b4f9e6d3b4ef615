# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a system that depend on positions alone: every element force, and weight."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .arrays import FloatArray
from .kernels import current
from .linear.block_matrix import BlockMatrix, BlockPattern
from .stencils.stencil import ElementForce, Stencil, scalar_blocks


class ElasticForces:
    """Energy, force and stiffness of element forces and a constant weight (V, 3) [N].

    Forces whose stiffness is constant are in the scalar part of the matrix, see `constant_stiffness`.
    """

    def __init__(self, forces: Sequence[ElementForce], pattern: BlockPattern, weight: FloatArray,
                 constant: FloatArray, linear: FloatArray) -> None:
        self._pattern, self._weight, self._constant, self._linear = pattern, weight, constant, linear
        self._families = by_stencil(forces)
        self._acting = by_stencil(force for force in forces if not force.law.linear)
        self._changing = by_stencil(force for force in forces if not force.law.constant_tangent)

    def energy(self, x: FloatArray) -> float:
        """Elastic energy minus weight . x [J] at x (V, 3)."""
        return sum((current().families.energy(family, x) for family in self._families),
                   start=-float(np.sum(self._weight * x)))

    def force(self, x: FloatArray) -> FloatArray:
        """f = -dE/dx + weight (V, 3) [N] at x (V, 3)."""
        total = self._weight - self._pattern.scalar.product(self._linear, x)
        for family in self._acting:
            current().families.add_force(family, x, total)
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

    def stiffness(self, x: FloatArray, factor: float, *, exact: bool = False,
                  room: FloatArray | None = None) -> BlockMatrix:
        """`factor` times K = -df/dx at x (V, 3), each element's part made positive semi-definite unless `exact`.

        `room` (pattern.size,) is overwritten with the numbers: those of a matrix that is no longer needed.
        """
        matrix = BlockMatrix(self._pattern, room, factor * self._constant)
        if room is not None:
            room[:] = 0.0
        for family in self._changing:
            current().families.add_stiffness(family, x, factor, matrix, exact=exact)
        return matrix


def by_stencil(forces: Iterable[ElementForce]) -> list[list[ElementForce]]:
    """Forces that share a stencil together, as they gather and assemble once."""
    families: dict[int, list[ElementForce]] = {}
    for force in forces:
        families.setdefault(id(force.stencil), []).append(force)
    return list(families.values())


def constant_stiffness(forces: Sequence[ElementForce], pattern: BlockPattern, *,
                       damped: bool = False, linear: bool = False) -> FloatArray:
    """Values on the pattern's scalar part of K, K = -df/dx, of the forces whose law has a constant tangent.

    damped: of each times its damping [s]. linear: of linear laws only.
    """
    entries = []
    for force in forces:
        if force.law.constant_tangent:
            factor = force.damping if damped else 1.0
            entries.append((factor if force.law.linear or not linear else 0.0) * scalar_blocks(force))
    return pattern.scalar.assemble(entries)

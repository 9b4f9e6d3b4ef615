# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a system that are linear in the velocity: damping, linearised drag, wind and force fields.

Their matrix D is a part of the step's matrix, which `ElasticForces.stiffness` adds in the same pass over the elements.
Products D u need no matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..description.scene import Scene
from ..kernels import current
from ..linear.block_matrix import BlockPattern
from ..linear.scalar_matrix import ScalarMatrix
from ..loads.air_drag import AirCoefficients, AirDrag
from .field_forces import FieldForces, Step
from .force_families import Family


@dataclass(frozen=True)
class RateForce:
    """f = push - D u at velocities u (V, 3) [m/s], linearised at positions x (V, 3) [m].

    Attributes:
        x: (V, 3) [m].
        push: (V, 3) [N].
        damped: families of damped forces whose stiffness changes.
        damped_constant: families of damped forces of constant stiffness.
        constant: damping times stiffness of these; None where there are none.
        drags: of triangles in air.
        viscous: (V,) [kg/s], None where there is none.
        blocks: (V, 3, 3) of force fields [kg/s], None where there are none.
        pattern: of the matrix.
    """

    x: FloatArray
    push: FloatArray
    damped: Sequence[Family]
    damped_constant: Sequence[Family]
    constant: ScalarMatrix | None
    drags: Sequence[AirDrag]
    viscous: FloatArray | None
    blocks: FloatArray | None
    pattern: BlockPattern

    def product(self, u: FloatArray) -> FloatArray:
        """Return D u (V, 3) [N]."""
        total = np.zeros_like(u)
        for family in self.damped:
            current().element_families.add_damping_force(family, self.x, u, total)
        for drag in self.drags:
            drag.add_force(u, total)
        total = -total
        if self.constant is not None:
            self.constant.add_product(u, total)
        if self.viscous is not None:
            total += self.viscous[:, None] * u
        if self.blocks is not None:
            total += np.einsum("vij,vj->vi", self.blocks, u)
        return total

    def damping(self, x: FloatArray, v: FloatArray) -> FloatArray:
        """Return the force of deformation-rate damping (V, 3) [N] at positions x and velocities v (V, 3)."""
        total = np.zeros_like(x)
        for family in (*self.damped, *self.damped_constant):
            current().element_families.add_damping_force(family, x, v, total)
        return total


class VelocityForces:
    """The forces that are linear in the velocity, at one time.

    Args:
        scene: for its wind.
        fields: its force fields.
        air: triangles that the air drags.
        viscous: (V,) coefficients of viscous drag [kg/s].
        damped: families of damped forces whose stiffness changes.
        damped_constant: families of damped forces of constant stiffness.
        constant: damping times stiffness of these; None where there are none.
        pattern: of the matrix.
    """

    def __init__(self, scene: Scene, fields: FieldForces, air: Sequence[AirCoefficients],
                 viscous: FloatArray, damped: Sequence[Family], damped_constant: Sequence[Family],
                 constant: ScalarMatrix | None, pattern: BlockPattern) -> None:
        self._scene, self._fields, self._air, self._pattern = scene, fields, air, pattern
        self._viscous = viscous if viscous.any() else None
        self._damped, self._damped_constant = damped, damped_constant
        self._constant = constant if damped_constant else None

    def at(self, x: FloatArray, v: FloatArray, time: float, step: Step | None) -> RateForce | None:
        """Return damping, drag and fields, linearised at x and v (V, 3) and `time` [s]; None if there are none.

        `step` is the implicit step that is linearised, None for the forces at x and v.

        Damping of a constant, isotropic stiffness K acts along directions that change, D <= tau K. Implicit is all of
        tau K, which is constant; the excess is taken back as it was at v: -tau K v1 + (tau K - D) v0. The difference
        to -D v1 is (tau K - D)(v1 - v0), an inertia that vanishes with the step.
        """
        field = self._fields.at(time, x, v, step)
        if not (self._air or self._damped or self._damped_constant or self._viscous is not None or field):
            return None
        push = np.zeros_like(x)
        drags = self._add_air(x, v, time, step, push)
        if self._constant is not None:
            self._constant.add_product(v, push)
            for family in self._damped_constant:
                current().element_families.add_damping_force(family, x, v, push)
        if field is not None:
            push += field.push
        return RateForce(x, push, self._damped, self._damped_constant, self._constant, drags, self._viscous,
                         None if field is None else field.blocks, self._pattern)

    def _add_air(self, x: FloatArray, v: FloatArray, time: float, step: Step | None, push: FloatArray
                 ) -> list[AirDrag]:
        """Return the drag of the air, and add its force at rest to `push` (V, 3) [N].

        The quadratic law is taken at the predicted end of the step, where A and n are right to second order. It is
        linearised at the velocities of the step's start, which no smoothing has changed.
        """
        if not self._air:
            return []
        r, h = v, 0.0
        if step is not None and any(air.linear is None for air in self._air):
            x, r, h = step.base + step.h * v, step.v, step.h
        wind = self._scene.wind_at(time, x)
        field = self._fields.air(time, x)
        if field is not None:
            wind = wind + field
        drags = [AirDrag.at(air, x, r - wind, h) for air in self._air]
        for drag in drags:
            drag.add_push(wind, push)
        return drags

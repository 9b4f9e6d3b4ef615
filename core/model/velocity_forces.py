# SPDX-License-Identifier: GPL-3.0-or-later
"""The forces of a system that are linear in the velocity: damping, linearised drag, wind and force fields.

Their matrix D is a part of the step's matrix, which `ElasticForces.stiffness` adds in the same pass over the elements.
Products D u need no matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import FloatArray
from ..description.scene import Scene
from ..kernels import current
from ..linear.block_matrix import BlockPattern
from ..linear.scalar_matrix import ScalarMatrix
from ..loads.air_drag import AirCoefficients, AirDrag
from .field_forces import FieldForces, Step
from .force_families import Family
from .turned_start import TurnedStart


@dataclass(frozen=True)
class RateForce:
    """f = push - D u at velocities u (V, 3) [m/s], linearised at positions x (V, 3) [m].

    Attributes:
        damped_at: where damping is linearised.
        share: rate of a condition over that of u, in an implicit step whose velocity is not the mean of its span [-].
        other: (V, 3) part of the push that is not damping along changing conditions [N].
        base: (V, 3) end of an implicit step without velocity [m], None for the forces at one time.
        damped: families of damped forces whose stiffness changes.
        damped_constant: families of damped forces of constant stiffness.
        constant: damping times stiffness of these; None where there are none.
        drags: of triangles in air.
        viscous: (V,) [kg/s], None where there is none.
        blocks: (V, 3, 3) of force fields [kg/s], None where there are none.
        pattern: of the matrix.
    """

    damped_at: TurnedStart
    share: float
    other: FloatArray
    base: FloatArray | None
    damped: Sequence[Family]
    damped_constant: Sequence[Family]
    constant: ScalarMatrix | None
    drags: Sequence[AirDrag]
    viscous: FloatArray | None
    blocks: FloatArray | None
    pattern: BlockPattern

    @property
    def is_damped(self) -> bool:
        """Return whether elements are damped."""
        return bool(self.damped or self.damped_constant)

    @cached_property
    def push(self) -> FloatArray:
        """Return the force (V, 3) [N] at u = 0."""
        push = self.other.copy()
        if self.base is not None:
            self._add_damping(self.base, 1.0 / self.damped_at.step, push, relative=True)
        return push

    def product(self, u: FloatArray) -> FloatArray:
        """Return D u (V, 3) [N]."""
        total = self.others(u)
        damping = np.zeros_like(u)
        self._add_damping(u, self.share, damping)
        return total - damping

    def damping(self, u: FloatArray) -> FloatArray:
        """Return the damping along changing conditions (V, 3) [N] at u (V, 3) [m/s]."""
        total = self.push - self.other
        self._add_damping(u, self.share, total)
        return total

    def _add_damping(self, u: FloatArray, factor: float, total: FloatArray, *, relative: bool = False) -> None:
        for family in self.damped:
            current().element_families.add_damping_force(family, self.damped_at.x, u, total, factor=factor,
                                                         turn=self.damped_at.turn(family), relative=relative)

    def others(self, u: FloatArray) -> FloatArray:
        """Return D u (V, 3) [N] without damping along changing conditions."""
        total = np.zeros_like(u)
        for drag in self.drags:
            drag.add_force(u, total)
        total = -total
        if self.constant is not None:
            self.constant.add_product(u if self.share == 1.0 else self.share * u, total)
        if self.viscous is not None:
            total += self.viscous[:, None] * u
        if self.blocks is not None:
            total += np.einsum("vij,vj->vi", self.blocks, u)
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

        `step` is the implicit step that is linearised, None for the forces at x and v. In a step, damping resists the
        change from the turned start (`turned_start`), in all directions where the stiffness is constant. Without a
        rotation it acts along directions that change, D <= tau K; all of tau K is in the matrix, the excess in `push`.
        """
        field = self._fields.at(time, x, v, step)
        if not (self._air or self._damped or self._damped_constant or self._viscous is not None or field):
            return None
        push = np.zeros_like(x)
        drags = self._add_air(x, v, time, step, push)
        kernels, start, share = current().element_families, TurnedStart(x, 1.0), 1.0
        base: FloatArray | None = None
        if step is not None and step.start is not None:
            start, share, base = step.start, step.h / step.start.step, step.base
        if base is not None and start.rotation is not None:
            for family in self._damped_constant:
                kernels.add_turned_damping(family, base, None, push, 1.0 / start.step)
                kernels.add_turned_damping(family, start.x, start.turn(family), push, -1.0 / start.step)
        elif self._constant is not None:
            self._constant.add_product(v, push)
            for family in self._damped_constant:
                kernels.add_damping_force(family, x, v, push)
        if field is not None:
            push += field.push
        return RateForce(start, share, push, base, self._damped, self._damped_constant, self._constant, drags,
                         self._viscous, None if field is None else field.blocks, self._pattern)

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

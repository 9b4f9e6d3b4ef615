# SPDX-License-Identifier: GPL-3.0-or-later
"""Elements at the start of a step, turned to where they are expected at its end.

A step is linear in the motion. Elements that turn in it, linearised where they start, seem to be stretched. So each
element is linearised at its start, turned by its own rotation R in the step: with columns F0 there, at F = R F0. Its
strain there is that of the start, whatever its rotation is, and the stress is R P(F0).

Damping acts on the change of conditions over the step. To first order, (C(F1) - C(F0)) / h = g(F) . (F1 - F) / h,
because C(F) = C(F0). An element that only turns is not damped, at any step size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..arrays import AnyArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.formulas.rotation import rotation_matrix
from ..row_ops import pick
from ..stencils.stencil import Stencil
from .force_families import Family


@dataclass(frozen=True)
class TurnedStart:
    """The start of a step and the rotations that are expected in it.

    Attributes:
        x: (V, 3) positions at the start [m].
        step: size of the step [s].
        rotation: (V, 3) rotation vector of each vertex over the step [rad]; None for no rotation.
    """

    x: FloatArray
    step: float
    rotation: FloatArray | None = None
    _made: list[tuple[Stencil, AnyArray]] = field(default_factory=list, compare=False)

    @cached_property
    def quaternions(self) -> FloatArray:
        """Return the rotations of the vertices as unit quaternions (V, 4)."""
        assert self.rotation is not None
        found: FloatArray = current().patch_motion.quaternions(self.rotation)
        return found

    def missed(self, made: TurnedStart) -> float:
        """Return the root mean square of the angles between these rotations and those that were `made` [rad]."""
        assert self.rotation is not None and made.rotation is not None
        away = made.rotation - self.rotation
        return float(np.sqrt(np.einsum("vi,vi->", away, away) / max(len(away), 1)))

    def edges(self, edges: IntArray) -> FloatArray:
        """Return the vectors (E, 3) [m] of edges (E, 2), turned as elements are."""
        i, j = edges.T
        d = pick(self.x, j) - pick(self.x, i)
        if self.rotation is None:
            return d
        rows = rotation_matrix(tuple((pick(self.quaternions, i) + pick(self.quaternions, j)).T))
        x, y, z = d.T
        return np.column_stack([row[0] * x + row[1] * y + row[2] * z for row in rows])

    def turn(self, family: Family) -> AnyArray | None:
        """Return the rotations of the elements of a family, for its kernels; None for no rotation.

        Elements that are held in space do not turn, nor do laws that rotation changes.
        """
        stencil = family[0].stencil
        fixed = any(getattr(force.law, "damps_rotation", False) for force in family)
        if self.rotation is None or stencil.held or fixed:
            return None
        for known, turns in self._made:
            if known is stencil:
                return turns
        made: AnyArray = current().element_families.turns(stencil, self.quaternions)
        self._made.append((stencil, made))
        return made

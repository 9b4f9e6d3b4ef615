# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves: positions and velocities of all particles of a scene at one time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Touch:
    """How particles touch solids, which decides friction: mode (V,), 0 where a particle is free, 1 sticking,
    2 slipping, 3 held; pressing (V,), the normal force [N]; held (V, 3) [N], the friction."""

    mode: IntArray
    pressing: FloatArray
    held: FloatArray

    @staticmethod
    def none(vertex_count: int) -> Touch:
        """Nothing touches."""
        return Touch(np.zeros(vertex_count, dtype=np.int64), np.zeros(vertex_count), np.zeros((vertex_count, 3)))


@dataclass(frozen=True)
class Before:
    """Where a step of `step` [s] started from: x (V, 3) [m], v (V, 3) [m/s]. For integrators that look back."""

    x: FloatArray
    v: FloatArray
    step: float


@dataclass(frozen=True)
class InVain:
    """Whether contacts were lately worth a second solve of a step: `left`, how many steps are to do without one; after
    the next one in vain it will be `waits` steps; `wrong`, the part of friction that it left wrong [-]."""

    left: int = 0
    waits: int = 8
    wrong: float = 0.0


@dataclass(frozen=True)
class State:
    """x (V, 3) [m], v (V, 3) [m/s], time [s], touch, the state before, and what solves were in vain. A step takes one
    and returns a new one."""

    x: FloatArray
    v: FloatArray
    time: float
    touch: Touch
    before: Before | None = None
    in_vain: InVain = InVain()

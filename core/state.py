# SPDX-License-Identifier: GPL-3.0-or-later
"""What moves: positions and velocities of all particles of a scene at one time."""

from __future__ import annotations

from dataclasses import dataclass

from .arrays import FloatArray


@dataclass(frozen=True)
class State:
    """x (V, 3) [m], v (V, 3) [m/s], time [s]. A step takes one and returns a new one."""

    x: FloatArray
    v: FloatArray
    time: float

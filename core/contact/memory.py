# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step leaves to the next one: how contacts between pairs pressed, which is its first guess of how they will."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Memory:
    """One step's; a step that is discarded leaves none.

    Attributes:
        keys (N,): of what touched, in order. pressing (N,) [N], holding (N, 3) [N]: by which forces.
        stiffness (N,) [-]: of its spring, over the mass.
        gain (V, 3) [m/s^2]: mean acceleration, None before the first step.
        at_edges: whether edges or tips of colliders touched.
    """

    keys: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    pressing: FloatArray = field(default_factory=lambda: np.zeros(0))
    holding: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    stiffness: FloatArray = field(default_factory=lambda: np.zeros(0))
    gain: FloatArray | None = None
    at_edges: bool = False

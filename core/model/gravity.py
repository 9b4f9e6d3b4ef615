# SPDX-License-Identifier: GPL-3.0-or-later
"""The gravity of each particle: that of the scene, times a factor of its cloth; none while its seams close, if the
cloth says so."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..description.scene import Scene
from .dof_numbering import SolverNodes
from .latest import Latest


class Gravity:
    """Gravity as a function of time.

    Args:
        scene: for its gravity and the weights of its cloths.
        nodes: numbering of the particles.

    Attributes:
        changes: whether it depends on time.
    """

    def __init__(self, scene: Scene, nodes: SolverNodes) -> None:
        self._scene, self._nodes = scene, nodes
        changing = [callable(cloth.field_weights.gravity) or cloth.weightless_until > 0.0 for cloth in scene.cloths]
        self.changes = scene.gravity_changes or any(changing)
        self._latest: Latest[float, FloatArray] = Latest()
        self._latest_factor: Latest[float, FloatArray] = Latest()

    def at(self, time: float) -> FloatArray:
        """Return the acceleration of each particle (N, 3) [m/s^2] at `time` [s]; not to be written to."""
        return self._latest.at(time if self.changes else 0.0, self._made)

    def factor(self, time: float) -> FloatArray:
        """Return the factor of each particle (N,) on the gravity of the scene, at `time` [s]."""
        return self._latest_factor.at(time if self.changes else 0.0, self._made_factor)

    def _made(self, time: float) -> FloatArray:
        return self.factor(time)[:, None] * self._scene.gravity_at(time)

    def _made_factor(self, time: float) -> FloatArray:
        factor = np.ones(self._nodes.count)
        for cloth, span, inner in zip(self._scene.cloths, self._nodes.slices, self._nodes.inner, strict=True):
            weight = 0.0 if time < cloth.weightless_until else cloth.field_weights.gravity_at(time, cloth.name)
            factor[span] = factor[inner] = weight
        return factor

# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothed velocities, which predict the end of a step: the point at which it is best linearised.

Newton's method may start anywhere. From the start of the step, as in 001, its first iteration sees a sheet that turns
by an angle a as stretched by a^2 / 2, and pulls it back. From x0 + h v it follows the rotation; the remaining error is
h^2 times the acceleration.

Extrapolating single vertices would amplify the vibration of stiff cloth. So velocities are averaged with those of
neighbours first, which removes waves of a few edges and keeps rotation and swinging.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..linear.scalar_matrix import ScalarMatrix, ScalarPattern

SMOOTHING_SWEEPS = 2
"""Number of times that velocities are averaged with those of their neighbours [-]."""


class VelocitySmoothing:
    """v -> (v + mean of v over the neighbours) / 2, some times; a vertex without neighbours keeps its own.

    Args:
        edges: (E, 2), pairs of neighbours.
        vertex_count: of all vertices.
    """

    def __init__(self, edges: IntArray, vertex_count: int) -> None:
        degree = np.bincount(edges.ravel(), minlength=vertex_count)
        share = 0.5 / np.maximum(degree, 1)[edges]                                     # (E, 2), of each end
        alone = np.flatnonzero(degree == 0)[:, None]
        pattern = ScalarPattern(vertex_count, [edges, alone])
        values = pattern.assemble([np.stack([share, share], axis=2), np.ones((len(alone), 1, 1))])
        self._mean = ScalarMatrix(pattern, values, np.ones(vertex_count))

    def __call__(self, v: FloatArray) -> FloatArray:
        """Return smoothed v (V, 3)."""
        for _ in range(SMOOTHING_SWEEPS):
            v = self._mean.product(v)
        return v

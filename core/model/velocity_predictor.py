# SPDX-License-Identifier: GPL-3.0-or-later
"""Smooth velocities, for where a step is expected to end: its one linearisation is best taken there.

Newton's method may start anywhere. Started from where the step starts, as in 001, its first iteration takes a sheet
that turns by an angle a for one that is stretched by a^2 / 2, and pulls back. Started from x0 + h v it turns with the
sheet: what is left is h^2 times the acceleration, and the error of a frame halves at the same cost.

Extrapolating what single vertices do would feed the trembling of stiff cloth, so velocities are averaged with those
of the neighbours first: waves of a few edges are left out, turning and swinging stay.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..linear.scalar_matrix import ScalarPattern

SMOOTHING_SWEEPS = 2
"""Times that each velocity is averaged with the mean of its neighbours'."""


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
        self._pattern = ScalarPattern(vertex_count, [edges, alone])
        self._values = self._pattern.assemble([np.stack([share, share], axis=2), np.ones((len(alone), 1, 1))])

    def __call__(self, v: FloatArray) -> FloatArray:
        """Smoothed v (V, 3)."""
        for _ in range(SMOOTHING_SWEEPS):
            v = self._pattern.product(self._values, v)
        return v

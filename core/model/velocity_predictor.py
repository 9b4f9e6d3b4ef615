# SPDX-License-Identifier: GPL-3.0-or-later
"""Predict the end of a step by the rigid motions of patches.

A patch is a vertex and its neighbours. Its rigid motion in the step follows from the momentum and the angular momentum
of its vertices: with the means over the patch c of positions and V of velocities, and the inertia I about c,

    omega = I^-1 mean((x - c) x v),        x1 = c + h V + h^2/2 A + R(h omega) (x - c)

where A is the mean acceleration. A vertex goes to the mean of the ends that its patches give it. Rigid motion is
reproduced exactly, at borders too, and a patch that vibrates but does not turn stays as it is.
"""

from __future__ import annotations

import numpy as np

from ..arrays import SINGLE_PRECISION, BoolArray, FloatArray, IntArray
from ..kernels import current
from ..linear.scalar_matrix import ScalarPattern
from .turned_start import TurnedStart


class MotionPredictor:
    """Predicts where vertices go.

    Args:
        edges: (E, 2), pairs of neighbours.
        vertex_count: of all vertices.
        abrupt: (V,) bool, vertices of threads, seams or links that may go slack: they bend too sharply for a prediction
            of their rotation.
    """

    def __init__(self, edges: IntArray, vertex_count: int, abrupt: BoolArray) -> None:
        self._abrupt = abrupt
        degree = np.bincount(edges.ravel(), minlength=vertex_count)
        share = 0.5 / np.maximum(degree, 1)[edges]                                     # (E, 2), of each end
        alone = np.flatnonzero(degree == 0)[:, None]
        pattern = ScalarPattern(vertex_count, [edges, alone])
        values = pattern.assemble([np.stack([share, share], axis=2), np.ones((len(alone), 1, 1))])
        self._weights, self._layout = values, pattern.layout

    def _mean(self, field: FloatArray) -> FloatArray:
        """Return the mean of a field (V, 3) over the patch of each vertex, half of it the vertex itself."""
        result: FloatArray = current().patch_motion.means(self._weights, self._layout, field)
        return result

    def rotation(self, x: FloatArray, v: FloatArray, h: float, excess: float) -> FloatArray:
        """Return rotation vectors (V, 3) [rad] of the patches in h [s], from x (V, 3) [m] and v (V, 3) [m/s].

        `excess` corrects the velocities of a multistep formula: in a body that turns by an angle a in each step, they
        are those of a turn by a + excess a^3.
        """
        turns: FloatArray = current().patch_motion.turns(
            self._weights, self._layout, x, h * v, excess, SINGLE_PRECISION)
        return turns

    def rotation_to(self, x: FloatArray, end: FloatArray) -> FloatArray:
        """Return rotation vectors (V, 3) [rad] of the patches on their way from x to `end` (V, 3) [m]."""
        turns: FloatArray = current().patch_motion.turns_to(self._weights, self._layout, x, end, SINGLE_PRECISION)
        return turns

    def turned_start(self, x: FloatArray, h: float, rotation: FloatArray) -> TurnedStart:
        """Return the start x (V, 3) [m] of a step of h [s] in which patches turn by `rotation` (V, 3) [rad]."""
        mean = self._mean(rotation)
        mean[self._abrupt] = 0.0
        return TurnedStart(x, h, mean)

    def turned_to(self, x: FloatArray, h: float, end: FloatArray) -> TurnedStart:
        """Return the start x (V, 3) [m] of a step of h [s] in which patches turn as on their way to `end` (V, 3) [m].
        """
        return self.turned_start(x, h, self.rotation_to(x, end))

    def averaged(self, v: FloatArray) -> FloatArray:
        """Return velocities (V, 3) averaged twice over patches, which leaves their vibrations out."""
        return self._mean(self._mean(v))

    def end(self, x: FloatArray, v: FloatArray, gain: FloatArray | None, h: float,
            rotation: FloatArray) -> FloatArray:
        """Return positions (V, 3) [m] after h [s].

        Args:
            x, v: (V, 3) positions [m] and velocities [m/s].
            gain: (V, 3) change of the velocities in a step of this size [m/s], None for none.
            h: [s].
            rotation: (V, 3), as of `rotation`.
        """
        moved = h * self._mean(v)
        if gain is not None:
            moved += 0.5 * h * self._mean(gain)
        end: FloatArray = current().patch_motion.ends(self._weights, self._layout, x, moved, rotation)
        return end

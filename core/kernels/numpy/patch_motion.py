# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of patches: means over the neighbours of each vertex, the rotations that they give, and where vertices go.

The mean of a field f over the patch of vertex i is f_i + sum_j w_ij (f_j - f_i), with the weights w in a layout of
padded rows. The compiled kernels go from vertex to vertex and compute each field where it is read.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..formulas.patch_motion import angular_velocity
from ..layouts import PaddedRows
from .block_matrix import add_scalar_product


def means(weights: FloatArray, layout: PaddedRows, field: FloatArray) -> FloatArray:
    """Return the means (V, 3) of a field (V, 3)."""
    result = np.zeros_like(field)
    add_scalar_product(weights, layout, field, result)
    result += field
    return result


def fitted(weights: FloatArray, layout: PaddedRows, y: FloatArray, v: FloatArray, rounding: float, smallest: float
           ) -> FloatArray:
    """Return the angular velocities (V, 3) of patches with velocities v (V, 3) at places y (V, 3), both in one unit.

    rounding, smallest: as of `formulas.patch_motion.angular_velocity`.
    """
    turned = y[:, [1, 2, 0]]
    fields = (y, v, np.cross(y, v), y * y, y * turned)
    c, V, moment, square, mixed = (tuple(means(weights, layout, field).T) for field in fields)
    return np.column_stack(angular_velocity(c, V, moment, square, mixed, rounding, smallest))


def ends(weights: FloatArray, layout: PaddedRows, origin: FloatArray, y: FloatArray, change: FloatArray,
         R: FloatArray) -> FloatArray:
    """Return the ends (V, 3) [m] of vertices: the mean, over their patches, of where the rigid motion of each leads.

    Args:
        origin, y: (3,) and (V, 3) [m], places are origin + y.
        change: (V, 3) [m], how far the mean of each patch goes.
        R: (V, 3, 3), rotation of each patch.
    """
    c = means(weights, layout, y)
    moved = change + (c - _turned(R, c))
    mean = np.stack([means(weights, layout, np.ascontiguousarray(R[:, row])) for row in range(3)], axis=1)
    end: FloatArray = origin + means(weights, layout, moved) + _turned(mean, y)
    return end


def _turned(R: FloatArray, field: FloatArray) -> FloatArray:
    """Return R v of rotation matrices (V, 3, 3) and a field v (V, 3)."""
    x, y, z = field.T
    return np.column_stack([R[:, row, 0] * x + R[:, row, 1] * y + R[:, row, 2] * z for row in range(3)])

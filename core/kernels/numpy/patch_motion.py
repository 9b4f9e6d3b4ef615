# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of patches: means over the neighbours of each vertex, the rotations that they give, and where vertices go.

The mean of a field f over the patch of vertex i is f_i + sum_j w_ij (f_j - f_i), with the weights w in a layout of
padded rows. The compiled kernels go from vertex to vertex and compute each field where it is read.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ..formulas import patch_motion as formulas
from ..formulas.rotation import quaternion
from ..formulas.vectors import SMALLEST_DIVISOR, Vector
from ..layouts import PaddedRows
from .block_matrix import add_scalar_product


def means(weights: FloatArray, layout: PaddedRows, field: FloatArray) -> FloatArray:
    """Return the means (V, 3) of a field (V, 3)."""
    result = np.zeros_like(field)
    add_scalar_product(weights, layout, field, result)
    result += field
    return result


def turns(weights: FloatArray, layout: PaddedRows, x: FloatArray, way: FloatArray, excess: float, rounding: float
          ) -> FloatArray:
    """Return the turns (V, 3) [rad] of patches at places x (V, 3) [m] that move by `way` (V, 3) [m].

    excess, rounding: as of `formulas.patch_motion.of_formula` and `angular_velocity`.
    """
    return np.column_stack(formulas.of_formula(_fitted(weights, layout, x, way, rounding), excess))


def turns_to(weights: FloatArray, layout: PaddedRows, x: FloatArray, end: FloatArray, rounding: float) -> FloatArray:
    """Return the turns (V, 3) [rad] of patches on their way from x to `end` (V, 3) [m]; rounding: as of `turns`."""
    return np.column_stack(formulas.of_chord(_fitted(weights, layout, 0.5 * (x + end), end - x, rounding)))


def _fitted(weights: FloatArray, layout: PaddedRows, x: FloatArray, v: FloatArray, rounding: float) -> Vector:
    """Return the components (V,) of the angular velocities of patches with velocities v (V, 3) at places x (V, 3)."""
    y = x - x.mean(axis=0)                                           # squares far from the origin would be rounded
    fields = (y, v, np.cross(y, v), y * y, y * y[:, [1, 2, 0]])
    c, V, moment, square, mixed = (tuple(means(weights, layout, field).T) for field in fields)
    return formulas.angular_velocity(c, V, moment, square, mixed, rounding, SMALLEST_DIVISOR)


def ends(weights: FloatArray, layout: PaddedRows, x: FloatArray, change: FloatArray, turn: FloatArray) -> FloatArray:
    """Return the ends (V, 3) [m] of vertices at x (V, 3) [m]: the mean, over patches, of where the rigid motion of
    each leads.

    Args:
        change: (V, 3) [m], how far the mean of each patch goes.
        turn: (V, 3) [rad], rotation vector of each patch.
    """
    origin = x.mean(axis=0)
    y = x - origin
    c, R = means(weights, layout, y), np.array(formulas.matrix_of(tuple(turn.T))).transpose(2, 0, 1)
    moved = change + (c - _turned(R, c))
    mean = np.stack([means(weights, layout, np.ascontiguousarray(R[:, row])) for row in range(3)], axis=1)
    end: FloatArray = origin + means(weights, layout, moved) + _turned(mean, y)
    return end


def quaternions(turn: FloatArray) -> FloatArray:
    """Return the unit quaternions (V, 4) of rotation vectors (V, 3) [rad]."""
    return np.column_stack(quaternion(tuple(turn.T)))


def _turned(R: FloatArray, field: FloatArray) -> FloatArray:
    """Return R v of rotation matrices (V, 3, 3) and a field v (V, 3)."""
    x, y, z = field.T
    return np.column_stack([R[:, row, 0] * x + R[:, row, 1] * y + R[:, row, 2] * z for row in range(3)])

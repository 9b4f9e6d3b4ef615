# SPDX-License-Identifier: GPL-3.0-or-later
"""Distance between reached and predicted positions.

The compiled kernel goes through the vertices one after the other, because it is called a dozen times in a step.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray


def away(x: FloatArray, y: FloatArray, steady: BoolArray) -> FloatArray:
    """Return the distance (V,) [m] between x and y (V, 3) [m], without a common motion.

    The common motion is the mean of x - y over the vertices that are marked in `steady` (S,). Only the first S vertices
    count; the distance of the others is 0.
    """
    moved = x[:len(steady)] - y[:len(steady)]
    common = np.zeros(3) if not steady.any() else moved[steady].mean(axis=0)
    squared = np.zeros(len(x))
    for along, shared in zip(moved.T, common, strict=True):
        squared[:len(steady)] += (along - shared)**2
    distance: FloatArray = np.sqrt(squared)
    return distance

# SPDX-License-Identifier: GPL-3.0-or-later
"""How far ends of a step are from where they were expected."""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray


def away(x: FloatArray, y: FloatArray, steady: BoolArray) -> FloatArray:
    """How far x is from y (V, 3) [m], but for the mean way of those that are `steady` (S,) [m] (V,); 0 of all vertices
    after the first S."""
    moved = x[:len(steady)] - y[:len(steady)]
    common = np.zeros(3) if not steady.any() else moved[steady].mean(axis=0)
    squared = np.zeros(len(x))
    for along, shared in zip(moved.T, common, strict=True):
        squared[:len(steady)] += (along - shared)**2
    distance: FloatArray = np.sqrt(squared)
    return distance

# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's gradient noise as the table that `core.ForceField.lattice` takes, sampled from `mathutils.noise`.

Noise of this kind (Perlin 2002) is zero at all whole numbers. Between them it follows gradients that stand there, and
these repeat after PERIOD along each axis:

    gradient at (i, j, k) = g[P[T[i] + j] + k]              indices modulo PERIOD

with permutations T and P and gradients g (PERIOD, 3). Slopes at whole numbers are these gradients. From them follow g
along the line (0, 0, k), P as the shifts of the lines (0, j, k) against it, and T as the shifts of the lines (i, j, 0).
The table is exact, because the components of the gradients are whole numbers.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from mathutils import noise
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BASIS: Any = "PERLIN_NEW"
"""The noise of Blender's turbulence fields, by its name in `mathutils.noise`."""
PERIOD = 256
"""Number of whole numbers after which the gradients repeat, along each axis."""
SLOPE_STEP = 2.0 ** -6
"""Distance over which a slope is measured [-]: its error from the other gradients is of the third order."""
MATCHED = 16
"""Number of gradients that identify the shift of a line."""


@functools.cache
def noise_table() -> FloatArray:
    """Return the table (PERIOD, 5): columns T, P, and the three components of g.

    Raises:
        RuntimeError: the noise of this Blender has no such table.
    """
    gradients = np.array([_gradient(0, 0, k) for k in range(PERIOD)])
    codes = _codes(gradients)
    places = {tuple(np.roll(codes, -shift)[:MATCHED]): shift for shift in range(PERIOD)}
    second = np.array([_shift(places, 0, j) for j in range(PERIOD)])
    if len(places) < PERIOD or len(set(second.tolist())) < PERIOD:
        raise RuntimeError(f"the noise {BASIS} of this Blender does not repeat as expected")
    first = np.argsort(second)[[_shift(places, i, 0) for i in range(PERIOD)]]
    return np.column_stack([first, second, gradients]).astype(np.float64)


def _shift(places: dict[tuple[int, ...], int], i: int, j: int) -> int:
    """Return the shift of the line of gradients at (i, j) against that at (0, 0), -1 if it is another line."""
    return places.get(tuple(_codes(np.array([_gradient(i, j, k) for k in range(MATCHED)]))), -1)


def _gradient(i: int, j: int, k: int) -> NDArray[np.int64]:
    """Return the gradient (3,) at a place of whole numbers."""
    slopes = [(_value(i, j, k, axis, SLOPE_STEP) - _value(i, j, k, axis, -SLOPE_STEP)) / (2.0 * SLOPE_STEP)
              for axis in range(3)]
    return np.rint(slopes).astype(np.int64)


def _value(i: int, j: int, k: int, axis: int, step: float) -> float:
    """Return the noise at a place of whole numbers, moved by `step` along an axis."""
    place = [float(i), float(j), float(k)]
    place[axis] += step
    return noise.noise(place, noise_basis=BASIS)


def _codes(gradients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one number for each gradient (n, 3)."""
    return gradients @ np.array([9, 3, 1])

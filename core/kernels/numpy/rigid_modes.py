# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid motions of whole bodies: rotations, sums with moments, and the motions of six numbers each."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from .group_sums import sums
from .vectors import cross, join, split


def turned(axis: FloatArray, arm: FloatArray) -> FloatArray:
    """Return axis x arm (V, 3), for an axis (3,)."""
    return join(cross((axis[0], axis[1], axis[2]), split(arm)))


def moments(body: IntArray, d: FloatArray, arm: FloatArray, count: int) -> FloatArray:
    """Return the sums (count, 6) of d (V, 3) and of arm x d over each body (V,)."""
    about = join(cross(split(arm), split(d)))
    return np.concatenate([sums(body[:, None], part, count) for part in (d, about)], axis=1)


def moved(w: FloatArray, shift: FloatArray, body: IntArray, arm: FloatArray) -> FloatArray:
    """Return w (V, 3), with the translation and the rotation about arms (V, 3) of each body's row of shift (B, 6)."""
    there = shift.take(body, axis=0)
    a, b, c, d, e, f = there.T
    return w + np.stack([a, b, c], axis=1) + join(cross((d, e, f), split(arm)))

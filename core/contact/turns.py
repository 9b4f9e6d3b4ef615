# SPDX-License-Identifier: GPL-3.0-or-later
"""Rotations of the faces of colliders in a step, which take the frame of their contacts with them."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..row_ops import cross, unit


def turns(start: FloatArray, end: FloatArray) -> FloatArray:
    """Return the rotations (P, 3, 3) of triangles from `start` to `end`, corners (P, 3, 3) [m]; none of flat ones."""
    before, after = _frames(start), _frames(end)
    result: FloatArray = np.einsum("pia,pja->pij", after, before)
    flat = ~(np.abs(np.linalg.det(result) - 1.0) < 0.5)
    result[flat] = np.eye(3)
    return result


def _frames(corners: FloatArray) -> FloatArray:
    """Return the frames (P, 3, 3) of triangles, unit columns: along the first edge, across it, and the normal."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    along = unit(b - a)
    normal = unit(cross(b - a, c - a))
    return np.stack([along, cross(normal, along), normal], axis=2)

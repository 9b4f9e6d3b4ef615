# SPDX-License-Identifier: GPL-3.0-or-later
"""Make half spaces of pairs of primitives: a pair that would meet is kept apart along its contact normal."""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray
from ..row_ops import pick
from .continuous import Pairs
from .half_spaces import HalfSpaces

BOUND_DISTANCE = 2.0
"""Distance that a pair which would meet is given, over what it has to keep [-]."""


def of_pairs(pairs: Pairs, x: FloatArray, count: int) -> HalfSpaces:
    """Return half spaces that keep pairs apart along their normals. Vertices from `count` on are fixed at x (V, 3) [m].
    """
    known = pairs.vertices >= count
    height = np.einsum("pki,pi->pk", pick(x, pairs.vertices), pairs.normal)
    least = BOUND_DISTANCE * pairs.keep - np.where(known, pairs.weights * height, 0.0).sum(axis=1)
    first = np.take_along_axis(pairs.vertices, np.argmin(known, axis=1)[:, None], axis=1)
    return HalfSpaces(np.where(known, first, pairs.vertices), np.where(known, 0.0, pairs.weights), pairs.normal, least)

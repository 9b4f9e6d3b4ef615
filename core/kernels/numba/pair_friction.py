# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction impulses of pair contacts, compiled: one pair after the other.

Arguments and results are those of `kernels.numpy.pair_friction`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import pair_friction as formulas
from ..formulas.pair_friction import impulse, is_reversed, sliding_velocity, slip, stopping_impulse
from ..formulas.vectors import length
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .vectors import at, at_corners, four, subtract

register(formulas, INLINED)


def impulses(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
             push: FloatArray, across: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return the friction impulse of each pair (P, 3) [N s]."""
    result = np.empty(push.shape)
    _impulses(vertices, weights, normals, carried, drag, push, across, np.ascontiguousarray(velocity), result)
    return result


def corrected(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
              push: FloatArray, across: FloatArray, velocity: FloatArray, hold: FloatArray, limit: FloatArray,
              most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the friction of the next solve: drag, push, across, the changes of impulses, and their sizes' growth."""
    drags, change, grown, pushes, turned = (np.empty(a.shape) for a in (drag, drag, drag, push, push))
    _corrected(vertices, weights, normals, carried, drag, push, across, np.ascontiguousarray(velocity),
               np.ascontiguousarray(hold), limit, most, drags, pushes, turned, change, grown)
    return drags, pushes, turned, change, grown


@njit(**KERNEL)
def _impulses(vertices: Any, weights: Any, normals: Any, carried: Any, drag: Any, push: Any, across: Any,
              velocity: Any, result: Any) -> None:
    """Write the impulses to `result` (P, 3) [N s]."""
    for p in range(len(vertices)):
        slide = sliding_velocity(four(weights, p), at_corners(velocity, vertices, p), at(carried, p), at(normals, p))
        result[p, 0], result[p, 1], result[p, 2] = impulse(drag[p], at(push, p), at(across, p), slide)


@njit(**KERNEL)
def _corrected(vertices: Any, weights: Any, normals: Any, carried: Any, drag: Any, push: Any, across: Any,
               velocity: Any, hold: Any, limit: Any, most: Any, drags: Any, pushes: Any, turned: Any, change: Any,
               grown: Any) -> None:
    """Write the drag (P,), push (P, 3) and across (P, 3) of the next solve, the change (P,) and the growth (P,)."""
    none = (0.0, 0.0, 0.0)
    for p in range(len(vertices)):
        n, q, held = at(normals, p), at(across, p), at(hold, p)
        slide = sliding_velocity(four(weights, p), at_corners(velocity, vertices, p), at(carried, p), n)
        before = impulse(drag[p], at(push, p), q, slide)
        tried, size = stopping_impulse(slide, held, most[p])
        if size > limit[p] and not is_reversed(tried, size, before, q, limit[p]):
            c, g, q = slip(tried, size, slide, n, limit[p], most[p])
        else:
            c, g, q = most[p], held, none
        if not limit[p] > 0.0:
            c, g = 0.0, none
        after = impulse(c, g, q, slide)
        drags[p], change[p] = c, length(subtract(after, before))
        pushes[p, 0], pushes[p, 1], pushes[p, 2] = g
        turned[p, 0], turned[p, 1], turned[p, 2] = q
        grown[p] = length(after) - length(before)

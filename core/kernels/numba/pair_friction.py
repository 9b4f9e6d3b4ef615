# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction of pair contacts, compiled: one pair after the other, as `numpy.pair_friction` has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .vectors import add, at, cross, dot, scale, subtract


def impulses(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
             push: FloatArray, across: FloatArray, velocity: FloatArray) -> FloatArray:
    """Impulses (P, 3) [N s] at a velocity (V, 3), as in `reference`."""
    result = np.empty(push.shape)
    _impulses(vertices, weights, normals, carried, drag, push, across, np.ascontiguousarray(velocity), result)
    return result


def corrected(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
              push: FloatArray, across: FloatArray, velocity: FloatArray, hold: FloatArray, limit: FloatArray,
              most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """What drags, push and across become by a solution, and how impulses change, as in `reference`."""
    drags, change, pushes, turned = (np.empty(a.shape) for a in (drag, drag, push, push))
    grown = _corrected(vertices, weights, normals, carried, drag, push, across, np.ascontiguousarray(velocity),
                       np.ascontiguousarray(hold), limit, most, drags, pushes, turned, change)
    return drags, pushes, turned, change, grown


@njit(**KERNEL)
def _impulses(vertices: Any, weights: Any, normals: Any, carried: Any, drag: Any, push: Any, across: Any,
              velocity: Any, result: Any) -> None:
    for p in range(len(vertices)):
        slide = _slide(p, vertices, weights, normals, carried, velocity)
        result[p, 0], result[p, 1], result[p, 2] = _impulse(drag[p], at(push, p), at(across, p), slide)


@njit(**KERNEL)
def _corrected(vertices: Any, weights: Any, normals: Any, carried: Any, drag: Any, push: Any, across: Any,
               velocity: Any, hold: Any, limit: Any, most: Any, drags: Any, pushes: Any, turned: Any, change: Any
               ) -> Any:
    grown, none = 0.0, (0.0, 0.0, 0.0)
    for p in range(len(vertices)):
        slide = _slide(p, vertices, weights, normals, carried, velocity)
        q, held = at(across, p), at(hold, p)
        before = _impulse(drag[p], at(push, p), q, slide)
        tried = subtract(held, scale(most[p], slide))
        size = _length(tried)
        if size > limit[p] and not (_is_there(q) and dot(scale(limit[p] / size, tried), before) < 0.0):
            share = limit[p] / size
            c, q = share * most[p], scale(1.0 / size, cross(at(normals, p), tried))
            g = add(scale(share, tried), scale(c * dot(slide, q), q))
        else:
            c, q, g = most[p], none, held
        if not limit[p] > 0.0:
            c, g = 0.0, none
        after = _impulse(c, g, q, slide)
        drags[p], change[p] = c, _length(subtract(after, before))
        pushes[p, 0], pushes[p, 1], pushes[p, 2] = g
        turned[p, 0], turned[p, 1], turned[p, 2] = q
        grown += _length(after) - _length(before)
    return grown


@njit(**INNER)
def _slide(p: Any, vertices: Any, weights: Any, normals: Any, carried: Any, velocity: Any) -> Any:
    """Velocity of the first primitive over the second, across the normal."""
    total, n = at(carried, p), at(normals, p)
    for k in range(4):
        total = add(total, scale(weights[p, k], at(velocity, vertices[p, k])))
    return subtract(total, scale(dot(total, n), n))


@njit(**INLINED)
def _impulse(drag: Any, push: Any, across: Any, slide: Any) -> Any:
    """Of one pair."""
    along = scale(dot(slide, across), across) if _is_there(across) else slide
    return subtract(push, scale(drag, along))


@njit(**INLINED)
def _is_there(a: Any) -> Any:
    """Whether a is not 0."""
    return a[0] != 0.0 or a[1] != 0.0 or a[2] != 0.0


@njit(**INLINED)
def _length(a: Any) -> Any:
    """|a|"""
    return np.sqrt(dot(a, a))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction of pair contacts, as `contact.repulsion` describes it.

    impulse  g - c s,   of what slides  g - c (q . s) q,   with s = (I - n n^T) (sum_i w_i u_i + s*)     [N s]

Per pair, everywhere: vertices and weights w (P, 4), unit normals n (P, 3), carried s* (P, 3) [m/s]; drags c = h c (P,)
[kg], push g (P, 3) [N s] and across q (P, 3), 0 of what does not slide; velocities u (V, 3) [m/s].
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...row_ops import any_of, length, pick


def impulses(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
             push: FloatArray, across: FloatArray, velocity: FloatArray) -> FloatArray:
    """Impulses (P, 3) [N s] at a velocity (V, 3)."""
    return _impulses(drag, push, across, _slide(vertices, weights, normals, carried, velocity))


def corrected(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, drag: FloatArray,
              push: FloatArray, across: FloatArray, velocity: FloatArray, hold: FloatArray, limit: FloatArray,
              most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, float]:
    """What drags, push and across become by a solution `velocity`, where friction is at most `limit` (P,) [N s].

    hold (P, 3) [N s]: what held the pair when the step began. most (P,) [kg]: drag of what sticks.

    Returns:
        drag, push, across; by how much each impulse changed (P,) [N s]; and by how much all their sizes grew [N s].
    """
    slide = _slide(vertices, weights, normals, carried, velocity)
    before = _impulses(drag, push, across, slide)
    tried = hold - most[:, None] * slide
    size = length(tried)
    share = limit / np.where(size > 0.0, size, np.inf)
    limited = share[:, None] * tried
    # where a slide is turned round by its own friction the pair has stopped on the way
    turned = any_of(across != 0.0) & (np.einsum("pi,pi->p", limited, before) < 0.0)
    slides = (size > limit) & ~turned
    drag = np.where(limit > 0.0, np.where(slides, share, 1.0) * most, 0.0)
    across = np.where(slides[:, None], np.cross(normals, tried) / np.where(size > 0.0, size, 1.0)[:, None], 0.0)
    swerve = np.einsum("pi,pi->p", slide, across)
    push = np.where(slides[:, None], limited + (drag * swerve)[:, None] * across, hold)
    push[limit <= 0.0] = 0.0
    after = _impulses(drag, push, across, slide)
    return drag, push, across, length(after - before), float((length(after) - length(before)).sum())


def _impulses(drag: FloatArray, push: FloatArray, across: FloatArray, slide: FloatArray) -> FloatArray:
    turning = np.einsum("pi,pi->p", slide, across)[:, None] * across
    return push - drag[:, None] * np.where(any_of(across != 0.0)[:, None], turning, slide)


def _slide(vertices: IntArray, weights: FloatArray, normals: FloatArray, carried: FloatArray, velocity: FloatArray
           ) -> FloatArray:
    """Velocity (P, 3) [m/s] of the first primitive over the second, across the normal."""
    total = np.einsum("pk,pki->pi", weights, pick(velocity, vertices)) + carried
    return total - np.einsum("pi,pi->p", total, normals)[:, None] * normals

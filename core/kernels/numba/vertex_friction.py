# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of vertices on solids, compiled: one contact after the other, as `numpy.vertex_friction` has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from .kernel_cache import njit
from .options import KERNEL
from .vectors import at as row
from .vectors import dot, scale, subtract


def forces(at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, push: FloatArray, drag: FloatArray,
           along: FloatArray, velocity: FloatArray) -> FloatArray:
    """Forces (V, 3) [N] at velocities u (V, 3) [m/s], as in `reference`."""
    total = np.zeros(velocity.shape)
    _forces(at, vertex, normal, carried, push, drag, along, np.ascontiguousarray(velocity), total)
    return total


def resistance(at: IntArray, vertex: IntArray, normal: FloatArray, drag: FloatArray, along: FloatArray, vertices: int
               ) -> FloatArray:
    """What velocities take from the forces (V, 3, 3) [kg/s], as in `reference`."""
    blocks = np.zeros((vertices, 3, 3))
    _resistance(at, vertex, normal, drag, along, blocks)
    return blocks


@njit(**KERNEL)
def _forces(at: Any, vertex: Any, normal: Any, carried: Any, push: Any, drag: Any, along: Any, velocity: Any,
            total: Any) -> None:
    for k in at:
        v, n, t = vertex[k], row(normal, k), row(along, k)
        slide = subtract(row(velocity, v), row(carried, k))
        across = subtract(subtract(slide, scale(dot(n, slide), n)), scale(dot(t, slide), t))
        total[v, 0], total[v, 1], total[v, 2] = subtract(row(push, k), scale(drag[k], across))


@njit(**KERNEL)
def _resistance(at: Any, vertex: Any, normal: Any, drag: Any, along: Any, blocks: Any) -> None:
    for k in at:
        v, n, t = vertex[k], row(normal, k), row(along, k)
        for a in range(3):
            for b in range(3):
                blocks[v, a, b] = drag[k] * ((1.0 if a == b else 0.0) - n[a] * n[b] - t[a] * t[b])


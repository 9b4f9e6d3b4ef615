# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of vertices on solids, compiled: one contact after the other, as `reference.coulomb` has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import FloatArray, IntArray
from .options import INNER, KERNEL
from .vectors import at as row
from .vectors import dot, scale, subtract


def forces(at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, force: FloatArray, drag: FloatArray,
           velocity: FloatArray) -> FloatArray:
    """Forces (V, 3) [N] at velocities u (V, 3) [m/s], as in `reference`."""
    total = np.zeros(velocity.shape)
    _forces(at, vertex, normal, carried, force, drag, np.ascontiguousarray(velocity), total)
    return total


def resistance(at: IntArray, vertex: IntArray, normal: FloatArray, force: FloatArray, drag: FloatArray, vertices: int
               ) -> FloatArray:
    """What velocities take from the forces (V, 3, 3) [kg/s], as in `reference`."""
    blocks = np.zeros((vertices, 3, 3))
    _resistance(at, vertex, normal, force, drag, blocks)
    return blocks


@njit(**KERNEL)
def _forces(at: Any, vertex: Any, normal: Any, carried: Any, force: Any, drag: Any, velocity: Any, total: Any) -> None:
    for k in at:
        v, n, f = vertex[k], row(normal, k), row(force, k)
        slide, t = subtract(row(velocity, v), row(carried, k)), _along(f)
        across = subtract(subtract(slide, scale(dot(n, slide), n)), scale(dot(t, slide), t))
        total[v, 0], total[v, 1], total[v, 2] = subtract(f, scale(drag[k], across))


@njit(**KERNEL)
def _resistance(at: Any, vertex: Any, normal: Any, force: Any, drag: Any, blocks: Any) -> None:
    for k in at:
        v, n, t = vertex[k], row(normal, k), _along(row(force, k))
        for a in range(3):
            for b in range(3):
                blocks[v, a, b] = drag[k] * ((1.0 if a == b else 0.0) - n[a] * n[b] - t[a] * t[b])


@njit(**INNER)
def _along(force: Any) -> Any:
    """Unit vector along a force, 0 where there is none."""
    size = np.sqrt(dot(force, force))
    return scale(1.0 / size if size > 0.0 else 0.0, force)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Coulomb friction of vertices on solids, as an explicit force, compiled: one contact after the other.

Arguments and results are those of `kernels.numpy.vertex_friction`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import vertex_friction as formulas
from ..formulas.vertex_friction import friction_force, friction_resistance
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .vectors import at as row

register(formulas, INLINED)


def forces(at: IntArray, vertex: IntArray, normal: FloatArray, carried: FloatArray, push: FloatArray, drag: FloatArray,
           along: FloatArray, velocity: FloatArray) -> FloatArray:
    """Return the friction forces (V, 3) [N] at velocities (V, 3) [m/s]; 0 for vertices without a contact that acts."""
    total = np.zeros(velocity.shape)
    _forces(at, vertex, normal, carried, push, drag, along, np.ascontiguousarray(velocity), total)
    return total


def resistance(at: IntArray, vertex: IntArray, normal: FloatArray, drag: FloatArray, along: FloatArray, vertices: int
               ) -> FloatArray:
    """Return minus the derivative of the forces by velocities, one block per vertex (V, 3, 3) [kg/s]."""
    blocks = np.zeros((vertices, 3, 3))
    _resistance(at, vertex, normal, drag, along, blocks)
    return blocks


@njit(**KERNEL)
def _forces(at: Any, vertex: Any, normal: Any, carried: Any, push: Any, drag: Any, along: Any, velocity: Any,
            total: Any) -> None:
    """Write the forces of contacts `at` to `total` (V, 3) [N], 0 before."""
    for k in at:
        v = vertex[k]
        total[v, 0], total[v, 1], total[v, 2] = friction_force(
            row(normal, k), row(along, k), row(velocity, v), row(carried, k), row(push, k), drag[k])


@njit(**KERNEL)
def _resistance(at: Any, vertex: Any, normal: Any, drag: Any, along: Any, blocks: Any) -> None:
    """Write the resistance of contacts `at` to `blocks` (V, 3, 3) [kg/s], 0 before."""
    for k in at:
        block = friction_resistance(row(normal, k), row(along, k), drag[k])
        for a in range(3):
            for b in range(3):
                blocks[vertex[k], a, b] = block[a][b]

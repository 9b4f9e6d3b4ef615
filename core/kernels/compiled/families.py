# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that share a stencil, one compiled loop over their elements for each law and quantity.

Gather, law and what the law gives per element happen in registers; a second loop, over vertices, adds up what the
elements around each of them left. So every sum has one order, and no two threads write to one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import njit, prange

from ...arrays import FloatArray
from .laws import compiled_law, rows_of

if TYPE_CHECKING:
    from ...linear.block_matrix import BlockMatrix
    from ...stencils.stencil import ElementForce, Stencil

Family = Sequence["ElementForce"]
CHUNK = 256
"""Vertices that one thread takes at a time."""


def energy(family: Family, x: FloatArray) -> float:
    """As in `reference`."""
    total = 0.0
    for force in family:
        stencil = force.stencil
        total += compiled_law(force).energy(stencil.vertices, stencil.weights, rows_of(force), x)
    return total


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """As in `reference`."""
    stencil = family[0].stencil
    P = np.zeros((len(stencil.vertices), stencil.weights.shape[2], 3))
    for force in family:
        compiled_law(force).add_stress(stencil.vertices, stencil.weights, rows_of(force), x, P)
    _subtract_scattered(*stencil.incidence, stencil.weights, P, total)


def add_stiffness(family: Family, x: FloatArray, factor: float, matrix: BlockMatrix, *, exact: bool) -> None:
    """As in `reference`."""
    stencil = family[0].stencil
    H = _room_for_tangents(stencil)
    for number, force in enumerate(family):
        law = compiled_law(force)
        add = law.add_tangent if exact else law.add_projected_tangent
        add(stencil.vertices, stencil.weights, rows_of(force), x, H, number == 0)
    _assemble(stencil, H, factor, matrix)


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray) -> None:
    """As in `reference`."""
    for force in family:
        if force.damping:
            stencil = force.stencil
            P = np.zeros((len(stencil.vertices), stencil.weights.shape[2], 3))
            compiled_law(force).add_damping_stress(
                stencil.vertices, stencil.weights, rows_of(force), force.damping, x, v, P)
            _subtract_scattered(*stencil.incidence, stencil.weights, P, total)


def add_damping(family: Family, x: FloatArray, factor: float, matrix: BlockMatrix) -> None:
    """As in `reference`."""
    stencil = family[0].stencil
    H = _room_for_tangents(stencil)
    H[:] = 0.0
    for force in family:
        if force.damping:
            compiled_law(force).add_damping_tangent(stencil.vertices, stencil.weights, rows_of(force),
                                                    force.damping, x, H)
    _assemble(stencil, H, factor, matrix)


def assemble(stencil: Stencil, H: FloatArray, factor: float, matrix: BlockMatrix) -> None:
    """As in `reference`."""
    C = len(H)
    _assemble(stencil, np.ascontiguousarray(H.reshape(C * C, 9, -1).transpose(2, 0, 1)), factor, matrix)


def _room_for_tangents(stencil: Stencil) -> FloatArray:
    """(E, C C, 9), the same for every step: fresh memory costs as much as what is written to it."""
    kept: FloatArray | None = stencil.__dict__.get("_tangents")
    if kept is None:
        E, _, C = stencil.weights.shape
        kept = stencil.__dict__["_tangents"] = np.empty((E, C * C, 9))
    return kept


def _assemble(stencil: Stencil, H: FloatArray, factor: float, matrix: BlockMatrix) -> None:
    pattern = matrix.pattern
    positions = pattern.positions(pattern.family(stencil.vertices))
    _add_blocks(*stencil.incidence, stencil.weights, H, factor, positions, pattern.layout.row_start,
                pattern.layout.row_width, matrix.data)


@njit(cache=True, parallel=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _subtract_scattered(starts, corners, weights, P, total):  # type: ignore[no-untyped-def]
    """total[v] -= sum over the corners (element, i) at vertex v of sum_c w_ic P_c."""
    k, C = weights.shape[1], weights.shape[2]
    for v in prange(len(starts) - 1):
        fx, fy, fz = 0.0, 0.0, 0.0
        for at in range(starts[v], starts[v + 1]):
            e, i = corners[at] // k, corners[at] % k
            for c in range(C):
                w = weights[e, i, c]
                fx += w * P[e, c, 0]
                fy += w * P[e, c, 1]
                fz += w * P[e, c, 2]
        total[v, 0] -= fx
        total[v, 1] -= fy
        total[v, 2] -= fz


@njit(cache=True, parallel=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _add_blocks(starts, corners, weights, H, factor, positions, row_start, row_width, data):  # type: ignore[no-untyped-def]
    """Row by row: data += factor sum_cd w_ic w_jd H_cd of the corners at the row's vertex."""
    k, C = weights.shape[1], weights.shape[2]
    count = len(starts) - 1
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        half = np.empty((C, 9))                                   # sum_c w_ic H_cd
        for v in range(chunk * CHUNK, min(count, (chunk + 1) * CHUNK)):
            first, line = 9 * row_start[v], 3 * row_width[v]
            for at in range(starts[v], starts[v + 1]):
                e, i = corners[at] // k, corners[at] % k
                for d in range(C):
                    for a in range(9):
                        half[d, a] = 0.0
                    for c in range(C):
                        w = factor * weights[e, i, c]
                        for a in range(9):
                            half[d, a] += w * H[e, c * C + d, a]
                for j in range(k):
                    place = first + 3 * positions[(e * k + i) * k + j]
                    for d in range(C):
                        w = weights[e, j, d]
                        for a in range(3):
                            for b in range(3):
                                data[place + a * line + b] += w * half[d, 3 * a + b]

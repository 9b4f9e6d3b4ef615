# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that share a stencil, one compiled loop over their elements for each law and quantity.

Gather, law and what the law gives per element happen in registers; `assembly` adds up, vertex by vertex, what the
elements around each of them left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray
from .assembly import add_blocks, subtract_scattered
from .laws import compiled_law, rows_of
from .pool import share

if TYPE_CHECKING:
    from ...linear.block_matrix import BlockMatrix
    from ...stencils.stencil import ElementForce, Stencil

Family = Sequence["ElementForce"]
LEAST, LEAST_TANGENTS = 2000, 500
"""Elements worth another thread, when stresses are wanted and when tangents are."""
PART = 1000
"""Elements whose energies are one sum."""


def energy(family: Family, x: FloatArray) -> float:
    """As in `reference`."""
    total = 0.0
    for force in family:
        stencil = force.stencil
        parts = np.empty(-(-len(stencil.vertices) // PART))             # a sum each, whichever thread adds it up
        share(compiled_law(force).energy, len(parts), LEAST // PART, stencil.vertices, stencil.weights, rows_of(force),
              x, PART, parts)
        total += float(parts.sum())
    return total


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """As in `reference`."""
    stencil = family[0].stencil
    P = _stresses(stencil)
    for number, force in enumerate(family):
        share(compiled_law(force).add_stress, len(P), LEAST, stencil.vertices, stencil.weights, rows_of(force), x, P,
              number == 0)
    subtract_scattered(stencil, P, total)


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray) -> None:
    """As in `reference`."""
    stencil = family[0].stencil
    P = _stresses(stencil)
    for number, force in enumerate(force for force in family if force.damping):
        share(compiled_law(force).add_damping_stress, len(P), LEAST, stencil.vertices, stencil.weights, rows_of(force),
              force.damping, x, v, P, number == 0)
    subtract_scattered(stencil, P, total)


def add_tangents(family: Family, x: FloatArray, factor: float, matrix: BlockMatrix, *, exact: bool,
                 damped_at: FloatArray, damping: float, common: FloatArray | None) -> None:
    """As in `reference`."""
    H = _tangents(family[0].stencil)
    _fill(family, x, factor, exact, damped_at, damping, H)
    add_blocks(family[0].stencil, H, common, matrix)


def tangents(family: Family, x: FloatArray, factor: float, *, exact: bool, damped_at: FloatArray,
             damping: float) -> FloatArray:
    """As in `reference`."""
    H = np.empty_like(_tangents(family[0].stencil))
    _fill(family, x, factor, exact, damped_at, damping, H)
    return H


def _fill(family: Family, x: FloatArray, factor: float, exact: bool, damped_at: FloatArray, damping: float,
          H: FloatArray) -> None:
    stencil = family[0].stencil
    for number, force in enumerate(family):
        law = compiled_law(force)
        add = law.add_tangent if exact else law.add_projected_tangent
        share(add, len(H), LEAST_TANGENTS, stencil.vertices, stencil.weights, rows_of(force), x, factor, damped_at,
              x is damped_at, damping * force.damping, H, number == 0)


def add_common(stencil: Stencil, common: FloatArray, matrix: BlockMatrix) -> None:
    """As in `reference`."""
    add_blocks(stencil, np.zeros((0, 0, 9)), common, matrix)


def _stresses(stencil: Stencil) -> FloatArray:
    """(E, C, 3), to be overwritten."""
    E, _, C = stencil.weights.shape
    return room(stencil, E * C * 3).reshape(E, C, 3)


def _tangents(stencil: Stencil) -> FloatArray:
    """(E, C (C + 1) / 2, 9), to be overwritten."""
    E, _, C = stencil.weights.shape
    return room(stencil, E * C * (C + 1) // 2 * 9).reshape(E, -1, 9)


def room(stencil: Stencil, size: int) -> FloatArray:
    """Memory that a stencil keeps from step to step: what is fresh costs as much as what is written to it."""
    kept: FloatArray = stencil.__dict__.get("_room", np.empty(0))
    if len(kept) < size:
        kept = stencil.__dict__["_room"] = np.empty(size)
    return kept[:size]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces that share a stencil, one compiled loop over their elements for each law and quantity.

Gather, law and what the law gives happen in registers, for eight elements at once; `assembly` adds up, vertex by
vertex, what the elements around each of them left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import FloatArray
from ..layouts import Columns, PaddedRows
from .assembly import add_blocks, subtract_scattered
from .laws import compiled_law
from .simd import WIDE
from .thread_pool import share

if TYPE_CHECKING:
    from ...stencils.stencil import ElementForce, Stencil

Family = Sequence["ElementForce"]
LEAST, LEAST_TANGENTS = 500, 200
"""Groups of elements worth another thread, when stresses are wanted and when tangents are."""
PART = 125
"""Groups of elements whose energies are one sum."""


def energy(family: Family, x: FloatArray) -> float:
    """As in `reference`."""
    x, total, count = np.ascontiguousarray(x), 0.0, len(family[0].stencil.vertices)
    elements = family[0].stencil.grouped
    for force in family:
        parts = np.empty(-(-count // (PART * WIDE)))                    # a sum each, whichever thread adds it up
        share(compiled_law(force).energy, len(parts), LEAST // PART, *elements, force.grouped_parameters, x, count,
              PART, parts)
        total += float(parts.sum())
    return total


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """As in `reference`."""
    x, stencil = np.ascontiguousarray(x), family[0].stencil
    P, elements = _room_for(stencil, stencil.weights.shape[2]), stencil.grouped
    for number, force in enumerate(family):
        share(compiled_law(force).add_stress, len(elements[0]), LEAST, *elements, force.grouped_parameters, x, P,
              number == 0)
    subtract_scattered(stencil, P, total)


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray) -> None:
    """As in `reference`."""
    x, v, stencil = np.ascontiguousarray(x), np.ascontiguousarray(v), family[0].stencil
    P, elements = _room_for(stencil, stencil.weights.shape[2]), stencil.grouped
    for number, force in enumerate(force for force in family if force.damping):
        share(compiled_law(force).add_damping_stress, len(elements[0]), LEAST, *elements, force.grouped_parameters,
              force.damping, x, v, P, number == 0)
    subtract_scattered(stencil, P, total)


def add_tangents(family: Family, x: FloatArray, factor: float, positions: Columns, layout: PaddedRows,
                 data: FloatArray, *, exact: bool, damped_at: FloatArray, damping: float,
                 common: FloatArray | None) -> None:
    """As in `reference`."""
    H = _filled(family, x, factor, exact, damped_at, damping)
    add_blocks(family[0].stencil, H, common, positions, layout, data)


def tangents(family: Family, x: FloatArray, factor: float, *, exact: bool, damped_at: FloatArray,
             damping: float) -> FloatArray:
    """As in `reference`."""
    H = _filled(family, x, factor, exact, damped_at, damping)
    return H[:len(family[0].stencil.vertices)].copy()


def _filled(family: Family, x: FloatArray, factor: float, exact: bool, damped_at: FloatArray, damping: float
            ) -> FloatArray:
    """H (8 G, C (C + 1) / 2, 9) of the elements, in memory that is the stencil's."""
    stencil, C, same = family[0].stencil, family[0].stencil.weights.shape[2], x is damped_at
    x, damped_at = np.ascontiguousarray(x), np.ascontiguousarray(damped_at)
    H, elements = _room_for(stencil, C * (C + 1) // 2 * 3), stencil.grouped
    for number, force in enumerate(family):
        law = compiled_law(force)
        add = law.add_tangent if exact else law.add_projected_tangent
        share(add, len(elements[0]), LEAST_TANGENTS, *elements, force.grouped_parameters, x, factor, damped_at,
              same, damping * force.damping, H, number == 0)
    return H.reshape(len(H), -1, 9)


def add_common(stencil: Stencil, common: FloatArray, positions: Columns, layout: PaddedRows, data: FloatArray) -> None:
    """As in `reference`."""
    add_blocks(stencil, np.zeros((0, 0, 9)), common, positions, layout, data)


def _room_for(stencil: Stencil, rows: int) -> FloatArray:
    """(8 G, rows, 3) to be overwritten: `rows` for each element, those that fill the last group among them."""
    count = len(stencil.grouped[0]) * WIDE
    return stencil.workspace.numbers(count * rows * 3).reshape(count, rows, 3)

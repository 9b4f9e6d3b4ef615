# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, force and stiffness of forces that share a stencil: one compiled loop for each law and quantity.

Gather and law work in registers, on eight elements at once; `assembly` then adds up the results of the elements around
each vertex.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import FloatArray
from ...stencils.stencil import GROUP_SIZE, ElementForce, Stencil
from ..layouts import Columns, PaddedRows
from .assembly import add_blocks, subtract_scattered
from .laws import compiled_law
from .thread_pool import LEAST_ELEMENTS, LEAST_ROWS, share

Family = Sequence[ElementForce]
GROUPS_PER_SUM = 125
"""Groups of elements whose energies are added in one sum [-]: a sum is never divided between threads."""


def energy(family: Family, x: FloatArray) -> float:
    """Return the sum of psi [J] at x (V, 3)."""
    x, total, count = np.ascontiguousarray(x), 0.0, len(family[0].stencil.vertices)
    elements = family[0].stencil.grouped
    for force in family:
        parts = np.empty(-(-count // (GROUPS_PER_SUM * GROUP_SIZE)))
        share(compiled_law(force).energy, len(parts), LEAST_ROWS // GROUPS_PER_SUM, *elements, force.grouped_parameters,
              x, count, GROUPS_PER_SUM, parts)
        total += float(parts.sum())
    return total


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """Add the force f at x (V, 3) to total (V, 3) [N]."""
    x, stencil = np.ascontiguousarray(x), family[0].stencil
    P, elements = _room_for(stencil, stencil.weights.shape[2]), stencil.grouped
    for number, force in enumerate(family):
        share(compiled_law(force).add_stress, len(elements[0]), LEAST_ROWS, *elements, force.grouped_parameters, x, P,
              number == 0)
    subtract_scattered(stencil, P, total)


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray) -> None:
    """Add the damping of the damped forces, at x and velocities v (V, 3), to total (V, 3) [N]."""
    x, v, stencil = np.ascontiguousarray(x), np.ascontiguousarray(v), family[0].stencil
    P, elements = _room_for(stencil, stencil.weights.shape[2]), stencil.grouped
    for number, force in enumerate(force for force in family if force.damping):
        share(compiled_law(force).add_damping_stress, len(elements[0]), LEAST_ROWS, *elements, force.grouped_parameters,
              force.damping, x, v, P, number == 0)
    subtract_scattered(stencil, P, total)


def add_tangents(family: Family, x: FloatArray, factor: float, positions: Columns, layout: PaddedRows,
                 data: FloatArray, *, exact: bool, damped_at: FloatArray, damping: float,
                 common: FloatArray | None) -> None:
    """Add factor K + damping D + the blocks of `common` to the numbers `data` of a matrix.

    K = -df/dx at x (V, 3), semi-definite element by element unless `exact`; D = -df/dv at `damped_at` (V, 3) of the
    damped forces; `common` as in `add_common`; positions (E k k,): where in its row each block of an element is, in
    the matrix's layout.
    """
    H = _filled(family, x, factor, exact, damped_at, damping)
    add_blocks(family[0].stencil, H, common, positions, layout, data)


def tangents(family: Family, x: FloatArray, factor: float, *, exact: bool, damped_at: FloatArray,
             damping: float) -> FloatArray:
    """Return factor H + damping D of each element (E, C (C + 1) / 2, 9), blocks c <= d row by row."""
    H = _filled(family, x, factor, exact, damped_at, damping)
    return H[:len(family[0].stencil.vertices)].copy()


def _filled(family: Family, x: FloatArray, factor: float, exact: bool, damped_at: FloatArray, damping: float
            ) -> FloatArray:
    """Return H (8 G, C (C + 1) / 2, 9) of the elements, in the workspace of the stencil."""
    stencil, C, same = family[0].stencil, family[0].stencil.weights.shape[2], x is damped_at
    x, damped_at = np.ascontiguousarray(x), np.ascontiguousarray(damped_at)
    H, elements = _room_for(stencil, C * (C + 1) // 2 * 3), stencil.grouped
    for number, force in enumerate(family):
        law = compiled_law(force)
        add = law.add_tangent if exact else law.add_projected_tangent
        share(add, len(elements[0]), LEAST_ELEMENTS, *elements, force.grouped_parameters, x, factor, damped_at,
              same, damping * force.damping, H, number == 0)
    return H.reshape(len(H), -1, 9)


def add_common(stencil: Stencil, common: FloatArray, positions: Columns, layout: PaddedRows, data: FloatArray) -> None:
    """Add the sum of q q^T of each element to the blocks of any two of its vertices, also of a vertex and itself.

    common (E, R, 3): R vectors q of each element; other arguments as of `add_tangents`.
    """
    add_blocks(stencil, np.zeros((0, 0, 9)), common, positions, layout, data)


def _room_for(stencil: Stencil, rows: int) -> FloatArray:
    """Return workspace (8 G, rows, 3): `rows` for each element, including those that fill up the last group."""
    count = len(stencil.grouped[0]) * GROUP_SIZE
    return stencil.workspace.numbers(count * rows * 3).reshape(count, rows, 3)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, force and stiffness of forces that share a stencil: one compiled loop for each law and quantity.

Gather and law work in registers, on eight elements at once; `assembly` then adds up the results of the elements around
each vertex.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...arrays import FloatArray
from ...stencils.stencil import GROUP_SIZE, ElementForce, Stencil
from ..layouts import Columns, PaddedRows
from .assembly import add_blocks, subtract_scattered
from .laws import compiled_law
from .linear_stress import add_linear_stress, element_turns
from .thread_pool import LEAST_ELEMENTS, LEAST_ROWS, share

Family = Sequence[ElementForce]
NO_TURN = np.zeros((0, 9, GROUP_SIZE))
"""Rotations of elements that are taken as they are."""
GROUPS_PER_SUM = 125
"""Groups of elements whose energies are added in one sum [-]: a sum is never divided between threads."""


def turns(stencil: Stencil, rotation: FloatArray) -> FloatArray:
    """Return the rotation matrices (G, 9, 8) of the elements, by the mean of their vertices' rotation (V, 4).

    rotation: unit quaternions, all with w > 0.
    """
    vertices = stencil.grouped[0]
    result = np.empty((len(vertices), 9, GROUP_SIZE))
    share(element_turns, len(vertices), LEAST_ROWS, vertices, rotation, result)
    return result


def columns(stencil: Stencil, x: FloatArray, turn: FloatArray | None) -> FloatArray:
    """Return the columns (E, C, 3) of a field x (V, 3), turned by `turn`."""
    F = np.array(stencil.gather(x)).transpose(2, 0, 1)
    if turn is None:
        return np.ascontiguousarray(F)
    R = turn.transpose(0, 2, 1).reshape(-1, 3, 3)[:len(F)]
    return np.ascontiguousarray(np.einsum("eab,ecb->eca", R, F))


def energy(family: Family, x: FloatArray) -> float:
    """Return the sum of psi [J] at x (V, 3)."""
    x, total, count = np.ascontiguousarray(x), 0.0, len(family[0].stencil.vertices)
    elements = family[0].stencil.grouped
    for force in family:
        parts = np.empty(-(-count // (GROUPS_PER_SUM * GROUP_SIZE)))
        share(compiled_law(force).energy, len(parts), LEAST_ROWS // GROUPS_PER_SUM, *elements, force.grouped_parameters,
              x, NO_TURN, count, GROUPS_PER_SUM, parts)
        total += float(parts.sum())
    return total


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """Add the force f at x (V, 3) to total (V, 3) [N]."""
    stencil = family[0].stencil
    P = _room_for(stencil, stencil.weights.shape[2])
    _fill_stress(family, np.ascontiguousarray(x), NO_TURN, P)
    subtract_scattered(stencil, P, total)


def _fill_stress(family: Family, x: FloatArray, turn: FloatArray, P: FloatArray) -> None:
    """Write the stresses of all forces to P (8 G, C, 3), at x (V, 3) turned by `turn`."""
    elements = family[0].stencil.grouped
    for number, force in enumerate(family):
        share(compiled_law(force).add_stress, len(elements[0]), LEAST_ROWS, *elements, _acting(force), x, turn, P,
              number == 0)


def _acting(force: ElementForce) -> FloatArray:
    """Return the parameters (G, P, 8) of a force's law without its damping."""
    return force.grouped_parameters if force.acting is None else force.acting


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray, *,
                      turn: FloatArray | None = None, factor: float = 1.0, relative: bool = False) -> None:
    """Add `factor` times the damping forces of a family to total (V, 3) [N].

    They are taken at columns F of x (V, 3) [m], turned by `turn` as of `turns`. The rate is that of the columns of v
    (V, 3) [m/s], less F if `relative`.
    """
    x, v, stencil = np.ascontiguousarray(x), np.ascontiguousarray(v), family[0].stencil
    P, elements, own = _room_for(stencil, stencil.weights.shape[2]), stencil.grouped, 1.0 if relative else 0.0
    for number, force in enumerate(force for force in family if force.damping):
        share(compiled_law(force).add_damping_stress, len(elements[0]), LEAST_ROWS, *elements, force.grouped_parameters,
              factor * force.damping, x, _or_none(turn), v, NO_TURN, own, P, number == 0)
    subtract_scattered(stencil, P, total)


def add_turned_damping(family: Family, x: FloatArray, turn: FloatArray | None, total: FloatArray,
                       factor: float) -> None:
    """Add `factor` tau times the forces of damped forces to total (V, 3), at columns of x (V, 3) [m], turned."""
    x, stencil = np.ascontiguousarray(x), family[0].stencil
    for force in family:
        if force.damping:
            P = _room_for(stencil, stencil.weights.shape[2])
            _fill_stress((force,), x, _or_none(turn), P)
            P *= factor * force.damping
            subtract_scattered(stencil, P, total)


def expected(family: Family, end: FloatArray, free: FloatArray) -> Family:
    """Return a family as it acts in a step whose end is expected at `end` (V, 3) [m]; arguments as of `Law`."""
    free = np.ascontiguousarray(free)
    end, elements, acting = np.ascontiguousarray(end), family[0].stencil.grouped, list(family)
    for number, force in enumerate(family):
        expect = compiled_law(force).expect
        if expect is not None:
            parameters = np.empty_like(force.grouped_parameters)
            share(expect, len(elements[0]), LEAST_ROWS, *elements, force.grouped_parameters, end, free, NO_TURN,
                  parameters)
            acting[number] = replace(force, acting=parameters)
            vars(acting[number])["grouped_parameters"] = force.grouped_parameters           # which are kept
    return acting


def add_linearised(family: Family, x: FloatArray, turn: FloatArray | None, end: FloatArray, factor: float,
                   positions: Columns, layout: PaddedRows, data: FloatArray, total: FloatArray, *, damping: float,
                   common: FloatArray | None) -> None:
    """Add H = factor K + damping D to the numbers `data` of a matrix, and the linear force at `end` (V, 3) [m] to
    total (V, 3) [N].

    K and D are those of `add_tangents` at the columns F of x (V, 3) [m], turned by `turn`. The force is that of
    stresses P(F) + H / factor (F_end - F).
    """
    x, end, turn, stencil = np.ascontiguousarray(x), np.ascontiguousarray(end), _or_none(turn), family[0].stencil
    P = _stresses(family, x, turn)
    H = _filled(family, x, turn, factor, False, x, turn, damping)
    add_blocks(stencil, H, common, positions, layout, data)
    add_linear_stress(stencil, H, end, x, turn, 1.0 / factor, P)
    subtract_scattered(stencil, P, total)


def add_linear_force(family: Family, x: FloatArray, turn: FloatArray | None, end: FloatArray, factor: float,
                     total: FloatArray) -> None:
    """Add the linear force of `add_linearised` without damping to total (V, 3) [N]."""
    x, end, turn, stencil = np.ascontiguousarray(x), np.ascontiguousarray(end), _or_none(turn), family[0].stencil
    P = _stresses(family, x, turn)
    H = _filled(family, x, turn, factor, False, x, turn, 0.0)
    add_linear_stress(stencil, H, end, x, turn, 1.0 / factor, P)
    subtract_scattered(stencil, P, total)


def add_tangents(family: Family, x: FloatArray, factor: float, positions: Columns, layout: PaddedRows,
                 data: FloatArray, *, exact: bool, damped_at: FloatArray, damping: float,
                 common: FloatArray | None, damped_turn: FloatArray | None = None) -> None:
    """Add factor K + damping D + the blocks of `common` to the numbers `data` of a matrix.

    K = -df/dx at x (V, 3), semi-definite element by element unless `exact`; D = -df/dv at `damped_at` (V, 3), turned by
    `damped_turn`, of the damped forces; `common` as in `add_common`; positions (E k k,): where in its row each block of
    an element is, in the matrix's layout.
    """
    H = _filled(family, x, NO_TURN, factor, exact, damped_at, _or_none(damped_turn), damping)
    add_blocks(family[0].stencil, H, common, positions, layout, data)


def tangents(family: Family, x: FloatArray, factor: float, *, exact: bool, damped_at: FloatArray,
             damping: float, turn: FloatArray | None = None) -> FloatArray:
    """Return factor H + damping D of each element (E, C (C + 1) / 2, 9), blocks c <= d row by row.

    Both are turned by `turn`; other arguments are those of `add_tangents`.
    """
    H = _filled(family, x, _or_none(turn), factor, exact, damped_at, _or_none(turn), damping)
    return H[:len(family[0].stencil.vertices)].copy()


def _filled(family: Family, x: FloatArray, turn: FloatArray, factor: float, exact: bool, damped_at: FloatArray,
            damped_turn: FloatArray, damping: float) -> FloatArray:
    """Return H (8 G, C (C + 1) / 2, 9) of the elements, in the workspace of the stencil."""
    stencil, C = family[0].stencil, family[0].stencil.weights.shape[2]
    same = x is damped_at and turn is damped_turn
    x, damped_at = np.ascontiguousarray(x), np.ascontiguousarray(damped_at)
    H, elements = _room_for(stencil, C * (C + 1) // 2 * 3), stencil.grouped
    for number, force in enumerate(family):
        law = compiled_law(force)
        add = law.add_tangent if exact else law.add_projected_tangent
        share(add, len(elements[0]), LEAST_ELEMENTS, *elements, _acting(force), force.grouped_parameters, x, turn,
              factor, damped_at, damped_turn, same, damping * force.damping, H, number == 0)
    return H.reshape(len(H), -1, 9)


def _stresses(family: Family, x: FloatArray, turn: FloatArray) -> FloatArray:
    """Return the stresses (8 G, C, 3) of all forces, at x (V, 3) turned by `turn`, in memory of their own."""
    stencil = family[0].stencil
    P = np.empty((len(stencil.grouped[0]) * GROUP_SIZE, stencil.weights.shape[2], 3))
    _fill_stress(family, x, turn, P)
    return P


def _or_none(turn: FloatArray | None) -> FloatArray:
    """Return the rotations (G, 9, 8), with G = 0 for no rotation."""
    return NO_TURN if turn is None else turn


def add_common(stencil: Stencil, common: FloatArray, positions: Columns, layout: PaddedRows, data: FloatArray) -> None:
    """Add the sum of q q^T of each element to the blocks of any two of its vertices, also of a vertex and itself.

    common (E, R, 3): R vectors q of each element; other arguments as of `add_tangents`.
    """
    add_blocks(stencil, np.zeros((0, 0, 9)), common, positions, layout, data)


def _room_for(stencil: Stencil, rows: int) -> FloatArray:
    """Return workspace (8 G, rows, 3): `rows` for each element, including those that fill up the last group."""
    count = len(stencil.grouped[0]) * GROUP_SIZE
    return stencil.workspace.numbers(count * rows * 3).reshape(count, rows, 3)

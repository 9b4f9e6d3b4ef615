# SPDX-License-Identifier: GPL-3.0-or-later
"""Energy, force, stiffness and damping of forces that share a stencil, law by law on arrays.

The laws are shared. Compiled loops evaluate them on groups of elements, and add up vertex by vertex (`assembly`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import FloatArray
from ..formulas.rotation import rotation_matrix
from ..layouts import Columns, PaddedRows
from .block_matrix import add_element_blocks, add_entries
from .elements import element_blocks

if TYPE_CHECKING:
    from ...stencils.stencil import ElementForce, Stencil

Family = Sequence["ElementForce"]
"""Forces that share a stencil."""

ELEMENTS_PER_PIECE = 5000
"""Most elements whose laws are evaluated at a time [-]. A law makes some hundred arrays: with few elements calls take
most of the time, with many the arrays do not fit into a core's cache."""


def energy(family: Family, x: FloatArray) -> float:
    """Return the energy [J] of all forces of a family at x (V, 3) [m]."""
    F = family[0].stencil.gather(x)
    return float(sum(np.sum(force.law.energy(F, force.parameters)) for force in family))


def turns(stencil: Stencil, rotation: FloatArray) -> FloatArray:
    """Return the rotation matrices (3, 3, E) of the elements, by the mean of their vertices' rotation (V, 4).

    rotation: unit quaternions, all with w > 0.
    """
    return np.array(rotation_matrix(tuple(sum(part[v] for v in stencil.vertices.T)
                                          for part in np.ascontiguousarray(rotation.T))))


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """Add the forces of a family at x (V, 3) [m] to total (V, 3) [N]."""
    stencil = family[0].stencil
    F = stencil.gather(x)
    P = _empty(stencil, len(F), 3)
    for part, forces in _pieces(family):
        _fill(P[..., part], [force.law.stress(_part(F, part), force.parameters) for force in forces])
    total -= stencil.scatter(P, len(x))


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray, *,
                      turn: FloatArray | None = None, factor: float = 1.0, relative: bool = False) -> None:
    """Add `factor` times the damping forces of a family to total (V, 3) [N].

    They are taken at columns F of x (V, 3) [m], turned by `turn` as of `turns`. The rate is that of the columns of v
    (V, 3) [m/s], less F if `relative`.
    """
    stencil = family[0].stencil
    F, rate = _turned(stencil.gather(x), turn), stencil.gather(v)
    if relative:
        rate = tuple(tuple(a - b for a, b in zip(p, q, strict=True)) for p, q in zip(rate, F, strict=True))
    P = _empty(stencil, len(F), 3)
    for part, forces in _pieces([force for force in family if force.damping]):
        _fill(P[..., part], [force.damping_stress(_part(F, part), _part(rate, part)) for force in forces])
    total -= factor * stencil.scatter(P, len(x))


def add_turned_damping(family: Family, x: FloatArray, turn: FloatArray | None, total: FloatArray,
                       factor: float) -> None:
    """Add `factor` tau times the forces of damped forces to total (V, 3), at columns of x (V, 3) [m], turned."""
    stencil = family[0].stencil
    F = _turned(stencil.gather(x), turn)
    P = _empty(stencil, len(F), 3)
    for part, forces in _pieces([force for force in family if force.damping]):
        _fill(P[..., part], [tuple(tuple(force.damping * a for a in column) for column in force.law.stress(
            _part(F, part), force.parameters)) for force in forces])
    total -= factor * stencil.scatter(P, len(x))


def expected(family: Family, end: FloatArray, free: FloatArray) -> Family:
    """Return a family as it acts in a step whose end is expected at `end` (V, 3) [m]; arguments as of `Law`."""
    F, G = family[0].stencil.gather(end), family[0].stencil.gather(free)
    return [replace(force, acting=force.law.expected(F, G, force.parameters)) if hasattr(force.law, "expected")
            else force for force in family]


def add_linearised(family: Family, x: FloatArray, turn: FloatArray | None, end: FloatArray, factor: float,
                   positions: Columns, layout: PaddedRows, data: FloatArray, total: FloatArray, *, damping: float,
                   common: FloatArray | None) -> None:
    """Add H = factor K + damping D to the numbers `data` of a matrix, and the linear force at `end` (V, 3) [m] to
    total (V, 3) [N].

    K and D are those of `add_tangents` at the columns F of x (V, 3) [m], turned by `turn`. The force is that of
    stresses P(F) + H / factor (F_end - F).
    """
    stencil = family[0].stencil
    vertices, weights = stencil.by_corner
    blocks, P = _empty(stencil, 9, len(vertices), len(vertices)), _empty(stencil, weights.shape[1], 3)
    for part, H in _linear(family, x, turn, end, factor, damping, P):
        element_blocks(weights[..., part], H, blocks[..., part])
    _add_blocks(stencil, blocks, common, positions, layout, data)
    total -= stencil.scatter(P, len(x))


def add_linear_force(family: Family, x: FloatArray, turn: FloatArray | None, end: FloatArray, factor: float,
                     total: FloatArray) -> None:
    """Add the linear force of `add_linearised` without damping to total (V, 3) [N]."""
    stencil = family[0].stencil
    P = _empty(stencil, stencil.weights.shape[2], 3)
    for _ in _linear(family, x, turn, end, factor, 0.0, P):
        pass
    total -= stencil.scatter(P, len(x))


def columns(stencil: Stencil, x: FloatArray, turn: FloatArray | None) -> FloatArray:
    """Return the columns (E, C, 3) of a field x (V, 3), turned by `turn`."""
    return np.ascontiguousarray(np.array(_turned(stencil.gather(x), turn)).transpose(2, 0, 1))


def _linear(family: Family, x: FloatArray, turn: FloatArray | None, end: FloatArray, factor: float, damping: float,
            P: FloatArray) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the blocks H of pieces of `add_linearised`, and write the stresses to P (C, 3, E)."""
    stencil = family[0].stencil
    F = _turned(stencil.gather(x), turn)
    dF = np.array(stencil.gather(end)) - np.array(F)
    for part, forces in _pieces(family):
        f = _part(F, part)
        H = _tangent(forces, f, f, factor, False, damping)
        _fill(P[..., part], [force.law.stress(f, _acting(force)) for force in forces])
        for c, axis, d, other in np.ndindex(len(F), 3, len(F), 3):
            P[c, axis, part] += H[c, d, axis, other] * dF[d, other, part] / factor
        yield part, H


def add_tangents(family: Family, x: FloatArray, factor: float, positions: Columns, layout: PaddedRows,
                 data: FloatArray, *, exact: bool, damped_at: FloatArray, damping: float,
                 common: FloatArray | None, damped_turn: FloatArray | None = None) -> None:
    """Add factor K + damping D + the blocks of `common` to the numbers `data` of a matrix.

    K = -df/dx at x (V, 3), projected to be semi-definite for each element unless `exact`. D = -df/dv of the damped
    forces at `damped_at` (V, 3), turned by `damped_turn` as of `turns`. common: as of `add_common`. positions (E k k,):
    index of each block of an element within its row of the matrix `layout`.
    """
    stencil = family[0].stencil
    vertices, weights = stencil.by_corner
    blocks = _empty(stencil, 9, len(vertices), len(vertices))
    for part, H in _tangents(family, x, factor, exact, damped_at, damping, None, damped_turn):
        element_blocks(weights[..., part], H, blocks[..., part])
    _add_blocks(stencil, blocks, common, positions, layout, data)


def _add_blocks(stencil: Stencil, blocks: FloatArray, common: FloatArray | None, positions: Columns,
                layout: PaddedRows, data: FloatArray) -> None:
    """Add blocks (9, k, k, E) and those of `common` to the numbers `data` of a matrix."""
    vertices = stencil.by_corner[0]
    if common is not None:
        for q in np.ascontiguousarray(common.transpose(1, 2, 0)):
            blocks += (q[:, None] * q[None]).reshape(9, 1, 1, -1)
    k = len(vertices)
    places = layout.row_start[vertices][:, None] + positions.reshape(-1, k, k).transpose(1, 2, 0)
    add_entries(places.ravel(), blocks, layout, data)


def tangents(family: Family, x: FloatArray, factor: float, *, exact: bool, damped_at: FloatArray,
             damping: float, turn: FloatArray | None = None) -> FloatArray:
    """Return factor H + damping D of each element (E, C (C + 1) / 2, 9), blocks c <= d row by row.

    Both are turned by `turn`; other arguments are those of `add_tangents`.
    """
    C = family[0].stencil.weights.shape[2]
    upper = _empty(family[0].stencil, C * (C + 1) // 2, 9)
    for part, H in _tangents(family, x, factor, exact, damped_at, damping, turn, turn):
        upper[..., part] = np.stack([H[c, d].reshape(9, -1) for c in range(C) for d in range(c, C)])
    return upper.transpose(2, 0, 1)                                # each entry's numbers are contiguous, for products


def _tangents(family: Family, x: FloatArray, factor: float, exact: bool, damped_at: FloatArray, damping: float,
              turn: FloatArray | None, damped_turn: FloatArray | None) -> Iterator[tuple[slice, FloatArray]]:
    """Yield factor H + damping D of pieces of the elements, as blocks (C, C, 3, 3, n)."""
    stencil = family[0].stencil
    F = _turned(stencil.gather(x), turn)
    G = F if x is damped_at and turn is damped_turn else _turned(stencil.gather(damped_at), damped_turn)
    for part, forces in _pieces(family):
        yield part, _tangent(forces, _part(F, part), _part(G, part), factor, exact, damping)


def _tangent(forces: Sequence[ElementForce], F: Any, G: Any, factor: float, exact: bool, damping: float) -> FloatArray:
    """Return factor H at columns F + damping D at columns G, as blocks (C, C, 3, 3, n)."""
    H = np.empty((len(F), len(F), 3, 3, len(F[0][0])))
    _fill(H, [(force.law.tangent if exact else force.law.projected_tangent)(F, _acting(force)) for force in forces])
    H *= factor
    for force in forces:
        if force.damping and damping:
            _add_damping(H, force, damping, G)
    return H


def _turned(F: Any, turn: FloatArray | None) -> Any:
    """Return columns F, turned by rotation matrices (3, 3, E)."""
    if turn is None:
        return F
    return tuple(tuple(row[0] * a + row[1] * b + row[2] * c for row in turn) for a, b, c in F)


def _add_damping(H: FloatArray, force: ElementForce, factor: float, F: Any) -> None:
    """Add factor D to H (C, C, 3, 3, n), at columns F: the sum of k g g^T over the conditions of the law."""
    for k, gradient in force.law.conditions(F, force.parameters):
        g = np.array(gradient)
        kg = (factor * force.damping * k) * g
        for c in range(len(g)):
            for axis in range(3):
                H[c, :, axis] += kg[c, axis] * g


def _pieces(family: Family) -> Iterator[tuple[slice, list[ElementForce]]]:
    """Yield slices of the elements, and for each the forces restricted to it."""
    count = len(family[0].stencil.vertices)
    size = -(-count // max(1, -(-count // ELEMENTS_PER_PIECE)))
    for start in range(0, count, max(1, size)):
        part = slice(start, start + size)
        yield part, [replace(force, parameters=tuple(p[part] for p in force.parameters),
                             acting=None if force.acting is None else tuple(p[part] for p in force.acting))
                     for force in family]


def _acting(force: ElementForce) -> Any:
    """Return the parameters of a force's law without its damping."""
    return force.parameters if force.acting is None else force.acting


def _part(F: Any, part: slice) -> Any:
    """Return the columns F of the elements in a slice."""
    return tuple((a[part], b[part], c[part]) for a, b, c in F)


def _empty(stencil: Stencil, *shape: int) -> FloatArray:
    """Return an empty array (shape, E) for the E elements of a stencil."""
    return np.empty((*shape, len(stencil.vertices)))


def _fill(result: FloatArray, parts: Sequence[Any]) -> None:
    """Write the sum of all parts, which are nested tuples of arrays (n,), to result (.., n)."""
    if result.ndim == 1:
        result[:] = parts[0]
        for part in parts[1:]:
            result += part
        return
    for k in range(len(result)):
        _fill(result[k], [part[k] for part in parts])


def add_common(stencil: Stencil, common: FloatArray, positions: Columns, layout: PaddedRows, data: FloatArray) -> None:
    """Add the sum of q q^T of each element to the blocks of any two of its vertices, including the diagonal blocks.

    common (E, R, 3): R vectors q of each element. Other arguments are those of `add_tangents`.
    """
    E, k = stencil.vertices.shape
    blocks = sum(q[:, :, None] * q[:, None, :] for q in common.transpose(1, 0, 2))[:, None, None]
    add_element_blocks(stencil.vertices, positions, np.broadcast_to(blocks, (E, k, k, 3, 3)), layout, data)

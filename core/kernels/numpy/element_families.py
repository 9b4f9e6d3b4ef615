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


def add_force(family: Family, x: FloatArray, total: FloatArray) -> None:
    """Add the forces of a family at x (V, 3) [m] to total (V, 3) [N]."""
    stencil = family[0].stencil
    F = stencil.gather(x)
    P = _empty(stencil, len(F), 3)
    for part, forces in _pieces(family):
        _fill(P[..., part], [force.law.stress(_part(F, part), force.parameters) for force in forces])
    total -= stencil.scatter(P, len(x))


def add_damping_force(family: Family, x: FloatArray, v: FloatArray, total: FloatArray) -> None:
    """Add the damping forces of a family, at x (V, 3) [m] and velocities v (V, 3) [m/s], to total (V, 3) [N]."""
    stencil = family[0].stencil
    F, rate = stencil.gather(x), stencil.gather(v)
    P = _empty(stencil, len(F), 3)
    for part, forces in _pieces([force for force in family if force.damping]):
        _fill(P[..., part], [force.damping_stress(_part(F, part), _part(rate, part)) for force in forces])
    total -= stencil.scatter(P, len(x))


def add_tangents(family: Family, x: FloatArray, factor: float, positions: Columns, layout: PaddedRows,
                 data: FloatArray, *, exact: bool, damped_at: FloatArray, damping: float,
                 common: FloatArray | None) -> None:
    """Add factor K + damping D + the blocks of `common` to the numbers `data` of a matrix.

    K = -df/dx at x (V, 3), projected to be semi-definite for each element unless `exact`. D = -df/dv of the damped
    forces at `damped_at` (V, 3). common: as of `add_common`. positions (E k k,): index of each block of an element
    within its row of the matrix `layout`.
    """
    stencil = family[0].stencil
    vertices, weights = stencil.by_corner
    blocks = _empty(stencil, 9, len(vertices), len(vertices))
    for part, H in _tangents(family, x, factor, exact, damped_at, damping):
        element_blocks(weights[..., part], H, blocks[..., part])
    if common is not None:
        for q in np.ascontiguousarray(common.transpose(1, 2, 0)):
            blocks += (q[:, None] * q[None]).reshape(9, 1, 1, -1)
    k = len(vertices)
    places = layout.row_start[vertices][:, None] + positions.reshape(-1, k, k).transpose(1, 2, 0)
    add_entries(places.ravel(), blocks, layout, data)


def tangents(family: Family, x: FloatArray, factor: float, *, exact: bool, damped_at: FloatArray,
             damping: float) -> FloatArray:
    """Return factor H + damping D of each element (E, C (C + 1) / 2, 9), blocks c <= d row by row."""
    C = family[0].stencil.weights.shape[2]
    upper = _empty(family[0].stencil, C * (C + 1) // 2, 9)
    for part, H in _tangents(family, x, factor, exact, damped_at, damping):
        upper[..., part] = np.stack([H[c, d].reshape(9, -1) for c in range(C) for d in range(c, C)])
    return upper.transpose(2, 0, 1)                                # each entry's numbers are contiguous, for products


def _tangents(family: Family, x: FloatArray, factor: float, exact: bool, damped_at: FloatArray,
              damping: float) -> Iterator[tuple[slice, FloatArray]]:
    """Yield factor H + damping D of pieces of the elements, as blocks (C, C, 3, 3, n)."""
    stencil = family[0].stencil
    F = stencil.gather(x)
    G = F if x is damped_at else stencil.gather(damped_at)
    for part, forces in _pieces(family):
        f = _part(F, part)
        tangents = [(force.law.tangent if exact else force.law.projected_tangent)(f, force.parameters)
                    for force in forces]
        H = np.empty((len(F), len(F), 3, 3, len(f[0][0])))
        _fill(H, tangents)
        H *= factor
        g = _part(G, part)
        for force in forces:
            if force.damping and damping:
                _add_damping(H, force, damping, g)
        yield part, H


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
        yield part, [replace(force, parameters=tuple(p[part] for p in force.parameters)) for force in family]


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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile laws: the functions that run on arrays of components in NumPy run here on `Lanes`, eight elements at once.

`register_jitable` makes the plain functions that a law is written with visible to Numba. Each law gets loops over its
elements that gather the columns, call the law and add its result to an array. The loops are made in a factory whose
variables are plain module functions, so that Numba finds them in its cache in the next process.

E elements are G = ceil(E / 8) groups. Loops read the numbers of a group side by side: vertices (G, k, 8), weights
(G, k, C, 8), parameters (G, P, 8); the last element fills up the last group. They write (8 G, ..), one element after
the other, because `assembly` goes from vertex to vertex. Loops run over groups begin..end - 1, one part per thread.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.extending import register_jitable

from ...stencils import component_algebra
from ...stencils.stencil import GROUP_SIZE, ElementForce
from .kernel_cache import njit
from .options import INNER, KERNEL
from .plain_functions import register
from .simd import everywhere, gather, lane, load, row, spread, store

Loop = Callable[..., Any]

_inner = register_jitable(**INNER)
_laws: dict[tuple[type, int, int], CompiledLaw] = {}


@dataclass(frozen=True)
class CompiledLaw:
    """Loops over elements with vertices (G, k, 8), weights (G, k, C, 8), parameters p (G, P, 8) at x (V, 3).

    `columns` is the function that makes their columns. `expect` is None for a law without `expected`.
    """

    energy: Loop
    add_stress: Loop
    add_tangent: Loop
    add_projected_tangent: Loop
    add_damping_stress: Loop
    expect: Loop | None
    columns: Loop


def compiled_law(force: ElementForce) -> CompiledLaw:
    """Return the loops of a force's law; each is compiled when it is first called."""
    law = type(force.law)
    C = force.stencil.weights.shape[2]
    key = (law, C, len(force.parameters))
    if key not in _laws:
        register(component_algebra)
        register(sys.modules[law.__module__])
        expected = getattr(law, "expected", None)
        for method in (law.energy, law.stress, law.tangent, law.projected_tangent, law.conditions, expected):
            if method is not None:
                _inner(method)
        _laws[key] = CompiledLaw(
            _energy(law.energy, COLUMNS[C], key[2]), _add_stress(law.stress, COLUMNS[C], C, key[2]),
            _add_tangent(law.tangent, law.conditions, COLUMNS[C], C, key[2]),
            _add_tangent(law.projected_tangent, law.conditions, COLUMNS[C], C, key[2]),
            _add_damping_stress(law.conditions, COLUMNS[C], C, key[2]),
            None if expected is None else _expect(expected, COLUMNS[C], key[2]), COLUMNS[C])
    return _laws[key]


# ---------------------------------------------------------------------- columns of a group of elements


@_inner  # type: ignore[untyped-decorator]
def _column(vertices, weights, x, turn, g, c):  # type: ignore[no-untyped-def]
    """Return column c of the elements of group g as three lanes, sum_i w_ic (x_i - x_0) + (sum_i w_ic) x_0.

    turn (G, 9, 8): rotation matrices of the elements, row by row, with which columns are multiplied; none if G is 0.
    """
    corners, columns = weights.shape[1], weights.shape[2]
    first = g * corners * GROUP_SIZE
    x0, y0, z0 = gather(x, vertices, first, 0), gather(x, vertices, first, 1), gather(x, vertices, first, 2)
    total = load(weights, (g * corners * columns + c) * GROUP_SIZE)
    a, b, d = everywhere(0.0), everywhere(0.0), everywhere(0.0)
    for i in range(1, corners):
        corner = g * corners + i
        w, at = load(weights, (corner * columns + c) * GROUP_SIZE), corner * GROUP_SIZE
        total = total + w
        a = a + w * (gather(x, vertices, at, 0) - x0)
        b = b + w * (gather(x, vertices, at, 1) - y0)
        d = d + w * (gather(x, vertices, at, 2) - z0)
    a, b, d = a + total * x0, b + total * y0, d + total * z0
    if len(turn) > 0:
        at = 9 * GROUP_SIZE * g
        a, b, d = (load(turn, at) * a + load(turn, at + GROUP_SIZE) * b + load(turn, at + 2 * GROUP_SIZE) * d,
                   load(turn, at + 3 * GROUP_SIZE) * a + load(turn, at + 4 * GROUP_SIZE) * b
                   + load(turn, at + 5 * GROUP_SIZE) * d,
                   load(turn, at + 6 * GROUP_SIZE) * a + load(turn, at + 7 * GROUP_SIZE) * b
                   + load(turn, at + 8 * GROUP_SIZE) * d)
    return (a, b, d)


def _columns_1(vertices, weights, x, turn, g):  # type: ignore[no-untyped-def]
    """Return the column of the elements of group g, as lanes."""
    return (_column(vertices, weights, x, turn, g, 0),)


def _columns_2(vertices, weights, x, turn, g):  # type: ignore[no-untyped-def]
    """Return all 2 columns of the elements of group g, as lanes."""
    return (_column(vertices, weights, x, turn, g, 0), _column(vertices, weights, x, turn, g, 1))


def _columns_3(vertices, weights, x, turn, g):  # type: ignore[no-untyped-def]
    """Return all 3 columns of the elements of group g, as lanes."""
    return (_column(vertices, weights, x, turn, g, 0), _column(vertices, weights, x, turn, g, 1),
            _column(vertices, weights, x, turn, g, 2))


def _columns_5(vertices, weights, x, turn, g):  # type: ignore[no-untyped-def]
    """Return all 5 columns of the elements of group g, as lanes."""
    return (_column(vertices, weights, x, turn, g, 0), _column(vertices, weights, x, turn, g, 1),
            _column(vertices, weights, x, turn, g, 2), _column(vertices, weights, x, turn, g, 3),
            _column(vertices, weights, x, turn, g, 4))


COLUMNS = {1: _columns_1, 2: _columns_2, 3: _columns_3, 5: _columns_5}
for _function in COLUMNS.values():
    _inner(_function)


# ---------------------------------------------------------------------- loops


def _energy(law: Loop, columns: Loop, parameters: int) -> Loop:
    """Return a compiled loop over the energies of a law with this number of parameters."""
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def energy(begin, end, vertices, weights, p, x, turn, count, size, parts):  # type: ignore[no-untyped-def]
        """Write the sum of the energies of each part begin..end - 1 to `parts`.

        A part is `size` groups of elements; there are `count` elements in all.
        """
        for part in range(begin, end):
            total = 0.0
            for g in range(part * size, min((part + 1) * size, len(vertices))):
                psi = law(None, columns(vertices, weights, x, turn, g), row(p, g, parameters))
                for k in range(min(GROUP_SIZE, count - g * GROUP_SIZE)):
                    total += lane(psi, k)
            parts[part] = total

    return energy  # type: ignore[no-any-return]


def _expect(law: Loop, columns: Loop, parameters: int) -> Loop:
    """Return a compiled loop over the parameters with which elements of a law act in a step."""
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def expect(begin, end, vertices, weights, p, x, free, turn, result):  # type: ignore[no-untyped-def]
        """Write the parameters of groups begin..end - 1, whose ends are expected at x (V, 3), to result (G, P, 8).

        free: (V, 3), the ends without acceleration.
        """
        for g in range(begin, end):
            F, G = columns(vertices, weights, x, turn, g), columns(vertices, weights, free, turn, g)
            q = law(None, F, G, row(p, g, parameters))
            for k in range(parameters):
                store(q[k], result, (g * parameters + k) * GROUP_SIZE)

    return expect  # type: ignore[no-any-return]


def _add_stress(law: Loop, columns: Loop, C: int, parameters: int) -> Loop:
    """Return a compiled loop over the stresses of a law with C columns and this number of parameters."""
    numbers = 3 * C

    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_stress(begin, end, vertices, weights, p, x, turn, P, fresh):  # type: ignore[no-untyped-def]
        """Add the stress at x (V, 3) of groups begin..end - 1 to P (8 G, C, 3); overwrite P if `fresh`."""
        here = np.empty((numbers, GROUP_SIZE))
        for g in range(begin, end):
            stress = law(None, columns(vertices, weights, x, turn, g), row(p, g, parameters))
            for c in range(C):
                for i in range(3):
                    store(stress[c][i], here, (3 * c + i) * GROUP_SIZE)
            spread(here, numbers, P, g, fresh)

    return add_stress  # type: ignore[no-any-return]


def _add_tangent(law: Loop, law_conditions: Loop, columns: Loop, C: int, parameters: int) -> Loop:
    """Return a compiled loop over tangents and damping, for a law with C columns and this number of parameters."""
    numbers = 9 * C * (C + 1) // 2

    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_tangent(begin, end, vertices, weights, p, damped_p, x, turn, factor, damped_at,  # type: ignore[no-untyped-def]
                    damped_turn, same, tau, H, fresh):
        """Add the tangents of groups begin..end - 1 to H (8 G, C (C + 1) / 2, 9); overwrite H if `fresh`.

        H = factor tangent at x + tau sum k g g^T at `damped_at` (V, 3), over the conditions of the law: blocks c <= d
        only. turn, damped_turn: as of `_column`. same: `damped_at` is x, and turned alike. damped_p: as p, of the
        conditions.
        """
        here = np.empty((numbers, GROUP_SIZE))
        for g in range(begin, end):
            F = columns(vertices, weights, x, turn, g)
            tangent = law(None, F, row(p, g, parameters))
            for c in range(C):
                for d in range(c, C):
                    block = c * C - c * (c - 1) // 2 + d - c
                    for i in range(3):
                        for j in range(3):
                            store(factor * tangent[c][d][i][j], here, (9 * block + 3 * i + j) * GROUP_SIZE)
            if tau != 0.0:
                G = F if same else columns(vertices, weights, damped_at, damped_turn, g)
                conditions = law_conditions(None, G, row(damped_p, g, parameters))
                for m in range(len(conditions)):
                    k, gradient = conditions[m]
                    for c in range(C):
                        for d in range(c, C):
                            block = c * C - c * (c - 1) // 2 + d - c
                            for i in range(3):
                                for j in range(3):
                                    place = (9 * block + 3 * i + j) * GROUP_SIZE
                                    store(load(here, place) + tau * k * gradient[c][i] * gradient[d][j], here, place)
            spread(here, numbers, H, g, fresh)

    return add_tangent  # type: ignore[no-any-return]


def _add_damping_stress(law: Loop, columns: Loop, C: int, parameters: int) -> Loop:
    """Return a compiled loop over damping stresses, for a law with C columns and this number of parameters."""
    numbers = 3 * C

    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_damping_stress(begin, end, vertices, weights, p, tau, x, turn, v,  # type: ignore[no-untyped-def]
                           none, own, P, fresh):
        """Add tau sum k (g . v) g of groups begin..end - 1 to P (8 G, C, 3).

        The sum is over the conditions of the law at columns F of x (V, 3) and `turn`; v is the columns of v (V, 3) less
        `own` F. none (0, 9, 8). Overwrite P if `fresh`.
        """
        here = np.empty((numbers, GROUP_SIZE))
        for g in range(begin, end):
            F = columns(vertices, weights, x, turn, g)
            conditions = law(None, F, row(p, g, parameters))
            rate = columns(vertices, weights, v, none, g)
            for number in range(numbers):
                store(0.0, here, number * GROUP_SIZE)
            for m in range(len(conditions)):
                k, gradient = conditions[m]
                speed = everywhere(0.0)
                for c in range(C):
                    for i in range(3):
                        speed = speed + gradient[c][i] * (rate[c][i] - own * F[c][i])
                for c in range(C):
                    for i in range(3):
                        place = (3 * c + i) * GROUP_SIZE
                        store(load(here, place) + tau * k * speed * gradient[c][i], here, place)
            spread(here, numbers, P, g, fresh)

    return add_damping_stress  # type: ignore[no-any-return]

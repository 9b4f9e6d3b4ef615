# SPDX-License-Identifier: GPL-3.0-or-later
"""Laws compiled: the same functions that run on arrays of components, here on the numbers of one element.

`register_jitable` lets Numba see through the plain functions that a law is written with. Each law gets loops over its
elements that gather the columns, call the law and add what it gives to an array. The loops are made in a
factory whose variables are plain module functions, so that Numba finds them in its cache in the next process.

Loops that add go over elements begin..end - 1, for threads to share them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit
from numba.extending import register_jitable
from numba.np.unsafe.ndarray import to_fixed_tuple

from ...arrays import FloatArray
from ...stencils import components
from .options import INNER, KERNEL

if TYPE_CHECKING:
    from ...stencils.stencil import ElementForce

Loop = Callable[..., Any]

_inner = register_jitable(**INNER)
_seen: set[FunctionType] = set()
_laws: dict[tuple[type, int, int], CompiledLaw] = {}


@dataclass(frozen=True)
class CompiledLaw:
    """Loops over elements with vertices (E, k), weights (E, k, C), parameters p (E, P) at positions x (V, 3)."""

    energy: Loop
    add_stress: Loop
    add_tangent: Loop
    add_projected_tangent: Loop
    add_damping_stress: Loop


def rows_of(force: ElementForce) -> FloatArray:
    """A force's parameters with those of an element in one row."""
    kept: FloatArray | None = force.__dict__.get("_rows")
    if kept is None:                                              # made once: what a step changes is a new force
        kept = force.__dict__["_rows"] = np.stack([np.asarray(q, dtype=np.float64) for q in force.parameters], axis=1)
    return kept


def compiled_law(force: ElementForce) -> CompiledLaw:
    """The loops of a force's law; each is compiled when it is first called."""
    law = type(force.law)
    C = force.stencil.weights.shape[2]
    key = (law, C, len(force.parameters))
    if key not in _laws:
        _register(components)
        _register(sys.modules[law.__module__])
        for method in (law.energy, law.stress, law.tangent, law.projected_tangent, law.conditions):
            _inner(method)
        _laws[key] = CompiledLaw(
            _energy(law.energy, COLUMNS[C], key[2]), _add_stress(law.stress, COLUMNS[C], C, key[2]),
            _add_tangent(law.tangent, law.conditions, COLUMNS[C], C, key[2]),
            _add_tangent(law.projected_tangent, law.conditions, COLUMNS[C], C, key[2]),
            _add_damping_stress(law.conditions, COLUMNS[C], C, key[2]))
    return _laws[key]


def _register(module: ModuleType) -> None:
    """The functions of a law's module, and those of the modules that it has functions from."""
    for function in list(vars(module).values()):
        if isinstance(function, FunctionType) and function not in _seen:
            _seen.add(function)
            _inner(function)
            if function.__module__ != module.__name__:
                _register(sys.modules[function.__module__])


# ---------------------------------------------------------------------- columns of one element


@_inner  # type: ignore[untyped-decorator]
def _column(vertices, weights, x, e, c):  # type: ignore[no-untyped-def]
    a, b, d = 0.0, 0.0, 0.0
    for i in range(vertices.shape[1]):
        v, w = vertices[e, i], weights[e, i, c]
        a += w * x[v, 0]
        b += w * x[v, 1]
        d += w * x[v, 2]
    return (a, b, d)


def _columns_1(vertices, weights, x, e):  # type: ignore[no-untyped-def]
    return (_column(vertices, weights, x, e, 0),)


def _columns_2(vertices, weights, x, e):  # type: ignore[no-untyped-def]
    return (_column(vertices, weights, x, e, 0), _column(vertices, weights, x, e, 1))


def _columns_3(vertices, weights, x, e):  # type: ignore[no-untyped-def]
    return (_column(vertices, weights, x, e, 0), _column(vertices, weights, x, e, 1),
            _column(vertices, weights, x, e, 2))


def _columns_5(vertices, weights, x, e):  # type: ignore[no-untyped-def]
    return (_column(vertices, weights, x, e, 0), _column(vertices, weights, x, e, 1),
            _column(vertices, weights, x, e, 2), _column(vertices, weights, x, e, 3),
            _column(vertices, weights, x, e, 4))


COLUMNS = {1: _columns_1, 2: _columns_2, 3: _columns_3, 5: _columns_5}
for _function in COLUMNS.values():
    _inner(_function)


# ---------------------------------------------------------------------- loops


def _energy(law: Loop, columns: Loop, parameters: int) -> Loop:
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def energy(begin, end, vertices, weights, p, x, size, parts):  # type: ignore[no-untyped-def]
        """Of each of the parts begin..end - 1 of `size` elements, the last of fewer."""
        for part in range(begin, end):
            total = 0.0
            for e in range(np.uintp(part * size), np.uintp(min((part + 1) * size, len(vertices)))):
                total += law(None, columns(vertices, weights, x, e), to_fixed_tuple(p[e], parameters))
            parts[part] = total

    return energy  # type: ignore[no-any-return]


def _add_stress(law: Loop, columns: Loop, C: int, parameters: int) -> Loop:
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_stress(begin, end, vertices, weights, p, x, P, fresh):  # type: ignore[no-untyped-def]
        for e in range(np.uintp(begin), np.uintp(end)):
            stress = law(None, columns(vertices, weights, x, e), to_fixed_tuple(p[e], parameters))
            for c in range(C):
                for i in range(3):
                    before = 0.0 if fresh else P[e, c, i]
                    P[e, c, i] = before + stress[c][i]

    return add_stress  # type: ignore[no-any-return]


def _add_tangent(law: Loop, law_conditions: Loop, columns: Loop, C: int, parameters: int) -> Loop:
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_tangent(begin, end, vertices, weights, p, x, factor, damped_at, same, tau, H,  # type: ignore[no-untyped-def]
                    fresh):
        """H[e] += factor tangent at x + tau sum k g g^T at `damped_at`, which is x if `same`; blocks c <= d alone."""
        for e in range(np.uintp(begin), np.uintp(end)):
            q = to_fixed_tuple(p[e], parameters)
            F = columns(vertices, weights, x, e)
            tangent = law(None, F, q)
            for c in range(C):
                for d in range(c, C):
                    block = c * C - c * (c - 1) // 2 + d - c
                    for i in range(3):
                        for j in range(3):
                            before = 0.0 if fresh else H[e, block, 3 * i + j]
                            H[e, block, 3 * i + j] = before + factor * tangent[c][d][i][j]
            if tau != 0.0:
                G = F if same else columns(vertices, weights, damped_at, e)
                conditions = law_conditions(None, G, q)
                for m in range(len(conditions)):
                    k, g = conditions[m]
                    for c in range(C):
                        for d in range(c, C):
                            block = c * C - c * (c - 1) // 2 + d - c
                            for i in range(3):
                                for j in range(3):
                                    H[e, block, 3 * i + j] += tau * k * g[c][i] * g[d][j]

    return add_tangent  # type: ignore[no-any-return]


def _add_damping_stress(law: Loop, columns: Loop, C: int, parameters: int) -> Loop:
    @njit(**KERNEL)  # type: ignore[untyped-decorator]
    def add_damping_stress(begin, end, vertices, weights, p, tau, x, v, P, fresh):  # type: ignore[no-untyped-def]
        for e in range(np.uintp(begin), np.uintp(end)):
            conditions = law(None, columns(vertices, weights, x, e), to_fixed_tuple(p[e], parameters))
            rate = columns(vertices, weights, v, e)
            if fresh:
                for c in range(C):
                    for i in range(3):
                        P[e, c, i] = 0.0
            for m in range(len(conditions)):
                k, g = conditions[m]
                speed = 0.0
                for c in range(C):
                    for i in range(3):
                        speed += g[c][i] * rate[c][i]
                for c in range(C):
                    for i in range(3):
                        P[e, c, i] += tau * k * speed * g[c][i]

    return add_damping_stress  # type: ignore[no-any-return]

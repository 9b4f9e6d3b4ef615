# SPDX-License-Identifier: GPL-3.0-or-later
"""The operations on linear equations of which `conjugate_gradients` is made, on functions of Python.

The compiled kernels replace each of these functions, so that a whole solve is one compiled function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...arrays import FloatArray


class Equations(NamedTuple):
    """Operators of S A x = S b, and sums over vectors. Vectors are (V, 3).

    Attributes:
        multiply: x -> A x.
        precondition: r -> P^-1 r.
        project: d -> S d, as a new array.
        dot, advance, turn: as of the kernels `gradients`.
    """

    multiply: Callable[[FloatArray], FloatArray]
    precondition: Callable[[FloatArray], FloatArray]
    project: Callable[[FloatArray], FloatArray]
    dot: Callable[..., float]
    advance: Callable[..., float]
    turn: Callable[..., None]


def product(equations: Any, x: FloatArray, room: FloatArray) -> FloatArray:
    """Return S A x (V, 3); `room` (V, 3) may be overwritten, and may be what is returned."""
    return equations.project(equations.multiply(x))


def residual(equations: Any, b: FloatArray, x: FloatArray, room: FloatArray) -> FloatArray:
    """Return S (b - A x) (V, 3); `room` as of `product`."""
    return equations.project(b - equations.multiply(x))


def preconditioned(equations: Any, r: FloatArray, room: FloatArray) -> FloatArray:
    """Return P^-1 r (V, 3); `room` as of `product`."""
    return equations.precondition(r)


def projected(equations: Any, d: FloatArray, room: FloatArray) -> FloatArray:
    """Return S d (V, 3); `room` as of `product`, and may be d itself."""
    return equations.project(d)


def dot(equations: Any, a: FloatArray, b: FloatArray) -> float:
    """Return the inner product of a and b (V, 3)."""
    return equations.dot(a, b)


def advance(equations: Any, alpha: float, c: FloatArray, q: FloatArray, x: FloatArray, r: FloatArray) -> float:
    """Add alpha c to x and subtract alpha q from r, in place; return the new r . r."""
    return equations.advance(alpha, c, q, x, r)


def turn(equations: Any, beta: float, s: FloatArray, c: FloatArray) -> None:
    """Set c to s + beta c, in place."""
    equations.turn(beta, s, c)

# SPDX-License-Identifier: GPL-3.0-or-later
"""A solve by conjugate gradients as one compiled call: each of its loops is shared out without the interpreter.

The algorithm is that of `formulas.conjugate_gradients`, compiled; this module has its operations.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload, register_jitable

from ...arrays import FloatArray
from ..formulas import conjugate_gradients as formulas
from ..formulas import linear_equations as operations
from ..formulas.linear_equations import Equations
from ..layouts import OperatorArrays
from ..numpy import conjugate_gradients as by_python
from . import gradients
from .block_matrix import project_rows
from .gradients import NUMBERS_PER_SUM, summed
from .kernel_cache import for_kernels, njit
from .operators import call, compiled, parts_of
from .options import INNER, KERNEL, MAKING
from .parallel_loop import share_parts
from .plain_functions import always
from .thread_pool import LEAST_ROWS, LEAST_SUMMANDS, LEAST_UPDATES, LEAST_VERTICES, run_together, team

_dot_in_parts, _advance_in_parts = for_kernels(gradients.dot_in_parts), for_kernels(gradients.advance_in_parts)
_turn_numbers, _project_rows = for_kernels(gradients.turn_numbers), for_kernels(project_rows)


class CompiledEquations(NamedTuple):
    """Operators of S A x = S b in compiled code, as `formulas.linear_equations` takes them.

    Attributes:
        team, threads: of `parallel_loop`.
        multiply, multiply_arrays: A as of `operators.compiled`.
        precondition, precondition_arrays: P^-1, likewise.
        rows, S: constrained vertices (n,), and their projections (n, 3, 3).
    """

    team: Any
    threads: Any
    multiply: Any
    multiply_arrays: Any
    precondition: Any
    precondition_arrays: Any
    rows: Any
    S: Any


def solve(equations: Equations, arrays: tuple[OperatorArrays | None, ...], b: FloatArray, z: FloatArray,
          start: FloatArray, guess: bool, scale: float, good: float, tolerance: float, limit: int
          ) -> tuple[FloatArray, int, float, bool, bool, float]:
    """Return the solution and how the solve ended; arguments as in `kernels.numpy.conjugate_gradients`."""
    multiply, precondition, project = arrays
    if multiply is None or precondition is None or project is None:
        return by_python.solve(equations, arrays, b, z, start, guess, scale, good, tolerance, limit)
    b, z, start = np.ascontiguousarray(b), np.ascontiguousarray(z), np.ascontiguousarray(start)
    shared = team().shared
    result: tuple[FloatArray, int, float, bool, bool, float] = run_together(
        _solve, len(b) // LEAST_ROWS, *compiled(multiply, shared, b), *compiled(precondition, shared, b),
        *project.arrays, b, z, start, guess, float(scale), float(good), float(tolerance), limit)
    return result


@njit(**KERNEL)
def _solve(team: Any, threads: Any, multiply: Any, multiply_arrays: Any, precondition: Any, precondition_arrays: Any,
           rows: Any, S: Any, b: Any, z: Any, start: Any, guess: Any, scale: Any, good: Any, tolerance: Any,
           limit: Any) -> Any:
    """Solve as `formulas.conjugate_gradients.solve`, with the operators of `CompiledEquations`."""
    equations = CompiledEquations(team, threads, multiply, multiply_arrays, precondition, precondition_arrays, rows, S)
    return formulas.solve(equations, b, z, start, guess, scale, good, tolerance, limit)


@njit(**INNER)
def _project(e: Any, d: Any) -> None:
    """Replace d (V, 3) by S d."""
    share_parts(e.team, e.threads, parts_of(e.threads, len(e.rows), LEAST_VERTICES), len(e.rows), _project_rows,
                (e.rows, e.S, d))


def _product(equations: Any, x: Any, room: Any) -> Any:
    call(equations.multiply, (equations.team, equations.threads, equations.multiply_arrays, x, room))
    _project(equations, room)
    return room


def _residual(equations: Any, b: Any, x: Any, room: Any) -> Any:
    call(equations.multiply, (equations.team, equations.threads, equations.multiply_arrays, x, room))
    for i in range(np.uintp(len(b))):
        for a in range(3):
            room[i, a] = b[i, a] - room[i, a]
    _project(equations, room)
    return room


def _preconditioned(equations: Any, r: Any, room: Any) -> Any:
    call(equations.precondition, (equations.team, equations.threads, equations.precondition_arrays, r, room))
    return room


def _projected(equations: Any, d: Any, room: Any) -> Any:
    for i in range(np.uintp(len(d))):
        for a in range(3):
            room[i, a] = d[i, a]
    _project(equations, room)
    return room


def _dot(equations: Any, a: Any, b: Any) -> Any:
    parts = np.empty(-(-a.size // NUMBERS_PER_SUM))
    share_parts(equations.team, equations.threads,
                parts_of(equations.threads, len(parts), LEAST_SUMMANDS // NUMBERS_PER_SUM), len(parts), _dot_in_parts,
                (a.reshape(a.size), b.reshape(b.size), parts))
    return summed(parts)


def _advance(equations: Any, alpha: Any, c: Any, q: Any, x: Any, r: Any) -> Any:
    parts = np.empty(-(-r.size // NUMBERS_PER_SUM))
    share_parts(equations.team, equations.threads,
                parts_of(equations.threads, len(parts), LEAST_UPDATES // NUMBERS_PER_SUM), len(parts),
                _advance_in_parts, (alpha, c.reshape(c.size), q.reshape(q.size), x.reshape(x.size), r.reshape(r.size),
                                    parts))
    return summed(parts)


def _turn(equations: Any, beta: Any, s: Any, c: Any) -> None:
    share_parts(equations.team, equations.threads, parts_of(equations.threads, c.size, LEAST_UPDATES), c.size,
                _turn_numbers, (beta, s.reshape(s.size), c.reshape(c.size)))


for _of_python, _compiled in (
        (operations.product, _product), (operations.residual, _residual), (operations.dot, _dot),
        (operations.preconditioned, _preconditioned), (operations.projected, _projected),
        (operations.advance, _advance), (operations.turn, _turn)):
    overload(_of_python, jit_options=MAKING, strict=False)(always(_compiled))
register_jitable(**MAKING)(formulas.solve)

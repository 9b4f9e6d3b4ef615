# SPDX-License-Identifier: GPL-3.0-or-later
"""The modified preconditioned conjugate gradient method.

Solve A dv = b on the subspace that the filter S leaves free, with dv = z on the rest: Baraff and Witkin 1998, section
5.3 (001, "The Modified Conjugate Gradient Method"). The algorithm is in `core/kernels/formulas/conjugate_gradients.py`,
with the numbers of the published lines in its margin. Where all operators have compiled forms, a solve is one compiled
call. It departs from the paper in three points:

- line 3 takes the norm of the right-hand side with P^-1, the norm of the residual in lines 5 and 6, so that the
  stopping rule r^T P^-1 r <= eps^2 delta_0 compares like with like. A lower bound of it is known without another
  application of P^-1, which would be half of a solve where P is a factor of A: with c = P^-1 r of line 5,
  b^T P^-1 b >= (b^T c)^2 / r^T c, with equality where nothing is prescribed;
- delta_0 is the larger of that and of the residual at dv = z, because with b = 0 and moving constraints the delta_0 of
  the paper is zero and the loop would not end;
- a start other than z (a warm start) is used if its residual is smaller, both in the Euclidean norm and in the norm of
  P^-1; it changes where the loop begins, not the stopping rule.

Line 12 of the last iteration only serves the stopping rule. From the second iteration on, it is left out where r^T r
has shrunk so much that r^T P^-1 r is below the goal even if it has shrunk `SHRINK_MARGIN` times less. With a factor
close to A, whose iterations leave a thousandth of the residual, that saves a third of a solve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..kernels import current
from ..kernels.formulas.linear_equations import Equations
from ..kernels.layouts import OperatorArrays

Operator = Callable[[FloatArray], FloatArray]
"""A linear map on vectors (V, 3)."""


@dataclass(frozen=True)
class LinearResult:
    """The solution, and how the solve ended.

    Attributes:
        solution: (V, 3).
        iterations: products with A inside the loop.
        residual: sqrt(r^T P^-1 r / delta_0) at the end [-], or an upper bound where it was not computed.
        converged: residual <= tolerance.
        reason: "tolerance", "zero right-hand side", "iteration limit" or "indefinite" (c^T A c <= 0 or r^T P^-1 r < 0:
            A or P is not positive definite; or a number is not finite, and then residual is nan).
        scale: delta_0.
    """

    solution: FloatArray
    iterations: int
    residual: float
    converged: bool
    reason: str
    scale: float = 0.0


def modified_pcg(multiply: Operator, b: FloatArray, *, precondition: Operator, project: Operator,
                 z: FloatArray | None = None, start: FloatArray | None = None, tolerance: float = 1e-3,
                 max_iterations: int = 2000, scale: float | None = None, good: float = 1.0) -> LinearResult:
    """Solve S (A dv - b) = 0 with (I - S) dv = (I - S) z.

    Args:
        multiply: d -> A d, A symmetric and positive definite on the free subspace.
        b: right-hand side (V, 3).
        precondition: r -> P^-1 r with P near A, symmetric positive definite.
        project: the filter, d -> S d, an orthogonal projection.
        z: prescribed values (V, 3), of which (I - S) z is used; zero if not given.
        start: first guess on the free subspace.
        tolerance: relative to the right-hand side in the norm of P^-1 [-].
        max_iterations: give up after this many products.
        scale: delta_0 of a solve of nearly the same equations whose solution is `start`, which is then used
            unconditionally.
        good: largest residual of `start` at which it is considered, over the residual without it [-].
    """
    sums = current().gradients
    equations = Equations(multiply, precondition, project, sums.dot, sums.advance, sums.turn)
    arrays = arrays_of(multiply), arrays_of(precondition), arrays_of(project)
    solution, iterations, residual, converged, definite, found_scale = current().conjugate_gradients.solve(
        equations, arrays, b, np.zeros_like(b) if z is None else z, b if start is None else start, start is not None,
        -1.0 if scale is None else scale, good, tolerance, max_iterations)
    reason = "iteration limit" if definite else "indefinite"
    if converged:
        reason = "tolerance" if found_scale > 0.0 else "zero right-hand side"
    return LinearResult(solution, iterations, float(residual), bool(converged), reason, found_scale)


def arrays_of(operator: Operator) -> OperatorArrays | None:
    """Return an operator as compiled kernels take it, None if they do not have it."""
    found: OperatorArrays | None = getattr(operator, "arrays", None)
    return found

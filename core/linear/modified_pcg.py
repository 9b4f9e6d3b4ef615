# SPDX-License-Identifier: GPL-3.0-or-later
"""The modified preconditioned conjugate gradient method.

Solve A dv = b on the subspace that the filter S leaves free, with dv = z on the rest. The numbers in the margin are
the lines of the published algorithm, Baraff and Witkin 1998, section 5.3 (001, "The Modified Conjugate Gradient
Method"). It departs from the paper in three points:

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

Operator = Callable[[FloatArray], FloatArray]
"""A linear map on vectors (V, 3)."""

LEAST_SCALE = 1e-8
"""Least delta_0 that is taken over from another solve, over the residual of the start [-]: with a smaller one the loop
would iterate on rounding errors."""
FILTER_ROUNDING = 16.0 * float(np.finfo(float).eps)
"""Rounding error of the filtered right-hand side, over the whole right-hand side [-]. Where contacts carry a sheet at
rest, the filtered one is nothing but rounding error, and a solution for it has no meaning."""
SHRINK_MARGIN = 4.0
"""Largest factor by which r^T P^-1 r may have shrunk less than r^T r, where it is not computed [-]; it is below 1.5 on
average."""


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
    kernels = current().gradients
    prescribed = np.zeros_like(b) if z is None else z - project(z)
    near = scale is not None and start is not None
    dv = prescribed + project(start) if near and start is not None else prescribed.copy()       # 1, 2
    filtered = project(b)
    r = project(b - multiply(dv)) if near or prescribed.any() else filtered             # 4
    s = precondition(r)
    c = project(s)                                                                      # 5
    delta = kernels.dot(r, c)                                                           # 6
    delta_0 = scale
    if delta_0 is None:
        along = kernels.dot(filtered, s)                                                # 3
        delta_0 = along if r is filtered or delta == 0.0 else along * along / delta
    if not (0.0 <= delta_0 < np.inf and 0.0 <= delta < np.inf):     # nan fails too
        return LinearResult(dv, 0, float("nan"), False, "indefinite")
    if not near or delta_0 < LEAST_SCALE * delta:
        delta_0 = max(delta_0, delta)
    if delta_0 == 0.0:
        return LinearResult(dv, 0, 0.0, True, "zero right-hand side")
    if start is not None and not near:
        warm = prescribed + project(start)
        r_warm = project(b - multiply(warm))
        # P^-1 may cost as much as an iteration
        if kernels.dot(r_warm, r_warm) < good ** 2 * kernels.dot(r, r):
            c_warm = project(precondition(r_warm))
            delta_warm = kernels.dot(r_warm, c_warm)
            if delta_warm < delta:
                dv, r, c, delta = warm, r_warm, c_warm, delta_warm
    r, c = r.copy(), c.copy()                          # written to below, and operators may return their argument
    noise = (FILTER_ROUNDING ** 2 * kernels.dot(b, b) / kernels.dot(r, r)) * delta if delta > 0.0 else 0.0
    goal = max(tolerance ** 2 * delta_0, noise)
    iterations, length = 0, 0.0                                    # r^T r, from the second iteration on
    while delta > goal and iterations < max_iterations:                                 # 7
        q = project(multiply(c))                                                        # 8
        curvature = kernels.dot(c, q)
        iterations += 1
        if not curvature > 0.0:
            return LinearResult(dv, iterations, float(np.sqrt(delta / delta_0)), False, "indefinite", delta_0)
        alpha = delta / curvature                                                       # 9
        delta_old, length_old = delta, length                                           # 13
        length = kernels.advance(alpha, c, q, dv, r)                                    # 10, 11
        if length_old > 0.0 and SHRINK_MARGIN * length * delta_old <= goal * length_old:
            delta = SHRINK_MARGIN * length * delta_old / length_old
            break
        s = precondition(r)                                                             # 12
        delta = kernels.dot(r, s)                                                       # 14
        kernels.turn(delta / delta_old, project(s), c)                                  # 15
    converged = bool(0.0 <= delta <= goal)
    residual = float(np.sqrt(np.abs(delta) / delta_0))
    reason = "tolerance" if converged else "iteration limit" if delta > goal else "indefinite"
    return LinearResult(dv, iterations, residual, converged, reason, delta_0)

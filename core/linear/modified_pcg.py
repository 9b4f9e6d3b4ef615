# SPDX-License-Identifier: GPL-3.0-or-later
"""The modified preconditioned conjugate gradient method.

Solves A dv = b on the subspace that the filter S leaves free, with dv = z on the rest. The numbers in the margin
are the lines of the published algorithm, Baraff and Witkin 1998, section 5.3 (001, "The Modified Conjugate Gradient
Method"). Three choices where the print leaves room:

- line 3 weighs the right-hand side by P^-1, as lines 5 and 6 weigh the residual: only so does the
  stopping rule r^T P^-1 r <= eps^2 delta_0 compare like with like. What it weighs at least is known without applying
  P^-1 once more, which is half of a solve where P is a factor of A: with c = P^-1 r of line 5,
  b^T P^-1 b >= (b^T c)^2 / r^T c, and the two are equal where nothing is prescribed;
- delta_0 is the larger of that and of the residual at dv = z, because with b = 0 and moving constraints the print's
  delta_0 is zero and the loop has no end;
- a start other than z (a warm start) may be given and is taken if its residual is the smaller one, as it is and in the
  norm of P^-1; it changes where the loop begins and not what it is measured by.

Line 12 of the last iteration only serves to find out that it was the last. From the second on, where r got so much
shorter that r^T P^-1 r is below the goal even if it shrank a `MARGIN` less than r^T r did, that is taken for granted:
with a factor that is nearly A, of which an iteration leaves a thousandth, a third of a solve's work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..kernels import current

Operator = Callable[[FloatArray], FloatArray]
"""A linear map on vectors (V, 3)."""


NEGLIGIBLE = 1e-8
"""Share of what a guess leaves below which a scale is of other equations [-]: to go by it is to chase rounding."""
ROUNDING = 16.0 * float(np.finfo(float).eps)
"""Part of the right-hand side, all of it, to which what the filter leaves of it is known [-]: of a sheet at rest that
contacts hold nothing else is left, and to solve for that made 1e13 m/s of it."""
MARGIN = 4.0
"""How much less r^T P^-1 r may have shrunk than r^T r, where it is not asked for [-]: 1.0 to 1.5 times in the mean. Of
190 solves of sheets that hang, fly and drape which this ended, all were below half of the goal."""


@dataclass(frozen=True)
class LinearResult:
    """The answer and how it ended.

    Attributes:
        solution (V, 3); iterations: products with A inside the loop; residual: sqrt(r^T P^-1 r / delta_0) at
        the end [-], or what it is taken to be at most where it was not asked for; converged: residual <= tolerance;
        reason: "tolerance", "zero right-hand side", "iteration limit" or "indefinite" (c^T A c <= 0 or
        r^T P^-1 r < 0 was met: A or P is not positive definite; or what is not a finite number, and then residual is
        nan).
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
        z: prescribed values (V, 3), read where the filter removes; zero if not given.
        start: first guess on the free subspace.
        tolerance: relative to the right-hand side in the norm of P^-1 [-].
        max_iterations: give up after this many products.
        good: part of the residual without a first guess that one may leave, to be looked at further [-].
        scale: delta_0 of a solve of nearly the same equations whose answer is `start`, which is then taken as it is.
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
    if not near or delta_0 < NEGLIGIBLE * delta:
        delta_0 = max(delta_0, delta)
    if delta_0 == 0.0:
        return LinearResult(dv, 0, 0.0, True, "zero right-hand side")
    if start is not None and not near:
        warm = prescribed + project(start)
        r_warm = project(b - multiply(warm))
        # P^-1 may cost as much as an iteration: not for nothing
        if kernels.dot(r_warm, r_warm) < good ** 2 * kernels.dot(r, r):
            c_warm = project(precondition(r_warm))
            delta_warm = kernels.dot(r_warm, c_warm)
            if delta_warm < delta:
                dv, r, c, delta = warm, r_warm, c_warm, delta_warm
    r, c = r.copy(), c.copy()                          # written to below, and operators may return what they got
    noise = (ROUNDING ** 2 * kernels.dot(b, b) / kernels.dot(r, r)) * delta if delta > 0.0 else 0.0
    goal = max(tolerance ** 2 * delta_0, noise)
    iterations, length = 0, 0.0                                    # of r, from where P^-1 has shaped it
    while delta > goal and iterations < max_iterations:                                 # 7
        q = project(multiply(c))                                                        # 8
        curvature = kernels.dot(c, q)
        iterations += 1
        if not curvature > 0.0:
            return LinearResult(dv, iterations, float(np.sqrt(delta / delta_0)), False, "indefinite", delta_0)
        alpha = delta / curvature                                                       # 9
        delta_old, length_old = delta, length                                           # 13
        length = kernels.advance(alpha, c, q, dv, r)                                    # 10, 11
        if length_old > 0.0 and MARGIN * length * delta_old <= goal * length_old:
            delta = MARGIN * length * delta_old / length_old
            break
        s = precondition(r)                                                             # 12
        delta = kernels.dot(r, s)                                                       # 14
        kernels.turn(delta / delta_old, project(s), c)                                  # 15
    converged = bool(0.0 <= delta <= goal)
    residual = float(np.sqrt(np.abs(delta) / delta_0))
    reason = "tolerance" if converged else "iteration limit" if delta > goal else "indefinite"
    return LinearResult(dv, iterations, residual, converged, reason, delta_0)

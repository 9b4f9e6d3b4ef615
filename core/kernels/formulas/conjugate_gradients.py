# SPDX-License-Identifier: GPL-3.0-or-later
"""The modified preconditioned conjugate gradient method, written once: see `core/linear/modified_pcg.py` for its rules.

The numbers in the margin are the lines of Baraff and Witkin 1998, section 5.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray
from .linear_equations import advance, dot, preconditioned, product, projected, residual, turn

LEAST_SCALE = 1e-8
"""Least delta_0 that is taken over from another solve, over the residual of the start [-]: with a smaller one the loop
would iterate on rounding errors."""
FILTER_ROUNDING = 16.0 * float(np.finfo(float).eps)
"""Rounding error of the filtered right-hand side, over the whole right-hand side [-]. Where contacts carry a sheet at
rest, the filtered one is nothing but rounding error, and a solution for it has no meaning."""
SHRINK_MARGIN = 4.0
"""Largest factor by which r^T P^-1 r may have shrunk less than r^T r, where it is not computed [-]; it is below 1.5 on
average."""


def solve(equations: Any, b: FloatArray, z: FloatArray, start: FloatArray, guess: bool, scale: float, good: float,
          tolerance: float, limit: int) -> tuple[FloatArray, int, float, bool, bool, float]:
    """Solve S (A dv - b) = 0 with (I - S) dv = (I - S) z.

    Args:
        equations: A, P^-1 and S, with the operations of `linear_equations`.
        b, z: right-hand side and prescribed values (V, 3).
        start, guess: first guess (V, 3), and whether there is one; otherwise `start` is not read.
        scale: delta_0 of a solve of nearly the same equations whose solution is `start`; negative for none.
        good, tolerance, limit: as of `modified_pcg`, with `max_iterations`.

    Returns:
        dv (V, 3), iterations, residual [-], whether that is small enough, whether A and P^-1 are positive definite as
        far as is seen, and delta_0, 0 if there is nothing to solve.
    """
    q, s = np.empty_like(b), np.empty_like(b)                      # written to by operations that need memory
    prescribed = z - projected(equations, z, np.empty_like(b))
    near = guess and scale >= 0.0
    dv = prescribed.copy()                                                              # 1, 2
    if near:
        dv += projected(equations, start, q)
    filtered = projected(equations, b, np.empty_like(b))
    moved = near or prescribed.any()
    r = residual(equations, b, dv, np.empty_like(b)) if moved else filtered             # 4
    s = preconditioned(equations, r, s)
    along = dot(equations, filtered, s)
    c = projected(equations, s, np.empty_like(b))                                       # 5
    delta = dot(equations, r, c)                                                        # 6
    delta_0 = scale
    if scale < 0.0:
        delta_0 = along if not moved or delta == 0.0 else along * along / delta         # 3
    if not (abs(delta_0) < np.inf and abs(delta) < np.inf):         # nan fails too
        return dv, 0, np.nan, False, False, 0.0
    if delta_0 < 0.0 or delta < 0.0:                                # P^-1 is not positive definite
        return dv, 0, np.sqrt(abs(delta) / delta_0) if delta_0 > 0.0 else 1.0, False, False, 0.0
    if not near or delta_0 < LEAST_SCALE * delta:
        delta_0 = max(delta_0, delta)
    if delta_0 == 0.0:
        return dv, 0, 0.0, True, True, 0.0
    if guess and not near:
        warm = prescribed + projected(equations, start, q)
        r_warm = residual(equations, b, warm, np.empty_like(b))
        # P^-1 may cost as much as an iteration
        if dot(equations, r_warm, r_warm) < good ** 2 * dot(equations, r, r):
            c_warm = projected(equations, preconditioned(equations, r_warm, s), np.empty_like(b))
            delta_warm = dot(equations, r_warm, c_warm)
            if delta_warm < delta:
                dv, r, c, delta = warm, r_warm, c_warm, delta_warm
    r, c = r.copy(), c.copy()                          # written to below, and operators may return their argument
    noise = 0.0
    if delta > 0.0:
        noise = (FILTER_ROUNDING ** 2 * dot(equations, b, b) / dot(equations, r, r)) * delta
    goal = max(tolerance ** 2 * delta_0, noise)
    iterations, length = 0, 0.0                                    # r^T r, from the second iteration on
    while delta > goal and iterations < limit:                                          # 7
        q = product(equations, c, q)                                                    # 8
        curvature = dot(equations, c, q)
        iterations += 1
        if not curvature > 0.0:
            return dv, iterations, np.sqrt(delta / delta_0), False, False, delta_0
        alpha = delta / curvature                                                       # 9
        delta_old, length_old = delta, length                                           # 13
        length = advance(equations, alpha, c, q, dv, r)                                 # 10, 11
        if length_old > 0.0 and SHRINK_MARGIN * length * delta_old <= goal * length_old:
            delta = SHRINK_MARGIN * length * delta_old / length_old
            break
        s = preconditioned(equations, r, s)                                             # 12
        delta = dot(equations, r, s)                                                    # 14
        turn(equations, delta / delta_old, projected(equations, s, s), c)               # 15
    return dv, iterations, np.sqrt(abs(delta) / delta_0), 0.0 <= delta <= goal, delta >= 0.0, delta_0

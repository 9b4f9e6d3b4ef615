# SPDX-License-Identifier: GPL-3.0-or-later
"""Dense algebra on rows that lie in flat arrays: the inner loops of the fronts.

Eight rows at a time are read for one that is written, along the rows: that is what a compiler makes vector code of.
Fewer than eight are filled up with a row times zero.

The compiler may fuse a product and a sum and regroup a sum, which fixes another order of adding up, and the same one
for every call; nothing else of fast mathematics is allowed, so that nan stays nan.
"""

from __future__ import annotations

import numpy as np
from numba import njit

REGROUP = {"contract", "reassoc"}


@njit(cache=True, fastmath=REGROUP, error_model="numpy")
def subtract(target, at, factors, step, first_factor, rows, first, stride, count,  # type: ignore[no-untyped-def]
             length):
    """target[at:at + length] -= sum over `count` <= 8 rows p of factors[first_factor + p step] times row p, which
    begins at rows[first + p stride]."""
    u = np.uintp                                     # with signed numbers every index is asked whether it is negative
    k, s, d, f = u(first_factor), u(step), u(stride), u(first)
    begin, n = u(at), u(length)
    f0 = factors[k]
    f1 = f2 = f3 = f4 = f5 = f6 = f7 = f0 - f0
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = f
    if count > 1:
        k += s
        f1, a1 = factors[k], a0 + d
    if count > 2:
        k += s
        f2, a2 = factors[k], a1 + d
    if count > 3:
        k += s
        f3, a3 = factors[k], a2 + d
    if count > 4:
        k += s
        f4, a4 = factors[k], a3 + d
    if count > 5:
        k += s
        f5, a5 = factors[k], a4 + d
    if count > 6:
        k += s
        f6, a6 = factors[k], a5 + d
    if count > 7:
        k += s
        f7, a7 = factors[k], a6 + d
    for j in range(n):
        target[begin + j] -= (f0 * rows[a0 + j] + f1 * rows[a1 + j] + f2 * rows[a2 + j] + f3 * rows[a3 + j]
                              + f4 * rows[a4 + j] + f5 * rows[a5 + j] + f6 * rows[a6 + j] + f7 * rows[a7 + j])


@njit(cache=True, fastmath=REGROUP, error_model="numpy")
def dots(rows, first, stride, count, x, at, length):  # type: ignore[no-untyped-def]
    """Four products of rows with x[at:at + length]; row p begins at rows[first + p stride], from `count` on it is
    the first."""
    u = np.uintp
    d, begin, n = u(stride), u(at), u(length)
    a0 = a1 = a2 = a3 = u(first)
    if count > 1:
        a1 = a0 + d
    if count > 2:
        a2 = a1 + d
    if count > 3:
        a3 = a2 + d
    s0 = s1 = s2 = s3 = x[begin] - x[begin]
    for j in range(n):
        value = x[begin + j]
        s0 += rows[a0 + j] * value
        s1 += rows[a1 + j] * value
        s2 += rows[a2 + j] * value
        s3 += rows[a3 + j] * value
    return s0, s1, s2, s3


@njit(cache=True, error_model="numpy")
def eliminate_panel(values, base, n, first, end):  # type: ignore[no-untyped-def]
    """Rows first..end of R, at most eight, of what earlier rows have left of them; whether all pivots are positive."""
    for k in range(first, end):
        line = base + k * n + k
        if k > first:
            subtract(values, line, values, n, base + first * n + k, values, base + first * n + k, n, k - first, n - k)
        pivot = values[line]
        if not pivot > 0.0:                              # nan fails too
            return False
        scale = 1 / np.sqrt(pivot)
        for j in range(np.uintp(line), np.uintp(line + n - k)):
            values[j] *= scale
    return True


@njit(cache=True, error_model="numpy")
def eliminate_rest(values, base, n, own, updates, rest, panel, panel_end, first,  # type: ignore[no-untyped-def]
                   step):
    """Take rows panel..panel_end of R out of every step-th row from `first` on: own ones in `values`, others in
    `updates`."""
    b = n - own
    for i in range(first, n, step):
        head = base + panel * n + i
        if i < own:
            subtract(values, base + i * n + i, values, n, head, values, head, n, panel_end - panel, n - i)
        else:
            subtract(updates, rest + (i - own) * (b + 1), values, n, head, values, head, n, panel_end - panel, n - i)


@njit(cache=True, error_model="numpy")
def invert(values, base, n, own):  # type: ignore[no-untyped-def]
    """R_oo, upper triangular, becomes its inverse in place; what lies below its diagonal is zero and stays so."""
    line = np.empty(own, dtype=values.dtype)
    for i in range(own - 1, -1, -1):
        at = base + i * n
        inverse = 1 / values[at + i]
        for j in range(i + 1, own):
            line[j] = values[at + j] * inverse
            values[at + j] = 0.0
        values[at + i] = inverse
        for k in range(i + 1, own, 8):
            subtract(values, at + k, line, 1, k, values, base + k * n + k, n, min(8, own - k), own - k)


@njit(cache=True, error_model="numpy")
def eliminate(values, base, n, own, updates, rest):  # type: ignore[no-untyped-def]
    """A front's X, M and U in place of its F; whether F_oo is positive definite."""
    for k in range(0, own, 8):
        end = min(k + 8, own)
        if not eliminate_panel(values, base, n, k, end):
            return False
        eliminate_rest(values, base, n, own, updates, rest, k, end, end, 1)
    invert(values, base, n, own)
    return True

# SPDX-License-Identifier: GPL-3.0-or-later
"""Products of dense rows, which lie in flat arrays, with a vector: the inner loops of solving with the fronts.

Eight rows at a time are read for one that is written, along the rows, in chunks of sixteen numbers: that is what a
compiler makes vector code of. Fewer than eight rows are filled up with a row times zero.

The compiler may fuse a product and a sum and regroup a sum, which fixes another order of adding up, and the same one
for every call; nothing else of fast mathematics is allowed, so that nan stays nan.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .options import INLINED, INNER
from .tiles import CHUNK

REGROUPED = {**INNER, "fastmath": {"contract", "reassoc"}}


@njit(**INLINED)
def flushed(tiny, value):  # type: ignore[no-untyped-def]
    """The value, or zero where its size is below `tiny`; nan stays."""
    return tiny - tiny if abs(value) < tiny else value


@njit(**REGROUPED)
def subtract(target, at, factors, first_factor, rows, first, stride, count, length):  # type: ignore[no-untyped-def]
    """target[at:at + length] -= sum over `count` <= 8 rows p of factors[first_factor + p] times row p, which begins at
    rows[first + p stride]."""
    u = np.uintp                                     # with signed numbers every index is asked whether it is negative
    k, d, f = u(first_factor), u(stride), u(first)
    begin = u(at)
    f0 = factors[k]
    f1 = f2 = f3 = f4 = f5 = f6 = f7 = f0 - f0
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = f
    if count > 1:
        f1, a1 = factors[k + u(1)], a0 + d
    if count > 2:
        f2, a2 = factors[k + u(2)], a1 + d
    if count > 3:
        f3, a3 = factors[k + u(3)], a2 + d
    if count > 4:
        f4, a4 = factors[k + u(4)], a3 + d
    if count > 5:
        f5, a5 = factors[k + u(5)], a4 + d
    if count > 6:
        f6, a6 = factors[k + u(6)], a5 + d
    if count > 7:
        f7, a7 = factors[k + u(7)], a6 + d
    for _ in range(length // CHUNK):
        for j in range(u(CHUNK)):
            target[begin + j] -= (f0 * rows[a0 + j] + f1 * rows[a1 + j] + f2 * rows[a2 + j] + f3 * rows[a3 + j]
                                  + f4 * rows[a4 + j] + f5 * rows[a5 + j] + f6 * rows[a6 + j] + f7 * rows[a7 + j])
        begin += u(CHUNK)
        a0 += u(CHUNK)
        a1 += u(CHUNK)
        a2 += u(CHUNK)
        a3 += u(CHUNK)
        a4 += u(CHUNK)
        a5 += u(CHUNK)
        a6 += u(CHUNK)
        a7 += u(CHUNK)
    for j in range(u(length % CHUNK)):
        target[begin + j] -= (f0 * rows[a0 + j] + f1 * rows[a1 + j] + f2 * rows[a2 + j] + f3 * rows[a3 + j]
                              + f4 * rows[a4 + j] + f5 * rows[a5 + j] + f6 * rows[a6 + j] + f7 * rows[a7 + j])


@njit(**REGROUPED)
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Dense algebra on rows that lie in flat arrays: the inner loops of the fronts.

Eight rows at a time are read for one that is written, along the rows, in chunks of sixteen numbers: that is what a
compiler makes vector code of without a loop for what is left over. Rows are padded to whole chunks, and a row of a
triangle begins at the chunk its diagonal is in: what lies left of the diagonal is written to and means nothing.
Fewer than eight rows are filled up with a row times zero.

Numbers of the size that is left after a product of two small ones would be denormal in single precision, and these take
a processor a hundred times as long. What a stiff sheet leaves of a far vertex falls by orders of magnitude from
vertex to vertex and ends there; so what is below `tiny` becomes zero wherever numbers of a factor or of a solution are
final.

The compiler may fuse a product and a sum and regroup a sum, which fixes another order of adding up, and the same one
for every call; nothing else of fast mathematics is allowed, so that nan stays nan.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .options import INNER

CHUNK = 16
"""Numbers that are worked on together."""
PANEL = 32
"""Rows of a front that are taken out of the others together: a multiple of four, as are all that come after."""
REGROUP = {"contract", "reassoc"}


@njit(**INNER, forceinline=True)
def flushed(tiny, value):  # type: ignore[no-untyped-def]
    """The value, or zero where its size is below `tiny`; nan stays."""
    return tiny - tiny if abs(value) < tiny else value


@njit(**INNER, fastmath=REGROUP)
def subtract(target, at, factors, step, first_factor, rows, first, stride, count,  # type: ignore[no-untyped-def]
             length):
    """target[at:at + length] -= sum over `count` <= 8 rows p of factors[first_factor + p step] times row p, which
    begins at rows[first + p stride]. Whole chunks need no loop for what is left over."""
    u = np.uintp                                     # with signed numbers every index is asked whether it is negative
    k, s, d, f = u(first_factor), u(step), u(stride), u(first)
    begin = u(at)
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


@njit(**INNER, fastmath=REGROUP)
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


@njit(**INNER, fastmath=REGROUP)
def subtract_four(target, at, apart, rows, first, stride, count, column,  # type: ignore[no-untyped-def]
                  begin, end):
    """Columns begin to end, rounded up to whole chunks, of four rows of `target`, which begin at `at`, `apart` from
    each other, -= sum over `count` <= 4 rows p of their numbers in column + 0..3 times row p."""
    u = np.uintp
    d, f = u(stride), u(first)
    t0 = u(at + begin)
    t1 = t0 + u(apart)
    t2 = t1 + u(apart)
    t3 = t2 + u(apart)
    k = f + u(column)
    a0 = a1 = a2 = a3 = f + u(begin)
    f00, f01, f02, f03 = rows[k], rows[k + u(1)], rows[k + u(2)], rows[k + u(3)]
    f10 = f11 = f12 = f13 = f20 = f21 = f22 = f23 = f30 = f31 = f32 = f33 = f00 - f00
    if count > 1:
        k += d
        a1 = a0 + d
        f10, f11, f12, f13 = rows[k], rows[k + u(1)], rows[k + u(2)], rows[k + u(3)]
    if count > 2:
        k += d
        a2 = a1 + d
        f20, f21, f22, f23 = rows[k], rows[k + u(1)], rows[k + u(2)], rows[k + u(3)]
    if count > 3:
        k += d
        a3 = a2 + d
        f30, f31, f32, f33 = rows[k], rows[k + u(1)], rows[k + u(2)], rows[k + u(3)]
    for _ in range((end - begin + CHUNK - 1) // CHUNK):
        for j in range(u(CHUNK)):
            r0, r1, r2, r3 = rows[a0 + j], rows[a1 + j], rows[a2 + j], rows[a3 + j]
            target[t0 + j] -= f00 * r0 + f10 * r1 + f20 * r2 + f30 * r3
            target[t1 + j] -= f01 * r0 + f11 * r1 + f21 * r2 + f31 * r3
            target[t2 + j] -= f02 * r0 + f12 * r1 + f22 * r2 + f32 * r3
            target[t3 + j] -= f03 * r0 + f13 * r1 + f23 * r2 + f33 * r3
        a0 += u(CHUNK)
        a1 += u(CHUNK)
        a2 += u(CHUNK)
        a3 += u(CHUNK)
        t0 += u(CHUNK)
        t1 += u(CHUNK)
        t2 += u(CHUNK)
        t3 += u(CHUNK)


@njit(**INNER)
def eliminate_panel(values, base, n, first, end, tiny):  # type: ignore[no-untyped-def]
    """Rows first..end of R of what earlier rows have left of them; whether all pivots are positive."""
    panel = first
    while panel < end:
        stop = panel + ((end - panel) % 4 or 4)
        for k in range(panel, stop):
            begin = k - k % CHUNK
            line = base + k * n
            if k > panel:
                subtract(values, line + begin, values, n, base + panel * n + k, values, base + panel * n + begin, n,
                         k - panel, n - begin)
            pivot = values[line + k]
            if not pivot > 0.0:                          # nan fails too
                return False
            scale = 1 / np.sqrt(pivot)
            for j in range(np.uintp(line + begin), np.uintp(line + n)):
                values[j] = flushed(tiny, values[j] * scale)
        for i in range(stop, end, 4):
            subtract_four(values, base + i * n, n, values, base + panel * n, n, stop - panel, i, i - i % CHUNK, n)
        panel = stop
    return True


@njit(**INNER)
def eliminate_rest(values, base, n, own, count, updates, rest, first, end):  # type: ignore[no-untyped-def]
    """Take rows first..end of R out of the rows from `end` to `count`: own ones in `values`, others in `updates`, whose
    columns begin with the chunk that column `own` is in, and which has whole fours."""
    skipped = own - own % CHUNK
    for i in range(end, count, 4):
        target, at, apart = values, base + i * n, n                # one call of what is inlined
        if i >= own:
            target, at, apart = updates, rest + (i - own) * (n - skipped) - skipped, n - skipped
        panel = first
        while panel < end:
            stop = panel + ((end - panel) % 4 or 4)
            subtract_four(target, at, apart, values, base + panel * n, n, stop - panel, i, i - i % CHUNK, n)
            panel = stop


@njit(**INNER)
def invert(values, base, n, own, tiny):  # type: ignore[no-untyped-def]
    """R_oo, upper triangular, becomes its inverse in place, with zeros below its diagonal."""
    room = own + CHUNK - 1
    line, result = np.empty(own, dtype=values.dtype), np.empty(room - room % CHUNK, dtype=values.dtype)
    for i in range(own - 1, -1, -1):
        at = base + i * n
        inverse = 1 / values[at + i]
        begin = i - i % CHUNK
        for j in range(begin, len(result)):
            result[j] = 0.0
        for j in range(i + 1, own):
            line[j] = values[at + j] * inverse
        for k in range(i + 1, own, 8):
            left = k - k % CHUNK
            subtract(result, left, line, np.int64(1), k, values, base + k * n + left, n, min(8, own - k), own - left)
        for j in range(i):
            values[at + j] = 0.0
        values[at + i] = inverse
        for j in range(i + 1, own):
            values[at + j] = flushed(tiny, result[j])


@njit(**INNER)
def eliminate(values, base, n, own, count, updates, rest, tiny):  # type: ignore[no-untyped-def]
    """A front's X, M and U in place of its F; whether F_oo is positive definite. `tiny` is one of its numbers."""
    first = np.int64(0)
    while first < own:
        end = first + ((own - first) % PANEL or PANEL)
        if not eliminate_panel(values, base, n, first, end, tiny):
            return False
        eliminate_rest(values, base, n, own, count, updates, rest, first, end)
        first = end
    invert(values, base, n, own, tiny)
    return True

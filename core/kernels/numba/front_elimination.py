# SPDX-License-Identifier: GPL-3.0-or-later
"""A front's elimination: dense algebra on rows that lie in flat arrays, four rows by sixteen columns at a time.

Four rows at a time are looked at with all that earlier rows have to say to them, and are final then; every number is
written once. Rows are padded to whole chunks of sixteen, and a row of a triangle begins at the chunk its diagonal is
in: what lies left of the diagonal is written to and means nothing.

Numbers of the size that is left after a product of two small ones would be denormal in single precision, and these take
a processor a hundred times as long. What a stiff sheet leaves of a far vertex falls by orders of magnitude from
vertex to vertex and ends there; so what is below `tiny` becomes zero wherever numbers of a factor are final.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from .gemm_tiles import CHUNK, ROWS, solve_tile, subtract_tile
from .options import INLINED, INNER, MAKING


@njit(**INNER)
def eliminate(values, base, n, own, count, updates, rest, tiny):  # type: ignore[no-untyped-def]
    """A front's X, M and U in place of its F; whether F_oo is positive definite. `tiny` is one of its numbers.

    Rows of F_oo and F_ob are in `values`, n apart; those of F_bb in `updates`, whose columns begin with the chunk that
    column `own` is in, and of which there are whole fours.
    """
    one, start = np.int64(1), np.int64(0)
    while start < own:
        end = start + ((own - start) % ROWS or ROWS)                 # what is not a whole four comes first
        if start:
            for column in range(start - start % CHUNK, n, CHUNK):
                subtract_tile(values, base + start * n + column, n, values, base + column, n, start, base + start, n,
                              one)
        positive, triangle = _cholesky(values, base + start * n + start, n, end - start, tiny)
        if not positive:
            return False
        for column in range(start - start % CHUNK, n, CHUNK):
            solve_tile(values, base + start * n + column, n, end - start, triangle, tiny)
        start = end
    skipped = own - own % CHUNK
    for column in range(skipped, n, CHUNK):                          # its chunk of all rows stays in the cache
        for i in range(own, min(count, column + CHUNK), ROWS):
            subtract_tile(updates, rest + (i - own) * (n - skipped) + column - skipped, n - skipped, values,
                          base + column, n, own, base + i, n, one)
    invert(values, base, n, own, tiny)
    return True


@njit(**INLINED)
def _cholesky(values, at, n, count, tiny):  # type: ignore[no-untyped-def]
    """Whether at most four rows of a symmetric matrix, whose diagonal begins at `at`, are positive definite; and
    their R as `solve_tile` wants it, with 1 / R_aa."""
    zero = tiny - tiny
    r01 = r02 = r12 = r03 = r13 = r23 = zero
    s1 = s2 = s3 = zero
    pivot = values[at]
    positive = pivot > zero                                          # nan is not
    s0 = 1 / np.sqrt(pivot)
    if count > 1:
        r01 = values[at + 1] * s0
        pivot = values[at + n + 1] - r01 * r01
        positive &= pivot > zero
        s1 = 1 / np.sqrt(pivot)
    if count > 2:
        r02 = values[at + 2] * s0
        r12 = (values[at + n + 2] - r01 * r02) * s1
        pivot = values[at + 2 * n + 2] - r02 * r02 - r12 * r12
        positive &= pivot > zero
        s2 = 1 / np.sqrt(pivot)
    if count > 3:
        r03 = values[at + 3] * s0
        r13 = (values[at + n + 3] - r01 * r03) * s1
        r23 = (values[at + 2 * n + 3] - r02 * r03 - r12 * r13) * s2
        pivot = values[at + 3 * n + 3] - r03 * r03 - r13 * r13 - r23 * r23
        positive &= pivot > zero
        s3 = 1 / np.sqrt(pivot)
    return positive, (r01, r02, r12, r03, r13, r23, s0, s1, s2, s3)


@njit(**MAKING)
def invert(values, base, n, own, tiny):  # type: ignore[no-untyped-def]
    """R_oo, upper triangular, becomes its inverse in place, with zeros below its diagonal."""
    wide = (own + CHUNK - 1) // CHUNK * CHUNK
    solution = np.empty(ROWS * wide, dtype=values.dtype)
    end = own
    while end > 0:
        start = end - (ROWS if end >= ROWS else end)
        left, count, at = start - start % CHUNK, end - start, base + start * n
        solution[:] = tiny - tiny
        for a in range(count):
            solution[a * wide + start + a] = values.dtype.type(1.0)
        if end < own:
            for column in range(left, wide, CHUNK):
                subtract_tile(solution, column, wide, values, base + end * n + column, n,
                              min(own, column + CHUNK) - end, at + end, np.int64(1), n)
        triangle = _backwards(values, at + start, n, count, tiny)
        for column in range(left, wide, CHUNK):
            solve_tile(solution, (count - 1) * wide + column, -wide, count, triangle, tiny)
        for a in range(count):
            for j in range(start):
                values[at + a * n + j] = tiny - tiny
            for j in range(start, own):
                values[at + a * n + j] = solution[a * wide + j]
        end = start


@njit(**INLINED)
def _backwards(values, at, n, count, tiny):  # type: ignore[no-untyped-def]
    """At most four rows of R, whose diagonal begins at `at`, as `solve_tile` wants them from the last to the first."""
    zero = tiny - tiny
    r01 = r02 = r12 = r03 = r13 = r23 = zero
    s1 = s2 = s3 = zero
    last = at + (count - 1) * (n + 1)
    s0 = 1 / values[last]
    if count > 1:
        r01, s1 = values[last - n], 1 / values[last - n - 1]
    if count > 2:
        r02, r12, s2 = values[last - 2 * n], values[last - 2 * n - 1], 1 / values[last - 2 * n - 2]
    if count > 3:
        r03, r13, r23 = values[last - 3 * n], values[last - 3 * n - 1], values[last - 3 * n - 2]
        s3 = 1 / values[last - 3 * n - 3]
    return r01, r02, r12, r03, r13, r23, s0, s1, s2, s3

# SPDX-License-Identifier: GPL-3.0-or-later
"""Eliminate a front: dense algebra on rows of flat arrays, in tiles of four rows by sixteen columns.

Four rows at a time get all updates from earlier rows and are final then, so that every number is written once
(left-looking Cholesky). Rows are padded to whole chunks of sixteen, and a row of a triangle begins with the chunk of
its diagonal: the numbers left of the diagonal are written but have no meaning.

Products of two small numbers would be denormal in single precision, which take a processor a hundred times as long. The
influence on a far vertex of a stiff sheet decays by orders of magnitude from vertex to vertex down to that size. So
numbers of a factor below `tiny` are set to zero when they are final.
"""

from __future__ import annotations

import numpy as np

from .gemm_tiles import CHUNK, TILE_ROWS, solve_tile, subtract_tile
from .kernel_cache import njit
from .options import INLINED, INNER, MAKING


@njit(**INNER)
def eliminate(values, base, n, own, count, updates, rest, tiny):  # type: ignore[no-untyped-def]
    """Replace a front's F by X, M and U (see `multifrontal`); return whether F_oo is positive definite.

    Rows of F_oo and F_ob are in `values`, n apart; those of F_bb in `updates`, whose columns begin with the chunk of
    column `own` and whose rows are padded to whole tiles. `tiny` has the type of the numbers.
    """
    one, start = np.int64(1), np.int64(0)
    while start < own:
        end = start + ((own - start) % TILE_ROWS or TILE_ROWS)       # an incomplete tile comes first
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
    for column in range(skipped, n, CHUNK):                          # this chunk of all rows stays in the cache
        for i in range(own, min(count, column + CHUNK), TILE_ROWS):
            subtract_tile(updates, rest + (i - own) * (n - skipped) + column - skipped, n - skipped, values,
                          base + column, n, own, base + i, n, one)
    invert(values, base, n, own, tiny)
    return True


@njit(**INLINED)
def _cholesky(values, at, n, count, tiny):  # type: ignore[no-untyped-def]
    """Factorise at most four rows of a symmetric matrix, whose diagonal begins at `at` in `values`, n numbers apart.

    Return whether they are positive definite, and their Cholesky factor R as `solve_tile` takes it, with 1 / R_aa.
    """
    zero = tiny - tiny
    r01 = r02 = r12 = r03 = r13 = r23 = zero
    s1 = s2 = s3 = zero
    pivot = values[at]
    positive = pivot > zero                                          # False for nan
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
    """Replace the upper triangular R_oo by its inverse, with zeros below the diagonal."""
    wide = (own + CHUNK - 1) // CHUNK * CHUNK
    solution = np.empty(TILE_ROWS * wide, dtype=values.dtype)
    end = own
    while end > 0:
        start = end - (TILE_ROWS if end >= TILE_ROWS else end)
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
    """Return at most four rows of R as `solve_tile` takes them, from last to first.

    Their diagonal begins at `at` in `values`; rows are n numbers apart.
    """
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

# SPDX-License-Identifier: GPL-3.0-or-later
"""A dense front of any size: R^T R = F_oo, what is kept is R^-1 and R^-T F_ob, what is left is the Schur complement."""

import numpy as np
import pytest

from core.kernels.backend import why_not

if why_not("numba"):
    pytest.skip(why_not("numba"), allow_module_level=True)

from numba import njit

from core.kernels.numba.front_elimination import eliminate
from core.kernels.numba.gemm_tiles import CHUNK, TILE_ROWS
from core.kernels.numpy.multifrontal import TINY
from tests.cases import cases

SIZES = [(1, 0), (2, 1), (3, 0), (3, 45), (4, 12), (5, 5), (6, 10), (15, 1), (16, 16), (17, 31), (18, 26), (33, 15),
         (47, 2), (64, 70)]
DTYPES = [np.float32, np.float64]


@njit
def run(values, base, n, own, count, updates, rest, tiny):
    return eliminate(values, base, n, own, count, updates, rest, tiny)


def front(own, boundary, seed=0):
    """A positive definite matrix of own + boundary rows, of moderate condition."""
    rng = np.random.default_rng(seed)
    half = rng.standard_normal((own + boundary, own + boundary + 5))
    return half @ half.T / len(half) + np.eye(own + boundary)


def eliminated(F, own, dtype):
    """X (o, o), M (o, b), the upper triangle of U (b, b), and whether F_oo was taken for positive definite."""
    count = len(F)
    n = -(-count // CHUNK) * CHUNK
    skipped = own - own % CHUNK
    rows = -(-(count - own) // TILE_ROWS) * TILE_ROWS
    values = np.full(own * n + CHUNK, np.nan, dtype=dtype)          # what lies behind the front is nobody's business
    padded = np.zeros((own, n))
    padded[:, :count] = np.triu(F)[:own]
    values[:own * n] = padded.ravel()
    updates = np.full(rows * (n - skipped) + CHUNK, 0.0, dtype=dtype)
    square = updates[:rows * (n - skipped)].reshape(rows, n - skipped)
    square[:count - own, own - skipped:count - skipped] = np.triu(F[own:, own:])
    fine = run(values, 0, n, own, count, updates, 0, dtype(TINY[dtype]))
    result = values[:own * n].reshape(own, n)
    return (result[:, :own], result[:, own:count],
            np.triu(square[:count - own, own - skipped:count - skipped]), fine)


@cases("dtype", DTYPES)
@cases(("own", "boundary"), SIZES)
def test_a_front_is_eliminated_as_by_cholesky(own, boundary, dtype):
    F = front(own, boundary)
    X, M, U, fine = eliminated(F, own, dtype)
    R = np.linalg.cholesky(F[:own, :own]).T
    close = {"rtol": 0.0, "atol": 2e-5 if dtype is np.float32 else 1e-13}
    assert fine
    np.testing.assert_allclose(X, np.linalg.inv(R), **close)
    np.testing.assert_allclose(M, np.linalg.solve(R.T, F[:own, own:]), **close)
    schur = F[own:, own:] - F[own:, :own] @ np.linalg.solve(F[:own, :own], F[:own, own:])
    np.testing.assert_allclose(U, np.triu(schur), **close)


@cases("place", [0, 3, 4, 9, 17])
@cases("value", [-1.0, 0.0, np.nan])
def test_what_is_not_positive_definite_is_said_to_be_so(place, value):
    F = front(18, 7)
    F[place, place] = value
    assert not eliminated(F, 18, np.float64)[3]


def test_what_is_too_small_for_the_numbers_format_becomes_zero():
    F = np.eye(8)
    F[0, 5] = F[5, 0] = F[2, 7] = F[7, 2] = 1e-25
    _, M, _, fine = eliminated(F, 4, np.float32)
    assert fine
    assert (M == 0.0).all()

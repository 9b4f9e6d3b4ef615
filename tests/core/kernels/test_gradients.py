# SPDX-License-Identifier: GPL-3.0-or-later
"""What conjugate gradients do with whole vectors is what their lines say, the same for any number of threads."""

import numpy as np
import pytest

from core.kernels import current
from core.kernels.backend import why_not
from tests.cases import cases

pytestmark = pytest.mark.usefixtures("backend")
SIZES = [0, 1, 5, 1365, 1366, 50_000]                                # around the end of a sum's part, and of several


def vectors(size, count):
    rng = np.random.default_rng(size)
    return [rng.normal(size=(size, 3)) for _ in range(count)]


@cases("size", SIZES)
def test_the_dot_product_is_the_sum_of_products(size):
    a, b = vectors(size, 2)
    wanted = float(np.sum(a * b))
    assert current().gradients.dot(a, b) == pytest.approx(wanted, rel=1e-12, abs=1e-12 * size)
    every_other = np.concatenate([a, b])[::2]                        # what is not in order in memory, too
    wanted = float(np.sum(every_other ** 2))
    assert current().gradients.dot(every_other, every_other) == pytest.approx(wanted, rel=1e-12)


@cases("size", SIZES)
def test_rows_are_added_by_groups_in_their_order(size):
    rows, groups = vectors(size, 1)[0], np.random.default_rng(1).integers(7, size=(size, 2))
    found, wanted = current().group_sums.sums(groups, rows, 9), np.zeros((9, 3))
    np.add.at(wanted, groups.T.ravel(), np.tile(rows, (2, 1)))
    assert found.dtype == np.float64 and found.tobytes() == wanted.tobytes()


@cases("size", SIZES)
def test_an_iteration_moves_the_answer_and_the_residual_and_knows_its_length(size):
    c, q, x, r = vectors(size, 4)
    wanted = x + 0.3 * c, r - 0.3 * q
    length = current().gradients.advance(0.3, c, q, x, r)
    np.testing.assert_allclose(x, wanted[0], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(r, wanted[1], rtol=1e-13, atol=1e-14)
    assert length == pytest.approx(float(np.sum(wanted[1] ** 2)), rel=1e-12)


@cases("size", SIZES)
def test_the_next_direction_is_the_old_one_and_what_is_left(size):
    s, c = vectors(size, 2)
    wanted = s - 0.7 * c
    current().gradients.turn(-0.7, s, c)
    np.testing.assert_allclose(c, wanted, rtol=1e-13, atol=1e-14)


def test_what_is_not_a_number_is_in_the_sum():
    a, b = vectors(5000, 2)
    a[4711, 1] = np.nan
    assert np.isnan(current().gradients.dot(a, b))


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
def test_sums_are_the_same_for_any_number_of_threads():
    from core.kernels.numba import gradients, thread_pool

    found = []
    for threads in (1, 2, 3):
        token = thread_pool.thread_limit.set(threads)
        c, q, x, r = vectors(200_000, 4)
        found.append((gradients.dot(c, q), gradients.advance(0.3, c, q, x, r), r.tobytes()))
        thread_pool.thread_limit.reset(token)
    assert found[0] == found[1] == found[2]

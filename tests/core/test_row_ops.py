# SPDX-License-Identifier: GPL-3.0-or-later
"""Reductions by columns are those by rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from core import row_ops

SHAPES = array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6)


@given(arrays(np.bool_, SHAPES))
def test_of_truths(table):
    assert np.array_equal(row_ops.any_of(table), table.any(axis=1))
    assert np.array_equal(row_ops.all_of(table), table.all(axis=1))


@given(arrays(np.float64, SHAPES, elements=st.floats(-1e6, 1e6)))
def test_of_numbers(table):
    assert np.array_equal(row_ops.lowest(table), table.min(axis=1, initial=np.inf))
    assert np.array_equal(row_ops.highest(table), table.max(axis=1, initial=-np.inf))
    low, high = row_ops.box(table)
    assert np.array_equal(low, table.min(axis=0, initial=np.inf))
    assert np.array_equal(high, table.max(axis=0, initial=-np.inf))
    if len(table):
        assert row_ops.mean(table) == pytest.approx(table.mean(axis=0), abs=1e-9)


@given(arrays(np.float64, st.tuples(st.integers(0, 20), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)))
def test_length_is_numpys(table):
    assert np.allclose(row_ops.length(table), np.linalg.norm(table, axis=1), rtol=1e-14, atol=0.0)


@given(st.lists(st.integers(0, 6), max_size=30))
def test_the_rank_of_sorted_numbers_is_their_place_among_their_equals(numbers):
    numbers = sorted(numbers)
    found = row_ops.rank_of(np.array(numbers, dtype=np.int64))
    assert found.tolist() == [k - numbers.index(number) for k, number in enumerate(numbers)]


def test_what_is_tangential_has_nothing_of_the_normal_and_all_else():
    rng = np.random.default_rng(1)
    normal, vector = row_ops.unit(rng.normal(size=(20, 3))), rng.normal(size=(20, 3))
    across = row_ops.tangential(normal, vector)
    np.testing.assert_allclose((across * normal).sum(axis=1), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.cross(vector - across, normal), 0.0, atol=1e-15)

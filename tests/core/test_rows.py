# SPDX-License-Identifier: GPL-3.0-or-later
"""Reductions by columns are those by rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from core import rows

SHAPES = array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6)


@given(arrays(np.bool_, SHAPES))
def test_of_truths(table):
    assert np.array_equal(rows.any_of(table), table.any(axis=1))
    assert np.array_equal(rows.all_of(table), table.all(axis=1))


@given(arrays(np.float64, SHAPES, elements=st.floats(-1e6, 1e6)))
def test_of_numbers(table):
    assert np.array_equal(rows.lowest(table), table.min(axis=1, initial=np.inf))
    assert np.array_equal(rows.highest(table), table.max(axis=1, initial=-np.inf))
    low, high = rows.box(table)
    assert np.array_equal(low, table.min(axis=0, initial=np.inf))
    assert np.array_equal(high, table.max(axis=0, initial=-np.inf))
    if len(table):
        assert rows.mean(table) == pytest.approx(table.mean(axis=0), abs=1e-9)


@given(arrays(np.float64, st.tuples(st.integers(0, 20), st.integers(1, 4)), elements=st.floats(-1e6, 1e6)))
def test_length_is_numpys(table):
    assert np.allclose(rows.length(table), np.linalg.norm(table, axis=1), rtol=1e-14, atol=0.0)

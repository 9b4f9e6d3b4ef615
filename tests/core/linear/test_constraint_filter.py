# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter is an orthogonal projection that removes exactly the constrained directions with z along them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernels import using
from core.kernels.backend import why_not
from core.linear.constraint_filter import ConstraintFilter


def unit(values):
    values = np.asarray(values, dtype=float)
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def matrix(filter_):
    """S as a dense matrix (3 V, 3 V)."""
    V = len(filter_.z)
    return np.column_stack([filter_.project(e.reshape(V, 3)).ravel() for e in np.eye(3 * V)])


def test_everything_is_free_at_first():
    filter_ = ConstraintFilter(3)
    d = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(filter_.project(d), d)
    np.testing.assert_array_equal(filter_.degrees_of_freedom(np.arange(3)), [3, 3, 3])
    assert filter_.project(d) is not d, "a new array, as the solver writes into what it gets"


def test_a_fixed_particle_keeps_nothing_and_moves_as_prescribed():
    filter_ = ConstraintFilter(4)
    filter_.fix(np.array([2, 0]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    d = np.ones((4, 3))
    np.testing.assert_array_equal(filter_.project(d), [[0, 0, 0], [1, 1, 1], [0, 0, 0], [1, 1, 1]])
    np.testing.assert_array_equal(filter_.z, [[4, 5, 6], [0, 0, 0], [1, 2, 3], [0, 0, 0]])
    np.testing.assert_array_equal(filter_.degrees_of_freedom(np.arange(4)), [0, 3, 0, 3])


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 2 ** 32 - 1))
def test_any_sequence_of_constraints_leaves_a_projection_that_prescribes_what_was_asked_first(vertices, seed):
    filter_, asked, rng = ConstraintFilter(4), {}, np.random.default_rng(seed)
    for vertex in vertices:
        p, change = unit(rng.normal(size=3)), rng.normal()
        filter_.constrain(np.array([vertex]), p[None], np.array([change]))
        if len(asked.setdefault(vertex, [])) < 3:
            asked[vertex].append((p, change))
    S = matrix(filter_)
    np.testing.assert_allclose(S @ S, S, atol=1e-12)
    np.testing.assert_allclose(S, S.T, atol=1e-14)
    for vertex, constraints in asked.items():
        spread = np.linalg.svd(np.array([p for p, _ in constraints]))[1].min()
        for p, change in constraints:
            d = np.zeros((4, 3))
            d[vertex] = p
            np.testing.assert_allclose(filter_.project(d), 0.0, atol=1e-13 / spread)
            np.testing.assert_allclose(filter_.z[vertex] @ p, change, atol=1e-12 / spread ** 2)
    counts = [3 - len(asked.get(v, [])) for v in range(4)]
    np.testing.assert_array_equal(filter_.degrees_of_freedom(np.arange(4)), counts)
    assert np.linalg.matrix_rank(S, tol=1e-8) == sum(counts)


def test_a_particle_with_three_directions_taken_keeps_exactly_nothing():
    rng = np.random.default_rng(6)
    filter_ = ConstraintFilter(1)
    for axis in np.linalg.qr(rng.normal(size=(3, 3)))[0]:
        filter_.constrain(np.array([0]), axis[None], np.array([1.0]))
    assert not filter_.project(rng.normal(size=(1, 3))).any()


def test_z_lies_in_the_constrained_directions_alone():
    rng = np.random.default_rng(3)
    filter_ = ConstraintFilter(2)
    for _ in range(2):
        filter_.constrain(np.array([0, 1]), unit(rng.normal(size=(2, 3))), rng.normal(size=2))
    np.testing.assert_allclose(filter_.project(filter_.z), 0.0, atol=1e-14)


def test_a_direction_that_is_taken_already_is_ignored_and_the_first_wins():
    filter_ = ConstraintFilter(1)
    p, q = unit([1.0, 1.0, 0.0]), unit([0.0, 1.0, 1.0])
    filter_.constrain(np.array([0]), p[None], np.array([2.0]))
    for parallel in (p, -p, unit(p + 1e-9 * q)):
        filter_.constrain(np.array([0]), parallel[None], np.array([77.0]))
    assert filter_.degrees_of_freedom(np.array([0]))[0] == 2
    np.testing.assert_allclose(filter_.z[0], 2.0 * p, atol=1e-15)
    filter_.constrain(np.array([0]), q[None], np.array([0.5]))
    for inside in (unit(p + q), unit(p - 3.0 * q)):
        filter_.constrain(np.array([0]), inside[None], np.array([-5.0]))
    assert filter_.degrees_of_freedom(np.array([0]))[0] == 1
    np.testing.assert_allclose([filter_.z[0] @ p, filter_.z[0] @ q], [2.0, 0.5], atol=1e-14)


def test_a_fixed_particle_takes_no_further_constraint():
    filter_ = ConstraintFilter(1)
    filter_.fix(np.array([0]), np.array([[1.0, 2.0, 3.0]]))
    filter_.constrain(np.array([0]), unit([[1.0, 1.0, 1.0]]), np.array([99.0]))
    np.testing.assert_array_equal(filter_.z, [[1.0, 2.0, 3.0]])
    assert not filter_.project(np.ones((1, 3))).any()


def test_the_order_of_perpendicular_constraints_does_not_matter():
    rng = np.random.default_rng(4)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    filters = []
    for order in ((0, 1), (1, 0)):
        filter_ = ConstraintFilter(1)
        for i in order:
            filter_.constrain(np.array([0]), axes[i][None], np.array([float(i + 1)]))
        filters.append(filter_)
    np.testing.assert_allclose(filters[0].z, filters[1].z, atol=1e-15)
    np.testing.assert_allclose(matrix(filters[0]), matrix(filters[1]), atol=1e-15)


def test_the_order_of_the_vertices_in_a_call_does_not_matter():
    rng = np.random.default_rng(5)
    vertices, p, change = np.array([7, 2, 5, 0]), unit(rng.normal(size=(4, 3))), rng.normal(size=4)
    one, two = ConstraintFilter(8), ConstraintFilter(8)
    one.constrain(np.array([5]), p[:1], change[:1])
    two.constrain(np.array([5]), p[:1], change[:1])
    one.constrain(vertices, p, change)
    for i in (2, 0, 3, 1):
        two.constrain(vertices[i:i + 1], p[i:i + 1], change[i:i + 1])
    np.testing.assert_allclose(one.z, two.z, atol=1e-15)
    np.testing.assert_allclose(matrix(one), matrix(two), atol=1e-15)


def test_a_copy_does_not_change_its_original():
    filter_ = ConstraintFilter(2)
    filter_.constrain(np.array([0]), unit([[1.0, 0.0, 0.0]]), np.array([1.0]))
    before, z = matrix(filter_), filter_.z.copy()
    other = filter_.copy()
    other.fix(np.array([0, 1]), np.full((2, 3), 9.0))
    np.testing.assert_array_equal(matrix(filter_), before)
    np.testing.assert_array_equal(filter_.z, z)
    np.testing.assert_array_equal(filter_.degrees_of_freedom(np.arange(2)), [2, 3])


def test_particles_are_numbered_in_their_order_whenever_they_came_and_in_a_copy_as_in_its_original():
    rng = np.random.default_rng(7)
    filter_, before = ConstraintFilter(9), {}
    for some in ([5, 2], [8, 0, 5], [3, 2]):
        p = unit(rng.normal(size=(len(some), 3)))
        other = filter_.copy()
        other.constrain(np.array(some), p, rng.normal(size=len(some)))
        np.testing.assert_array_equal(np.flatnonzero(filter_.numbered()[0] >= 0), sorted(before))
        number, S = other.numbered()
        after = {v: before.get(v, np.eye(3)) for v in {*before, *some}}
        for v, q in zip(some, p, strict=True):
            q = after[v] @ q
            after[v] = after[v] - np.outer(q, q) / (q @ q)
        np.testing.assert_array_equal(number[sorted(after)], np.arange(len(after)))
        np.testing.assert_array_equal(np.flatnonzero(number >= 0), sorted(after))
        for v, wanted in after.items():
            np.testing.assert_allclose(S[number[v]], wanted, atol=1e-12)
        filter_, before = other, after


def test_what_is_left_of_a_direction_at_any_vertex_is_its_projection():
    rng = np.random.default_rng(8)
    filter_ = ConstraintFilter(6)
    vertices, n = rng.integers(0, 6, size=(20, 4)), unit(rng.normal(size=(20, 3)))
    np.testing.assert_array_equal(filter_.left_of(n, vertices), np.repeat(n[:, None], 4, axis=1))
    for some in ([1, 4], [4], [1, 3, 4]):                                   # with 0 to 3 directions taken
        filter_.constrain(np.array(some), unit(rng.normal(size=(len(some), 3))), np.zeros(len(some)))
        left = filter_.left_of(n, vertices)
        for row, vertex in np.ndindex(vertices.shape):
            d = np.zeros((6, 3))
            d[vertices[row, vertex]] = n[row]
            np.testing.assert_allclose(left[row, vertex], filter_.project(d)[vertices[row, vertex]], atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2 ** 32 - 1), st.sampled_from([1e-6, 0.4]))
def test_compiled_directions_are_the_references(seed, parallel):
    """Random, repeated, nearly parallel and too many, of some particles each time."""
    if why_not("numba"):
        pytest.skip("no numba here")
    filters = []
    for name in ("numpy", "numba"):
        rng = np.random.default_rng(seed)
        with using(name):
            filter_, last = ConstraintFilter(9), np.zeros((9, 3))
            for _ in range(6):
                some = rng.permutation(9)[:rng.integers(0, 10)]
                mixed = rng.normal(size=(9, 3)) * rng.choice([1e-9, 0.3, 1.0], size=(9, 1)) + last
                last = unit(mixed)
                filter_.constrain(some, last[some], rng.normal(size=9)[some], parallel)
            filters.append((filter_, filter_.blocks))
    (one, S), (other, T) = filters
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.count, other.count)
    np.testing.assert_allclose(one.taken, other.taken, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(S, T, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.z, other.z, rtol=1e-8, atol=1e-8 * np.abs(one.z).max())

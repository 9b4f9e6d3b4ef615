# SPDX-License-Identifier: GPL-3.0-or-later
"""The closest point of a convex set is the one from which no corner lies nearer to the query."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from core.contact.distance import EDGES, FACE, VERTICES, edge_edge, point_triangle
from tests.cases import cases

SCALES = [1e-60, 1e-6, 1e-3, 1.0, 1e3, 1e60]


def placed_queries(count=400, seed=0):
    """Random triangles and queries over, on and a hair beside every border between regions, at many heights."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.normal(size=(3, count, 3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    grid = [-0.7, -1e-12, 0.0, 1e-12, 0.3, 1.0 - 1e-12, 1.0, 1.0 + 1e-12, 1.8]
    triangles, queries = [], []
    for u in grid:
        for v in grid:
            height = rng.choice([0.0, 1e-9, 0.1, -2.0, 50.0], size=(count, 1))
            triangles.append((a, b, c))
            queries.append(a + u * (b - a) + v * (c - a) + height * n)
    return np.concatenate(queries), *(np.concatenate(x) for x in zip(*triangles, strict=True))


def assert_closest_in_triangle(p, a, b, c, tolerance=1e-11):
    found = point_triangle(p, a, b, c)
    w = found.barycentric
    corners = np.stack([a, b, c], axis=1)
    size = np.abs(corners - corners[:, :1]).max(axis=(1, 2)) + np.abs(p - a).max(axis=1)
    assert (w >= 0.0).all() and np.abs(w.sum(axis=1) - 1.0).max() < 1e-14
    point = np.einsum("pk,pki->pi", w, corners)
    assert (np.abs(found.point - point).max(axis=1) <= 1e-13 * np.maximum(size, np.abs(corners).max(axis=(1, 2)))).all()
    offset = (p - found.point) / size[:, None]
    towards = (corners - found.point[:, None]) / size[:, None, None]
    assert np.einsum("pi,pki->pk", offset, towards).max() <= tolerance
    np.testing.assert_allclose(found.distance / size, np.linalg.norm(offset, axis=1), rtol=1e-12, atol=1e-15)
    return found


@cases("factor", SCALES)
def test_no_corner_of_the_triangle_lies_nearer_in_the_direction_of_the_query(factor):
    p, a, b, c = placed_queries()
    assert_closest_in_triangle(factor * p, factor * a, factor * b, factor * c)


def test_the_closest_point_agrees_with_a_dense_sampling_of_the_triangle():
    p, a, b, c = placed_queries(count=8)
    found = point_triangle(p, a, b, c)
    steps = np.linspace(0.0, 1.0, 101)
    u, v = np.meshgrid(steps, steps)
    u, v = u[u + v <= 1.0 + 1e-12], v[u + v <= 1.0 + 1e-12]
    samples = a[:, None] + u[:, None] * (b - a)[:, None] + v[:, None] * (c - a)[:, None]
    sampled = np.linalg.norm(p[:, None] - samples, axis=2).min(axis=1)
    longest = np.linalg.norm([b - a, c - a, c - b], axis=2).max(axis=0)
    assert (found.distance <= sampled * (1 + 1e-12) + 1e-15).all()
    assert (found.distance >= sampled - 0.02 * longest).all()


def test_the_feature_says_which_weights_are_zero():
    p, a, b, c = placed_queries()
    found = point_triangle(p, a, b, c)
    zero = found.barycentric == 0.0
    expected = {(False, False, False): FACE, (False, False, True): EDGES[0], (True, False, False): EDGES[1],
                (False, True, False): EDGES[2], (False, True, True): VERTICES[0], (True, False, True): VERTICES[1],
                (True, True, False): VERTICES[2]}
    assert [expected[tuple(z)] for z in zero.tolist()] == found.feature.tolist()
    assert set(found.feature.tolist()) == {FACE, *EDGES, *VERTICES}


def test_the_regions_of_a_known_triangle():
    corners = np.array([[0.0, 0, 0], [4, 0, 0], [0, 3, 0]])
    cases = [((1, 1, 2), (1, 1, 0), FACE), ((2, -1, 1), (2, 0, 0), EDGES[0]), ((-2, 1, 0), (0, 1, 0), EDGES[2]),
             ((4, 3, 0), (2.56, 1.08, 0), EDGES[1]), ((-1, -1, 5), (0, 0, 0), VERTICES[0]),
             ((6, -1, 0), (4, 0, 0), VERTICES[1]), ((-1, 5, 0), (0, 3, 0), VERTICES[2])]
    p = np.array([case[0] for case in cases], dtype=float)
    a, b, c = (np.tile(corner, (len(cases), 1)) for corner in corners)
    found = point_triangle(p, a, b, c)
    np.testing.assert_allclose(found.point, [case[1] for case in cases], atol=1e-15)
    assert found.feature.tolist() == [case[2] for case in cases]


def test_a_triangle_far_from_the_origin_keeps_its_precision():
    p, a, b, c = placed_queries()
    away = np.array([3e5, -2e5, 1e5])
    p, a, b, c = p + away, a + away, b + away, c + away
    near = point_triangle(p - away, a - away, b - away, c - away)
    np.testing.assert_allclose(point_triangle(p, a, b, c).distance, near.distance, rtol=1e-9, atol=1e-9)


@cases("factor", SCALES)
def test_degenerate_triangles_are_the_segments_and_points_they_look_like(factor):
    rng = np.random.default_rng(5)
    a, d, p = rng.normal(size=(3, 200, 3))
    shapes = (0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.5, 1.0), (-2.0, 1.0)
    shapes += (1.0, 1.0 + 1e-13), (0.4, 1.0 + 1e-9)
    for u, v in shapes:
        assert_closest_in_triangle(factor * p, factor * a, factor * (a + u * d), factor * (a + v * d), 2e-8)


def test_a_query_far_above_meets_the_same_place_as_one_in_the_plane():
    p, a, b, c = placed_queries(count=50)
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    flat = p - np.einsum("pi,pi->p", p - a, n)[:, None] * n
    low, high = (point_triangle(flat + height * n, a, b, c) for height in (0.0, 1e7))
    narrow = np.linalg.norm(np.cross(b - a, c - a), axis=1) < 0.05
    np.testing.assert_allclose(high.point[~narrow], low.point[~narrow], atol=1e-6)


def test_edges_far_apart_meet_at_the_same_places_as_near_ones():
    a0, a1, b0, b1 = (x * [1, 1, 0] for x in np.random.default_rng(4).normal(size=(4, 2000, 3)))
    steep = np.abs(np.cross(a1 - a0, b1 - b0)[:, 2]) > 0.2
    near, far = (edge_edge(a0, a1, b0 + [0, 0, height], b1 + [0, 0, height]) for height in (0.0, 1e8))
    np.testing.assert_allclose(np.stack([far.s, far.t])[:, steep], np.stack([near.s, near.t])[:, steep], atol=1e-9)


coordinate = st.one_of(st.integers(-2, 2).map(float), st.floats(-1e3, 1e3), st.floats(-1e-6, 1e-6))
point = st.tuples(coordinate, coordinate, coordinate)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(point, point, point, point), min_size=1, max_size=20))
def test_any_point_and_any_triangle(pairs):
    p, a, b, c = np.array(pairs).transpose(1, 0, 2)
    if (np.abs(np.array(pairs) - np.array(pairs)[:, :1]).max(axis=(1, 2)) > 1e-60).all():
        assert_closest_in_triangle(p, a, b, c, 3e-8)


def assert_closest_on_edges(a0, a1, b0, b1, tolerance=1e-11):
    found = edge_edge(a0, a1, b0, b1)
    size = np.abs(np.stack([a1, b0, b1]) - a0).max(axis=(0, 2))
    size = np.where(size > 0.0, size, 1.0)
    assert ((found.s >= 0) & (found.s <= 1) & (found.t >= 0) & (found.t <= 1)).all()
    at = np.maximum(size, np.abs([a0, a1, b0, b1]).max(axis=(0, 2)))[:, None]
    assert (np.abs(found.point_a - (a0 + found.s[:, None] * (a1 - a0))) <= 1e-14 * at).all()
    assert (np.abs(found.point_b - (b0 + found.t[:, None] * (b1 - b0))) <= 1e-14 * at).all()
    offset = (found.point_b - found.point_a) / size[:, None]
    ends = ((a0, found.point_a, 1), (a1, found.point_a, 1), (b0, found.point_b, -1), (b1, found.point_b, -1))
    for end, start, sign in ends:
        assert (sign * np.einsum("pi,pi->p", offset, (end - start) / size[:, None])).max() <= tolerance
    np.testing.assert_allclose(found.distance / size, np.linalg.norm(offset, axis=1), rtol=1e-9, atol=1e-13)
    return found


def placed_edges(count=300, seed=1):
    """Pairs of edges whose common perpendicular hits inside, at, and a hair beside their ends."""
    rng = np.random.default_rng(seed)
    places = [-0.6, -1e-12, 0.0, 1e-12, 0.4, 1.0 - 1e-12, 1.0, 1.0 + 1e-12, 1.7]
    edges = []
    for s in places:
        for t in places:
            u, v, q = rng.normal(size=(3, count, 3))
            n = np.cross(u, v) * rng.choice([0.0, 1e-9, 0.1, 50.0], size=(count, 1))
            edges.append((q - s * u, q + (1 - s) * u, q + n - t * v, q + n + (1 - t) * v))
    return [np.concatenate(x) for x in zip(*edges, strict=True)]


@cases("factor", SCALES)
def test_no_end_of_either_edge_lies_nearer_in_the_direction_of_the_other(factor):
    assert_closest_on_edges(*(factor * x for x in placed_edges()))


def test_two_edges_agree_with_a_dense_sampling():
    a0, a1, b0, b1 = placed_edges(count=4)
    found = edge_edge(a0, a1, b0, b1)
    w = np.linspace(0, 1, 101)[:, None]
    on_a = a0[:, None] + w * (a1 - a0)[:, None]
    on_b = b0[:, None] + w * (b1 - b0)[:, None]
    sampled = np.linalg.norm(on_a[:, :, None] - on_b[:, None], axis=3).min(axis=(1, 2))
    assert (found.distance <= sampled * (1 + 1e-12) + 1e-15).all()
    assert (found.distance >= sampled - 0.01 * np.linalg.norm([a1 - a0, b1 - b0], axis=2).sum(axis=0)).all()


@cases("factor", SCALES)
@cases("tilt", [0.0, 1e-16, 1e-13, 1e-10, 1e-8, 1e-6])
def test_parallel_and_nearly_parallel_edges(factor, tilt):
    rng = np.random.default_rng(2)
    a0, u, offset, turn = rng.normal(size=(4, 500, 3))
    length, along = rng.uniform(-2, 2, size=(500, 1)), rng.uniform(-3, 3, size=(500, 1))
    offset *= rng.choice([0.0, 1.0], size=(500, 1))                    # half of the pairs on one line
    b0 = a0 + along * u + offset
    b1 = b0 + length * (u + tilt * turn)
    found = assert_closest_on_edges(*(factor * x for x in (a0, a0 + u, b0, b1)), 3e-8)
    swapped = edge_edge(*(factor * x for x in (b0, b1, a0, a0 + u)))
    np.testing.assert_allclose(found.distance, swapped.distance, rtol=1e-8, atol=1e-8 * factor)


def test_edges_shrunk_to_points():
    rng = np.random.default_rng(3)
    a0, a1, b0 = rng.normal(size=(3, 100, 3))
    assert_closest_on_edges(a0, a1, b0, b0)
    assert_closest_on_edges(b0, b0, a0, a1)
    assert_closest_on_edges(a0, a0, b0, b0)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(point, point, point, point), min_size=1, max_size=20))
def test_any_two_edges(pairs):
    a0, a1, b0, b1 = np.array(pairs).transpose(1, 0, 2)
    if (np.abs(np.array(pairs) - np.array(pairs)[:, :1]).max(axis=(1, 2)) > 1e-60).all():
        assert_closest_on_edges(a0, a1, b0, b1, 3e-8)

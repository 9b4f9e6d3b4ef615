# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree finds what comparing every box with every other finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.contact.bvh import BVH, element_boxes, touching_boxes
from core.kernels.numpy import trees
from tests.cases import cases
from tests.core.contact.shapes import bumpy_ball

pytestmark = pytest.mark.usefixtures("backend")


def brute_force(lower_a, upper_a, lower_b, upper_b):
    """Pairs of boxes that touch, in lexicographic order."""
    touch = (lower_a[:, None] <= upper_b[None]) & (lower_b[None] <= upper_a[:, None])
    return np.argwhere(touch.all(axis=2)).reshape(-1, 2)


def assert_as_brute_force(a, b):
    np.testing.assert_array_equal(touching_boxes(BVH.build(*b), *a), brute_force(*a, *b))
    np.testing.assert_array_equal(touching_boxes(BVH.build(*a), *a), brute_force(*a, *a))


def random_boxes(count, rng, scale=1.0):
    low = rng.integers(0, 12, size=(count, 3)).astype(float)
    return scale * low, scale * (low + rng.integers(0, 3, size=(count, 3)))


@cases("scale", [1e-200, 1e-6, 1.0, 1e6, 1e200])
@cases("counts", [(0, 5), (1, 1), (2, 3), (7, 64), (65, 33), (300, 2), (128, 257)])
def test_boxes_on_a_grid_touching_at_faces_edges_and_corners(counts, scale):
    rng = np.random.default_rng(sum(counts))
    assert_as_brute_force(random_boxes(counts[0], rng, scale), random_boxes(counts[1], rng, scale))


@cases("count", [1, 5, 64, 100])
def test_duplicated_coplanar_and_point_like_boxes(count):
    rng = np.random.default_rng(count)
    same = np.tile(rng.normal(size=(1, 3)), (count, 1))
    assert_as_brute_force((same, same), (same, same + 1.0))
    flat = rng.uniform(size=(count, 3)) * [1, 1, 0]
    assert_as_brute_force((flat, flat + [0.1, 0.1, 0]), (flat, flat))
    line = rng.uniform(size=(count, 3)) * [0, 1e-9, 0] + 1e9
    assert_as_brute_force((line, line), (line - 1, line))


number = st.one_of(st.integers(-3, 3).map(float), st.floats(allow_nan=False, allow_infinity=False))
boxes = st.lists(st.tuples(*[number] * 6), max_size=40)


@settings(max_examples=100, deadline=None)
@given(boxes, boxes)
def test_any_boxes(a, b):
    pairs = []
    for found in (a, b):
        corners = np.array(found, dtype=float).reshape(-1, 2, 3)
        pairs.append((corners.min(axis=1), corners.max(axis=1)))
    assert_as_brute_force(*pairs)


def test_a_box_with_a_nan_touches_nothing_and_hides_no_other():
    low, high = random_boxes(50, np.random.default_rng(0))
    broken = low.copy()
    broken[[3, 20]] = np.nan
    pairs = touching_boxes(BVH.build(broken, high), low, high)
    expected = brute_force(low, high, low, high)
    np.testing.assert_array_equal(pairs, expected[~np.isin(expected[:, 1], [3, 20])])


def test_a_refitted_tree_finds_the_same_as_a_new_one():
    positions, triangles = bumpy_ball(24, 12)
    tree = BVH.build(*element_boxes(triangles, positions))
    rng = np.random.default_rng(1)
    moved = rng.permutation(positions) + rng.normal(size=positions.shape) * 0.02       # far from what it was made for
    query = rng.uniform(-1, 1, size=(200, 3))
    expected = brute_force(query, query + 0.1, *element_boxes(triangles, positions, moved))
    fitted = tree.around(triangles, positions, moved)
    np.testing.assert_array_equal(touching_boxes(fitted, query, query + 0.1), expected)


def test_the_answer_does_not_depend_on_how_the_search_is_cut(monkeypatch):
    positions, triangles = bumpy_ball(24, 12)
    tree = BVH.build(*element_boxes(triangles, positions))
    low = np.random.default_rng(2).uniform(-0.6, 0.5, size=(300, 3))
    whole = touching_boxes(tree, low, low + 0.1)
    monkeypatch.setattr(trees, "PAIRS_PER_PIECE", 64)
    np.testing.assert_array_equal(touching_boxes(tree, low, low + 0.1), whole)


def test_boxes_of_elements_hold_all_corners_at_all_times():
    positions, triangles = bumpy_ball(8, 6)
    low, high = element_boxes(triangles, positions, positions + [0, 0, 1])
    corners = positions[triangles]
    np.testing.assert_array_equal(low, corners.min(axis=1))
    np.testing.assert_array_equal(high, corners.max(axis=1) + [0, 0, 1])


@cases("count", [1, 2, 33, 400])
def test_the_nearest_candidates_hold_the_nearest_point(count):
    rng = np.random.default_rng(count)
    points = np.round(rng.normal(size=(count, 3)), 1)                                   # with duplicates and ties
    query = np.concatenate([rng.normal(size=(50, 3)), points[:10], 100 * rng.normal(size=(5, 3))])
    tree = BVH.build(points, points)
    pairs = trees.nearest_candidates(tree.order, tree.nodes, query)
    distance = np.linalg.norm(query[:, None] - points, axis=2)
    assert set(map(tuple, np.argwhere(distance <= distance.min(axis=1)[:, None]))) <= set(map(tuple, pairs.tolist()))
    assert len(pairs) <= 60 + 0.5 * len(query) * count

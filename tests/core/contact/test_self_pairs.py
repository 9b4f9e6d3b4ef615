# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs of a surface with itself are those of brute force, on both backends."""

import numpy as np
import pytest

from core.contact.kept_searches import KeptSearches
from core.contact.self_pairs import candidate_pairs
from core.contact.triangle_surface import TriangleSurface
from core.kernels import current, using
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.contact.shapes import bumpy_ball, rotation, sheet
from tests.core.contact.test_crossings import crumpled, soup

BACKENDS = [
    "numpy",
    pytest.param("numba", marks=pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")),
]
SURFACES = {
    "crumpled": crumpled(1),
    "ball": bumpy_ball(16, 8),
    "flat": sheet(12, 12),
    "turned": (sheet(12, 12)[0] @ rotation([1.0, 0.3, 0.2], 1.0).T, sheet(12, 12)[1]),
    "soup": soup(60, 3),
    "one triangle": (np.eye(3), np.array([[0, 1, 2]])),
}


def alike(x, radius):
    """The same radius for all vertices."""
    return np.full(len(x), radius)


def close(one, other, x0, x1, radius):
    """Which (row of one, row of other) have boxes that are along no axis further apart than the radius, one for all or
    one each, on the same side, both at x0 and x1."""
    radius = np.asarray(radius)[..., None]
    above, below = [], []
    for x in (x0, x1):
        low, high, lower, upper = x[one].min(axis=1), x[one].max(axis=1), x[other].min(axis=1), x[other].max(axis=1)
        above.append(low[:, None] - radius <= upper[None])
        below.append(lower[None] <= high[:, None] + radius)
    return np.argwhere(((above[0] | above[1]) & (below[0] | below[1])).all(axis=2))


def brute_force(surface, x0, x1, radius, of_edges=None):
    T, E, used = surface.triangles, surface.edges, np.unique(surface.triangles)
    to = close(used[:, None], T, x0, x1, radius)
    to[:, 0] = used[to[:, 0]]
    between = close(E, E, x0, x1, radius if of_edges is None else of_edges)
    return (to[(T[to[:, 1]] != to[:, :1]).all(axis=1)],
            np.array([(e, f) for e, f in between if e < f and not set(E[e]) & set(E[f])], dtype=int).reshape(-1, 2))


@cases("radius", [0.0, 0.03, 0.4])
@cases("speed", [0.0, 0.05])
@cases("name", SURFACES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_where_nothing_rules_out_meeting_pairs_are_those_of_brute_force(backend, name, speed, radius):
    positions, triangles = SURFACES[name]
    x1 = positions + speed * np.random.default_rng(5).normal(size=positions.shape)
    anything = np.full(len(positions), 1e6)                                   # the ends may be anywhere
    with using(backend):
        surface = TriangleSurface.build(positions, triangles)
        found = candidate_pairs(surface, positions, x1, anything, alike(positions, radius))
        again = candidate_pairs(surface.at(x1), positions, x1, anything, alike(positions, radius))
    for ours, anew, expected in zip(found, again, brute_force(surface, positions, x1, radius), strict=True):
        assert ours.dtype == np.int64 and ours.shape == (len(expected), 2)
        np.testing.assert_array_equal(ours, expected)
        np.testing.assert_array_equal(ours, anew)


@cases("name", SURFACES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_each_pair_is_looked_for_within_the_mean_of_its_primitives_radii(backend, name):
    positions, triangles = SURFACES[name]
    rng = np.random.default_rng(7)
    x1, radius = positions + 0.05 * rng.normal(size=positions.shape), rng.choice([0.0, 0.02, 0.3], len(positions))
    anything = np.full(len(positions), 1e6)
    with using(backend):
        surface = TriangleSurface.build(positions, triangles)
        found = candidate_pairs(surface, positions, x1, anything, radius)
    T, E, used = surface.triangles, surface.edges, np.unique(surface.triangles)
    of_edges, of_faces = radius[E].max(axis=1), radius[T].max(axis=1)
    expected = brute_force(surface, positions, x1, 0.5 * (radius[used][:, None] + of_faces),
                           0.5 * (of_edges[:, None] + of_edges))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_passes_through_between_start_and_end_is_a_candidate(backend):
    """A small triangle goes through a big one in one step: near it neither at the start nor at the end."""
    positions = np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0], [1, 1, 5], [1.1, 1, 5], [1, 1.1, 5]], dtype=float)
    end = positions - np.array([[0, 0, 0]] * 3 + [[0, 0, 10]] * 3)
    with using(backend):
        surface = TriangleSurface.build(positions, np.array([[0, 1, 2], [3, 4, 5]]))
        near = np.zeros(6), alike(positions, 0.01)
        to, between = candidate_pairs(surface, positions, end, *near)
        assert all(len(pairs) == 0 for pairs in candidate_pairs(surface, positions, positions, *near))
    assert {(3, 0), (4, 0), (5, 0)} <= set(map(tuple, to.tolist()))


@cases("share", [0.0, 0.1, 0.6, 1.0])
@cases("name", SURFACES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_pairs_of_some_vertices_are_those_of_all_that_have_one(backend, name, share):
    positions, triangles = SURFACES[name]
    rng = np.random.default_rng(3)
    x1, slack = positions + 0.05 * rng.normal(size=positions.shape), np.full(len(positions), 0.02)
    some = rng.random(len(positions)) < share
    with using(backend):
        surface = TriangleSurface.build(positions, triangles)
        everything = candidate_pairs(surface, positions, x1, slack, alike(positions, 0.1))
        found = candidate_pairs(surface, positions, x1, slack, alike(positions, 0.1), some)
    for ours, of_all, one in zip(found, everything, (np.arange(len(positions))[:, None], surface.edges), strict=True):
        other = surface.triangles if one.shape[1] == 1 else surface.edges
        has = some[one[of_all[:, 0]]].any(axis=1) | some[other[of_all[:, 1]]].any(axis=1)
        np.testing.assert_array_equal(ours, of_all[has])


@pytest.mark.parametrize("backend", BACKENDS)
def test_searches_that_keep_what_has_not_moved_find_what_new_ones_find(backend):
    positions, triangles = SURFACES["crumpled"]
    rng = np.random.default_rng(5)
    x1, slack, radius = positions + 0.05 * rng.normal(size=positions.shape), np.full(len(positions), 0.02), 0.1
    with using(backend):
        surface, kept, sizes = TriangleSurface.build(positions, triangles), KeptSearches(), []
        radius = alike(positions, radius)
        candidate_pairs(surface, positions, x1, slack, radius, kept=kept)
        for _ in range(4):
            some = rng.random(len(positions)) < 0.1
            x1[some] += 0.3 * rng.normal(size=(np.count_nonzero(some), 3))
            slack[some], radius[some] = 0.06, 0.15
            anew = candidate_pairs(surface, positions, x1, slack, radius, some)
            found = candidate_pairs(surface, positions, x1, slack, radius, some, kept=kept)
            for one, other in zip(found, anew, strict=True):
                np.testing.assert_array_equal(one, other)
            sizes.append(len(found[0]))
    assert min(sizes) > 20


@cases("share", [0.0, 0.02, 0.5])
@cases("kinds", ["vertices and triangles", "edges"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_pairs_of_two_surfaces_are_those_of_brute_force_and_of_some_those_that_have_one(backend, kinds, share):
    rng = np.random.default_rng(8)
    (x, triangles), (ball, faces) = crumpled(1), bumpy_ball(24, 12)
    x0 = np.concatenate([x, ball])
    x1, anything = x0 + 0.02 * rng.normal(size=x0.shape), np.full(len(x0), 1e6)
    some = rng.random(len(x0)) < share
    with using(backend):
        one, other = TriangleSurface.build(x, triangles), TriangleSurface.build(ball, faces)
        if kinds == "edges":
            step = one.edge_order, one.edges, other.edge_order, other.edges + len(x)
        else:
            step = one.vertices, np.arange(len(x0))[:, None], other.triangle_order, other.triangles + len(x)
        find = current().self_pairs.pairs
        found, of_some = (find(*step, False, x0, x1, anything, alike(x0, 0.05), np.inf, chosen)
                          for chosen in (None, some))
    items, queries, _, targets = step
    used = np.sort(items[items >= 0])
    expected = close(queries[used], targets, x0, x1, 0.05)
    expected[:, 0] = used[expected[:, 0]]
    assert len(expected) > 100
    np.testing.assert_array_equal(found, expected)
    has = some[queries[found[:, 0]]].any(axis=1) | some[targets[found[:, 1]]].any(axis=1)
    np.testing.assert_array_equal(of_some, found[has])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Candidate pairs of a surface with itself are those of brute force, on both backends."""

import numpy as np
import pytest

from core.contact.self_pairs import candidate_pairs
from core.contact.triangle_surface import TriangleSurface
from core.kernels import using
from core.kernels.backend import why_not
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


def boxes(elements, *positions):
    corners = np.concatenate([x[elements] for x in positions], axis=1)
    return corners.min(axis=1), corners.max(axis=1)


def near(a, b, radius):
    """Pairs (row of a, row of b) of boxes, by brute force."""
    hit = (a[0][:, None] - radius <= b[1][None]).all(axis=2) & (b[0][None] <= a[1][:, None] + radius).all(axis=2)
    return np.argwhere(hit)


def moving_along(one, other, x0, x1, radius):
    """Whether boxes of the vertices `one` and `other` are within the radius for one who moves with their mean."""
    drift = (x1 - x0)[[*one, *other]].mean(axis=0)
    (low, high), (lower, upper) = ((np.minimum(x0, x1 - drift)[list(v)].min(axis=0),
                                    np.maximum(x0, x1 - drift)[list(v)].max(axis=0)) for v in (one, other))
    return (low - radius <= upper).all() and (lower <= high + radius).all()


def brute_force(surface, x0, x1, radius):
    vertices = np.unique(surface.triangles)
    triangles, edges = boxes(surface.triangles, x0, x1), boxes(surface.edges, x0, x1)
    to = near(boxes(vertices[:, None], x0, x1), triangles, radius)
    to[:, 0] = vertices[to[:, 0]]
    between = near(edges, edges, radius)
    between = between[between[:, 0] < between[:, 1]]
    T, E = surface.triangles, surface.edges
    first = [v not in T[t] and moving_along([v], T[t], x0, x1, radius) for v, t in to]
    second = [not set(E[e]) & set(E[f]) and moving_along(E[e], E[f], x0, x1, radius) for e, f in between]
    return to[np.array(first, dtype=bool)], between[np.array(second, dtype=bool)]


@pytest.mark.parametrize("radius", [0.0, 0.03, 0.4])
@pytest.mark.parametrize("speed", [0.0, 0.05])
@pytest.mark.parametrize("name", SURFACES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_pairs_are_those_of_brute_force(backend, name, speed, radius):
    positions, triangles = SURFACES[name]
    x1 = positions + speed * np.random.default_rng(5).normal(size=positions.shape)
    with using(backend):
        surface = TriangleSurface.build(positions, triangles)
        found = candidate_pairs(surface, positions, x1, radius)
        again = candidate_pairs(surface.at(x1), positions, x1, radius)
    for ours, anew, expected in zip(found, again, brute_force(surface, positions, x1, radius), strict=True):
        assert ours.dtype == np.int64 and ours.shape == (len(expected), 2)
        np.testing.assert_array_equal(ours, expected)
        np.testing.assert_array_equal(ours, anew)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_passes_through_between_start_and_end_is_a_candidate(backend):
    """A small triangle goes through a big one in one step: near it neither at the start nor at the end."""
    positions = np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0], [1, 1, 5], [1.1, 1, 5], [1, 1.1, 5]], dtype=float)
    end = positions - np.array([[0, 0, 0]] * 3 + [[0, 0, 10]] * 3)
    with using(backend):
        surface = TriangleSurface.build(positions, np.array([[0, 1, 2], [3, 4, 5]]))
        to, between = candidate_pairs(surface, positions, end, 0.01)
        assert all(len(pairs) == 0 for pairs in candidate_pairs(surface, positions, positions, 0.01))
    assert {(3, 0), (4, 0), (5, 0)} <= set(map(tuple, to.tolist()))

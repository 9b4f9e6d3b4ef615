# SPDX-License-Identifier: GPL-3.0-or-later
"""Triangles that are told apart without their distance: never by more than that."""

import numpy as np

from core.contact.triangle_surface import TriangleSurface
from core.kernels.numpy.one_ring import look_around
from core.kernels.numpy.triangle_pairs import apart, joins_of, rounding, smallest_gap
from core.kernels.numpy.wide_bvh import touching_clusters, touching_members
from tests.cases import cases
from tests.core.contact.shapes import bumpy_ball, sheet
from tests.core.contact.test_crossings import crumpled


def triangles_of(surface):
    corners, sides = surface.neighbours[:2]
    return surface.boxes[0], corners, sides, np.full(corners.shape[1], 63), surface.triangle_order


def everybody(count):
    return tuple(k.ravel() for k in np.indices((count, count)))


@cases("radius", [0.0, 0.05, np.inf])
def test_triangles_are_at_least_as_far_apart_as_is_said(radius):
    rng = np.random.default_rng(4)
    x = (rng.uniform(size=(40, 1, 3)) + 0.2 * rng.normal(size=(40, 3, 3))).reshape(-1, 3)
    surface = TriangleSurface.build(x, np.arange(120).reshape(40, 3))
    all_own = triangles_of(surface)
    i, j = everybody(40)
    known = apart(all_own, i, all_own, j, radius, rounding(all_own[0]))
    no_joins = joins_of(np.zeros((0, 2), dtype=np.int64), 0)
    assert (known > 0.0).any() and (known == 0.0).any()
    for row in rng.choice(len(i), 300):
        one, other = i[row:row + 1], j[row:row + 1]
        distance = smallest_gap(all_own, one, all_own, other, np.zeros(1), np.inf, no_joins)
        assert known[row] <= distance


@cases("radius", [0.0, 0.01, 0.3])
def test_the_tree_of_clusters_finds_all_boxes_that_are_near(radius):
    one, other = TriangleSurface.build(*bumpy_ball(16, 8)), TriangleSurface.build(*crumpled(1))
    for a, b in ((one, other), (other, one), (one, one)):
        clusters = touching_clusters(a.boxes[1], b.boxes[1], radius, False)
        found = touching_members(a.boxes[1][0], b.boxes[1][0], radius, *clusters)
        corners = [s.positions[s.leaves[0]] for s in (a, b)]
        (low, high), (its_low, its_high) = [(c.min(axis=1), c.max(axis=1)) for c in corners]
        near = (low[:, None] - radius <= its_high[None]) & (its_low[None] <= high[:, None] + radius)
        assert set(zip(*found, strict=True)) == set(zip(*np.nonzero(near.all(axis=2)), strict=True))


def test_of_a_sheet_nothing_around_a_vertex_is_in_doubt():
    positions, triangles = sheet(20, 20)
    bowl = positions + np.stack([0 * positions[:, 0], 0 * positions[:, 0], 0.5 * (positions ** 2).sum(axis=1)], axis=1)
    for x in (positions, bowl):
        surface = TriangleSurface.build(x, triangles)
        rows, gap = look_around(surface.neighbours[3], surface.boxes[0], 0.02, rounding(surface.boxes[0]))
        assert len(rows) == 0 and gap == 0.02

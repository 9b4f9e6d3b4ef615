# SPDX-License-Identifier: GPL-3.0-or-later
"""Crossings are found as brute force, exact arithmetic and an independent library find them."""

from fractions import Fraction

import numpy as np
import pytest

from core.contact.crossings import crossing_pairs, pierces
from core.contact.triangle_surface import TriangleSurface
from core.kernels.numpy.vectors import split
from tests.cases import cases
from tests.core.contact.shapes import ball, bumpy_ball, rotation, sheet

pytestmark = pytest.mark.usefixtures("backend")


def pierced(p, q, a, b, c):
    return pierces(*(split(np.atleast_2d(np.asarray(x, dtype=float))) for x in (p, q, a, b, c)))


def exact(p, q, a, b, c):
    """The definition in rational numbers, for one pair."""
    p, q, a, b, c = ([Fraction(float(v)) for v in point] for point in (p, q, a, b, c))

    def side(i, j, k, m):
        u, v, w = ([x - y for x, y in zip(point, m, strict=True)] for point in (i, j, k))
        return -(
            u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])
        )

    turns = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)]
    return (
        (side(a, b, c, p) >= 0) != (side(a, b, c, q) >= 0)
        and (all(t >= 0 for t in turns) or all(t <= 0 for t in turns))
        and any(turns)
        and not any(x == y for x in (p, q) for y in (a, b, c))
    )


@pytest.mark.parametrize("scale", [1e-60, 1e-3, 1.0, 1e3, 1e60])
def test_random_edges_and_triangles_agree_with_exact_arithmetic(scale):
    rng = np.random.default_rng(0)
    points = scale * rng.normal(size=(5, 1500, 3))
    assert pierced(*points).tolist() == [exact(*row) for row in points.transpose(1, 0, 2)]


def test_points_on_a_grid_with_all_their_ties_agree_with_exact_arithmetic():
    points = np.random.default_rng(1).integers(0, 4, size=(5, 4000, 3)).astype(float)
    found = pierced(*points)
    assert found.tolist() == [exact(*row) for row in points.transpose(1, 0, 2)]
    assert 50 < found.sum() < 1000


@cases("scale", [1e-30, 1.0, 1e30])
def test_points_within_rounding_of_one_plane_agree_with_exact_arithmetic(scale):
    rng = np.random.default_rng(2)
    frame = rng.normal(size=(1500, 3, 3))
    points = np.einsum("kpc,pci->kpi", rng.uniform(-1, 1, size=(5, 1500, 3)) * [1, 1, 1e-16], frame) * scale
    found = pierced(*points)
    assert found.tolist() == [exact(*row) for row in points.transpose(1, 0, 2)]
    assert found.sum() > 50


def test_what_touches_and_what_does_not():
    a, b, c = [0, 0, 0], [3, 0, 0], [0, 3, 0]
    assert pierced([1, 1, -1], [1, 1, 1], a, b, c)
    assert pierced([1, 0, -1], [1, 0, 1], a, b, c), "through a side"
    assert not pierced([1, 1, 0], [1, 1, 2], a, b, c), "standing on the front"
    assert pierced([1, 1, 0], [1, 1, -2], a, b, c), "from the plane to the back"
    assert not pierced([1, 1, 0], [2, 1, 0], a, b, c), "in the plane"
    assert not pierced([3, 0, 0], [3, 0, -1], a, b, c), "sewn to a corner"
    assert not pierced([1, 1, -1], [1, 1, 1], a, b, [6, 0, 0]), "a triangle without area"
    assert not pierced([1, 1, 1], [1, 1, 1], a, b, c), "an edge without length"


def test_a_sheet_whose_vertices_lie_exactly_in_the_other_is_not_missed():
    positions, triangles = sheet(5, 5)
    upright = positions @ rotation([1, 0, 0], np.pi / 2).T
    upright[np.abs(upright) < 1e-12] = 0.0
    upright[:, 1] = 0.0                                              # along sides of the other, too
    upright[:, 0] += 0.1
    flat = TriangleSurface.build(positions, triangles)
    for turned in (triangles, triangles[:, ::-1]):
        assert len(crossing_pairs(TriangleSurface.build(upright, turned), flat)) > 0


def brute_force(a, b, same):
    e, t = (i.ravel() for i in np.meshgrid(np.arange(len(a.edges)), np.arange(len(b.triangles)), indexing="ij"))
    hit = pierced(*(a.positions[a.edges[e, k]] for k in range(2)), *(b.positions[b.triangles[t, k]] for k in range(3)))
    if same:
        hit &= ~(a.edges[e][:, :, None] == b.triangles[t][:, None, :]).any(axis=(1, 2))
    return np.stack([e[hit], t[hit]], axis=1)


def soup(count, seed, scale=1.0):
    """Triangles anywhere, some of them without area, some twice."""
    rng = np.random.default_rng(seed)
    positions = scale * rng.uniform(size=(count, 3))
    triangles = rng.integers(0, count, size=(count, 3))
    return positions, np.concatenate([triangles, triangles[: count // 10, ::-1]])


@cases("scale", [1e-6, 1.0, 1e6])
@cases("seed", [0, 1])
def test_the_trees_lose_no_crossing(seed, scale):
    a, b = (TriangleSurface.build(*soup(40, seed + k, scale)) for k in (0, 10))
    np.testing.assert_array_equal(crossing_pairs(a, b), brute_force(a, b, False))
    np.testing.assert_array_equal(crossing_pairs(a, a), brute_force(a, a, True))
    assert len(crossing_pairs(a, a)) > 20


def crumpled(seed):
    """A sheet with folds through itself, and a ball in it."""
    rng = np.random.default_rng(seed)
    positions, triangles = sheet(14, 14)
    wave = np.stack([np.sin(3 * positions[:, 1] + 2), np.cos(4 * positions[:, 0]), np.sin(4 * positions.sum(axis=1))])
    return positions + 0.4 * wave.T + 0.05 * rng.normal(size=positions.shape), triangles


@cases("seed", range(4))
def test_the_count_agrees_with_the_ipc_toolkit(seed):
    ipctk = pytest.importorskip("ipctk")
    cloth, solid = crumpled(seed), bumpy_ball(16, 8)
    positions = np.concatenate([cloth[0], solid[0]])
    triangles = np.concatenate([cloth[1], solid[1] + len(cloth[0])])
    a, b = TriangleSurface.build(*cloth), TriangleSurface.build(*solid)
    whole = TriangleSurface.build(positions, triangles)
    expected = 0
    for edge in whole.edges:
        p, q = positions[edge]
        corners = positions[whole.triangles]
        low, high = np.minimum(p, q), np.maximum(p, q)
        near = (corners.min(axis=1) <= high).all(axis=1) & (corners.max(axis=1) >= low).all(axis=1)
        near &= ~np.isin(whole.triangles, edge).any(axis=1)
        if edge[0] >= len(cloth[0]):
            near &= whole.triangles[:, 0] < len(cloth[0])
        expected += sum(ipctk.is_edge_intersecting_triangle(p, q, *corners[t]) for t in np.flatnonzero(near))
    found = len(crossing_pairs(a, a)) + len(crossing_pairs(a, b)) + len(crossing_pairs(b, a))
    assert found == expected and found > 10


@cases("seed", range(8))
def test_a_flat_sheet_and_a_clean_drape_have_none(seed):
    positions, triangles = sheet(30, 30)
    turn = rotation(np.random.default_rng(seed).normal(size=3), 0.0 if seed == 0 else 1.0)
    flat = TriangleSurface.build(positions @ turn.T, triangles)
    assert len(crossing_pairs(flat, flat)) == 0
    over = TriangleSurface.build(positions + [0, 0, 0.51], triangles)
    solid = TriangleSurface.build(*ball(32, 16))
    assert len(crossing_pairs(over, solid)) == len(crossing_pairs(solid, over)) == 0

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of primitives that move: nothing that meets is missed, and little that does not is held for it."""

import numpy as np
import pytest

from core.contact import continuous
from core.contact.continuous import KEPT_DISTANCE, NEVER, Pairs, near_pairs
from core.contact.effort import ADVANCES, Effort
from core.contact.triangle_surface import TriangleSurface
from core.kernels import using
from core.kernels.backend import why_not
from core.kernels.formulas.conservative_advancement import STEPS
from core.kernels.numpy.conservative_advancement import NEAR
from tests.cases import cases
from tests.core.contact.shapes import rotation, sheet

COUNT = 600


def random_pairs(seed, speed, scale=1.0):
    """COUNT pairs with a triangle and as many of edges, each of vertices of its own."""
    rng = np.random.default_rng(seed)
    x0 = scale * rng.normal(size=(8 * COUNT, 3))
    x1 = x0 + scale * speed * rng.normal(size=x0.shape)
    vertices = np.arange(8 * COUNT).reshape(-1, 4)
    return x0, x1, Pairs.at(x0, vertices, vertices[:, :2], COUNT)


@pytest.mark.usefixtures("backend")
@cases("scale", [1e-3, 1.0, 1e3])
def test_until_it_meets_a_pair_keeps_a_part_of_its_distance(scale):
    x0, x1, pairs = random_pairs(0, 0.5, scale)
    times = pairs.meeting_times(x0, x1)
    least = np.full(len(pairs), np.inf)
    for s in np.linspace(0.0, 1.0, 101):
        distance = pairs.elsewhere(x0 + s * (x1 - x0)).distance
        assert (distance[s <= times] > 0.999 * KEPT_DISTANCE * pairs.distance[s <= times]).all()
        least = np.minimum(least, distance)
    assert 0.01 < (times < NEVER).mean() < 0.2
    # what is held for a meeting comes close, at least: a hundred samples find all but a few
    assert ((times < NEVER) & (least > 1.1 * NEAR * KEPT_DISTANCE * pairs.distance)).sum() <= 2


@pytest.mark.usefixtures("backend")
def test_nothing_that_an_independent_search_finds_is_missed():
    ipctk = pytest.importorskip("ipctk")
    x0, x1, pairs = random_pairs(1, 0.7)
    times, search, hits = pairs.meeting_times(x0, x1), ipctk.TightInclusionCCD(), 0
    for row, corners in enumerate(pairs.vertices):
        find = search.point_triangle_ccd if row < pairs.faces else search.edge_edge_ccd
        hit, when = find(*x0[corners], *x1[corners])[:2]
        if hit:
            hits += 1
            assert times[row] <= when + 1e-3
    assert hits > 20


@pytest.mark.usefixtures("backend")
def test_what_moves_as_one_never_meets_however_close():
    x0, _, pairs = random_pairs(2, 0.0)
    close = x0.copy()
    weights = pairs.weights
    close[pairs.vertices[:, 0]] -= 0.999999 * (pairs.normal * pairs.distance[:, None]) * (weights[:, :1] > 0.999)
    moved = close + [3.0, -2.0, 5.0]
    pairs = Pairs.at(close, pairs.vertices, pairs.primitives, pairs.faces)
    assert (pairs.meeting_times(close, moved) == NEVER).all()


@pytest.mark.usefixtures("backend")
def test_sliding_past_is_not_meeting():
    """A vertex a thousandth of an edge above a triangle, and two edges, slide a whole edge along."""
    x0 = np.array([[0.3, 0.3, 1e-3], [0, 0, 0], [1, 0, 0], [0, 1, 0],
                   [0, 0.5, 1e-3], [1, 0.6, 1e-3], [0.5, 0, 0], [0.6, 1, 0.0]], dtype=float)
    x1 = x0.copy()
    x1[[0, 4, 5]] += [1.0, 0.4, 0.0]
    pairs = Pairs.at(x0, np.arange(8).reshape(2, 4), np.zeros((2, 2), dtype=int), 1)
    assert (pairs.meeting_times(x0, x1) == NEVER).all()


@pytest.mark.usefixtures("backend")
@cases("angle", [0.05, 0.1, 0.2])
def test_a_pair_that_turns_and_keeps_its_distance_takes_few_advances(angle):
    """An edge turns by an angle about a point near its end, with a vertex and an edge a thousandth of its length before
    it: slabs that do not turn with it would close a hundred times on the way."""
    x0 = np.array([[0.02, 0.0, 1e-3], [0, 0, 0], [1, 0.1, 0], [1, -0.1, 0],
                   [0.02, -0.5, 1e-3], [0.02, 0.5, 1e-3], [0, 0, 0], [1, 0, 0]], dtype=float)
    x1 = x0 @ rotation([0.0, -1.0, 0.0], angle).T
    pairs, effort = Pairs.at(x0, np.arange(8).reshape(2, 4), np.zeros((2, 2), dtype=int), 1), Effort()
    assert (pairs.meeting_times(x0, x1, effort) == NEVER).all()
    least = min(pairs.elsewhere(x0 + s * (x1 - x0)).distance.min() for s in np.linspace(0.0, 1.0, 101))
    assert least > 0.5e-3 and 2 < ADVANCES * effort.spent < 40


@pytest.mark.usefixtures("backend")
def test_advances_are_counted_and_bounded():
    x0, x1, pairs = random_pairs(4, 3.0)
    effort = Effort()
    pairs.meeting_times(x0, x1, effort)
    assert 0 < ADVANCES * effort.spent <= STEPS and effort.on_contact == effort.spent
    larger, far = Effort(), np.ones((9 * 1000, 3))
    pairs.meeting_times(np.concatenate([x0, far]), np.concatenate([x1, far]), larger)
    assert larger.spent < 0.5 * effort.spent                                 # beside a search among so many vertices


@pytest.mark.usefixtures("backend")
def test_a_pair_that_touches_meets_at_once_unless_it_moves_as_one():
    x0 = np.array([[0.3, 0.3, 0.0], [0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
    pairs = Pairs.at(x0, np.arange(4).reshape(1, 4), np.zeros((1, 2), dtype=int), 1)
    away = x0 + [[0, 0, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert pairs.meeting_times(x0, away).tolist() == [0.0]
    assert pairs.meeting_times(x0, x0 + 1.0).tolist() == [NEVER]


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
def test_both_backends_find_the_same():
    found = []
    for name in ("numpy", "numba"):
        with using(name):
            x0, x1, pairs = random_pairs(3, 0.7)
            found.append((pairs.weights, pairs.normal, pairs.distance, pairs.meeting_times(x0, x1)))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-11)


@pytest.mark.usefixtures("backend")
def test_a_motion_that_all_share_finds_no_more_pairs():
    x0, triangles = sheet(8, 8)
    x0 = x0 @ rotation([1.0, 1.0, 0.0], 0.3).T
    surface = TriangleSurface.build(x0, triangles)
    still, moving = (near_pairs(surface, x0, x0 + shift, 0.3, np.zeros(64)) for shift in ([0, 0, 0], [5, -3, 20]))
    assert len(still) == len(moving) > 0


@pytest.mark.usefixtures("backend")
def test_a_flat_sheet_that_swings_has_nothing_near_it():
    """Its triangles' heights are little more than the radius, and ends are uncertain by two fifths of that."""
    x, triangles = sheet(9, 9, 1.0, 1.0)
    x0 = x @ rotation([1.0, 2.0, 0.5], 0.7).T
    x1 = x @ rotation([1.0, 2.0, 0.5], 0.73).T + [0.0, -1.0, 2.0]
    height = 0.125 / np.sqrt(2.0)
    surface = TriangleSurface.build(x0, triangles)
    assert len(near_pairs(surface, x0, x1, 0.95 * height, np.full(len(x0), 0.95 * 0.4 * height))) == 0
    assert len(near_pairs(surface, x0, x1, 1.05 * height, np.zeros(len(x0)))) > 0


@pytest.mark.usefixtures("backend")
@cases("speed", [0.02, 0.1])
@cases("far", [0.01, np.inf])
def test_what_the_search_leaves_out_meets_nowhere_within_the_slack(far, speed):
    rng = np.random.default_rng(6)
    x, triangles = sheet(8, 8, 1.0, 1.0)
    x0 = np.concatenate([x, x + [0.02, 0.03, 0.08]]) + 0.01 * rng.normal(size=(128, 3))
    surface = TriangleSurface.build(x0, np.concatenate([triangles, triangles + 64]))
    x1 = x0 + speed * rng.normal(size=x0.shape) + [3.0, 0.0, -2.0]
    slack = rng.uniform(0.0, 0.1, len(x0))
    found = near_pairs(surface, x0, x1, 0.2, slack, far=far)
    every = near_pairs(surface, x0, x1, 4.0, np.full(len(x0), 2.0), far=far)      # nothing is ruled out of these
    away = rng.normal(size=x0.shape)
    end = x1 + away / np.linalg.norm(away, axis=1)[:, None] * slack[:, None]
    meets = every.meeting_times(x0, end) < NEVER
    known = {tuple(v) for v in found.vertices}
    assert meets.sum() > 20 and all(tuple(v) in known for v in every.vertices[meets])
    assert {tuple(v) for v in every.vertices[every.distance < 0.2]} <= known
    assert len(found) < 0.7 * len(every)
    more = len(near_pairs(surface, x0, x1, 0.2, slack))                            # what is far has more to keep
    assert len(found) <= more and (far == np.inf or len(found) < 0.98 * more)


@pytest.mark.usefixtures("backend")
@cases("far", [0.005, np.inf])
def test_a_radius_of_each_vertex_leaves_out_what_cannot_meet_within_two_fifths_of_it(far):
    rng = np.random.default_rng(11)
    x, triangles = sheet(8, 8, 1.0, 1.0)
    x0 = np.concatenate([x, x + [0.02, 0.03, 0.08]]) + 0.01 * rng.normal(size=(128, 3))
    surface = TriangleSurface.build(x0, np.concatenate([triangles, triangles + 64]))
    radius, moves = rng.choice([0.02, 0.05, 0.2], (2, len(x0), 1))
    x1, slack = x0 + 0.5 * moves * rng.normal(size=x0.shape), 0.4 * rng.uniform(size=128) * radius[:, 0]
    found = near_pairs(surface, x0, x1, radius[:, 0], slack, far=far)
    every = near_pairs(surface, x0, x1, 4.0, np.full(len(x0), 1.6), far=far)
    away = rng.normal(size=x0.shape)
    end = x1 + away / np.linalg.norm(away, axis=1)[:, None] * slack[:, None]
    first, of = every.first, radius[:, 0][every.vertices]
    within = 0.5 * (np.where(first, of, 0.0).max(axis=1) + np.where(first, 0.0, of).max(axis=1))
    known, near = {tuple(v) for v in found.vertices}, every.distance < within
    meets = every.meeting_times(x0, end) < NEVER
    assert (meets & ~near).sum() > 5 and near.sum() > 100
    assert all(tuple(v) in known for v in every.vertices[meets | near])
    assert len(found) < 0.7 * len(every)


@pytest.mark.usefixtures("backend")
def test_what_is_near_by_less_than_the_radius_is_left_out_only_if_it_cannot_meet():
    """Pairs as near as at rest, of the uneven part of a mesh, are near within less than others."""
    rng = np.random.default_rng(8)
    x, triangles = sheet(9, 9, 1.0, 1.0)
    rest = x * np.where(x[:, :1] < 0.0, 0.2, 1.0)                       # its one half has a fifth of the edges' lengths
    x0 = rest + 0.004 * rng.normal(size=x.shape)
    x1 = x0 + np.where(x[:, :1] < 0.0, 0.01, 0.1) * rng.normal(size=x.shape)
    surface, slack = TriangleSurface.build(x0, triangles), np.full(len(x), 0.002)

    def reach(vertices, faces):
        primitives = np.zeros((len(vertices), 2), dtype=np.int64)
        return 0.9 * Pairs.at(rest, vertices, primitives, faces).distance

    every, found = (near_pairs(surface, x0, x1, 0.1, slack, most=m) for m in (None, reach))
    away = rng.normal(size=x.shape)
    end = x1 + away / np.linalg.norm(away, axis=1)[:, None] * slack[:, None]
    needed = (every.meeting_times(x0, end) < NEVER) | (every.distance < reach(every.vertices, every.faces))
    known = {tuple(v) for v in found.vertices}
    assert needed.sum() > 20 and all(tuple(v) in known for v in every.vertices[needed])
    assert len(found) < 0.7 * len(every)


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
@cases("reach", [None, lambda vertices, faces: 0.01 * (1 + vertices[:, 0] % 7)])
@cases("far", [0.02, np.inf])
def test_both_backends_search_alike(far, reach):
    found = []
    for name in ("numpy", "numba"):
        with using(name):
            x0, triangles = sheet(9, 9, 1.0, 1.0)
            rng = np.random.default_rng(7)
            x0 = x0 + 0.05 * rng.normal(size=x0.shape)
            x1 = x0 + 0.03 * rng.normal(size=x0.shape)
            slack, radius = np.full(len(x0), 0.02), rng.uniform(0.05, 0.15, len(x0))
            found.append(near_pairs(TriangleSurface.build(x0, triangles), x0, x1, radius, slack, far=far, most=reach))
    one, other = found
    assert len(one) > 100 and one.faces == other.faces
    for name in ("vertices", "primitives"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for name in ("weights", "normal", "distance", "keep"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-12)


@pytest.mark.skipif(bool(why_not("numba")), reason="Numba is not there")
def test_both_backends_find_the_same_pairs_where_trees_have_four_levels():
    x0, triangles = sheet(50, 50, 6.0, 6.0)
    rng = np.random.default_rng(9)
    x0 = x0 + 0.05 * rng.normal(size=x0.shape)
    x1, some = x0 + 0.03 * rng.normal(size=x0.shape), rng.random(len(x0)) < 0.01
    found = []
    for name in ("numpy", "numba"):
        with using(name):
            surface = TriangleSurface.build(x0, triangles)
            found.append([near_pairs(surface, x0, x1, 0.1, np.full(len(x0), 0.02), some=chosen)
                          for chosen in (None, some)])
    for one, other in zip(*found, strict=True):
        assert len(one) > 100 and one.faces == other.faces
        np.testing.assert_array_equal(one.primitives, other.primitives)


@pytest.mark.usefixtures("backend")
def test_a_search_in_pieces_finds_the_same_pairs(monkeypatch):
    x0, triangles = sheet(8, 8)
    surface = TriangleSurface.build(x0, triangles)
    x1 = x0 + 0.5 * np.random.default_rng(6).normal(size=x0.shape)
    arguments = surface, x0, x1, 0.2, np.full(len(x0), 0.05)

    def most(vertices, faces):
        return 0.1 + 0.1 * (np.arange(len(vertices)) < faces)

    whole = [near_pairs(*arguments), near_pairs(*arguments, most=most)]
    monkeypatch.setattr(continuous, "NUMBERS_PER_PIECE", 37)
    for found, wanted in zip([near_pairs(*arguments), near_pairs(*arguments, most=most)], whole, strict=True):
        assert found.faces == wanted.faces > 37
        for name in ("vertices", "primitives", "weights", "normal", "distance", "keep"):
            np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), err_msg=name)

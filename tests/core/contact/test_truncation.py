# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that are cut: nothing crosses, and nothing is cut that need not be."""

import numpy as np
import pytest

from core.contact import truncation
from core.contact.continuous import NEVER, Pairs, near_pairs
from core.contact.crossings import crossing_pairs
from core.contact.effort import Effort
from core.contact.triangle_surface import TriangleSurface
from core.contact.truncation import as_one, cut_motion
from core.linear.constraint_filter import ConstraintFilter
from tests.cases import cases
from tests.core.contact.shapes import rotation, sheet


def layers(rng, count=3, side=6, gap=0.05, noise=0.003):
    """Sheets above each other, not quite flat."""
    one, triangles = sheet(side, side, 1.0, 1.0)
    x = np.concatenate([one + [0.0, 0.0, gap * k] + noise * rng.normal(size=one.shape) for k in range(count)])
    return x, np.concatenate([triangles + k * len(one) for k in range(count)])


def pinned(count, vertices=()):
    inverse_mass, pins = np.ones(count), ConstraintFilter(count)
    inverse_mass[list(vertices)] = 0.0
    pins.fix(np.array(vertices, dtype=np.int64), np.zeros((len(vertices), 3)))
    return inverse_mass, lambda: pins


@cases("pins", [(), (0, 5, 40)])
@cases("speed", [0.03, 0.1, 0.3])
@cases("seed", range(3))
def test_random_motions_never_cross(seed, speed, pins):
    rng = np.random.default_rng(seed)
    x0, triangles = layers(rng)
    x1 = x0 + speed * rng.normal(size=x0.shape)
    x1[list(pins)] = x0[list(pins)]
    surface = TriangleSurface.build(x0, triangles)
    assert len(crossing_pairs(surface.at(x1), surface.at(x1))) > 0
    pairs = near_pairs(surface, x0, x1, 4.0 * speed, np.full(len(x0), 2.0 * speed))
    cut = cut_motion(pairs, x0, x1, *pinned(len(x0), pins))
    assert len(cut.left) == 0
    for s in (0.25, 0.5, 0.75, 1.0):
        at = surface.at(x0 + s * (cut.x - x0))
        assert len(crossing_pairs(at, at)) == 0
    np.testing.assert_array_equal(cut.x[list(pins)], x1[list(pins)])
    np.testing.assert_array_equal(cut.moved, (cut.x != x1).any(axis=1))
    ipctk = pytest.importorskip("ipctk")
    mesh = ipctk.CollisionMesh(x0, surface.edges.astype(np.int32), triangles.astype(np.int32))
    assert ipctk.is_step_collision_free(mesh, x0, cut.x)


@cases("seed", range(3))
def test_what_is_known_of_another_motion_is_not_looked_up_again(seed):
    """A few vertices end elsewhere than where it is known what meets: the cut is the same, and only their pairs and
    those that met are looked at."""
    rng = np.random.default_rng(seed)
    x0, triangles = layers(rng)
    before = x0 + 0.1 * rng.normal(size=x0.shape)
    x1, some = before.copy(), rng.random(len(x0)) < 0.1
    x1[some] = x0[some] + 0.1 * rng.normal(size=(some.sum(), 3))
    pairs = near_pairs(TriangleSurface.build(x0, triangles), x0, x1, 0.8, np.full(len(x0), 0.4))
    met = np.flatnonzero(pairs.meeting_times(x0, before) < NEVER)
    anew = cut_motion(pairs, x0, x1, *pinned(len(x0)))
    known = cut_motion(pairs, x0, x1, *pinned(len(x0)), known=(before, met))
    assert len(met) > 10 and len(anew.parted) > 10 and set(met) - set(anew.parted)
    np.testing.assert_array_equal(known.x, anew.x)
    np.testing.assert_array_equal(known.parted, anew.parted)
    none = cut_motion(pairs, x0, x1, *pinned(len(x0)), known=(x1, met[:0]))      # so it was said: nothing meets
    np.testing.assert_array_equal(none.x, x1)


@cases("seed", range(3))
def test_a_cut_out_of_effort_keeps_all_apart_in_few_rounds(seed):
    x0, triangles = layers(np.random.default_rng(seed))
    x1 = x0 + 0.1 * np.random.default_rng(seed + 7).normal(size=x0.shape)
    surface = TriangleSurface.build(x0, triangles)
    pairs = near_pairs(surface, x0, x1, 0.8, np.full(len(x0), 0.4))
    usual, little = Effort(), Effort(most=0.0, spent=1.0)
    cut_motion(pairs, x0, x1, *pinned(len(x0)), effort=usual)
    cut = cut_motion(pairs, x0, x1, *pinned(len(x0)), effort=little)
    at = surface.at(cut.x)
    assert len(cut.left) == 0 and len(crossing_pairs(at, at)) == 0
    assert (pairs.meeting_times(x0, cut.x) == NEVER).all()
    assert 0.0 < little.on_contact < 0.5 * usual.on_contact


def test_planes_that_have_no_room_do_not_throw_what_they_part(monkeypatch):
    """Pairs that have no room push each other further from plane to plane."""
    x0, triangles = layers(np.random.default_rng(1))
    x1 = x0 + 0.1 * np.random.default_rng(2).normal(size=x0.shape)
    pairs = near_pairs(TriangleSurface.build(x0, triangles), x0, x1, 0.8, np.full(len(x0), 0.4))

    def thrown(planes, x):
        some = np.unique(planes.vertices)
        x[some] += 5.0
        return np.isin(np.arange(len(x)), some)

    monkeypatch.setattr(truncation._Planes, "part", thrown)
    cut = cut_motion(pairs, x0, x1, *pinned(len(x0)))
    most = np.linalg.norm(x1 - x0, axis=1).max()
    assert cut.moved.any() and np.linalg.norm(cut.x - x0, axis=1).max() < 3.0 * most


def test_layers_that_move_together_are_not_slowed():
    x0, triangles = layers(np.random.default_rng(0), gap=1e-3, noise=0.0)
    x1 = x0 @ rotation([0.2, 1.0, 0.1], 0.1).T + [0.3, 0.2, -0.5]
    surface = TriangleSurface.build(x0, triangles)
    cut = cut_motion(near_pairs(surface, x0, x1, 0.1, np.zeros(len(x0)), far=2e-3), x0, x1, *pinned(len(x0)))
    np.testing.assert_array_equal(cut.x, x1)


def test_a_sheet_that_slides_over_another_is_not_slowed():
    x0, triangles = layers(np.random.default_rng(0), count=2, gap=1e-3, noise=0.0)
    x1 = x0.copy()
    x1[len(x0) // 2:] += [0.37, 0.11, 0.0]
    surface = TriangleSurface.build(x0, triangles)
    cut = cut_motion(near_pairs(surface, x0, x1, 0.1, np.zeros(len(x0)), far=2e-3), x0, x1, *pinned(len(x0)))
    np.testing.assert_array_equal(cut.x, x1)


def test_an_impact_is_shared_by_mass_and_keeps_momentum():
    """A vertex falls on a triangle: both go on together."""
    x0 = np.array([[0.3, 0.3, 0.1], [0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype=float)
    x1 = x0 - [[0, 0, 1.0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    surface = TriangleSurface.build(x0, np.array([[1, 2, 3]]))
    pairs = near_pairs(surface, x0, x1, 1.0, np.zeros(4))
    assert len(pairs) == 0                                     # a vertex without triangles is none of the surface's
    pairs = Pairs.at(x0, np.array([[0, 1, 2, 3]]), np.array([[0, 0]]), 1)
    for mass in (1.0, 4.0):
        inverse_mass = np.array([1.0, *(3 * [1.0 / mass])])
        cut = cut_motion(pairs, x0, x1, inverse_mass, lambda: ConstraintFilter(4))
        moved = cut.x - x1
        assert len(cut.left) == 0 and moved[0, 2] > 0.0 > moved[1:, 2].max()
        np.testing.assert_allclose((moved / inverse_mass[:, None]).sum(axis=0), 0.0, atol=1e-12)
        give = np.array([1.0, *(pairs.weights[0, 1:] ** 2 / mass)])                    # of the closest points
        assert moved[0, 2] / (pairs.weights[0, 1:] @ moved[1:, 2]) == pytest.approx(give[0] / give[1:].sum())


@cases("gap", [1e-6, 1e-7, -1e-6])
def test_slivers_that_come_too_near_while_they_turn_are_moved_by_what_they_lack(gap):
    """A plane that stands as they do when they come too near would have their far corners three quarters of a
    millimetre on the wrong side."""
    x0 = np.array([[0.0, 0.0, 1.2e-5], [0.015, 1e-3, 1.2e-5], [0.015, -1e-3, 1.2e-5],
                   [0.0, 1e-3, 0.0], [0.0, -1e-3, 0.0], [0.015, 0.0, 0.0]])
    x1 = x0.copy()
    x1[:3, 2] = gap
    x1 = x1 @ rotation([0.0, 1.0, 0.0], 0.1).T
    pairs = near_pairs(TriangleSurface.build(x0, np.array([[0, 1, 2], [3, 4, 5]])), x0, x1, 0.02, np.full(6, 0.01),
                       far=1e-4)
    cut = cut_motion(pairs, x0, x1, *pinned(6))
    assert cut.moved.any() and len(cut.left) == 0
    assert np.linalg.norm(cut.x - x1, axis=1).max() < pairs.keep.max()


@cases("room", [3.7e-3, 1e-3])
def test_an_edge_turns_about_the_rim_of_a_box_that_comes_down_on_the_floor(room):
    """No plane that does not turn has it on one side: it had been left to go through the box. On its way it comes
    nearer to the rim than it is at both ends."""
    rim = [[0.045, -0.5, 0.0112], [0.045, 0.5, 0.0112]]
    floor = [[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]]
    x0 = np.array([[0.0, 0.0, 0.006], [0.06, 0.0, 0.012], *rim, *floor])
    x1 = x0.copy()
    x1[0, 2], x1[2:4, 2] = 0.3 * room, room
    quads = np.array([[0, 4, 5, 6], [1, 4, 5, 6], [0, 1, 2, 3]])
    pairs = Pairs.at(x0, quads, np.zeros((3, 2), dtype=np.int64), 2, far=1e-3)
    cut = cut_motion(pairs, x0, x1, np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]), lambda: ConstraintFilter(7))
    assert len(cut.left) == 0
    np.testing.assert_array_equal(cut.x[2:], x1[2:])
    for s in np.linspace(0.0, 1.0, 21):
        x = x0 + s * (cut.x - x0)
        assert x[:2, 2].min() > 0.0 and x[0, 2] + 0.75 * (x[1, 2] - x[0, 2]) < x[2, 2]


def test_what_lies_on_a_solid_is_not_pushed_into_it():
    """The lower sheet is held along z: the upper one alone gives way."""
    x0, triangles = layers(np.random.default_rng(4), count=2)
    n = len(x0) // 2
    x1 = x0.copy()
    x1[n:] -= [0.0, 0.0, 0.08]
    surface = TriangleSurface.build(x0, triangles)
    held = ConstraintFilter(len(x0))
    held.constrain(np.arange(n), np.tile([0.0, 0.0, 1.0], (n, 1)), np.zeros(n))
    cut = cut_motion(near_pairs(surface, x0, x1, 0.1, np.full(len(x0), 0.05)), x0, x1, np.ones(len(x0)), lambda: held)
    assert len(cut.left) == 0 and cut.moved.any()
    np.testing.assert_array_equal(cut.x[:n, 2], x1[:n, 2])
    at = surface.at(cut.x)
    assert len(crossing_pairs(at, at)) == 0


@cases("corners", [[[0, 0, 0], [1, 0, 0], [0, 0.02, 0]], [[0, 0, 0], [1, 0, 0], [0.3, 0, 0]]],
       ids=["a sliver", "a line"])
def test_what_a_solid_carries_around_does_not_lag_behind_it(corners):
    """A little in every step would in the end be all that is between them."""
    solid, carried = np.array(corners, dtype=float), np.array([[0.2, 0.1, 0.05], [0.4, -0.1, 0.05]])
    x0, mass, label = np.concatenate([solid, carried]), np.array([1.0, 1.0, 1.0, 0.0, 0.0]), np.zeros(5, dtype=int)
    turn = rotation([0.0, 1.0, 1.0], 0.3)
    x1 = np.concatenate([solid @ turn.T, carried])
    gone = as_one(x0, x1, mass, label, np.array([True]))
    if np.linalg.matrix_rank(solid) == 2:
        np.testing.assert_allclose(gone, x0 @ turn.T, atol=1e-9)
    else:                                                            # nobody says how it turns about itself
        np.testing.assert_allclose(gone[:3], x1[:3], atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(gone[3:] - gone[0], axis=1), np.linalg.norm(carried, axis=1))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where ends are expected: whoever is near there needs no other search, and who strayed is expected further around."""

import numpy as np
import pytest

from core import Collider
from core.contact.contact_trial import ContactTrial
from core.contact.expectation import LEAST_STRAY, MOST_STRAY, Expectation, Search, SearchBounds
from core.contact.self_contact import SelfContact
from core.contact.surfaces import SurfaceSet
from core.contact.surroundings import EDGES_AND_TIPS
from tests.core.contact.shapes import sheet
from tests.core.contact.test_self_contact import two_layers

pytestmark = pytest.mark.usefixtures("backend")
RADIUS, RESTING = 0.1, 0.06


def settled(count, drifting=True):
    """An expectation that has not been missed for long."""
    bounds = SearchBounds(np.full(count, RADIUS), np.full(count, RESTING), drifting=drifting, skin=count)
    return Expectation(bounds, np.zeros(count))


def test_ends_within_a_part_of_the_radius_and_what_all_have_in_common_are_covered():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(50, 3))
    away = rng.normal(size=x.shape)
    away -= away.mean(axis=0)
    away *= LEAST_STRAY * RADIUS / np.linalg.norm(away, axis=1).max()
    search = Search(settled(50), x, x, 1.0, 1.0)
    assert search.covers(x + 0.99 * away + [5.0, -3.0, 1.0])
    assert not search.covers(x + 1.2 * away)
    still = Search(settled(50, drifting=False), x, x, 1.0, 1.0)
    assert still.covers(x + 0.99 * away) and not still.covers(x + [1.01 * LEAST_STRAY * RADIUS, 0.0, 0.0])


def test_who_strays_is_told_and_expected_further_around_but_not_beyond_the_most():
    x = np.random.default_rng(4).normal(size=(50, 3))
    expectation = settled(50)
    search = Search(expectation, x, x, 1.0, 1.0)
    x1 = x + [0.0, 0.0, 2.0]
    x1[7] += [0.03, 0.0, 0.0]
    assert np.flatnonzero(search.follow(x1)).tolist() == [7]
    assert search.covers(x1)
    assert expectation.missed[7] == pytest.approx(0.03, rel=0.03) and expectation.missed[8] < 1e-3
    anew = Search(expectation, x, x1, 1.0, 1.0)
    assert anew.slack[7] > 2.0 * anew.slack[8] and anew.slack.max() <= MOST_STRAY * RADIUS


def test_others_are_looked_for_no_further_around_than_both_move():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(60, 3))
    moves = rng.normal(size=x.shape)
    moves *= (np.linspace(0.0, 0.05, 60) / np.linalg.norm(moves, axis=1))[:, None]
    moves -= moves.mean(axis=0)
    for drift, expectation in ([7.0, 1.0, -2.0], settled(60)), ([0.0, 0.0, 0.0], settled(60, drifting=False)):
        radius = Search(expectation, x, x + moves + drift, 1.0, 1.0).radius
        size = np.linalg.norm(moves, axis=1)
        np.testing.assert_allclose(radius, np.minimum(RESTING + 2.0 * size, RADIUS), atol=2e-3)   # a common motion,
        assert radius.min() < 1.2 * RESTING and radius.max() == RADIUS                            # whichever
    half = Search(settled(60, drifting=False), x, x, 1.0, 0.5)
    np.testing.assert_allclose(half.radius, 0.5 * RESTING)


def test_who_may_end_elsewhere_is_searched_that_far_around():
    x, expectation = np.zeros((4, 3)), settled(4)
    expectation.missed[2] = 0.01
    search = Search(expectation, x, x, 1.0, 1.0)
    assert search.radius[2] == pytest.approx(search.slack[2] / MOST_STRAY) and search.radius[2] > search.radius[1]
    x1 = x.copy()
    x1[3] = [0.05, 0.0, 0.0]
    assert np.flatnonzero(search.follow(x1)).tolist() == [3]
    assert search.radius[3] == RADIUS and search.radius[1] == pytest.approx(RESTING)


def test_colliders_that_nobody_asked_for_were_not_missed():
    """Where constraints keep cloth off them, their edges are asked for where the step has ended, and that is known."""
    x, triangles = sheet(5, 5, 1.0, 1.0)
    ball = Collider(x + [0.0, 0.0, -0.3], triangles)
    owner = ContactTrial(SelfContact(np.full(25, 0.02), np.full(25, 0.3), np.ones(25), np.zeros(25, dtype=int), x, x,
                                     triangles, [ball]))
    surfaces = SurfaceSet([ball], np.full(25, 0.02), np.full(25, 0.3)).between(0.0, 0.1)
    owner.history.solid.missed[:] = 0.05
    owner.look(x, x, owner.motion(surfaces), solids=0).learn(x)
    assert (owner.history.solid.missed < 0.05).all()
    owner.look(x.copy(), x + [0.0, 0.0, -0.2], owner.motion(surfaces), solids=EDGES_AND_TIPS).learn(x)     # missed
    assert (owner.history.solid.missed > 0.15).all()


def test_what_meets_on_a_motion_is_found_once():
    x, triangles, body = two_layers(0.05)
    owner = ContactTrial(SelfContact(np.full(len(x), 0.04), np.full(len(x), 0.3), np.ones(len(x)), body, x, x,
                                     triangles))
    x1 = x.copy()
    x1[body == 1] -= [0.0, 0.0, 0.08]
    around = owner.look(x, x1)
    met, times = around.meeting(x1)
    end, rows = around.noted()
    assert len(met) > 10 and len(rows) == len(met)
    np.testing.assert_array_equal(around.pairs.vertices[rows], met.vertices)
    np.testing.assert_array_equal(end, x1)
    again, when = around.meeting(x1.copy())
    assert when is times                                             # remembered
    np.testing.assert_array_equal(again.vertices, met.vertices)
    there = x1.copy()
    x1[:] = 0.0                                                      # what was asked about is the caller's to change
    np.testing.assert_array_equal(end, there)
    assert len(around.meeting(x)[0]) == 0                            # on another motion something else meets

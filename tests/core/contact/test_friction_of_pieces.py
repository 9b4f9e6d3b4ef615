# SPDX-License-Identifier: GPL-3.0-or-later
"""A step is solved again for errors of friction that change the speed of a piece of cloth, and not for others."""

import numpy as np
import pytest

import core
from core.contact import contact_step
from core.contact.friction_of_pieces import MomentumChange, is_settled
from tests.cases import cases
from tests.core.contact.shapes import ball
from tests.scenes.staging import cloth

BODY = np.array([0, 0, 0, 0, 1, 1, 1, 1])
PAIRS = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
LIMIT = np.array([2.0, 3.0])


def momentum(most, by_weight=10.0):
    return MomentumChange(np.full(2, most), np.full(2, by_weight))


@cases("change", [None, momentum(0.0), momentum(100.0)])
def test_friction_that_does_not_change_is_settled_whatever_moves(change):
    assert is_settled(BODY, PAIRS, 0.0 * LIMIT, LIMIT, change)


def test_friction_that_changes_is_settled_only_where_it_moves_nothing():
    wrong = 0.1 * LIMIT * [1.0, -1.0]
    assert is_settled(BODY, PAIRS, wrong, LIMIT, momentum(0.0))
    assert not is_settled(BODY, PAIRS, wrong, LIMIT, momentum(1.0))
    assert not is_settled(BODY, PAIRS, wrong, LIMIT, None)                     # nothing is known of the first solution
    assert not is_settled(BODY, PAIRS, 10.0 * wrong, LIMIT, momentum(0.0))     # a taut strip does not move either


def test_one_piece_that_is_not_settled_is_enough_if_it_rubs():
    assert not is_settled(BODY, PAIRS, np.array([0.0, 0.5]), LIMIT, momentum(100.0))
    assert is_settled(BODY, PAIRS, np.array([0.0, 0.5e-5]), LIMIT * [1.0, 1e-5], momentum(100.0))


@cases("by_weight", [0.0, 0.002])
def test_what_presses_by_far_more_than_weight_is_judged_by_weight(by_weight):
    """A scrap that lands on a solid presses by a thousand times its weight: a tenth of that throws it."""
    wrong = 0.1 * LIMIT
    assert is_settled(BODY, PAIRS, wrong, LIMIT, momentum(0.0, by_weight=2.0))
    assert not is_settled(BODY, PAIRS, wrong, LIMIT, momentum(0.0, by_weight))


def test_a_pair_between_two_pieces_counts_for_both():
    between = np.array([[0, 1, 2, 7], [0, 1, 2, 3]])                           # on piece 0 they cancel
    assert not is_settled(BODY, between, np.array([1.0, -1.0]), LIMIT, momentum(100.0))
    assert is_settled(BODY, between[[1, 1]], np.array([1.0, -1.0]), LIMIT, momentum(100.0))


def test_nothing_that_rubs_is_settled_and_nan_is_not():
    none = np.zeros(0)
    assert is_settled(BODY, PAIRS[:0], none, none, momentum(0.0))
    assert is_settled(BODY, PAIRS, 0.0 * LIMIT, 0.0 * LIMIT, momentum(0.0))
    for wrong in (LIMIT * [np.nan, 0.0], 0.0 * LIMIT):
        assert not is_settled(BODY, PAIRS, wrong, LIMIT * [np.nan, 1.0], momentum(0.0))


def test_momentum_changes_by_no_more_than_its_bound():
    """Equality where all of a piece moves alike."""
    rng = np.random.default_rng(3)
    mass, change = rng.uniform(0.5, 2.0, len(BODY)), rng.normal(size=(len(BODY), 3))
    change[4:] = [1.0, 2.0, -2.0]
    found = MomentumChange.of(change, np.tile([0.0, 0.0, -0.4], (len(BODY), 1)), mass, BODY)
    exact = [np.linalg.norm((mass[:, None] * change)[piece == BODY].sum(axis=0)) for piece in (0, 1)]
    assert found.most[0] > exact[0]
    assert found.most[1] == pytest.approx(exact[1])
    np.testing.assert_allclose(found.by_weight, 0.4 * np.bincount(BODY, mass))


@cases(("speed", "asked"), [(0.0, True), (0.01, False)])
def test_momentum_is_asked_for_only_where_colliders_stand_still(monkeypatch, speed, asked):
    """Friction carries cloth along with what moves: an error of it moves the cloth in one place."""
    calls = []

    class Counted(MomentumChange):
        @classmethod
        def of(cls, *given):
            calls.append(len(given))
            return MomentumChange.of(*given)

    monkeypatch.setattr(contact_step, "MomentumChange", Counted)
    x, triangles = ball(16, 8, 0.1)
    moving = core.Collider(lambda time: x + [speed * time, 0.0, 0.0], triangles, friction=0.4)
    sheet = cloth(12, 12, 0.4, 0.4, lambda x: x + [0.0, 0.0, 0.105])
    list(core.simulate(core.Scene([sheet], [moving]), core.Solver("bdf2", tolerance=0.01), range(10)))
    assert bool(calls) is asked

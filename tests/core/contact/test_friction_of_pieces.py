# SPDX-License-Identifier: GPL-3.0-or-later
"""Which error of friction is worth another solve: what a piece of cloth gains by it as speed."""

import numpy as np
import pytest

from core.contact.friction_of_pieces import SETTLED_PAIR_FRICTION, SLIDES, Moved, is_right
from tests.cases import cases

BODY = np.array([0, 0, 0, 0, 1, 1, 1, 1])
PAIRS = np.array([[0, 1, 2, 3], [4, 5, 6, 7]])
LIMIT = np.array([2.0, 3.0])


def still(momentum, by_weight=10.0):
    return Moved(np.full(2, momentum), np.full(2, by_weight))


@cases("moved", [None, still(0.0), still(100.0)])
def test_friction_that_hardly_changes_is_right_whatever_moves(moved):
    assert is_right(BODY, PAIRS, 0.9 * SLIDES * LIMIT, LIMIT, moved)


@cases(("grown", "right"), [(0.9 * SETTLED_PAIR_FRICTION, True), (1.1 * SETTLED_PAIR_FRICTION, False)])
def test_friction_that_moves_nothing_may_be_wrong_by_more(grown, right):
    wrong = grown * LIMIT * [1.0, -1.0]
    assert is_right(BODY, PAIRS, wrong, LIMIT, still(0.9 * SLIDES * 2.0)) == right
    assert not is_right(BODY, PAIRS, wrong, LIMIT, still(1.1 * SLIDES * 3.0))
    assert not is_right(BODY, PAIRS, wrong, LIMIT, None)                       # nothing is known of the first solution


def test_one_piece_that_is_wrong_is_enough():
    assert not is_right(BODY, PAIRS, np.array([0.0, 0.5]), LIMIT, still(100.0))
    assert is_right(BODY, PAIRS, np.array([0.0, 0.5 * 1e-5]), LIMIT * [1.0, 1e-5], still(100.0))     # hardly rubs


def test_what_presses_by_far_more_than_weight_is_judged_by_weight():
    """A scrap that lands on a solid presses by a thousand times its weight: a part of that flings it."""
    wrong = 0.1 * LIMIT
    assert is_right(BODY, PAIRS, wrong, LIMIT, still(0.0, by_weight=2.0))
    assert not is_right(BODY, PAIRS, wrong, LIMIT, still(0.0, by_weight=0.002))


def test_a_pair_between_two_pieces_counts_for_both():
    between = np.array([[0, 1, 2, 7], [4, 5, 6, 7]])
    assert not is_right(BODY, between, np.array([1.0, -1.0]), LIMIT, still(100.0))      # the second has 0, the first 1


def test_momentum_is_bounded_by_what_moves():
    """By Cauchy and Schwarz, and with equality where all of a piece moves alike."""
    rng = np.random.default_rng(3)
    mass, change = rng.uniform(0.5, 2.0, len(BODY)), rng.normal(size=(len(BODY), 3))
    change[4:] = [1.0, 2.0, -2.0]
    moved = Moved.by(change, np.tile([0.0, 0.0, -0.4], (len(BODY), 1)), mass, BODY)
    momentum = [np.linalg.norm((mass[:, None] * change)[piece == BODY].sum(axis=0)) for piece in (0, 1)]
    assert moved.momentum[0] > momentum[0]
    assert moved.momentum[1] == pytest.approx(momentum[1])
    np.testing.assert_allclose(moved.by_weight, 0.4 * np.bincount(BODY, mass))

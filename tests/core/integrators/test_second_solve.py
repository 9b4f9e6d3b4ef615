# SPDX-License-Identifier: GPL-3.0-or-later
"""When a step is solved a second time because its contacts changed, and when that is known to be in vain."""

import numpy as np
import pytest

import core
from core.contact.response import SETTLED_FRICTION
from core.integrators import contact_loop
from core.integrators.second_solve import (
    FURTHER,
    IN_VAIN_REST,
    LITTLE,
    LONGEST_PAUSE,
    MOSTLY,
    PAUSING_CONTACTS,
    RESTING_CHANGE,
    SAME_MOTION,
    SecondSolve,
)
from core.state import InVain
from tests.core.shapes import ball, grid

CROWD = PAUSING_CONTACTS + 1
WRONG = 1.5 * MOSTLY
SOLVER = core.Solver(steps_per_frame=1, integrator="bdf2", tolerance=1e-2, self_collision=False)


def stepped(before, wrong, after, *, spreads=False, contacts=CROWD, pairs=False, change=0.0,
            motion=0.01):
    """How many solves a step took whose first solution had this part of its friction `wrong`, and whose second had
    `after`; and what it tells the next."""
    loop = SecondSolve(before)
    again = loop.for_solids(0, wrong, spreads, contacts)
    again |= loop.for_pairs(0, pairs, True, contacts)
    if again:
        loop.for_solids(1, after, False, contacts)
        loop.changed(change, motion)
    return 1 + again, loop.learned()


def test_what_a_second_solve_does_not_better_is_left_alone_for_longer_and_longer():
    known, solves = InVain(), []
    for _ in range(300):
        count, known = stepped(known, WRONG, WRONG)
        solves.append(count)
    tried = np.diff(np.flatnonzero(np.array(solves) == 2))
    assert tried.tolist() == [9, 17, 33, 65, 65, 65]
    assert tried.max() == LONGEST_PAUSE + 1


@pytest.mark.parametrize("case", [
    {"wrong": WRONG, "after": 0.9 * IN_VAIN_REST * WRONG, "change": 1.1 * SAME_MOTION * 0.01},
    {"wrong": WRONG, "after": WRONG, "spreads": True},
    {"wrong": WRONG, "after": WRONG, "contacts": PAUSING_CONTACTS},
    {"wrong": 0.0, "after": 0.0, "pairs": True, "change": 2 * LITTLE}])
def test_it_is_asked_for_in_every_step_where_it_helps_or_a_slide_spreads_or_few_touch(case):
    known = InVain()
    for _ in range(20):
        count, known = stepped(known, **case)
        assert count == 2


def test_cloth_that_hardly_moves_on_cloth_does_without():
    _, known = stepped(InVain(), 0.0, 0.0, pairs=True, change=0.5 * LITTLE)
    assert stepped(known, 0.0, 0.0, pairs=True)[0] == 1
    loop = SecondSolve(known)
    assert loop.for_pairs(0, True, False, CROWD)                     # unless its friction is wrong on the whole


@pytest.mark.parametrize(("change", "motion", "solves"), [
    (0.9 * RESTING_CHANGE, 0.9 * RESTING_CHANGE, 1), (1.1 * RESTING_CHANGE, 0.9 * RESTING_CHANGE, 2),
    (0.9 * RESTING_CHANGE, 1.1 * RESTING_CHANGE, 2),
    (0.9 * SAME_MOTION * 0.1, 0.1, 1), (1.1 * SAME_MOTION * 0.1, 0.1, 2)])
def test_cloth_at_rest_or_that_moves_no_differently_does_without_whatever_it_betters(change, motion, solves):
    _, known = stepped(InVain(), WRONG, 0.0, change=change, motion=motion)
    assert stepped(known, WRONG, 0.0)[0] == solves


@pytest.mark.parametrize(("wrong", "solves"), [(0.9 * FURTHER * WRONG, 1), (1.1 * FURTHER * WRONG, 2)])
def test_friction_that_is_further_off_than_before_is_worth_it_again(wrong, solves):
    _, known = stepped(InVain(), WRONG, WRONG)
    assert known.left and stepped(known, wrong, wrong)[0] == solves


@pytest.mark.parametrize(("wrong", "contacts", "spreads", "solves"), [
    (0.9 * MOSTLY, CROWD, False, 1), (1.1 * MOSTLY, CROWD, False, 2), (0.9 * MOSTLY, CROWD, True, 2),
    (0.9 * SETTLED_FRICTION, PAUSING_CONTACTS, False, 1), (1.1 * SETTLED_FRICTION, PAUSING_CONTACTS, False, 2)])
def test_of_many_contacts_a_few_may_change_that_do_not_spread(wrong, contacts, spreads, solves):
    assert stepped(InVain(), wrong, 0.0, spreads=spreads, contacts=contacts)[0] == solves


def test_friction_that_is_right_asks_for_nothing_and_forgets_nothing():
    _, known = stepped(InVain(), WRONG, WRONG)
    count, after = stepped(known, 0.5 * SETTLED_FRICTION, 0.0)
    assert count == 1 and (after.left, after.waits, after.wrong) == (known.left - 1, known.waits, known.wrong)


def test_a_sheet_that_comes_to_rest_on_a_ball_is_solved_once_in_most_steps(monkeypatch):
    solves = []
    once = contact_loop.modified_pcg
    monkeypatch.setattr(contact_loop, "modified_pcg", lambda *a, **options: solves.append(1) or once(*a, **options))
    x, triangles = grid(40, 40, (2.0, 2.0))
    cloth = core.Cloth(core.ClothMesh(x - [1.0, 1.0, 0.0], triangles),
                       core.Material(areal_density=0.3, stretch=1000.0, shear=200.0, bend=1e-5, friction=0.3))
    scene = core.Scene([cloth], [core.Collider(*ball(0.5, 3, (0.0, 0.0, -0.53)), friction=0.3)])
    steps, moved, last = 0, [], None
    for frame in core.simulate(scene, SOLVER, range(111)):
        if frame.index <= 70:
            solves.clear()
        else:
            steps += frame.certificate.steps
            moved.append(np.abs(frame.positions[0] - last).max())
        last = frame.positions[0].copy()
    assert len(solves) <= 1.3 * steps
    assert max(moved[-10:]) < 0.01

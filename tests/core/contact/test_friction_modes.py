# SPDX-License-Identifier: GPL-3.0-or-later
"""How contacts change between sticking, holding, slipping and creeping, and with what forces."""

import numpy as np
import pytest

from core.contact.friction import ALONE, CREEP, EASY_STICK, HOLD, SLIDING_SHARE, SLIP, STICK, STILL, Friction

MU, PRESSING, SOFT = 0.5, 4.0, 0.02
LIMIT = MU * PRESSING                                                                                          # [N]
NO = np.zeros(3)


def begun(modes, held=None, slides=None, mu=MU):
    """Friction of as many contacts, each of that mode, held by (n, 3) [N] and sliding at (n, 3) [m/s]."""
    friction, n = Friction(), len(modes)
    friction.grow(n)
    full, none = np.full(n, 1.0), np.zeros((n, 3))
    friction.begin(np.arange(n), mu * full, np.array(modes), PRESSING * full, none if held is None else np.array(held),
                   none if slides is None else np.array(slides), SOFT * full)
    return friction


def judged(friction, slides, holding=None, body=None):
    """The same after a solution with these slides (n, 3) [m/s] and constraint forces (n, 3) [N]."""
    n = len(friction.mode)
    none, one = np.zeros((n, 3)), np.zeros(n, dtype=np.int64)
    friction.judge(np.ones(n, dtype=bool), np.full(n, PRESSING), none if holding is None else np.array(holding),
                   np.array(slides, dtype=np.float64), one if body is None else np.array(body))
    return friction


def forces(friction, slides):
    """On each contact (n, 3) [N] at slides (n, 3) [m/s]; none along z."""
    at = np.arange(len(friction.mode))
    normal = np.tile([0.0, 0.0, 1.0], (len(at), 1))
    return friction.forces(at, at, normal, np.zeros_like(normal), np.array(slides, dtype=np.float64))


def allowed(held, slide):
    """g - c s, brought back to mu lambda_n [N]."""
    tried = np.array(held) - LIMIT / SOFT * np.array(slide)
    return tried * min(1.0, LIMIT / np.linalg.norm(tried))


def test_what_sticks_too_hard_goes_on_with_as_much_as_it_may_hold():
    """No jump from the constraint to the force: that is what the constraint did, brought back to mu lambda_n."""
    friction = judged(begun([STICK]), [NO], [[3.0 * LIMIT, 0.0, 0.0]])
    assert friction.mode[0] == HOLD and friction.wrong == 1.0
    np.testing.assert_allclose(forces(friction, [NO]), [[LIMIT, 0.0, 0.0]])
    np.testing.assert_allclose(forces(friction, [[SOFT, 0.0, 0.0]]), [NO], atol=1e-12)       # gives way by ELASTIC
    np.testing.assert_allclose(friction.expected(np.array([0]))[1], [[LIMIT, 0.0, 0.0]])


@pytest.mark.parametrize("slide", [[-0.03, 0.01, 0.0], [-0.4, 0.3, 0.0], [0.0, -0.05, 0.0]])
def test_what_slips_is_the_return_map_linearised(slide):
    """Force and derivative, by differences, at the slide that was found."""
    held, slide = np.array([0.6 * LIMIT, 0.2 * LIMIT, 0.0]), np.array(slide)
    friction = judged(begun([HOLD], [held]), [slide])
    assert friction.mode[0] == SLIP
    np.testing.assert_allclose(forces(friction, [slide])[0], allowed(held, slide), atol=1e-12)
    for direction in np.eye(3)[:2]:
        step = 1e-6 * direction
        change = (allowed(held, slide + step) - allowed(held, slide - step)) / 2e-6
        found = (forces(friction, [slide + direction]) - forces(friction, [slide]))[0]
        np.testing.assert_allclose(found, change, atol=1e-4)


def test_what_is_held_from_step_to_step_needs_no_slide_for_it():
    """It gives way once; what that made up for is there from the beginning in the next step."""
    pull, slide = np.array([0.7 * LIMIT, 0.0, 0.0]), np.zeros(3)
    modes, held = [HOLD], [NO]
    for _ in range(2):
        friction = begun(modes, held)
        slide = (np.array(held[0]) + pull) / (LIMIT / SOFT)                  # where the force is -pull
        modes, held = judged(friction, [slide]).expected(np.array([0]))
        np.testing.assert_allclose(held[0], -pull, atol=1e-12)
    assert np.abs(slide).max() < 1e-15 and modes[0] == STICK


@pytest.mark.parametrize(("part", "slide", "mode"), [
    (0.99 * EASY_STICK, 0.0, STICK), (1.01 * EASY_STICK, 0.0, HOLD), (0.5 * EASY_STICK, 1.1 * STILL, HOLD),
    (0.5 * EASY_STICK, 0.9 * STILL, STICK)])
def test_what_is_held_easily_and_lies_still_sticks_in_the_next_step(part, slide, mode):
    friction = judged(begun([HOLD], [[part * LIMIT, 0.0, 0.0]]), [[0.0, slide * SOFT, 0.0]])
    assert friction.mode[0] == HOLD and friction.expected(np.array([0]))[0][0] == mode


def test_what_just_reaches_its_limit_is_not_taken_to_slip_by_rounding():
    friction = judged(begun([HOLD] * 3, [[LIMIT, 0.0, 0.0]] * 3), [[1e-16, 0.0, 0.0], NO, [-1e-16, 0.0, 0.0]])
    assert (friction.mode == HOLD).all() and friction.wrong < 1e-6


@pytest.mark.parametrize(("back", "mode"), [(0.9 * SOFT, HOLD), (1.1 * SOFT, STICK)])
def test_what_its_own_friction_turns_round_stops(back, mode):
    """Of a quick slide the force that stops it is not known; a slow one is held by less than it was."""
    friction = judged(begun([SLIP], [[LIMIT, 0.0, 0.0]], [[-1.0, 0.0, 0.0]]), [[back, 0.0, 0.0]])
    assert friction.mode[0] == mode and friction.wrong == 1.0


@pytest.mark.parametrize(("speed", "mode"), [(0.4, HOLD), (0.6, SLIP)])
def test_what_slips_slowly_and_is_pressed_harder_holds(speed, mode):
    """It slipped by half of what it may be held with now; its slide makes up for a part of the rest, or for it all."""
    friction = begun([SLIP], [[0.5 * LIMIT, 0.0, 0.0]], [[-0.1 * SOFT, 0.0, 0.0]])
    judged(friction, [[-speed * SOFT, 0.0, 0.0]])
    assert friction.mode[0] == mode
    np.testing.assert_allclose(forces(friction, [[-speed * SOFT, 0.0, 0.0]])[0, 0], LIMIT * min(0.5 + speed, 1.0))


def test_what_is_refused_both_ways_creeps_and_is_never_pushed():
    slides = [[1.2 * SOFT, 0.0, 0.0], [-0.5 * SOFT, 0.0, 0.0]]
    friction = judged(judged(begun([HOLD]), slides[:1]), slides[1:])            # slips, and is turned round
    assert friction.mode[0] == CREEP
    for speed in (1e-3, 1.0):
        assert forces(friction, [[speed, 0.0, 0.0]])[0, 0] < 0.0 < forces(friction, [[-speed, 0.0, 0.0]])[0, 0]
    judged(friction, [[3.0 * SOFT, 0.0, 0.0]])
    assert friction.mode[0] == CREEP                                            # for the rest of the step
    np.testing.assert_allclose(forces(friction, [[3.0 * SOFT, 0.0, 0.0]]), [[-LIMIT, 0.0, 0.0]])
    assert friction.expected(np.array([0]))[0][0] == HOLD


def test_where_more_than_a_few_stick_too_hard_the_piece_lets_go_as_one():
    """All give a little, and what pulls is shared: else it had to be followed row by row. Another piece sticks on."""
    many, few = round(1.0 / SLIDING_SHARE) - 1, round(1.0 / SLIDING_SHARE) + 1
    for count, mode in ((many, HOLD), (few, STICK)):
        holding = np.zeros((2 * count, 3))
        holding[0, 0], holding[1:, 1] = 5.0 * LIMIT, 0.3 * LIMIT
        friction = judged(begun([STICK] * 2 * count), 0.0 * holding, holding, body=[0] * count + [1] * count)
        assert friction.mode[0] == HOLD and (friction.mode[1:count] == mode).all()
        assert (friction.mode[count:] == STICK).all()
        released = friction.mode == HOLD
        np.testing.assert_allclose(forces(friction, 0.0 * holding)[released][1:], holding[released][1:])


def test_nothing_sticks_without_friction():
    """What lay still on a table without friction stayed where it was, whatever pulled at it."""
    friction = begun([0, STICK, SLIP], mu=0.0)
    assert (friction.mode == HOLD).all() and not forces(friction, [[1.0, 0.0, 0.0]] * 3).any()
    judged(friction, [NO] * 3)
    assert (friction.expected(np.arange(3))[0] == HOLD).all()


@pytest.mark.parametrize(("size", "over"), [(0.9 * ALONE, False), (1.1 * ALONE, True)])
def test_forces_round_a_centre_hold_a_piece_by_more_than_they_can_though_they_add_up_to_nothing(size, over):
    angle = 2.0 * np.pi * np.arange(12) / 12
    holding = size * LIMIT * np.stack([-np.sin(angle), np.cos(angle), 0.0 * angle], axis=1)
    friction = judged(begun([STICK] * 12), [NO] * 12, holding)
    assert friction.overloaded is over
    two = np.concatenate([holding, 0.0 * holding])
    alone = judged(begun([STICK] * 24), [NO] * 24, two, body=[0] * 12 + [1] * 12)
    assert alone.overloaded is over                                  # another piece makes up for nothing

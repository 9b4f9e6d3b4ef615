# SPDX-License-Identifier: GPL-3.0-or-later
"""How contacts change between sticking, slipping and creeping."""

import numpy as np
import pytest

from core.contact.friction import ALONE, CREEP, HOLDS, SLIP, STICK, Friction

MU, PRESSING, MOBILITY = 0.5, 4.0, 0.1
LIMIT = MU * PRESSING                                                                                          # [N]
NO = np.zeros(3)


def begun(modes, slides):
    """Friction of as many contacts, each of that mode and with that slide (3,) [m/s]."""
    friction, n = Friction(), len(modes)
    friction.grow(n)
    full = np.full(n, 1.0)
    friction.begin(np.arange(n), MU * full, np.array(modes), PRESSING * full, np.array(slides, dtype=np.float64),
                   MOBILITY * full)
    return friction


def judged(friction, holding, slides, unclear=0.0, body=None):
    """The same after a solution with these constraint forces (n, 3) [N] and slides (n, 3) [m/s]."""
    n = len(friction.mode)
    full = np.full(n, 1.0)
    friction.judge(full > 0.0, PRESSING * full, np.array(holding, dtype=np.float64), np.array(slides), MOBILITY * full,
                   unclear * full, np.zeros(n, dtype=np.int64) if body is None else np.array(body))
    return friction


def forces(friction, slides):
    """On each contact (n, 3) [N] at slides (n, 3) [m/s]; none along z."""
    at = np.arange(len(friction.mode))
    normal = np.tile([0.0, 0.0, 1.0], (len(at), 1))
    return friction.forces(at, at, normal, np.zeros_like(normal), np.array(slides, dtype=np.float64))


def test_what_a_step_leaves_turned_round_creeps_in_the_next():
    """Stuck it would hold as much as it takes to stop it."""
    back = [-0.3, 0.0, 0.0]
    friction = judged(begun([SLIP], [[1.0, 0.0, 0.0]]), [NO], [back])
    modes, slides = friction.expected(np.array([0]))
    assert modes[0] == CREEP and (slides[0] == back).all()
    creeping = begun(modes, slides)
    assert forces(creeping, [back])[0] == pytest.approx([LIMIT, 0.0, 0.0])


@pytest.mark.parametrize(("share", "mode"), [(0.9 * HOLDS, STICK), (1.05 * HOLDS, CREEP), (1.2, SLIP)])
def test_what_creeps_sticks_where_that_is_easy_goes_on_or_slips(share, mode):
    """By the part of mu lambda_n that its drag takes; the next drag is that of its last slide."""
    slide = np.array([0.2, 0.1, 0.0])
    friction = judged(begun([CREEP], [slide]), [NO], [share * slide])
    modes, slides = friction.expected(np.array([0]))
    assert modes[0] == mode
    if mode != STICK:
        again = forces(begun(modes, slides), [share * slide])[0]
        assert np.linalg.norm(again) == pytest.approx(LIMIT) and again @ slide < 0.0


def test_what_slides_too_slowly_to_have_a_direction_takes_that_of_what_pulls_at_it():
    """It held whatever pulled across the direction it once had: five times mu lambda_n, as cloth crept down a ball."""
    expected, slow = [1e-3, 0.0, 0.0], [1e-4, 5e-3, 0.0]
    held = forces(begun([SLIP], [expected]), [slow])[0]
    assert np.linalg.norm(held) > 5.0 * LIMIT
    friction = judged(begun([SLIP], [expected]), [NO], [slow], unclear=0.1)
    assert friction.mode[0] == SLIP and friction.wrong > 4.0
    assert friction.force[0] == pytest.approx(LIMIT * held / np.linalg.norm(held))
    calm = judged(begun([SLIP], [expected]), [NO], [[1e-3, 1e-5, 0.0]], unclear=0.1)
    assert calm.force[0] == pytest.approx([-LIMIT, 0.0, 0.0]) and calm.wrong == 0.0


@pytest.mark.parametrize(("size", "over"), [(0.9 * ALONE, False), (1.1 * ALONE, True)])
def test_forces_round_a_centre_hold_a_piece_by_more_than_they_can_though_they_add_up_to_nothing(size, over):
    angle = 2.0 * np.pi * np.arange(12) / 12
    holding = size * LIMIT * np.stack([-np.sin(angle), np.cos(angle), 0.0 * angle], axis=1)
    friction = judged(begun([STICK] * 12, [NO] * 12), holding, [NO] * 12)
    assert friction.overloaded is over
    two = np.concatenate([holding, 0.0 * holding])
    alone = judged(begun([STICK] * 24, [NO] * 24), two, [NO] * 24, body=[0] * 12 + [1] * 12)
    assert alone.overloaded is over                                  # another piece makes up for nothing


def test_what_was_turned_round_is_held_by_no_more_than_coulombs_when_its_sheet_carries_it_along():
    """With the drag of its own speed it was held by thirty times that: as much as thirty others that slide."""
    slow, quick = [-1e-3, 0.0, 0.0], [0.03, 0.0, 0.0]
    friction = judged(begun([SLIP] * 31, [[0.1, 0.0, 0.0]] + [quick] * 30), [NO] * 31, [slow] + [quick] * 30)
    modes, slides = friction.expected(np.arange(31))
    assert modes[0] == CREEP
    held = np.linalg.norm(forces(begun(modes, slides), [quick] * 31), axis=1)
    assert held == pytest.approx(np.full(31, LIMIT), rel=0.05)


@pytest.mark.parametrize(("part", "others", "mode"), [(0.5, 0.2, CREEP), (0.02, 0.2, STICK), (0.5, 0.0, STICK)])
def test_on_a_sheet_that_slides_only_what_hardly_moves_sticks_again(part, others, mode):
    """However little its drag takes; on a sheet at rest anything may that is held easily."""
    creep, slide = [0.2, 0.0, 0.0], [others, 0.0, 0.0]
    friction = begun([CREEP] + ([SLIP] if others else [STICK]) * 40, [creep] + [slide] * 40)
    judged(friction, [NO] * 41, [[0.2 * part, 0.0, 0.0]] + [slide] * 40)
    assert friction.expected(np.array([0]))[0][0] == mode

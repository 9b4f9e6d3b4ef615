# SPDX-License-Identifier: GPL-3.0-or-later
"""How contacts change between sticking, holding, slipping and creeping, and with what forces."""

import numpy as np

from core.contact.friction import HOLD, SLIP, STICK, Friction
from tests.cases import cases

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


@cases("slide", [[-0.03, 0.01, 0.0], [-0.4, 0.3, 0.0], [0.0, -0.05, 0.0]])
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


def test_what_just_reaches_its_limit_is_not_taken_to_slip_by_rounding():
    friction = judged(begun([HOLD] * 3, [[LIMIT, 0.0, 0.0]] * 3), [[1e-16, 0.0, 0.0], NO, [-1e-16, 0.0, 0.0]])
    assert (friction.mode == HOLD).all() and friction.wrong < 1e-6


def test_nothing_sticks_without_friction():
    """What lay still on a table without friction stayed where it was, whatever pulled at it."""
    friction = begun([0, STICK, SLIP], mu=0.0)
    assert (friction.mode == HOLD).all() and not forces(friction, [[1.0, 0.0, 0.0]] * 3).any()
    judged(friction, [NO] * 3)
    assert (friction.expected(np.arange(3))[0] == HOLD).all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles are born in the first step that begins at their time of birth or later, once, and with their velocity."""

from dataclasses import replace

import numpy as np
import pytest

from core.model.emission import BIRTH_TOLERANCE, Emission
from core.state import Before, State, Touch

EMISSION = Emission(np.array([1, 2, 4]), np.array([0.1, 0.2, 0.2]), np.arange(9.0).reshape(3, 3) + 1.0)


def state_at(time, emitted=0.0, emitted_before=0.0):
    return State(np.zeros((5, 3)), np.zeros((5, 3)), time, Touch.none(5), emitted=emitted,
                 emitted_before=emitted_before)


@pytest.mark.parametrize(("time", "unborn", "newborn"), [
    (0.05, [1, 2, 4], []), (0.1, [2, 4], [1]), (0.1 - 0.5 * BIRTH_TOLERANCE, [2, 4], [1]), (0.15, [2, 4], [1]),
    (0.3, [], [1, 2, 4])])
def test_a_step_begins_with_the_particles_whose_time_has_come(time, unborn, newborn):
    begun = EMISSION.begin(state_at(time))
    assert EMISSION.unborn(begun).tolist() == unborn
    assert EMISSION.newborn(begun).tolist() == newborn
    moves = begun.v.any(axis=1)
    assert np.flatnonzero(moves).tolist() == newborn
    np.testing.assert_array_equal(begun.v[1], [1.0, 2.0, 3.0] if moves[1] else [0.0, 0.0, 0.0])


def test_a_step_that_is_taken_again_begins_alike_and_the_next_one_without_them():
    first = EMISSION.begin(state_at(0.12, emitted=0.06))
    again = EMISSION.begin(first)
    assert (again.emitted, again.emitted_before) == (first.emitted, first.emitted_before) == (0.12, 0.06)
    assert EMISSION.newborn(again).tolist() == [1]
    after = EMISSION.begin(replace(again, time=0.18))
    assert EMISSION.newborn(after).tolist() == [] and EMISSION.unborn(after).tolist() == [2, 4]


def test_to_what_looks_back_the_unborn_were_at_rest_and_the_newborn_on_their_way():
    state = EMISSION.begin(replace(state_at(0.1), x=np.ones((5, 3))))
    before = EMISSION.remembered(Before(np.full((5, 3), 7.0), np.full((5, 3), 7.0), 0.1), state, np.full((5, 3), 2.0))
    np.testing.assert_array_equal(before.x[[0, 3]], np.full((2, 3), 7.0))
    np.testing.assert_array_equal(before.x[[2, 4]], state.x[[2, 4]])
    assert not before.v[[2, 4]].any()
    np.testing.assert_allclose(before.v[1], state.v[1] - 0.2)
    np.testing.assert_allclose(before.x[1] + 0.1 * before.v[1] + 0.5 * 0.01 * 2.0, state.x[1])

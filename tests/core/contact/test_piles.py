# SPDX-License-Identifier: GPL-3.0-or-later
"""Where cloth that presses on cloth needs short steps: in a pile, and where it hangs."""

import numpy as np
import pytest

from core.contact.piles import CARRIES, LIES, SQUEEZES, Piles, Pressing

BODY, WEIGHT = np.repeat(np.arange(4), 4), 40.0
PILES = Piles(BODY, np.ones(16), np.array([0.0, 0.0, -10.0]))
ALL = np.arange(16)
HELD = np.full(16, WEIGHT / 4.0)                                     # by solids, all that there is
UP, ASIDE = [0.0, 0.6, 0.8], [1.0, 0.0, 0.0]


def pairs(sides, normal, force):
    """As many pairs that press along one normal, with `force` [N] together."""
    return Pressing(4 * np.array(sides), np.tile(normal, (len(sides), 1)), np.full(len(sides), force / len(sides)))


@pytest.mark.parametrize(("normal", "most"), [(UP, CARRIES / 0.8), (ASIDE, SQUEEZES)])
@pytest.mark.parametrize("sides", [[(0, 1)], [(1, 0)] * 3, [(2, 2)], [(3, 3), (3, 1)]])
def test_a_pile_is_where_cloth_carries_a_tenth_of_a_piece_or_presses_it_by_all_its_weight(sides, normal, most):
    """What presses on itself counts once, and every piece by its own weight."""
    for part, heavy in ((0.9, False), (1.1, True)):
        assert PILES.has(pairs(sides, normal, part * most * WEIGHT), ALL, HELD) is heavy


@pytest.mark.parametrize(("sides", "lying", "held", "piled"), [
    ([(0, 0)], [0], 1.1 * LIES, False), ([(0, 0)], [0], 0.9 * LIES, True), ([(1, 1)], [0], 1.1 * LIES, True),
    ([(0, 1)], [0], 1.1 * LIES, True), ([(0, 1)], [0, 1], 1.1 * LIES, False)])
def test_what_presses_on_cloth_comes_to_rest_in_any_step_where_solids_hold_it_up(sides, lying, held, piled):
    on = np.flatnonzero(np.isin(BODY, lying))
    light = pairs(sides, UP, 1e-3 * WEIGHT)
    assert PILES.has(light, on, np.full(len(on), held * WEIGHT / 4.0)) is piled


def test_without_weight_all_that_presses_is_a_pile():
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
    assert Piles(BODY, np.ones(16), np.zeros(3)).has(pairs([(0, 1)], UP, 1e-9), *nothing)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that are a number or a function of the time."""

import numpy as np
import pytest

from core import ClothError, Keyed, MotionWindow, SceneError
from core.description.keyed import check_setting, checked_number_at, number_at


def window():
    made = MotionWindow(1, 10.0, {"settings": np.array([1.0, -5.0])})
    made.advance([(2.0, {"settings": np.array([3.0, -5.0])})])
    return made


def test_a_keyed_number_follows_its_element_between_frames():
    values = window().trajectory("settings")
    assert [Keyed(values, 0)(t) for t in (0.0, 0.05, 0.1)] == [1.0, 2.0, 3.0]
    assert Keyed(values, 1)(0.05) == -5.0


def test_a_setting_is_a_number_or_a_function():
    assert number_at(2.5, 7.0) == 2.5 and number_at(lambda t: 2.0 * t, 7.0) == 14.0


def test_an_element_that_is_not_there_is_refused():
    with pytest.raises(SceneError, match=r"index is 2, it must be in 0\.\.1"):
        Keyed(window().trajectory("settings"), 2)


@pytest.mark.parametrize("value", [-1.0, float("nan"), "1", None, lambda t: -1.0, lambda t, x: 1.0])
def test_what_is_no_number_in_range_is_refused_by_name(value):
    with pytest.raises(ClothError, match="sail: pressure is"):
        check_setting(value, "pressure", "sail", least=0.0)


def test_a_function_that_leaves_the_range_later_is_refused_with_its_time():
    with pytest.raises(ClothError, match=r"pressure is -1 at 2\.0000 s"):
        checked_number_at(lambda t: 1.0 - t, 2.0, "pressure", "sail", least=0.0)

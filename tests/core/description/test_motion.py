# SPDX-License-Identifier: GPL-3.0-or-later
"""The window of sampled motion: exact at samples, linear between, bounded, and good to continue from."""

import numpy as np
import pytest

from core import MotionWindow


def turned(angle):
    return {"limb": np.array([[np.cos(angle), np.sin(angle), 0.0]]), "floor": np.zeros((4, 3))}


def window_of(samples, first=-7, frame_rate=23.976):
    """Return a window over one frame in which a limb turns by a quarter, with this number of samples."""
    window = MotionWindow(first, frame_rate, turned(0.0))
    window.advance([(first + k / samples, turned(0.5 * np.pi * k / samples)) for k in range(1, samples + 1)])
    return window


def test_samples_are_exact_and_times_between_are_linear():
    window = window_of(4)
    for k in range(5):
        assert np.array_equal(window.at("limb", k / 4 / 23.976), turned(0.5 * np.pi * k / 4)["limb"])
    between = window.at("limb", 0.125 / 23.976)
    assert np.allclose(between, 0.5 * (turned(0.0)["limb"] + turned(np.pi / 8)["limb"]), rtol=0.0, atol=1e-12)


def test_error_of_an_arc_falls_with_the_square_of_the_number_of_samples():
    errors = []
    for samples in (1, 2, 4, 8):
        limb = window_of(samples).trajectory("limb")
        radii = [np.linalg.norm(limb(t / 23.976)) for t in np.linspace(0.0, 1.0, 161)]
        errors.append(1.0 - min(radii))
    rates = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(rates > 1.8), rates


def test_what_stands_still_stays_one_array():
    window = window_of(3)
    assert window.at("floor", 0.4 / 23.976) is window.at("floor", 0.0)
    assert window.at("floor", 7.0) is window.at("floor", 0.0)                    # at all times


def test_what_stands_still_now_was_elsewhere_at_the_first_frame():
    window = window_of(1)
    window.advance([(-5.0, turned(0.5 * np.pi))])
    assert np.array_equal(window.at("limb", 0.0), turned(0.0)["limb"])


@pytest.mark.parametrize("first", [-100000, 0, 1, 1001])
@pytest.mark.parametrize("frame_rate", [24.0, 30000 / 1001, 0.1, 1000.0])
def test_the_ends_of_every_frame_are_inside_the_window(first, frame_rate):
    window = MotionWindow(first, frame_rate, turned(0.0))
    for frame in range(first + 1, first + 400):
        window.advance([(frame, turned(frame))])
        for elapsed in (frame - 1 - first, frame - first):
            time = elapsed / frame_rate
            assert np.array_equal(window.at("limb", time), turned(elapsed + first if elapsed else 0.0)["limb"])


def test_times_outside_are_refused():
    window = window_of(2)
    window.advance([(-5.0, turned(1.0))])
    for elapsed in (0.5, 2.1):
        with pytest.raises(RuntimeError, match=r"outside the frames -6\.\.-5"):
            window.at("limb", elapsed / 23.976)
    assert np.array_equal(window.at("limb", 0.0), turned(0.0)["limb"])          # the first frame is always known


def test_a_window_that_jumps_continues_as_one_that_came_there():
    came, jumped = (MotionWindow(1, 24.0, turned(0.0)) for _ in range(2))
    for frame in (2, 3, 4):
        came.advance([(frame, turned(frame))])
    jumped.jump(3, turned(3))
    jumped.advance([(4, turned(4))])
    for elapsed in (2.0, 2.3, 3.0):
        assert np.array_equal(came.at("limb", elapsed / 24.0), jumped.at("limb", elapsed / 24.0))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The clock of frames: times are sums of lengths, places among frames their inverse, and 1 / rate where all is even."""

import numpy as np
import pytest

from core import FrameClock, MotionWindow, SceneError


def speed(frame):
    return 1.0 + 0.9 * np.sin(1.7 * frame)


def test_the_time_of_a_frame_is_the_sum_of_the_lengths_up_to_it():
    clock = FrameClock(-3, 25.0, speed)
    for frame in (-3, -2, 12, 5):                               # in any order
        wanted = sum(speed(g) for g in range(-2, frame + 1)) / 25.0
        assert clock.time(frame) == pytest.approx(wanted, rel=1e-14, abs=0.0)


@pytest.mark.parametrize("changing", [None, speed])
@pytest.mark.parametrize("count", [1, 3, 49, 64])
def test_ticks_divide_a_frame_evenly_and_the_next_begins_at_its_end(changing, count):
    clock = FrameClock(1, 23.976, changing)
    for frame in range(2, 40):
        span = clock.span(frame, count)
        assert span.at(0) == clock.time(frame - 1)
        assert span.at(count) == pytest.approx(clock.time(frame), rel=1e-14)
        assert span.count * span.tick == pytest.approx(span.length, rel=1e-14)
        assert np.ptp(np.diff([span.at(done) for done in range(count + 1)])) < 1e-14 * span.at(count)
        if changing is not None:
            assert span.at(count) == clock.time(frame) == clock.span(frame + 1, count).start


@pytest.mark.parametrize("changing", [None, speed])
def test_the_place_of_a_time_among_the_frames_is_the_inverse(changing):
    clock = FrameClock(7, 30.0, changing)
    for frame in range(8, 60):
        before, after = clock.time(frame - 1), clock.time(frame)
        assert clock.position(after) == pytest.approx(frame - 7, rel=1e-12)
        assert clock.position(0.25 * before + 0.75 * after) == pytest.approx(frame - 7 - 0.25, rel=1e-12)
    assert clock.position(0.0) == 0.0


def test_rounding_beyond_the_last_known_frame_asks_for_no_other():
    def known(frame):
        assert frame <= 9, "asked for a frame that has not been read"
        return speed(frame)

    clock = FrameClock(1, 24.0, known)
    for count in (3, 7, 64):
        span = clock.span(9, count)
        assert clock.position(span.start + count * span.tick) == pytest.approx(8.0)


def test_a_clock_that_begins_later_goes_on_as_one_that_came_there():
    came, later = FrameClock(1, 24.0, speed), FrameClock(1, 24.0, speed)
    later.begin(11, came.time(11))
    assert [later.time(frame) for frame in range(11, 30)] == [came.time(frame) for frame in range(11, 30)]
    assert later.position(came.time(15)) == came.position(came.time(15)) == 14.0
    with pytest.raises(RuntimeError, match="frame 5 is before frame 11"):
        later.time(5)


def test_frames_of_one_length_keep_their_times_from_wherever_they_begin():
    clock = FrameClock(1, 24.0)
    clock.begin(1001, 1000 / 24.0 + 3e-14)                      # a sum of ticks
    assert clock.is_uniform and [clock.time(f) for f in (2, 1002)] == [1 / 24.0, 1001 / 24.0]
    clock.begin(11, 0.1)                                        # the frames before were shorter
    assert clock.time(12) == 0.1 + 1 / 24.0 and clock.position(0.1 + 0.5 / 24.0) == pytest.approx(10.5)


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), float("inf"), None, "1"])
def test_a_speed_that_is_no_number_above_0_is_named_with_its_frame(wrong):
    clock = FrameClock(1, 24.0, lambda frame: wrong if frame == 5 else 1.0)
    assert clock.time(4) == 3 / 24.0
    with pytest.raises(SceneError, match=r"the speed is .* at frame 5, it must be a number above 0; correct its key"):
        clock.time(5)


@pytest.mark.parametrize("given", [{"first": 1.5}, {"frame_rate": 0.0}, {"speed": 2.0}, {"speed": lambda: 1.0}])
def test_wrong_arguments_are_named(given):
    with pytest.raises(SceneError, match=f"{next(iter(given))} is"):
        FrameClock(**given)


def test_a_window_with_a_speed_moves_by_frames_of_these_lengths():
    def values(frame):
        return {"limb": np.array([[float(frame), 0.0, 0.0]]), "speed": np.array([speed(frame)])}

    window, clock = MotionWindow(3, 24.0, values(3), speed="speed"), FrameClock(3, 24.0, speed)
    for frame in range(4, 20):
        window.advance([(frame - part, values(frame - part)) for part in (0.5, 0.0)])
        before, after = clock.time(frame - 1), clock.time(frame)
        assert window.clock.time(frame) == after
        for part in (0.0, 0.3, 0.5, 1.0):
            x = window.at("limb", (1.0 - part) * before + part * after)[0, 0]
            assert x == pytest.approx(frame - 1 + part if before or part else 3.0, rel=1e-9)
    assert window.at("limb", 0.0)[0, 0] == 3.0


def test_a_window_refuses_a_speed_that_it_does_not_have():
    with pytest.raises(SceneError, match="speed is 'fast', it must be the name of an array"):
        MotionWindow(1, 24.0, {"speed": np.ones(1)}, speed="fast")
    with pytest.raises(SceneError, match="speed is 'speed', it must be the name of an array"):
        MotionWindow(1, 24.0, {"speed": np.ones(2)}, speed="speed")

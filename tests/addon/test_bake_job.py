# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake job, with generators in place of bakes."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

MAIN = threading.main_thread()


@pytest.fixture
def job(extension):
    return extension.bake_job


def at(done, touches_blender, seconds_left=None, stage="", run=""):
    """Return a stand-in for Progress."""
    return SimpleNamespace(fraction=done, touches_blender=touches_blender, seconds_left=seconds_left, stage=stage,
                           waits=False, run=run)


def run(running, seconds=10.0):
    """Advance the job to its end as the operator does, and return the longest turn [s]."""
    longest, end = 0.0, time.monotonic() + seconds
    has_ended = False
    while not has_ended:
        assert time.monotonic() < end, "the job does not end"
        start = time.monotonic()
        has_ended = running.advance()
        longest = max(longest, time.monotonic() - start)
    return longest


def test_only_work_that_does_not_touch_blender_data_leaves_the_main_thread(job):
    threads = []

    def steps():
        for i in range(3):
            threads.append(threading.current_thread() is MAIN)
            yield at(i / 3, touches_blender=False)
            threads.append(threading.current_thread() is MAIN)
            yield at(i / 3, touches_blender=True)
        threads.append(threading.current_thread() is MAIN)
        return "report"

    running = job.Job(steps())
    run(running)
    assert threads == [True, False] * 3 + [True]
    assert running.finished and running.result == "report"


def test_a_slow_frame_does_not_block_the_window(job):
    def steps():
        for _ in range(2):
            yield at(0.0, touches_blender=False)
            time.sleep(2.0)

    assert run(job.Job(steps())) < 1.0


def test_an_idle_caller_waits_for_slow_frames(job):
    """Polling without a pause would take Python's lock from the thread of the bake."""
    def steps():
        for _ in range(3):
            yield at(0.0, touches_blender=False)
            time.sleep(0.5)

    running = job.Job(steps())
    turns = 1
    while not running.advance(idle=True):
        turns += 1
    assert running.finished and turns < 100


def test_several_fast_frames_run_in_one_turn(job):
    def steps():
        for i in range(20):
            yield at(i / 20, touches_blender=bool(i % 2))

    running = job.Job(steps())
    turns = 1
    while not running.advance():
        turns += 1
    assert turns < 10


def test_a_turn_takes_as_long_as_the_windows_last_one_within_bounds(job, monkeypatch):
    now, step = 0.0, 0.005

    def steps():
        nonlocal now
        while True:
            now += step
            yield at(0.0, touches_blender=True)

    monkeypatch.setattr(job, "time", SimpleNamespace(monotonic=lambda: now))
    running, (shortest, longest) = job.Job(steps()), job.TURN
    for drawing in (0.0, 0.5 * shortest, 0.5 * (shortest + longest), 40.0 * longest):
        now += drawing
        start = now
        running.advance()
        assert abs(now - start - min(max(drawing, shortest), longest)) < 1.5 * step


def test_a_bake_that_is_stopped_ends_after_its_frame_and_is_closed_in_the_main_thread(job):
    closed_in = []

    def steps():
        try:
            while True:
                yield at(0.5, touches_blender=False)
                time.sleep(0.4)
        finally:
            closed_in.append(threading.current_thread() is MAIN)

    running = job.Job(steps())
    assert not running.advance()
    running.stop()
    assert running.text() == "Cancelling"
    run(running)
    assert closed_in == [True] and not running.finished


def test_a_bake_that_is_aborted_has_ended_when_abort_returns(job):
    closed = []

    def steps():
        try:
            while True:
                yield at(0.5, touches_blender=False)
                time.sleep(0.4)
        finally:
            closed.append(True)

    running = job.Job(steps())
    assert not running.advance()
    running.abort("another file was opened")
    assert closed == [True] and running.stopped_because == "another file was opened"
    assert running.advance() and not running.finished


@pytest.mark.parametrize("in_background", [True, False])
def test_an_error_of_a_bake_is_raised_in_the_main_thread(job, in_background):
    def steps():
        yield at(0.0, touches_blender=not in_background)
        raise ValueError("on the way")

    with pytest.raises(ValueError, match="on the way"):
        run(job.Job(steps()))


@pytest.mark.parametrize(("progress", "text"), [
    (None, "Baking 0 %"), (at(0.43, True, 12.4), "Baking 43 % - 12 s left"),
    (at(0.5, True, 200.0), "Baking 50 % - 3 min 20 s left"), (at(0.01, True, 7500.0), "Baking 1 % - 2 h 5 min left"),
    (at(0.0, False, stage="Compiling kernels, once on this machine"), "Compiling kernels, once on this machine"),
        (at(0.3, True, run="2 of 5: rope, bdf2"), "2 of 5: rope, bdf2 - Baking 30 %"),
])
def test_the_status_shows_progress_and_remaining_time(job, progress, text):
    running = job.Job(iter(() if progress is None else (progress,)))
    running.advance()
    assert running.text() == text


def test_there_is_one_bake_at_a_time(job):
    job.begin(iter(()))
    try:
        with pytest.raises(RuntimeError, match="running already"):
            job.begin(iter(()))
    finally:
        job.end()
    assert job.current() is None

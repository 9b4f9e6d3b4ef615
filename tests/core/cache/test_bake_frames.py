# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake into a take that is stopped, killed or changed continues to the same bytes."""

import contextlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import core
from core import CacheError
from core.cache import bake
from core.cache.take import Take
from core.cache.take_header import TakeCloth, TakeHeader
from tests.core.cache.faults import faults
from tests.core.cache.takes import FIRST, LAST, SOLVER, baked, contents, header, scene, state_at
from tests.core.simple_scenes import hanging

ROOT = Path(__file__).resolve().parents[3]


def test_a_frame_is_yielded_when_a_reader_can_see_it(tmp_path):
    with Take.create(tmp_path / "t", header()) as take:
        found = []
        for frame in bake.bake_frames(take, scene(), SOLVER):
            assert Take.open(tmp_path / "t").last >= frame.index
            found.append(frame.index)
    assert found == list(range(FIRST, LAST + 1))
    take = Take.open(tmp_path / "t")
    assert take.is_complete and take.checkpoint_frames()[-1] == LAST


def test_a_reader_beside_a_bake_never_sees_a_part_of_a_frame(tmp_path):
    """Also while frames are removed and baked again."""
    wanted = baked(tmp_path / "whole")
    Take.create(tmp_path / "t", header()).close()
    reader, seen, ended = Take.open(tmp_path / "t"), [], threading.Event()

    def write():
        for cut in (None, 2, FIRST, None):
            with Take.resume(tmp_path / "t", cut) as take:
                start = None if take.last is None else take.checkpoint_before(take.last)
                for _ in bake.bake_frames(take, scene(), SOLVER, start=start):
                    take.set_owner("/a.blend")
        ended.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not ended.is_set():
        for frame in reader.poll():
            seen.append(frame)
            with contextlib.suppress(CacheError):               # it has been removed in the meantime
                for index in range(2):
                    assert np.array_equal(reader.positions(index, frame), wanted.positions(index, frame))
                    assert np.array_equal(reader.velocities(index, frame), wanted.velocities(index, frame))
    thread.join()
    reader.poll()
    assert reader.last == LAST and len(seen) > LAST - FIRST and faults(reader) == []


@pytest.mark.parametrize("stop", [FIRST, 2])
def test_a_bake_that_is_stopped_keeps_its_last_state_and_continues_to_the_same_bytes(tmp_path, stop):
    wanted = contents(baked(tmp_path / "whole").folder)
    with Take.create(tmp_path / "t", header()) as take:
        for frame in bake.bake_frames(take, scene(), SOLVER):
            if frame.index == stop:
                break
        del frame
    take = Take.open(tmp_path / "t")
    assert take.last >= stop and take.checkpoint_frames() == [take.last]
    for missing in (False, True):                       # then without any checkpoint
        with Take.resume(tmp_path / "t", stop) as take:
            start = None if missing else take.checkpoint_before(stop)
            asked = []
            found = bake.bake_frames(take, scene(), SOLVER, None, asked.append, start)
            assert [f.index for f in found] == list(range(stop + 1, LAST + 1))
        assert asked[-1] == LAST and FIRST not in asked
        assert contents(tmp_path / "t") == wanted
    assert list(bake.bake_frames(Take.open(tmp_path / "t"), scene(), SOLVER)) == []


def test_frames_that_cannot_be_computed_again_are_named(tmp_path):
    baked(tmp_path / "t")
    with Take.resume(tmp_path / "t", 2) as take, pytest.raises(CacheError, match="frame 0, computed again, differs"):
        list(bake.bake_frames(take, scene(0.5), SOLVER))
    assert Take.open(tmp_path / "t").last == 2


def test_a_bake_continues_from_any_frame_with_another_fabric(tmp_path):
    folder = baked(tmp_path / "t").folder
    before = contents(folder)
    for frame in (3, 1):
        state = state_at(frame)
        with Take.resume(folder, frame) as take:
            take.begin_segment({"fabric": "heavy"}, {}, state=state)
            list(bake.bake_frames(take, scene(0.5), SOLVER, start=take.checkpoint_before(frame)))
        after, wanted = contents(folder), list(core.simulate(scene(0.5), SOLVER, range(frame + 1, LAST + 1), state))
        assert after["complete"] and not after["faults"]
        assert all((after[0, n] == before[0, n]) == (n <= frame) for n in range(FIRST, LAST + 1))
        assert all(after[0, f.index] == f.velocities[0].astype("<f4").tobytes() for f in wanted)


def test_checkpoints_of_other_bakes_and_other_cloths_are_refused(tmp_path):
    state = baked(tmp_path / "t").checkpoint_before(LAST)
    with Take.resume(tmp_path / "t", 2) as take:
        with pytest.raises(CacheError, match="frames up to 2, the checkpoint is of frame 5"):
            bake.bake_frames(take, scene(), SOLVER, start=state)
        with pytest.raises(CacheError, match="vertices"):
            bake.bake_frames(take, core.Scene([hanging(2)]), SOLVER)
    with Take.create(tmp_path / "u", TakeHeader([TakeCloth("a", 9), TakeCloth("b", 9)], 1, 1, 3, 24.0)) as take, \
            pytest.raises(CacheError, match="begins at frame 1"):
        bake.bake_frames(take, scene(), SOLVER, start=state)


def test_a_step_without_solution_leaves_the_frames_before_and_their_state(tmp_path):
    def fails(number):
        if number == 3:
            raise core.SolverError("no step; take smaller ones")

    with Take.create(tmp_path / "t", header()) as take:
        found = []
        with pytest.raises(core.SolverError):
            found.extend(frame.index for frame in bake.bake_frames(take, scene(), SOLVER, None, fails))
    take = Take.open(tmp_path / "t")
    assert found[-1] == take.last == 2 and take.checkpoint_before(2).frame == 2


def test_a_full_disk_ends_the_bake_with_the_frames_that_were_yielded(tmp_path, monkeypatch):
    found = []
    with Take.create(tmp_path / "t", header()) as take:
        real = take.append

        def append(self, frame, *rest):
            if frame.index == 3:
                raise CacheError("the disk is full; free some space")
            real(frame, *rest)

        monkeypatch.setattr(Take, "append", append)
        with pytest.raises(CacheError, match="full"):
            found.extend(frame.index for frame in bake.bake_frames(take, scene(), SOLVER))
    assert Take.open(tmp_path / "t").last == 2 and found[-1] in (1, 2)


def test_positions_are_in_the_space_of_the_object(tmp_path):
    turned = np.array([[0.0, -2.0, 0.0, 5.0], [2.0, 0.0, 0.0, 6.0], [0.0, 0.0, 2.0, 7.0], [0.0, 0.0, 0.0, 1.0]])
    window = core.MotionWindow(FIRST, 24.0, {"matrix sheet": np.eye(4)})

    def move(number):
        window.advance([(float(number), {"matrix sheet": turned if number > 1 else np.eye(4)})])

    with Take.create(tmp_path / "t", header(metres_per_unit=0.5)) as take:
        frames = {frame.index: frame for frame in bake.bake_frames(take, scene(), SOLVER, window, move)}
        for number in (1, 2):
            matrix = turned if number > 1 else np.eye(4)
            local, other = take.positions(0, number).astype(float), take.positions(1, number)
            assert np.allclose(local @ matrix[:3, :3].T + matrix[:3, 3], frames[number].positions[0], atol=1e-6)
            assert np.allclose(other, frames[number].positions[1] / 0.5, atol=1e-6)
    flat = core.MotionWindow(FIRST, 24.0, {"matrix sheet": np.diag([1.0, 1.0, 0.0, 1.0])})
    with Take.create(tmp_path / "u", header()) as take, pytest.raises(CacheError, match="sheet: .*scale other than 0"):
        list(bake.bake_frames(take, scene(), SOLVER, flat, lambda n: None))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills need fork")
def test_bakes_that_are_killed_lose_no_reported_frame_and_continue_to_the_same_bytes():
    """A part of the cases; `make test-long` has all."""
    command = [sys.executable, "-m", "tests.core.cache.kills", "4", "--every", "23"]
    run = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    record = json.loads(run.stdout.splitlines()[-1]) if run.stdout else {"failures": [run.stderr], "cases": 0}
    assert record["failures"] == [] and record["cases"] > 15

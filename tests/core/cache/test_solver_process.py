# SPDX-License-Identifier: GPL-3.0-or-later
"""A solver process gives the bytes of a bake without one, whatever is paused, stopped, killed or late."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core.cache.feed import FEED_NAME, FeedWriter
from core.cache.process_files import SOLVER_LOG, read_error, write_error
from core.cache.scene_file import SCENE_NAME, save_scene
from core.cache.solver_process import SolverProcess, python_path
from core.cache.take import Take
from core.kernels.backend import why_not
from tests.core.cache import process_kills
from tests.core.cache.faults import faults
from tests.core.cache.solver_takes import FIRST, LAST, contents, in_process, parts, prepared, samples, values

ROOT = Path(__file__).resolve().parents[3]
LONGEST_WAIT = 120.0
posix = pytest.mark.skipif(os.name != "posix", reason="signals")


@pytest.fixture(scope="module")
def wanted(tmp_path_factory):
    """Contents of a take that was baked without a process."""
    return contents(in_process(tmp_path_factory.mktemp("wanted") / "take"))


@pytest.fixture
def take(tmp_path):
    """A take with scene and feed, and a process for it that is ended after the test."""
    process = SolverProcess(prepared(tmp_path / "take"))
    yield process
    process.stop()
    process.wait(LONGEST_WAIT)


def until(process, *states, frame=None):
    """Wait for a state, and a frame if one is given."""
    end = time.monotonic() + LONGEST_WAIT
    while process.state() not in states or frame is not None and (process.frame() or FIRST - 1) < frame:
        assert time.monotonic() < end and (process.state() in states or process.is_alive()), (
            process.state(), process.frame(), (process.folder / SOLVER_LOG).read_text())
        time.sleep(0.005)


def test_a_process_gives_the_same_bytes_with_samples_between_frames(take, wanted):
    assert take.state() == "stopped" and take.frame() is None
    take.start()
    until(take, "finished")
    assert take.wait(LONGEST_WAIT) and take.frame() == LAST
    take.error()
    assert contents(take.folder) == wanted
    assert not [path.name for path in take.folder.iterdir() if path.name == "lock" or path.name.endswith(".part")]


def test_numpy_has_one_thread_in_a_process_unless_the_environment_says_how_many(take, monkeypatch):
    """Its threads would wait for each other, and for those of kernels."""
    class Started(Exception):
        """A process was to be started with this environment."""

    def start(*_, env, **__):
        raise Started(env)

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with pytest.raises(Started) as found:
        take.start()
    [environment] = found.value.args
    assert (environment["OPENBLAS_NUM_THREADS"], environment["MKL_NUM_THREADS"]) == ("1", "3")
    assert "OPENBLAS_NUM_THREADS" not in os.environ and environment["PATH"] == os.environ["PATH"]


def test_a_process_follows_a_feed_that_is_written_while_it_runs(tmp_path, wanted):
    process = SolverProcess(prepared(tmp_path / "take", fed=False))
    with FeedWriter.create(process.folder / FEED_NAME, parts()[2]) as feed:
        process.start()
        until(process, "waiting")
        for frame in range(FIRST + 1, LAST + 1):
            time.sleep(0.02)
            feed.append(frame, samples(frame))
        feed.finish()
    until(process, "finished")
    assert contents(process.folder) == wanted


def test_a_feed_that_ends_early_keeps_the_frames_and_can_be_continued(tmp_path, wanted):
    process = SolverProcess(prepared(tmp_path / "take", fed=False))
    with FeedWriter.create(process.folder / FEED_NAME, parts()[2]) as feed:
        for frame in range(FIRST + 1, FIRST + 4):
            feed.append(frame, samples(frame))
    process.start()
    until(process, "lost feed")
    with pytest.raises(core.CacheError, match="open the file and resume"):
        process.error()
    found = Take.open(process.folder)
    assert found.last == FIRST + 3 and found.checkpoint_frames() == [FIRST + 3]
    with FeedWriter.open(process.folder / FEED_NAME, parts()[2]) as feed:
        for frame in range(FIRST + 4, LAST + 1):
            feed.append(frame, samples(frame))
        feed.finish()
    process.start()
    until(process, "finished")
    assert contents(process.folder) == wanted


def test_pause_and_stop_act_within_a_long_frame(tmp_path):
    """A frame of 20,000 steps. Stopped in it, the process ends with a checkpoint of the frame before."""
    process = SolverProcess(prepared(tmp_path / "take"))
    scene, solver, window = parts()
    save_scene(process.folder / SCENE_NAME, scene, replace(solver, steps_per_frame=20_000), window)
    process.start()
    until(process, "solving")
    time.sleep(0.3)
    for act, state in ((process.pause, "paused"), (process.go_on, "solving"), (process.stop, "stopped")):
        began = time.monotonic()
        act()
        until(process, state)
        assert time.monotonic() - began < 5.0
    assert process.wait(LONGEST_WAIT)
    process.error()
    found = Take.open(process.folder)
    assert found.last == FIRST and found.checkpoint_frames() == [FIRST] and faults(found) == []


def test_a_process_that_is_paused_and_stopped_goes_on_to_the_same_bytes(take, wanted):
    take.start()
    until(take, "solving", "waiting", frame=FIRST + 1)
    take.pause()
    until(take, "paused", "finished")
    take.go_on()
    until(take, "solving", "finished")
    take.stop()
    until(take, "stopped", "finished")
    take.start()
    until(take, "finished")
    assert contents(take.folder) == wanted


@posix
def test_killed_or_stopped_at_any_moment_nothing_that_was_reported_is_lost():
    record = process_kills.main(10)
    assert record["cases"] == 10 and record["failures"] == []


@posix
def test_a_process_outlives_its_parent(take, wanted):
    parent = subprocess.Popen([sys.executable, "-c", "import sys, time\nfrom pathlib import Path\n"
                               "from core.cache.solver_process import SolverProcess\n"
                               "SolverProcess(Path(sys.argv[1])).start()\nprint('started', flush=True)\ntime.sleep(99)",
                               str(take.folder)], stdout=subprocess.PIPE, cwd=ROOT, start_new_session=True)
    assert parent.stdout.readline() == b"started\n"
    until_alive = time.monotonic() + LONGEST_WAIT
    while not take.is_alive() and take.state() != "finished":
        assert time.monotonic() < until_alive
    os.killpg(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    until(take, "finished")
    assert contents(take.folder) == wanted


@pytest.mark.parametrize("paused", [True, False])
def test_a_process_whose_parent_is_killed_goes_on_or_ends_if_it_is_paused(tmp_path, wanted, paused):
    folder = prepared(tmp_path / "take")
    wish, state = ("run.pause()", "paused") if paused else ("", "finished")
    code = ("import sys, time\nfrom core.cache.solver_process import SolverProcess\n"
            f"run = SolverProcess(sys.argv[1])\nrun.start()\n{wish}\n"
            f"while run.state() != {state!r} and ({paused} or run.frame() is None): time.sleep(0.005)\n"
            "print('there', flush=True)\ntime.sleep(60)")
    parent = subprocess.Popen([sys.executable, "-c", code, str(folder)], cwd=ROOT, stdout=subprocess.PIPE)
    process = SolverProcess(folder)
    try:
        assert parent.stdout.readline() == b"there\n"
        if paused:
            time.sleep(2.5)
            assert process.state() == "paused" and process.has_parent()
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()
    assert process.wait(LONGEST_WAIT) and not process.has_parent()
    assert process.state() == ("stopped" if paused else "finished")
    if paused:
        found = Take.open(folder)
        assert not found.is_complete and (found.last is None or found.checkpoint_frames() == [found.last])
        process.start()
        until(process, "finished")
    assert contents(folder) == wanted


def test_an_error_of_the_scene_is_raised_in_the_parent(tmp_path):
    process = SolverProcess(prepared(tmp_path / "take", fed=False))
    with FeedWriter.create(process.folder / FEED_NAME, parts()[2]) as feed:
        for frame in range(FIRST + 1, LAST + 1):
            broken = {"solid": np.full((4, 3), np.inf)} if frame > FIRST + 2 else {}
            feed.append(frame, [(float(frame), {**values(frame), **broken})])
    process.start()
    until(process, "failed")
    with pytest.raises(core.ColliderError, match="collider: vertex 0 is at .*which is not a number") as caught:
        process.error()
    assert caught.value.object_name == "collider"
    assert Take.open(process.folder).last == FIRST + 2


def test_errors_keep_class_message_and_values(tmp_path):
    error = core.UnstableStepError("too long", longest=1e-4, step=2e-4, steps_per_frame=400)
    write_error(tmp_path, error)
    found = read_error(tmp_path)
    assert type(found) is core.UnstableStepError and str(found) == "too long" and found.object_name is None
    assert (found.longest, found.step, found.steps_per_frame) == (1e-4, 2e-4, 400)
    write_error(tmp_path, MemoryError("no room"))
    assert "MemoryError: no room" in str(read_error(tmp_path))


def test_a_second_process_on_one_take_is_refused(take, wanted, monkeypatch):
    take.start()
    until(take, "solving", "waiting", frame=FIRST)
    second = SolverProcess(take.folder)
    assert second.is_alive() and second.state() in ("solving", "waiting", "finished")
    if not second._has_ended():
        with pytest.raises(core.CacheError, match="a process is solving .* already"):
            second.start()
    take.pause()
    until(take, "paused", "finished")
    with monkeypatch.context() as patch:                                # as if both were started at once
        patch.setattr(SolverProcess, "is_alive", lambda self: False)
        patch.setattr(Path, "unlink", lambda *_, **__: None)
        second.start()
    second._process.wait(LONGEST_WAIT)
    take.go_on()
    second.is_alive()
    if take.state() != "finished":
        with pytest.raises(core.CacheError, match="a process is solving"):
            second.error()
    until(take, "finished")
    assert contents(take.folder) == wanted


def test_the_core_may_have_any_name_and_the_kernels_any_folder(take, wanted, tmp_path):
    code = ("import sys\nsys.path.insert(0, sys.argv[2])\nfrom pathlib import Path\nimport solver_start\n"
            "name = 'bl_ext.some.muslin.core'\nsolver_start.import_core(name, str(Path(sys.argv[2]).parent))\n"
            "import importlib\nprocess = importlib.import_module(name + '.cache.solver_process')\n"
            "importlib.import_module(name + '.kernels.backend').keep_compiled_in(Path(sys.argv[3]))\n"
            "run = process.SolverProcess(sys.argv[1])\nrun.start()\n"
            "run.wait(60.0)\nprint(run.state())\nrun.error()")
    done = subprocess.run([sys.executable, "-I", "-c", code, str(take.folder), str(ROOT / "core" / "cache"),
                           str(tmp_path / "kernels")], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("finished\n", "")
    assert contents(take.folder) == wanted


@pytest.mark.skipif(bool(why_not("numba")), reason="needs Numba")
def test_compiled_kernels_give_the_same_bytes(tmp_path):
    wanted = contents(in_process(tmp_path / "wanted", backend="numba"))          # compiles
    process = SolverProcess(prepared(tmp_path / "take", backend="numba"))
    process.start()
    until(process, "finished")
    assert contents(process.folder) == wanted


def test_a_folder_without_a_take_is_named(tmp_path):
    process = SolverProcess(tmp_path / "none")
    with pytest.raises(core.CacheError, match="no solver process can be started"):
        process.start()
    process = SolverProcess(tmp_path)
    process.start()
    until(process, "failed")
    with pytest.raises(core.CacheError, match="scene.muslin cannot be read"):
        process.error()
    assert Path(python_path()).is_file()

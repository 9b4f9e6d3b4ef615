# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes whose frames have different lengths go on to the same bytes, from a file, in a process, and after a stop."""

import time

import numpy as np
import pytest

import core
from core.cache.bake import bake_frames
from core.cache.feed import FEED_NAME, FeedWriter
from core.cache.scene_file import SCENE_NAME, load_scene, save_scene
from core.cache.solver_process import SolverProcess
from core.cache.take import Take
from tests.core.cache.solver_takes import FIRST, LAST, contents, header, in_process, parts, prepared, samples, values

SPEED = {"speed": "speed"}


@pytest.fixture(scope="module", params=["bdf2", "implicit_euler"])
def integrator(request):
    return request.param


@pytest.fixture(scope="module")
def wanted(tmp_path_factory, integrator):
    """Contents of a take that was baked in one go."""
    return contents(in_process(tmp_path_factory.mktemp("wanted") / "take", integrator=integrator, **SPEED))


def finished(process):
    process.start()
    end = time.monotonic() + 120.0
    while process.is_alive():
        assert time.monotonic() < end
        time.sleep(0.01)
    return process.state()


def test_frames_are_as_long_as_their_speeds_say(wanted, integrator):
    scene, solver, window = parts(integrator=integrator, **SPEED)
    steps, elapsed = core.simulate(scene, solver, range(FIRST, LAST + 1), clock=window.clock), 0.0
    for frame in range(FIRST, LAST + 1):
        if frame > FIRST:
            window.advance(samples(frame))
            elapsed += values(frame)["speed"][0] / 24.0
        found = next(steps)
        assert found.time == elapsed
        assert found.velocities[0].astype("<f4").tobytes() == wanted["velocities"][frame - FIRST]
        if frame > FIRST:
            longest = values(frame)["speed"][0] / 24.0 / solver.steps_per_frame
            assert found.certificate.step_max <= longest * (1.0 + 1e-12)


def test_a_scene_file_keeps_the_clock_of_its_window(tmp_path, integrator):
    scene, solver, window = parts(integrator=integrator, **SPEED)
    save_scene(tmp_path / "scene", scene, solver, window)
    loaded, _, moved = load_scene(tmp_path / "scene")
    assert moved.speed == "speed" and not moved.clock.is_uniform
    assert loaded.fields[0].noise_rate is moved.clock
    field = core.ForceField("wind", core.field_values(), noise_rate=core.FrameClock())
    other = core.Scene(scene.cloths, fields=[field])
    with pytest.raises(core.CacheError, match="noise_rate is"):
        save_scene(tmp_path / "scene", other, solver, window)


@pytest.mark.parametrize("stop", [FIRST, FIRST + 2, LAST - 2])
def test_a_bake_that_is_stopped_where_the_speed_changes_goes_on_to_the_same_bytes(tmp_path, wanted, integrator, stop):
    scene, solver, window = parts(integrator=integrator, **SPEED)
    with Take.create(tmp_path / "t", header()) as take:
        for frame in bake_frames(take, scene, solver, window, lambda frame: window.advance(samples(frame))):
            if frame.index == stop:
                break
        del frame
    scene, solver, window = parts(integrator=integrator, **SPEED)
    with Take.resume(tmp_path / "t") as take:
        start = take.checkpoint_before(take.last)
        window.jump(start.frame, values(start.frame))
        for _ in bake_frames(take, scene, solver, window, lambda frame: window.advance(samples(frame)), start):
            pass
    assert contents(tmp_path / "t") == wanted


def test_a_process_solves_the_same_bytes_and_goes_on_after_a_feed_that_ended_early(tmp_path, wanted, integrator):
    process = SolverProcess(prepared(tmp_path / "take", integrator=integrator, **SPEED))
    assert finished(process) == "finished" and contents(process.folder) == wanted
    process = SolverProcess(prepared(tmp_path / "other", fed=False, integrator=integrator, **SPEED))
    window = load_scene(process.folder / SCENE_NAME)[2]
    for opened, frames in ((FeedWriter.create, range(FIRST + 1, FIRST + 4)),
                           (FeedWriter.open, range(FIRST + 4, LAST + 1))):
        with opened(process.folder / FEED_NAME, window) as feed:
            for frame in frames:
                feed.append(frame, samples(frame))
            if frames[-1] == LAST:
                feed.finish()
        assert finished(process) == ("finished" if frames[-1] == LAST else "lost feed")
    assert contents(process.folder) == wanted


def test_other_speeds_count_from_the_frame_at_which_a_simulation_goes_on():
    """Also none at all: then frames have their own length from there on, and time does not jump."""
    scene, solver = core.Scene(parts()[0].cloths), core.Solver()
    cloth = core.Cloth(scene.cloths[0].mesh, scene.cloths[0].material, pins={0: None})
    scene = core.Scene([cloth])
    frames = list(core.simulate(scene, solver, range(6), clock=core.FrameClock(0, 24.0, lambda frame: 0.5)))
    start = frames[3].checkpoint()
    for speed, lengths in ((lambda frame: 2.0, 2.0), (None, 1.0)):
        after = list(core.simulate(scene, solver, range(4, 8), start=start, clock=core.FrameClock(0, 24.0, speed)))
        times = [frames[3].time, *(frame.time for frame in after)]
        assert np.allclose(np.diff(times), lengths / 24.0, rtol=1e-12)
        again = core.simulate(scene, solver, range(6, 8), start=after[1].checkpoint(),
                              clock=core.FrameClock(0, 24.0, speed))
        assert [frame.positions[0].tobytes() for frame in again] == [
            frame.positions[0].tobytes() for frame in after[2:]]


def test_a_clock_of_other_frames_is_refused():
    scene = core.Scene([core.Cloth(parts()[0].cloths[0].mesh, core.Material.preset("silk"))])
    for clock, words in ((core.FrameClock(2), "frame 2 at time 0 and 24 frames per second, the simulation frame 1"),
                         (core.FrameClock(1, 25.0), "25 frames per second"), (24.0, "clock is 24.0")):
        with pytest.raises(core.SceneError, match=words):
            core.simulate(scene, core.Solver(), range(1, 5), clock=clock)
    frames = core.simulate(scene, core.Solver(), range(1, 5), clock=core.FrameClock(1, 24.0, lambda frame: 3.0 - frame))
    assert next(frames).time == 0.0 and next(frames).time == 1.0 / 24.0
    with pytest.raises(core.SceneError, match=r"the speed is 0\.0 at frame 3"):
        next(frames)

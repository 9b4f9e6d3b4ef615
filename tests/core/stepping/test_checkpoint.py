# SPDX-License-Identifier: GPL-3.0-or-later
"""A simulation that is stopped at any frame and continued, in another process too, gives the same bytes."""

import dataclasses
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import core
from core.array_file import packed
from core.kernels.backend import why_not
from core.stepping import checkpoint as files
from tests.core.simple_scenes import FABRIC, floor, hanging
from tests.scenes.repeatability_scenes import SCENES

ROOT = Path(__file__).resolve().parents[3]
AFTER = 2
"""Frames that are compared after the stop."""
RESUME = """
import sys
import core
from tests.core.stepping.test_checkpoint import AFTER, seen
from tests.scenes.repeatability_scenes import SCENES

folder, backend = sys.argv[1:]
for name, build in SCENES.items():
    for number, act in enumerate(build()):
        path = f"{folder}/{name}-{number}.checkpoint"
        start = core.Checkpoint.load(path)
        frames = core.simulate(act.scene, core.Solver(**act.settings, backend=backend),
                               range(start.frame + 1, start.frame + 1 + AFTER), start=start)
        print(name, number, *[seen(frame) for frame in frames])
"""


def seen(frame):
    """A digest of all that a frame says, but for the time it took."""
    arrays = b"".join(a.tobytes() for a in (*frame.positions, *frame.velocities))
    told = {k: v for k, v in frame.certificate.as_dict().items() if k != "seconds"}
    return hashlib.sha256(arrays + repr(told).encode()).hexdigest()[:16]


@pytest.mark.once
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_every_scene_goes_on_in_another_process_as_if_it_had_not_been_stopped(backend, tmp_path):
    """All models and integrators, in contact, while seams close and particles are born."""
    if (backend == "numba") == bool(why_not("numba")):
        pytest.skip("one backend in each environment: Numba where it is installed, NumPy elsewhere")
    lines = []
    for name, build in SCENES.items():
        for number, act in enumerate(build()):
            stop = 1 + len(lines) % 3                                        # early in some scenes, later in others
            solver, rest = core.Solver(**act.settings, backend=backend), []
            for frame in core.simulate(act.scene, solver, range(stop + AFTER + 1)):
                if frame.index == stop:
                    frame.checkpoint().save(tmp_path / f"{name}-{number}.checkpoint")
                rest += [seen(frame)] if frame.index > stop else []
            lines.append(" ".join([name, str(number), *rest]))
    done = subprocess.run([sys.executable, "-c", RESUME, str(tmp_path), backend], cwd=ROOT, capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:-1] == lines


def simulated(frames=range(1, 6), start=None, solver=None, **options):
    scene = core.Scene([hanging(**options)], [floor()])
    return list(core.simulate(scene, solver or core.Solver(), frames, start=start))


def test_the_frames_may_be_looked_at_and_the_checkpoint_used_twice():
    whole = simulated()
    start = whole[2].checkpoint()
    assert (start.frame, start.first) == (3, 1)
    for _ in range(2):
        rest = simulated(range(4, 6), start)
        assert [seen(f) for f in rest] == [seen(f) for f in whole[3:]]
        rest[0].positions[0][:] = np.nan                                    # a caller's copy
    assert rest[0].time == whole[3].time


def test_a_simulation_goes_on_with_other_steps_and_other_colliders():
    start = simulated()[-1].checkpoint()
    calm = core.Solver(steps_per_frame=5, integrator="bdf2")
    scene = core.Scene([hanging()])
    *_, last = core.simulate(scene, calm, range(6, 9), start=start)
    assert np.isfinite(last.positions[0]).all() and last.certificate.steps >= 5


@pytest.mark.parametrize(("change", "words"), [
    ({"frames": range(5, 8)}, "must be 6, not 5"),
    ({"cells": 4}, "start anew with the changed mesh"),
    ({"solver": core.Solver(frame_rate=25.0)}, "24 frames per second"),
    ({"start": "frame 5"}, "must be a Checkpoint"),
])
def test_what_does_not_fit_is_refused_before_anything_is_computed(change, words):
    given = {"frames": range(6, 8), "start": simulated()[-1].checkpoint(), **change}
    cells = given.pop("cells", None)
    scene = core.Scene([hanging(cells) if cells else hanging()], [floor()])
    with pytest.raises(core.CheckpointError, match=words):
        core.simulate(scene, given.get("solver"), given["frames"], start=given["start"])


def test_another_mesh_of_as_many_vertices_is_refused():
    mesh = hanging().mesh
    for other in (core.ClothMesh(mesh.positions, mesh.triangles[:, ::-1]), core.ClothMesh(2.0 * mesh.positions,
                                                                                          mesh.triangles)):
        scene = core.Scene([core.Cloth(other, FABRIC, pins={0: None})], [floor()])
        with pytest.raises(core.CheckpointError, match="start anew with the changed mesh"):
            core.simulate(scene, frames=range(6, 8), start=simulated()[-1].checkpoint())


# ---------------------------------------------------------------------- files


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "a.checkpoint"
    checkpoint = simulated(range(1, 3))[-1].checkpoint()
    checkpoint.save(path)
    return path, checkpoint


def contents(flat):
    """Return a file with a right checksum of these values and arrays."""
    arrays = {name: value for name, value in flat.items() if isinstance(value, np.ndarray)}
    values = {name: value for name, value in flat.items() if name not in arrays}
    return packed(files.MAGIC, files.VERSION, values, arrays)


def test_a_file_holds_the_checkpoint_to_the_bit(stored):
    path, checkpoint = stored
    found, wanted = files.flatten(core.Checkpoint.load(path)), files.flatten(checkpoint)
    assert list(found) == list(wanted) and [p.name for p in path.parent.iterdir()] == [path.name]
    for name, value in wanted.items():
        assert type(found[name]) is type(value), name
        assert found[name].tobytes() == value.tobytes() if isinstance(value, np.ndarray) else found[name] == value, name
    assert b"pickle" not in path.read_bytes()


def test_a_damaged_file_is_refused_whatever_the_damage(stored):
    path, _ = stored
    whole, rng = path.read_bytes(), np.random.default_rng(5)
    for number in range(300):
        data = bytearray(whole)
        kind = number % 3
        if kind == 0:
            data = data[:int(rng.integers(len(data)))]
        elif kind == 1:
            data[int(rng.integers(len(data)))] ^= int(rng.integers(1, 256))
        else:
            data += bytes(int(rng.integers(1, 99)))
        path.write_bytes(data)
        with pytest.raises(core.CheckpointError):
            core.Checkpoint.load(path)


@pytest.mark.parametrize(("name", "value", "words"), [
    ("frame", 1.5, "'frame' is 1.5"), ("state.x", None, "'state.x' must be an array"),
    ("state.x", np.zeros((1, 3)), "has the shape"), ("state.v", np.zeros((0, 3)), "has the shape"),
    ("state.touch.mode", np.zeros(4), "array of type int64"), ("more", 1, "'more' is not known"),
])
def test_a_file_with_a_right_checksum_and_wrong_values_is_refused(stored, name, value, words):
    path, checkpoint = stored
    path.write_bytes(contents({**files.flatten(checkpoint), name: value}))
    with pytest.raises(core.CheckpointError, match=words):
        core.Checkpoint.load(path)


def test_numbers_that_are_none_are_refused(stored):
    path, checkpoint = stored
    v = checkpoint.state.v.copy()
    v[0, 0] = np.nan
    path.write_bytes(contents({**files.flatten(checkpoint), "state.v": v}))
    with pytest.raises(core.CheckpointError, match="not numbers"):
        core.Checkpoint.load(path)


def test_another_version_and_a_missing_file_are_named(stored):
    path, _ = stored
    data = bytearray(path.read_bytes())
    data[8] += 1
    path.write_bytes(data)
    with pytest.raises(core.CheckpointError, match="version 2 is not known"):
        core.Checkpoint.load(path)
    with pytest.raises(core.CheckpointError, match="cannot be read"):
        core.Checkpoint.load(path.with_name("none"))


def test_a_file_that_cannot_be_written_leaves_nothing(stored, tmp_path):
    _, checkpoint = stored
    with pytest.raises(core.CheckpointError, match="cannot be written"):
        checkpoint.save(tmp_path / "no folder" / "a.checkpoint")
    folder = tmp_path / "folder.checkpoint"
    folder.mkdir()
    with pytest.raises(core.CheckpointError):
        checkpoint.save(folder)
    assert not list(tmp_path.glob("*.part"))


def test_a_frame_made_by_hand_has_no_checkpoint():
    frame = dataclasses.replace(simulated(range(1, 2))[0], _checkpoint=None)
    with pytest.raises(core.CheckpointError, match="has no state"):
        frame.checkpoint()

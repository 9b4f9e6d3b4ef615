# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake: Blender objects in, shape keys out. One generator, which the operator, the command line and tests step.

Everything is computed first; Blender's data is written once, after the last frame. Until then the bake has changed
nothing but the scene's current frame, and closing the generator puts that back.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import bpy
import numpy as np

from ... import core
from ..properties.settings import SceneSettings, scene_settings_of
from ..read import read_cloth
from ..read.read_scene import read_world
from ..ui import certificate_text
from ..write import shape_keys
from ..write.key_coordinates import Playback
from ..write.report import Report, versions
from . import backends

EARTH = 9.81            # [m/s^2]
STRONG = 10.0           # gravity that is worth a note, in the earth's
EXPLICIT = ("explicit_euler", "symplectic_euler", "verlet")
MANY_STEPS = 32         # in a frame, that a user is told of
SEEN = 1e-3             # playback error that is worth a note, in mean edge lengths


@dataclass(frozen=True)
class Progress:
    """How far a bake is.

    Attributes:
        frame: the frame in hand.   done, total: frames.   seconds_left: None where it cannot be told yet.
        certificate: the core's, of `frame`; None while it is not solved.   cloths: names.
        touches_blender: whether the generator's next stretch reads or writes Blender data. Where it does not, it
            may be resumed in another thread.
        stage: what is done before the first frame, for the user; empty once frames are computed.
        run: which of several runs it is, for the user; empty for a bake.
    """

    frame: int
    done: int
    total: int
    seconds_left: float | None
    certificate: core.Certificate | None
    cloths: tuple[str, ...]
    touches_blender: bool
    stage: str = ""
    run: str = ""

    @property
    def fraction(self) -> float:
        return self.done / self.total


def bake(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None = None,
         frames: tuple[int, int] | None = None,
         depsgraph: bpy.types.Depsgraph | None = None,
         backend: str | None = None) -> Generator[Progress, None, Report]:
    """Bakes `objects`, or all cloth of the scene, over `frames` (first, last), or the scene's, on `backend`, or the
    scene's.

    Yields Progress and returns the Report. Closing it cancels; then, and after any error, everything is as before.

    Raises:
        core.ClothError: naming the object, the element, the value and what to do. The file is as before.
    """
    settings = scene_settings_of(scene, frames, backend)
    read_cloth.check_frames(settings.first, settings.last)
    view_layer = view_layer_of(scene, depsgraph)
    clock = _Clock()
    with frame_kept(scene):
        view_layer.update()
        with clock.stage("read"):
            world = read_world(scene, settings, objects, view_layer)
            sources, window = world.sources, world.window
            names = tuple(source.name for source in sources)
            report = _report(scene, settings, sources, world.solids)
            report.notes += world.notes
            playbacks = [Playback(source, scene, view_layer, settings.metres_per_unit) for source in sources]
        total = settings.last - settings.first + 1
        backends.keep_compiled()
        preparing = backends.prepare(settings.solver(), sorted({source.settings.model for source in sources}))
        while True:
            with clock.stage("prepare"):
                stage = next(preparing, "")
            if not stage:
                break
            yield Progress(settings.first, 0, total, None, None, names, touches_blender=False, stage=stage)
        steps = core.simulate(world.scene, settings.solver(), range(settings.first, settings.last + 1))
        keys = [_room(source, total) for source in sources]
        certificate = None
        for done in range(total):
            frame = settings.first + done
            if done:
                with clock.stage("read"):
                    window.read(frame)
            left = clock.left(done, total)
            yield Progress(frame, done, total, left, None, names, touches_blender=False,
                           stage=_many_steps(world.scene, settings) if done == 1 else "")
            with clock.stage("solve"):
                solved = next(steps)
            certificate = solved.certificate
            report.certificates.append(certificate.as_dict())
            yield Progress(frame, done, total, left, certificate, names, touches_blender=True)
            with clock.stage("fit"):
                if scene.frame_current != frame or scene.frame_subframe:
                    scene.frame_set(frame)                  # someone scrubbed meanwhile
                for playback, key, positions in zip(playbacks, keys, solved.positions, strict=True):
                    key[done] = playback.key_coordinates(positions)
        yield Progress(settings.last, total, total, 0.0, certificate, names, touches_blender=True)
        _finish_report(report, clock, playbacks, world.cloths, settings.backend)
        _write(sources, settings, keys, report, clock)
    return report


def _room(source: read_cloth.ClothSource, frames: int) -> Any:
    """For one cloth's key coordinates (F, V, 3), asked for before anything is computed: hours could be lost later."""
    shape = frames, len(source.obj.data.vertices), 3
    try:
        return np.empty(shape, np.float32)
    except MemoryError as error:
        size = 4e-9 * np.prod(shape, dtype=float)
        raise core.SceneError(f"{frames} frames of {shape[1]} vertices take {size:.3g} GB, more than there is; bake "
                              "fewer frames, or a coarser mesh", object_name=source.name) from error


def _many_steps(scene: core.Scene, settings: SceneSettings) -> str:
    """What is to be said of the wait for the first frame: how many steps an explicit integrator takes."""
    if settings.integrator not in EXPLICIT:
        return ""
    count = core.steps_in_frame(scene, settings.solver())
    return f"Baking - {count} steps a frame" if count >= MANY_STEPS else ""


def _write(sources: Sequence[read_cloth.ClothSource], settings: SceneSettings, keys: Sequence[Any], report: Report,
           clock: _Clock) -> None:
    for source, key in zip(sources, keys, strict=True):
        read_cloth.check_editable(source.obj)
        if len(source.obj.data.vertices) != key.shape[1]:
            raise core.SceneError(f"has {len(source.obj.data.vertices)} vertices now and had {key.shape[1]} when the "
                                  "bake began; bake again", object_name=source.name)
        if shape_keys.users_keys(source.obj) != source.own_keys:
            raise core.SceneError("has other shape keys of its own now than when the bake began, and what is baked "
                                  "would add to them; bake again", object_name=source.name)
    values = report.as_dict()
    with clock.stage("write"):
        shape_keys.replace([shape_keys.BakedShape(source.obj, settings.first, key, values, settings.time_ratio)
                            for source, key in zip(sources, keys, strict=True)])
    report.seconds = clock.seconds()


def view_layer_of(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None) -> bpy.types.ViewLayer:
    if depsgraph is not None:
        return scene.view_layers[depsgraph.view_layer.name]
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


def _report(scene: bpy.types.Scene, settings: SceneSettings, sources: Sequence[read_cloth.ClothSource],
            solids: Sequence[bpy.types.Object]) -> Report:
    report = Report(scene=scene.name, cloths=[source.name for source in sources],
                    colliders=[obj.name for obj in solids], first=settings.first, last=settings.last,
                    settings={"scene": asdict(settings)} | {source.name: asdict(source.settings) for source in sources})
    pull = float(np.linalg.norm(settings.gravity))
    unit = settings.metres_per_unit
    if unit != 1.0 and abs(pull - EARTH * unit) < 0.01 * EARTH * unit:
        report.notes.append(f"Gravity is {pull:.3g} m/s², because the scene's unit is {unit:g} m. For the earth's, set "
                            "Scene > Gravity to 9.81 m/s² downwards.")
    elif pull > STRONG * EARTH:
        report.notes.append(f"Gravity is {pull:.3g} m/s², {pull / EARTH:.3g} times the earth's. If that is not meant, "
                            "correct Scene > Gravity, or the unit scale in Scene > Units.")
    return report


def _finish_report(report: Report, clock: _Clock, playbacks: Sequence[Playback], cloths: Sequence[core.Cloth],
                   wanted: str | None) -> None:
    report.seconds = clock.seconds()
    report.backend = report.certificates[0]["backend"]
    if report.backend == "numba":
        report.versions = versions(numba=True)
    elif backends.broken() and wanted is None:
        report.notes.append(f"Numba is installed but does not run here, NumPy ran instead: {backends.broken()}")
    values = report.as_dict()
    found = (certificate_text.start_note(values), certificate_text.stretch_note(values))
    report.notes += [note for note in found if note]
    slow = report.summary()["not_converged"]
    if slow and report.settings["scene"]["integrator"] == "projective_dynamics":
        report.notes.append(f"Projective dynamics ended {slow} of {len(report.certificates)} frames before it was "
                            f"close to the solution, with a residual of up to {report.summary()['residual']:.2g}: the "
                            "cloth moves there as in honey. Raise Outer Iterations or Steps per Frame, or take BDF2.")
    for name, playback, cloth in zip(report.cloths, playbacks, cloths, strict=True):
        report.playback_error[name] = playback.error
        if playback.error > SEEN * cloth.mesh.mean_edge:
            report.notes.append(f"{name}: plays back up to {playback.error:.3g} m from where it was simulated, because "
                                "a modifier cannot be undone exactly. Switch off modifiers that smooth it.")


class _Clock:
    """Seconds by stage, and how many are left."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._first_frame: float | None = None
        self._stages: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + time.perf_counter() - start

    def left(self, done: int, total: int) -> float | None:
        """As a frame begins, `done` of which are whole: from their mean. The first one is not solved but given."""
        now = time.perf_counter()
        if done <= 1:
            self._first_frame = now
            return None
        return (now - self._first_frame) / (done - 1) * (total - done)

    def seconds(self) -> dict[str, float]:
        return {**{name: round(value, 4) for name, value in self._stages.items()},
                "total": round(time.perf_counter() - self._began, 4)}

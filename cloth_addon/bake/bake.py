# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake: cloth of a Blender scene to shape keys. One generator, stepped by the operator, the command line and tests.

All frames are computed first. Blender's data is written once, after the last frame. Until then the bake changes nothing
but the scene's current frame, and closing the generator restores that.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import bpy
import numpy as np

from ... import core
from ..properties.settings import SceneSettings, scene_settings_of
from ..read import read_cloth
from ..read.fingerprint import fingerprint
from ..read.read_scene import SimulationInput, read_scene
from ..write import shape_keys
from ..write.key_coordinates import KeyFitter
from ..write.report import Report, versions
from . import backends, report_notes
from .progress import Progress, StageTimer
from .watch import Watch, exists

EXPLICIT_INTEGRATORS = ("explicit_euler", "symplectic_euler", "verlet")
MANY_STEPS = 32
"""Number of steps in a frame from which on the user is told."""


def bake(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None = None,
         frames: tuple[int, int] | None = None,
         depsgraph: bpy.types.Depsgraph | None = None,
         backend: str | None = None) -> Generator[Progress, None, Report]:
    """Bake `objects`, or all cloth of the scene.

    Yields Progress and returns the Report. Closing the generator cancels the bake. A bake that is cancelled or fails
    leaves everything unchanged.

    Args:
        frames: first and last frame, instead of the scene's.
        depsgraph: its view layer is baked, instead of the current one.
        backend: name of the backend, instead of the scene's.

    Raises:
        core.ClothError: something cannot be baked. It names the object, the element, the value and what to do.
    """
    watch = Watch(scene)
    with watch.errors_named():
        return (yield from _bake(scene, objects, frames, depsgraph, backend, watch))


def _bake(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None, frames: tuple[int, int] | None,
          depsgraph: bpy.types.Depsgraph | None, backend: str | None, watch: Watch
          ) -> Generator[Progress, None, Report]:
    """Bake as `bake` does. Whatever changes while the generator waits is noticed by `watch`."""
    settings = scene_settings_of(scene, frames, backend)
    read_cloth.check_frames(settings.first, settings.last, settings.start)
    view_layer = view_layer_of(scene, depsgraph)
    timer = StageTimer()
    with frame_kept(scene):
        view_layer.update()
        with timer.stage("read"):
            inputs = read_scene(scene, settings, objects, view_layer)
            sources, window = inputs.sources, inputs.window
            names = tuple(source.name for source in sources)
            fitters = [KeyFitter(source, scene, view_layer, settings.metres_per_unit) for source in sources]
            watch.start(view_layer, [source.obj for source in sources], inputs.collider_objects,
                        lambda: scene_settings_of(scene, frames, backend))
            fingerprints = {source.name: fingerprint(scene, source.obj, frames) for source in sources}
        total = settings.last - settings.start + 1
        backends.keep_compiled()
        preparing = backends.prepare(settings.solver(), sorted({source.settings.model for source in sources}))
        while True:
            with timer.stage("prepare"):
                stage = next(preparing, "")
            if not stage:
                break
            yield Progress(settings.start, 0, total, None, None, names, touches_blender=False, stage=stage)
        simulation = core.simulate(inputs.scene, settings.solver(), range(settings.start, settings.last + 1))
        keys = [_allocate_keys(source, len(inputs.cloths[i].positions), total - settings.preroll)
                for i, source in enumerate(sources)]
        certificate, certificates = None, []
        for done in range(total):
            frame = settings.start + done
            if done:
                with timer.stage("read"):
                    window.read(frame)
                    watch.set_frame(frame)
            left = timer.seconds_left(done, total)
            yield Progress(frame, done, total, left, None, names, touches_blender=False,
                           stage=_many_steps_text(inputs.scene, settings) if done == 1 else "")
            with timer.stage("solve"):
                solved = next(simulation)
            certificate = solved.certificate
            yield Progress(frame, done, total, left, certificate, names, touches_blender=True)
            if frame < settings.first:
                watch.check()
                continue
            certificates.append(certificate.as_dict())
            with timer.stage("fit"):
                if watch.check() or scene.frame_current != frame or scene.frame_subframe:
                    scene.frame_set(frame)      # the user has changed the frame, or animated values, during the bake
                for fitter, key, positions in zip(fitters, keys, solved.positions, strict=True):
                    key[frame - settings.first] = fitter.key_coordinates(positions)
        yield Progress(settings.last, total, total, 0.0, certificate, names, touches_blender=True)
        watch.check()
        report = _report(scene, settings, inputs, certificates, fitters, fingerprints, timer)
        _write(sources, settings, keys, report, timer)
        return replace(report, seconds=timer.seconds())


def _allocate_keys(source: read_cloth.ClothSource, vertices: int, frames: int) -> Any:
    """Return an array (F, V, 3) for the key coordinates of one cloth.

    Called before the simulation, so that a lack of memory is an error at the start and not after hours.
    """
    shape = frames, vertices, 3
    try:
        return np.empty(shape, np.float32)
    except MemoryError as error:
        size = 4e-9 * np.prod(shape, dtype=float)
        raise core.SceneError(f"{frames} frames of {shape[1]} vertices take {size:.3g} GB, more than there is; bake "
                              "fewer frames, or a coarser mesh", object_name=source.name) from error


def _many_steps_text(scene: core.Scene, settings: SceneSettings) -> str:
    """Return a text for the user if an explicit integrator takes many steps in a frame, else an empty one."""
    if settings.integrator not in EXPLICIT_INTEGRATORS:
        return ""
    count = core.steps_in_frame(scene, settings.solver())
    return f"Baking - {count} steps a frame" if count >= MANY_STEPS else ""


def _report(scene: bpy.types.Scene, settings: SceneSettings, inputs: SimulationInput,
            certificates: list[dict[str, Any]], fitters: Sequence[KeyFitter],
            fingerprints: dict[str, dict[str, str]], timer: StageTimer) -> Report:
    """Return the report of a bake before it is written."""
    names = [source.name for source in inputs.sources]
    backend = certificates[0]["backend"]
    report = Report(
        scene=scene.name, cloths=names, colliders=[obj.name for obj in inputs.collider_objects], first=settings.first,
        last=settings.last,
        settings={"scene": asdict(settings)} | {source.name: asdict(source.settings) for source in inputs.sources},
        certificates=certificates, fingerprints=fingerprints,
        playback_error={name: fitter.error for name, fitter in zip(names, fitters, strict=True)},
        seconds=timer.seconds(), notes=report_notes.gravity_notes(settings) + inputs.notes,
        versions=versions(numba=backend == "numba"), backend=backend)
    return replace(report, notes=report.notes + report_notes.result_notes(report, inputs.cloths, settings.backend))


def _write(sources: Sequence[read_cloth.ClothSource], settings: SceneSettings, keys: Sequence[Any], report: Report,
           timer: StageTimer) -> None:
    """Write the shape keys. The objects have not changed during the bake."""
    values = report.as_dict()
    with timer.stage("write"):
        shape_keys.write_bakes([shape_keys.BakedShape(source.obj, settings.first, key, values, settings.time_ratio)
                                for source, key in zip(sources, keys, strict=True)])


def view_layer_of(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph | None) -> bpy.types.ViewLayer:
    """Return the view layer of `depsgraph`, or the current one of the scene."""
    if depsgraph is not None:
        return scene.view_layers[depsgraph.view_layer.name]
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]


@contextmanager
def frame_kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Restore the scene's current frame at the end, if the scene still exists."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        if exists(scene):
            scene.frame_set(frame, subframe=subframe)

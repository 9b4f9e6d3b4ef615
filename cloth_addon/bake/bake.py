# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake: cloth of a Blender scene to a take on disk, and from there to the result in the file.

One generator, stepped by scripts, the command line and tests; window_bake.py does the same beside Blender's window.
Every frame is on disk as soon as it is solved. Blender's data is written once, after the last frame. Until then the
bake changes nothing but the scene's current frame, and closing the generator restores that and keeps the frames.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress

import bpy

from ... import core
from ...core.cache.bake import bake_frames
from ...core.cache.take import Take
from ..properties.settings import SceneSettings
from ..write.report import Report
from . import backends, first_compile, takes
from .apply_take import apply_take
from .preparation import Continuation, Preparation
from .progress import Progress
from .watch import Watch, exists

EXPLICIT_INTEGRATORS = ("explicit_euler", "symplectic_euler", "verlet")
MANY_STEPS = 32
"""Number of steps in a frame from which on the user is told."""


def bake(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None = None,
         frames: tuple[int, int] | None = None,
         depsgraph: bpy.types.Depsgraph | None = None,
         backend: str | None = None, resume: Continuation | None = None) -> Generator[Progress, None, Report]:
    """Bake `objects`, or all cloth of the scene.

    Yields Progress and returns the Report. Closing the generator cancels the bake. A bake that is cancelled or fails
    leaves the file unchanged; its frames stay on disk, and `resume` continues from them.

    Args:
        frames: first and last frame, instead of the scene's.
        depsgraph: its view layer is baked, instead of the current one.
        backend: name of the backend, instead of the scene's.
        resume: the take to continue, and from where.

    Raises:
        core.ClothError: something cannot be baked. It names the object, the element, the value and what to do.
    """
    watch = Watch(scene)
    with watch.errors_named():
        view_layer = view_layer_of(scene, depsgraph)
        with frame_kept(scene):
            return (yield from _bake(scene, objects, frames, view_layer, backend, resume, watch))


def _bake(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None, frames: tuple[int, int] | None,
          view_layer: bpy.types.ViewLayer, backend: str | None, resume: Continuation | None, watch: Watch
          ) -> Generator[Progress, None, Report]:
    """Bake as `bake` does. Whatever changes while the generator waits is noticed by `watch`."""
    prepared = Preparation(scene, objects, frames, view_layer, backend, watch)
    settings, timer, names = prepared.settings, prepared.timer, prepared.names
    first_compile.stop()
    backends.keep_compiled()
    solver, total = settings.solver(), settings.last - settings.start + 1
    preparing = backends.prepare(solver, prepared.models)
    while True:
        with timer.stage("prepare"):
            stage = next(preparing, "")
        if not stage:
            break
        yield Progress(settings.start, 0, total, None, None, names, touches_blender=False, stage=stage)
    steps_text = _many_steps_text(prepared.inputs.scene, settings)
    take, start = prepared.take(resume)
    with take, _closed(_solved(take, start, prepared)) as solved:
        before = 0 if take.last is None else take.last + 1 - settings.start
        certificate = None
        for done in range(before, total + 1):
            left = timer.seconds_left(done - before, total - before)
            frame = settings.start + done - (certificate is not None)
            yield Progress(frame, done, total, left, certificate, names, touches_blender=True,
                           stage=steps_text if done == before + 1 else "")
            if done < total:
                with timer.stage("solve"):
                    certificate = next(solved).certificate
        for _ in solved:
            pass                                                    # its end writes the last checkpoint
        watch.check()
        report = yield from apply_take(scene, view_layer, take, prepared.objects, timer, watch)
        takes.delete_input(take.folder)                             # of an earlier bake beside the window
        takes.delete_older(scene, prepared.objects, {take.header.take})
    return report.timed(timer.seconds())


@contextmanager
def _closed(solved: Generator[core.Frame, None, None]) -> Iterator[Generator[core.Frame, None, None]]:
    """Close the simulation at the end, which writes its last frame and state.

    Of a bake that is cancelled, the folder may be gone: then there is nothing to write.
    """
    try:
        yield solved
    except GeneratorExit:
        with suppress(core.ClothError):
            solved.close()
        raise
    finally:
        solved.close()


def _solved(take: Take, start: core.Checkpoint | None, prepared: Preparation) -> Generator[core.Frame, None, None]:
    """Simulate into the take from the state `start` on, or from the first frame if that is None."""
    if start is not None and start.frame > prepared.settings.start:
        prepared.read(start.frame)
    yield from bake_frames(take, prepared.inputs.scene, prepared.settings.solver(), prepared.inputs.window.motion,
                           lambda frame: _read_checked(prepared, frame), start)


def _read_checked(prepared: Preparation, frame: int) -> None:
    """Read a frame, unless something that the bake depends on has changed."""
    prepared.watch.check()
    prepared.read(frame)


def _many_steps_text(scene: core.Scene, settings: SceneSettings) -> str:
    """Return a text for the user if an explicit integrator takes many steps in a frame, else an empty one."""
    if settings.integrator not in EXPLICIT_INTEGRATORS:
        return ""
    count = core.steps_in_frame(scene, settings.solver())
    return f"Baking - {count} steps a frame" if count >= MANY_STEPS else ""


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

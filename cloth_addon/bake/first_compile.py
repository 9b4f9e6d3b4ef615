# SPDX-License-Identifier: GPL-3.0-or-later
"""Compile kernels beside Blender as soon as an object is cloth, so that the first bake need not wait for them.

A process of the lowest priority does it, once on a machine for each model and integrator. A bake that begins meanwhile
ends it and compiles the rest itself; the kernels that are compiled are kept. A timer looks after the process.
"""

from __future__ import annotations

import bpy

from ... import core
from ...core.cache.kernel_process import KernelProcess
from ..properties import change_listeners
from ..properties.model_options import model_of
from ..properties.settings import scene_settings_of
from . import backends, bake_job

POLL = 0.5
"""Time between two looks at the process [s]."""
COMPILING = "Compiling kernels for the first bake, in the background. You can bake at any time"
COMPILED = "Numba is installed, and its kernels are compiled"


class _State:
    """The process, None without one, and why the last one failed."""

    def __init__(self) -> None:
        self.process: KernelProcess | None = None
        self.problem = ""


_state = _State()


def begin(scene: bpy.types.Scene) -> None:
    """Start to compile what a bake of the scene's cloth needs, if anything is missing and can be kept."""
    if _state.process is not None or _state.problem or bake_job.current() is not None or not _can_compile(scene):
        return
    try:
        solver, models = wanted(scene)
        if models and not core.is_kept(solver, models):
            _state.process = KernelProcess(solver, models)
    except core.ClothError:                                         # a bake says what is wrong
        return
    if _state.process is not None and not bpy.app.timers.is_registered(_look):
        bpy.app.timers.register(_look, first_interval=POLL)


def _can_compile(scene: bpy.types.Scene) -> bool:
    if scene.muslin.backend == "NUMPY" or not backends.is_installed() or backends.why_broken():
        return False
    backends.keep_compiled()
    return backends.keeps()


def wanted(scene: bpy.types.Scene) -> tuple[core.Solver, list[str]]:
    """Return the solver of the scene, and the names of the models of its cloth."""
    cloths = [obj for obj in scene.objects if obj.type == "MESH" and obj.muslin.kind == "CLOTH"]
    return scene_settings_of(scene).solver(), sorted({model_of(obj) for obj in cloths})


def text() -> str:
    """Return the text for the panel while kernels are compiled; empty if they are not."""
    return COMPILING if _state.process is not None else ""


def remark(scene: bpy.types.Scene) -> str:
    """Return the panel's remark on the backend of the scene; empty if there is none."""
    known = backends.remark(scene.muslin.backend)
    if scene.muslin.backend == "NUMPY" or known != backends.NOT_TRIED:
        return known
    if _state.process is not None or _state.problem:
        return text() or f"Numba does not run here: {_state.problem}"
    return COMPILED if _is_compiled(scene) else known


def _is_compiled(scene: bpy.types.Scene) -> bool:
    try:
        solver, models = wanted(scene)
        return bool(models) and core.is_kept(solver, models)
    except core.ClothError:
        return False


def stop() -> None:
    """End the process, because a bake compiles the rest, or Blender goes on without."""
    process, _state.process = _state.process, None
    if process is not None:
        process.stop()


def _look() -> float | None:
    """Look whether the process has ended. Return the time until the next look [s], None if there is none."""
    process = _state.process
    if process is not None and process.is_alive():
        return POLL
    if process is not None:
        _state.process, _state.problem = None, process.problem()
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()
    return None


def _changed() -> None:
    """Begin when an object becomes cloth in a window. Without one, a bake follows at once and compiles."""
    if not bpy.app.background:
        begin(bpy.context.scene)


def attach() -> None:
    """Listen to objects that become cloth."""
    change_listeners.add(_changed)


def detach() -> None:
    """Stop listening, and end the process."""
    change_listeners.remove(_changed)
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
    stop()
    _state.problem = ""

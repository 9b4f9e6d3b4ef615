# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked cloth at every frame, as Blender evaluates it.

Whatever plays the bake, shape keys or a cache, the export reads the evaluated mesh. The record of the bake gives the
frame range only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from .... import core
from ...properties import baked_record
from ...read import unbaked_state

LOCKED_MODES = {"EDIT": "Edit Mode", "SCULPT": "Sculpt Mode"}
"""Modes in which Blender shows the edited shape instead of the bake."""


def frames_of(obj: bpy.types.Object) -> range:
    """Return the baked frames of an object.

    Raises:
        core.SceneError: it has no bake, or the record of its bake is damaged.
    """
    problem = baked_record.problem_of(obj)
    if problem:
        raise core.SceneError(problem, object_name=obj.name)
    report = baked_record.report_of(obj)
    if report is None:
        raise core.SceneError("has no bake; press Bake in the Bake panel first", object_name=obj.name)
    return range(report["first"], report["last"] + 1)


def frames_of_all(objects: Sequence[bpy.types.Object]) -> range:
    """Return the range of frames that covers the bakes of all `objects`."""
    ranges = [frames_of(obj) for obj in objects]
    return range(min(found.start for found in ranges), max(found.stop for found in ranges))


def check_exportable(objects: Sequence[bpy.types.Object]) -> None:
    """Raise SceneError unless there are `objects`, all with a bake, and not in a mode that hides it."""
    if not objects:
        raise core.SceneError("no baked cloth is selected; select one, or set Cloth to All in the export's options")
    for obj in objects:
        frames_of(obj)
        if obj.mode in LOCKED_MODES:
            raise core.SceneError(f"is in {LOCKED_MODES[obj.mode]}, which hides its bake; leave it to export the bake",
                                  object_name=obj.name)


@contextmanager
def evaluated(context: bpy.types.Context, objects: Sequence[bpy.types.Object], *,
              use_modifiers: bool) -> Iterator[None]:
    """Make Blender evaluate `objects`, hidden ones too; at the end restore them, the frame and the mode.

    Args:
        use_modifiers: whether modifiers that change vertices or faces stay on.

    Raises:
        core.SceneError: an object is not in the view layer, or hidden with its collection.
    """
    scene, view_layer = context.scene, context.view_layer
    frame, subframe = scene.frame_current, scene.frame_subframe
    active: Any = view_layer.objects.active
    mode: Any = None if active is None else active.mode
    hidden: list[tuple[Any, bool, bool]] = []
    try:
        with unbaked_state.shown(objects):
            for obj in objects:
                if obj.name not in view_layer.objects:
                    raise core.SceneError(f"is not in view layer '{view_layer.name}'; link it to the scene, or switch "
                                          "its collection on in the Outliner", object_name=obj.name)
                hidden.append((obj, obj.hide_viewport, obj.hide_get(view_layer=view_layer)))
                obj.hide_viewport = False
                obj.hide_set(False, view_layer=view_layer)
            view_layer.update()
            for obj in objects:
                if not obj.visible_get(view_layer=view_layer):
                    raise core.SceneError("is hidden with its collection; show the collection in the Outliner to "
                                          "export it", object_name=obj.name)
            off = {} if use_modifiers else {
                obj: unbaked_state.generative_modifiers(obj, view_layer) for obj in objects}
            with unbaked_state.ungenerated(off):
                view_layer.update()
                yield
    finally:
        scene.frame_set(frame, subframe=subframe)               # hidden objects would keep the values of another frame
        for obj, hide_viewport, hide in hidden:
            obj.hide_set(hide, view_layer=view_layer)
            obj.hide_viewport = hide_viewport
        scene.frame_set(frame, subframe=subframe)
        if active is not None and active.mode != mode:          # the OBJ exporter goes to Object Mode
            bpy.ops.object.mode_set(mode=mode)


def evaluated_frames(context: bpy.types.Context, frames: Sequence[int]) -> Iterator[tuple[int, bpy.types.Depsgraph]]:
    """Go to each frame of the scene, and yield it with the evaluated dependency graph. Show the progress."""
    depsgraph = context.evaluated_depsgraph_get()
    manager = context.window_manager
    manager.progress_begin(0, len(frames))
    try:
        for i, frame in enumerate(frames):
            context.scene.frame_set(frame)
            yield frame, depsgraph
            manager.progress_update(i + 1)
    finally:
        manager.progress_end()


def world_matrix(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> NDArray[np.float64]:
    """Return the world matrix (4, 4) of the evaluated object [Blender units]."""
    return np.array(obj.evaluated_get(depsgraph).matrix_world, np.float64)

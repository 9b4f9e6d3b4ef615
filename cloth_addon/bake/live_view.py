# SPDX-License-Identifier: GPL-3.0-or-later
"""View of a running bake: Mesh Cache modifiers that play the growing take, and a scene that follows the last frame.

The modifiers are no part of the file: they are taken away before it is saved, and when the bake ends. The scene follows
as long as the user has not moved to another frame, and then goes back to the user's frame.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ..write import mesh_cache

PAUSE = 0.1
"""Shortest time between two frames that the scene is moved to [s]: solving may be faster than drawing."""


class LiveView:
    """Shows a take while it grows.

    Args:
        scene: the scene of the bake.   objects: its cloths.
        files: absolute path of the PC2 file of each.
        start: frame of the first sample.   time_ratio: as in `BakedShape`.
        frame: the user's frame.
    """

    def __init__(self, scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], files: Sequence[Path], start: int,
                 time_ratio: float, frame: int) -> None:
        self._scene = scene.session_uid
        self._files = {obj.session_uid: path for obj, path in zip(objects, files, strict=True)}
        self._start, self._time_ratio = start, time_ratio
        self._home = self._frame = frame
        self._follows = True
        self._set_at = 0.0

    def show(self, last: int) -> None:
        """Show the frames up to `last`. Everything that was removed meanwhile is left out."""
        scene: Any = by_uid(bpy.data.scenes, self._scene)
        if scene is None or last < self._start:                     # Blender complains about a file without frames
            return
        if bpy.app.is_job_running("RENDER"):                        # it sets the frames itself
            return
        self._add_modifiers(scene)
        if scene.frame_current != self._frame or _plays():
            self._follows = False                                   # the user looks at another frame
        if self._follows and scene.frame_current < last and time.monotonic() > self._set_at + PAUSE:
            self._frame = last
            scene.frame_set(last)
            self._set_at = time.monotonic()

    def hide(self) -> None:
        """Take the modifiers away."""
        remove_left_over()                                          # from copies of the cloths, too

    def go_home(self) -> None:
        """Show the frame that the user has chosen, unless it is shown already."""
        scene: Any = by_uid(bpy.data.scenes, self._scene)
        if scene is not None and self._follows and scene.frame_current == self._frame != self._home:
            self._frame = self._home
            scene.frame_set(self._home)

    def _add_modifiers(self, scene: Any) -> None:
        for uid, path in self._files.items():
            obj: Any = by_uid(bpy.data.objects, uid)
            if obj is None or obj.mode == "EDIT" or not obj.is_editable:
                continue
            there = obj.modifiers.get(mesh_cache.PREVIEW)
            if there is not None and mesh_cache.absolute_path(there.filepath) == path:
                continue
            mesh_cache.remove(obj, mesh_cache.PREVIEW)              # of an earlier bake, by an undo
            with suppress(core.ClothError):                         # no place for it: the result shows it at the end
                mesh_cache.add(obj, mesh_cache.PREVIEW, path, self._start, self._time_ratio)


def remove_left_over() -> None:
    """Remove the modifiers of running bakes from all objects: a copy, an undo or a crash may have left some."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and obj.is_editable and len(obj.modifiers):
            mesh_cache.remove(obj, mesh_cache.PREVIEW)


def by_uid(items: Any, uid: int) -> Any:
    """Return the data-block of this identity, which stays the same when it is renamed or an undo restores it."""
    return next((item for item in items if item.session_uid == uid), None)


def _plays() -> bool:
    return any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)

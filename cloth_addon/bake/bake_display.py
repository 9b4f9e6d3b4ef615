# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake that runs takes of Blender's interface, and gives back: timer, status bar, cursor, handlers."""

from __future__ import annotations

from typing import Any

import bpy

from . import bake_job

TICK = 0.02
"""Time [s] between two looks at a bake that runs."""


class BakeDisplay:
    """Open from the start; `close` may be called from anywhere, once Blender has no window left as well."""

    def __init__(self, context: bpy.types.Context, running: bake_job.Job) -> None:
        self._job = running
        self._shown = ""
        self._workspaces: set[str] = set()
        self._manager = context.window_manager
        self._timer = self._manager.event_timer_add(TICK, window=context.window)
        self._manager.progress_begin(0, 100)
        self._handlers = _handlers(context.scene)
        for handlers, handler in self._handlers:
            handlers.append(handler)
        running.at_end = self.close

    def show(self, context: bpy.types.Context) -> None:
        text = self._job.text()
        if text == self._shown:
            return
        self._shown = text
        context.workspace.status_text_set(f"{text}   (Esc cancels)")
        self._workspaces.add(context.workspace.name)
        context.window_manager.progress_update(100 * self._job.fraction)
        _redraw(context.window_manager)

    def close(self) -> None:
        for handlers, handler in self._handlers:
            if handler in handlers:                 # loading a file has taken it out already
                handlers.remove(handler)
        for name in self._workspaces:
            if name in bpy.data.workspaces:
                bpy.data.workspaces[name].status_text_set(None)
        self._manager.event_timer_remove(self._timer)
        self._manager.progress_end()
        _redraw(self._manager)


def _handlers(scene: bpy.types.Scene) -> list[tuple[list[Any], Any]]:
    """What must happen when the user undoes, loads or saves while a bake runs."""
    name, frame = scene.name, scene.frame_current

    def undone(*_: Any) -> None:
        bake_job.abort("something was undone or redone")

    def loaded(*_: Any) -> None:
        bake_job.abort("another file was opened")

    def saved(*_: Any) -> None:
        """The file remembers the user's frame; the bake goes back to its own."""
        if name in bpy.data.scenes:
            bpy.data.scenes[name].frame_set(frame)

    on = bpy.app.handlers
    return [(on.undo_pre, undone), (on.redo_pre, undone), (on.load_pre, loaded), (on.save_pre, saved)]


def _redraw(manager: bpy.types.WindowManager) -> None:
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type in {"PROPERTIES", "STATUSBAR"}:
                area.tag_redraw()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Display of a comparison that runs: timer, status bar, cursor and handlers, all removed when it ends."""

from __future__ import annotations

from typing import Any

import bpy

from ..bake import bake_job

TICK = 0.02
"""Time between two turns of a running comparison [s]."""


class ComparisonDisplay:
    """The display of a job, from construction to `close`, which works without a window, too."""

    def __init__(self, context: bpy.types.Context, job: bake_job.Job) -> None:
        self._job = job
        self._text = ""
        self._workspaces: set[str] = set()
        self._manager = context.window_manager
        self._timer = self._manager.event_timer_add(TICK, window=context.window)
        self._manager.progress_begin(0, 100)
        self._handlers = _handlers(context.scene)
        for handlers, handler in self._handlers:
            handlers.append(handler)
        job.call_at_end(self.close)

    def show(self, context: bpy.types.Context) -> None:
        """Show the job's status in the status bar and at the cursor."""
        text = self._job.text()
        if text == self._text:
            return
        self._text = text
        context.workspace.status_text_set(f"{text}   (Esc cancels)")
        self._workspaces.add(context.workspace.name)
        context.window_manager.progress_update(100 * self._job.fraction)
        _redraw(context.window_manager)

    def close(self) -> None:
        """Remove everything that the display has added."""
        for handlers, handler in self._handlers:
            if handler in handlers:                 # loading a file removes it, too
                handlers.remove(handler)
        for name in self._workspaces:
            if name in bpy.data.workspaces:
                bpy.data.workspaces[name].status_text_set(None)
        self._manager.event_timer_remove(self._timer)
        self._manager.progress_end()
        _redraw(self._manager)


def _handlers(scene: bpy.types.Scene) -> list[tuple[list[Any], Any]]:
    """Return the handlers for undo, redo, loading and saving during a comparison, each with Blender's list for it."""
    name, frame = scene.name, scene.frame_current

    def abort_at_undo(*_: Any) -> None:
        bake_job.abort("something was undone or redone")

    def abort_at_load(*_: Any) -> None:
        bake_job.abort("another file was opened")

    def restore_frame(*_: Any) -> None:
        """Set the user's frame, so that it is saved in the file. The comparison sets its own frame again."""
        if name in bpy.data.scenes:
            bpy.data.scenes[name].frame_set(frame)

    on = bpy.app.handlers
    return [(on.undo_pre, abort_at_undo), (on.redo_pre, abort_at_undo), (on.load_pre, abort_at_load),
            (on.save_pre, restore_frame)]


def _redraw(manager: bpy.types.WindowManager) -> None:
    for window in manager.windows:
        for area in window.screen.areas:
            if area.type in {"PROPERTIES", "STATUSBAR", "DOPESHEET_EDITOR"}:
                area.tag_redraw()

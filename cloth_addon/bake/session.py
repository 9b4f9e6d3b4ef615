# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake that runs beside Blender's window: turns by a timer, pause, cancel, messages, and handlers.

A timer of the application, not a modal operator, gives the bake its turns: Blender's own automatic saving goes on, no
key cancels the bake by mistake, and an undo does not end it once the scene is read.
"""

from __future__ import annotations

import atexit
import textwrap
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import bpy

from ... import core
from ..write.report import Report
from . import bake_job, live_view, relink, saved_takes
from .preparation import Continuation
from .window_bake import WindowBake

TICK = 0.05
"""Time between two turns [s]."""
POPUP_WIDTH = 90
"""Largest number of characters of a line in a message beside the mouse [-]."""
REDRAW = 0.25
"""Shortest time between two drawings of panels and timeline for the progress of a bake [s]."""


class _Session:
    """State of the running bake, and the message of the last one.

    Attributes:
        bake: the running bake, None without one.
        message: why the last bake ended with an error; empty if it did not.
        frame: the scene and the user's frame, to which it is set for saving while a bake reads.
        at_end: called at the end of the bake.
        drawn: the progress that was drawn last, and the time of that [s].
    """

    def __init__(self) -> None:
        self.bake: WindowBake | None = None
        self.message = ""
        self.frame: tuple[int, int] = (0, 0)
        self.at_end: Callable[[Report | None, str], None] | None = None
        self.drawn: tuple[Any, float] = (None, 0.0)


_session = _Session()


def begin(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], resume: Continuation | None,
          at_end: Callable[[Report | None, str], None]) -> None:
    """Begin to bake `objects` beside the window: read the settings and the first frame now, and all else by a timer.

    Args:
        resume: the take to continue, and from where.
        at_end: called with the report, or None and why there is none.

    Raises:
        core.ClothError: something cannot be baked. Nothing has begun then.
    """
    _session.message = ""
    _session.bake = WindowBake(scene, objects, resume)
    _session.frame = scene.session_uid, scene.frame_current
    try:
        bake_job.begin(_session.bake.steps()).advance()
    except BaseException:
        _session.bake = None
        bake_job.end()
        raise
    _session.at_end = at_end
    bpy.app.timers.register(_tick, first_interval=0.0)


def running() -> WindowBake | None:
    """Return the bake that runs beside the window, None without one."""
    return _session.bake


def is_of(obj: bpy.types.Object) -> bool:
    """Return whether the running bake is of this cloth."""
    return _session.bake is not None and obj.session_uid in _session.bake.uids


def message() -> str:
    """Return why the last bake beside the window ended with an error; empty if it did not."""
    return _session.message


def dismiss() -> None:
    """Forget the message on the last bake."""
    _session.message = ""


def _tick() -> float | None:
    """Give the bake a turn. Return the time until the next one [s], None at its end."""
    job, bake = bake_job.current(), _session.bake
    if job is None or bake is None:
        return None
    try:
        if not job.advance():
            _redraw(job)
            return TICK
    except (core.ClothError, OSError) as error:
        _end(None, str(error))
        _show_problem()
        return None
    except Exception as error:
        traceback.print_exc()
        _end(None, f"The bake failed with an unexpected error: {error!r}. Its frames are kept; the system console has "
                   "the details")
        _show_problem()
        return None
    problem = job.stopped_because and f"Bake stopped: {job.stopped_because}. Its frames are kept"
    _end(job.result if job.finished else None, "" if job.finished else problem)
    return None


def _end(report: Report | None, problem: str) -> None:
    """Remove the bake, and tell the user."""
    at_end, _session.bake, _session.message, _session.at_end = _session.at_end, None, problem, None
    bake_job.end()
    saved_takes.after_bake()
    if at_end is not None:
        at_end(report, problem)
    _redraw(None)


def _redraw(job: bake_job.Job | None) -> None:
    """Draw the panels, the timeline and the status bar again, if there is something new."""
    bake, now = _session.bake, time.monotonic()
    text = None if job is None else f"Muslin: {job.text()}"
    shown = text, 0 if bake is None else len(bake.certificates)
    if job is not None and (shown == _session.drawn[0] or now < _session.drawn[1] + REDRAW):
        return
    _session.drawn = shown, now
    for workspace in bpy.data.workspaces if job is None else [w.workspace for w in bpy.context.window_manager.windows]:
        workspace.status_text_set(text)
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"PROPERTIES", "STATUSBAR", "DOPESHEET_EDITOR"}:
                area.tag_redraw()


def _show_problem() -> None:
    """Show why a bake has ended beside the mouse; the panel may be out of sight."""
    lines = textwrap.wrap(_session.message, POPUP_WIDTH)
    window = next(iter(bpy.context.window_manager.windows), None)
    if window is None or not lines:
        return
    print(f"Muslin: {_session.message}", flush=True)

    def draw(menu: Any, _context: bpy.types.Context) -> None:
        for line in lines:
            menu.layout.label(text=line)

    with bpy.context.temp_override(window=window):
        bpy.context.window_manager.popup_menu(draw, title="Muslin", icon="ERROR")


# ---------------------------------------------------------------------- handlers

def _abort(because: str) -> None:
    if _session.bake is not None:
        try:
            bake_job.abort(because)
        finally:
            _end(None, f"Bake stopped: {because}. Its frames are kept")


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_undo(*_: Any) -> None:
    """End a bake that reads the scene or makes the result: an undo replaces all objects."""
    if _session.bake is not None and (_session.bake.reads or _session.bake.writes):
        _abort("something was undone or redone while "
               + ("the scene was read" if _session.bake.reads else "the result was made"))


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_undo(*_: Any) -> None:
    """Remove what a bake showed at the time that was gone back to."""
    if _session.bake is None:
        live_view.remove_left_over()
    saved_takes.after_undo()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_load(*_: Any) -> None:
    _abort("another file was opened")
    dismiss()                                                       # it is of the file that is left


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_load(*_: Any) -> None:
    saved_takes.after_load()
    relink.relink_beside()
    live_view.remove_left_over()


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _before_save(path: Any = "", *_: Any) -> None:
    """Save the file as it is without the running bake, and with paths to its takes that are right where it is saved."""
    bake = _session.bake
    if bake is not None:
        if bake.view is not None:
            bake.view.hide()
            bake.view.go_home()
        scene: Any = live_view.by_uid(bpy.data.scenes, _session.frame[0])
        if (bake.reads or bake.writes) and scene is not None:
            scene.frame_set(_session.frame[1])
    if isinstance(path, str) and path:
        saved_takes.before_save(path, moves=bake is None, running=None if bake is None else bake.folder)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_save(path: Any = "", *_: Any) -> None:
    if isinstance(path, str) and path:
        saved_takes.after_save(path)


@bpy.app.handlers.persistent  # type: ignore[untyped-decorator]
def _after_failed_save(path: Any = "", *_: Any) -> None:
    if isinstance(path, str) and path:
        saved_takes.after_failed_save(path)


def _at_exit() -> None:
    """Stop the solver when Blender is closed. Its frames are kept, and the bake can be resumed."""
    if _session.bake is not None:
        bake_job.abort("Blender was closed")


def attach() -> None:
    """Listen to undo, loading and saving."""
    on = bpy.app.handlers
    for handlers, handler in _handlers(on):
        handlers.append(handler)
    atexit.register(_at_exit)


def detach() -> None:
    """Stop listening, and end a running bake."""
    _abort("the Muslin extension was disabled")
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
    for handlers, handler in _handlers(bpy.app.handlers):
        handlers.remove(handler)
    atexit.unregister(_at_exit)


def _handlers(on: Any) -> list[tuple[list[Any], Any]]:
    return [(on.undo_pre, _before_undo), (on.redo_pre, _before_undo), (on.undo_post, _after_undo),
            (on.redo_post, _after_undo), (on.load_pre, _before_load), (on.load_post, _after_load),
            (on.save_pre, _before_save), (on.save_post, _after_save), (on.save_post_fail, _after_failed_save)]

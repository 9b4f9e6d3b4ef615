# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Crossings: the crossings at the current frame, drawn over the 3D viewport.

While it is off, no handler is registered. While it is on, handlers search again when a displayed object has moved: at
once if the search is fast, else after a pause, so that playback and dragging are not slowed. Until then nothing is
drawn, because old crossings would be wrong. The draw handler only draws. During a bake the overlay is idle. Its state
is not saved, and opening a file switches it off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import bpy

from ..bake import backends, bake_job
from ..properties import change_listeners
from ..read.crossings import Crossings, CrossingsFinder

FAST_SEARCH = 0.05
"""Longest search that is made at every change [s]."""
PAUSE = 0.25
"""Time without changes after which a slower search is made [s]."""

FACE_COLOUR = (1.0, 0.05, 0.02, 0.45)
EDGE_COLOUR = (1.0, 0.9, 0.1, 1.0)
EDGE_WIDTH = 2.0
"""Width of the edges [pixels]."""
DEPTH_OFFSET = 2e-6
"""Offset by which faces are drawn in front of the displayed mesh, over the depth range [-]."""

PROPERTY = "muslin_show_crossings"
"""Name of the window manager's property."""

Key = tuple[str, str]
"""Names of a scene and of its view layer."""


class Overlay:
    """The overlay while it is on."""

    def __init__(self) -> None:
        self._finders: dict[Key, CrossingsFinder] = {}
        self._current: set[Key] = set()         # keys whose crossings are those of the displayed meshes
        self._batches: dict[Key, tuple[Crossings, Any, Any]] = {}
        self._search_seconds = 0.0              # time of the last search
        self._due = 0.0                         # time of the next delayed search
        on = bpy.app.handlers
        self._handlers: list[tuple[list[Any], Any]] = [
            (on.depsgraph_update_post, _scene_changed), (on.frame_change_post, _scene_changed),
            (on.undo_post, forget), (on.redo_post, forget), (on.load_pre, _switch_off)]
        for handlers, handler in self._handlers:
            if handler not in handlers:
                handlers.append(handler)
        self._drawing = None if bpy.app.background else bpy.types.SpaceView3D.draw_handler_add(
            _draw, (), "WINDOW", "POST_VIEW")

    def close(self, loading: bool = False) -> None:
        """Remove handlers and timer. With `loading`, called from Blender's list of load handlers, keep that one."""
        for handlers, handler in self._handlers:
            if handler in handlers and not (loading and handler is _switch_off):
                handlers.remove(handler)
        if self._drawing is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._drawing, "WINDOW")
        if bpy.app.timers.is_registered(_delayed_searches):
            bpy.app.timers.unregister(_delayed_searches)
        _redraw()

    def found(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Crossings | None:
        """Return the current crossings, None while they are not known. Fast enough for drawing."""
        key = scene.name, view_layer.name
        return self._finders[key].found if key in self._current and bake_job.current() is None else None

    def scene_changed(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        """Search again, now or later, if a displayed mesh has changed."""
        view_layer = scene.view_layers.get(depsgraph.view_layer.name)
        if view_layer is None or depsgraph.mode != "VIEWPORT":
            return
        key = scene.name, view_layer.name
        if bake_job.current() is not None:
            self._current.discard(key)
            self._search_later(PAUSE)
        elif self._finder(key).update(view_layer, depsgraph) or key not in self._current:
            if self._search_seconds > FAST_SEARCH and not bpy.app.background:
                self._current.discard(key)
                self._search_later(PAUSE)
                _redraw()
            else:
                self._find(key, scene)

    def forget(self) -> None:
        """Discard the crossings found, so that all view layers are searched again."""
        self._current.clear()
        self._search_later()

    def delayed_searches(self) -> float | None:
        """Make the searches that are due. Return the time until the next call [s], None for no further call."""
        left = self._due - time.monotonic()
        if left > 0.0 or bake_job.current() is not None:
            return max(left, PAUSE)
        for scene, view_layer in _displayed_view_layers():
            key = scene.name, view_layer.name
            if key not in self._current and view_layer.depsgraph is not None:
                self._finder(key).update(view_layer, view_layer.depsgraph)
                self._find(key, scene)
        return None

    def batches(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer,
                make: Callable[[Crossings], tuple[Any, Any]]) -> tuple[Any, Any] | None:
        """Return the GPU batches of faces and edges, made once by `make`; None if there is nothing to draw."""
        found = self.found(scene, view_layer)
        if found is None and bake_job.current() is None and not bpy.app.timers.is_registered(_delayed_searches):
            self._search_later()    # the first drawing of another scene, or after a bake
        if found is None or not found.count:
            return None
        key = scene.name, view_layer.name
        if key not in self._batches or self._batches[key][0] is not found:
            self._batches[key] = (found, *make(found))
        return self._batches[key][1:]

    def _finder(self, key: Key) -> CrossingsFinder:
        return self._finders.setdefault(key, CrossingsFinder())

    def _find(self, key: Key, scene: bpy.types.Scene) -> None:
        start = time.perf_counter()
        finder = self._finder(key)
        finder.find(backends.ready_backend(scene, finder.models))
        self._search_seconds = time.perf_counter() - start
        self._current.add(key)
        _redraw()

    def _search_later(self, pause: float = 0.0) -> None:
        """Search after `pause` [s]; at once in background mode, which has no timers."""
        if bpy.app.background:
            self.delayed_searches()
            return
        self._due = time.monotonic() + pause
        if not bpy.app.timers.is_registered(_delayed_searches):
            bpy.app.timers.register(_delayed_searches, first_interval=pause)


_overlay: list[Overlay] = []        # the overlay while it is on, else empty


def is_on() -> bool:
    """Return whether the overlay is on."""
    return bool(_overlay)


def switch(on: bool, loading: bool = False) -> None:
    """Switch the overlay on or off. `loading`: because another file is being opened."""
    if on and not _overlay:
        _overlay.append(Overlay())
        _overlay[0].forget()
    while _overlay and not on:
        _overlay.pop().close(loading)


def forget(*_: Any) -> None:
    """Discard the crossings found, so that all view layers are searched again."""
    if _overlay:
        _overlay[0].forget()


def lines(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Return the lines of the panel below Show Crossings."""
    if not _overlay:
        return []
    if bake_job.current() is not None:
        return ["Waits for the solver"]
    found = _overlay[0].found(scene, view_layer)
    if found is None:
        return ["At this frame: not known yet"]
    if found.problem:
        return [found.problem]
    if not found.count:
        return ["At this frame: nothing crosses"]
    return [f"At this frame: {found.count} edges cross" if found.count > 1 else "At this frame: 1 edge crosses"]


# ---------------------------------------------------------------------- Blender's handlers


def _scene_changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _overlay and depsgraph is not None:
        _overlay[0].scene_changed(scene, depsgraph)


def _switch_off(*_: Any) -> None:
    switch(False, loading=True)


def _delayed_searches() -> float | None:
    return _overlay[0].delayed_searches() if _overlay else None


def _draw() -> None:
    """Draw the crossings of the scene in the current 3D viewport."""
    context = bpy.context
    view: Any = context.space_data
    if not _overlay or not view.overlay.show_overlays:
        return
    batches = _overlay[0].batches(context.scene, context.view_layer, _gpu_batches)
    if batches is None:
        return
    import gpu

    faces, edges = batches
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.matrix.push_projection()
    projection = gpu.matrix.get_projection_matrix()
    projection[2] -= DEPTH_OFFSET * projection[3]
    gpu.matrix.load_projection_matrix(projection)
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.uniform_float("color", FACE_COLOUR)
    faces.draw(shader)
    gpu.matrix.pop_projection()
    gpu.state.depth_test_set("NONE")        # draw edges that are hidden inside a fold, too
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    shader.uniform_float("lineWidth", EDGE_WIDTH * context.preferences.system.ui_scale)
    shader.uniform_float("color", EDGE_COLOUR)
    edges.draw(shader)
    gpu.state.blend_set("NONE")


def _gpu_batches(found: Crossings) -> tuple[Any, Any]:
    """Return the GPU batches of faces and edges."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    corners: Any = found.triangles.reshape(-1, 3)
    ends: Any = found.edges.reshape(-1, 3)
    return (batch_for_shader(gpu.shader.from_builtin("UNIFORM_COLOR"), "TRIS", {"pos": corners}),
            batch_for_shader(gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR"), "LINES", {"pos": ends}))


def _displayed_view_layers() -> Iterator[tuple[bpy.types.Scene, bpy.types.ViewLayer]]:
    """Yield the scene and view layer of every window; in background mode those of the context."""
    displayed = ([(bpy.context.scene, bpy.context.view_layer)] if bpy.app.background else
                 [(window.scene, window.view_layer) for window in bpy.context.window_manager.windows])
    yield from dict.fromkeys(displayed)


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES"}:
                area.tag_redraw()


# ---------------------------------------------------------------------- registration


def attach() -> None:
    """Register the property that switches the overlay, and listen to changes of object types."""
    setattr(bpy.types.WindowManager, PROPERTY, bpy.props.BoolProperty(
        name="Show Crossings",
        description="Show in the 3D Viewport, at the current frame, the faces of cloth that cross something in red, "
                    "and the edges that pierce them",
        get=lambda _: is_on(), set=lambda _, on: switch(on), options=set()))
    change_listeners.add(forget)


def detach() -> None:
    """Switch the overlay off and remove its property."""
    change_listeners.remove(forget)
    switch(False)
    delattr(bpy.types.WindowManager, PROPERTY)

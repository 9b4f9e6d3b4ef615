# SPDX-License-Identifier: GPL-3.0-or-later
"""Show Crossings: what crosses at the current frame, drawn over the 3D viewport.

While it is off nothing of this is registered. While it is on, handlers look again when something shown has moved:
at once where that is quick, else after a pause, so that playing and dragging stay fluid; until then nothing is drawn
rather than something old. Drawing only draws. While a bake runs all of it rests. Nothing is saved in the file, and
opening another switches it off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import bpy

from ..bake import bake_job
from ..read.crossings import Crossings, Look

QUICK = 0.05
"""A look that takes no longer [s] is taken at every change."""
PAUSE = 0.25
"""Time [s] without changes after which a look is taken that is not quick."""

FACES = (1.0, 0.05, 0.02, 0.45)
EDGES = (1.0, 0.9, 0.1, 1.0)
EDGE_WIDTH = 2.0        # pixels
NEARER = 2e-6           # of the depth range: faces are drawn in front of themselves by so much

PROPERTY = "muslin_show_crossings"

Key = tuple[str, str]   # names of a scene and of its view layer


class Overlay:
    """The overlay while it is on."""

    def __init__(self) -> None:
        self._looks: dict[Key, Look] = {}
        self._current: set[Key] = set()         # those whose look is of what is shown now
        self._batches: dict[Key, tuple[Crossings, Any, Any]] = {}
        self._seconds = 0.0                     # that the last look took
        self._due = 0.0                         # when looks that are late are to be taken
        on = bpy.app.handlers
        self._handlers: list[tuple[list[Any], Any]] = [
            (on.depsgraph_update_post, _changed), (on.frame_change_post, _changed),
            (on.undo_post, forget), (on.redo_post, forget), (on.load_pre, _off)]
        for handlers, handler in self._handlers:
            if handler not in handlers:
                handlers.append(handler)
        self._drawing = None if bpy.app.background else bpy.types.SpaceView3D.draw_handler_add(
            _draw, (), "WINDOW", "POST_VIEW")

    def close(self, loading: bool = False) -> None:
        """`loading`: Blender walks along its list of handlers for that, and empties it itself."""
        for handlers, handler in self._handlers:
            if handler in handlers and not (loading and handler is _off):
                handlers.remove(handler)
        if self._drawing is not None:
            bpy.types.SpaceView3D.draw_handler_remove(self._drawing, "WINDOW")
        if bpy.app.timers.is_registered(_late_looks):
            bpy.app.timers.unregister(_late_looks)
        _redraw()

    def found(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> Crossings | None:
        """What crosses now; None while that is not known. Quick enough for drawing."""
        key = scene.name, view_layer.name
        return self._looks[key].found if key in self._current and bake_job.current() is None else None

    def changed(self, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
        view_layer = scene.view_layers.get(depsgraph.view_layer.name)
        if view_layer is None or depsgraph.mode != "VIEWPORT":
            return
        key = scene.name, view_layer.name
        if bake_job.current() is not None:
            self._current.discard(key)
            self._late(PAUSE)
        elif self._look(key).moved(view_layer, depsgraph) or key not in self._current:
            if self._seconds > QUICK and not bpy.app.background:
                self._current.discard(key)
                self._late(PAUSE)
                _redraw()
            else:
                self._find(key, scene)

    def forget(self) -> None:
        self._current.clear()
        self._late()

    def late_looks(self) -> float | None:
        """Takes the looks that are due; in how many seconds to ask again."""
        left = self._due - time.monotonic()
        if left > 0.0 or bake_job.current() is not None:
            return max(left, PAUSE)
        for scene, view_layer in _in_windows():
            key = scene.name, view_layer.name
            if key not in self._current and view_layer.depsgraph is not None:
                self._look(key).moved(view_layer, view_layer.depsgraph)
                self._find(key, scene)
        return None

    def batches(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer,
                make: Callable[[Crossings], tuple[Any, Any]]) -> tuple[Any, Any] | None:
        """What `make` gives for what crosses now, made once; None where nothing is to be drawn."""
        found = self.found(scene, view_layer)
        if found is None and bake_job.current() is None and not bpy.app.timers.is_registered(_late_looks):
            self._late()            # a view of another scene, or the first one after a bake
        if found is None or not found.count:
            return None
        key = scene.name, view_layer.name
        if key not in self._batches or self._batches[key][0] is not found:
            self._batches[key] = (found, *make(found))
        return self._batches[key][1:]

    def _look(self, key: Key) -> Look:
        return self._looks.setdefault(key, Look())

    def _find(self, key: Key, scene: bpy.types.Scene) -> None:
        start = time.perf_counter()
        self._look(key).find(scene)
        self._seconds = time.perf_counter() - start
        self._current.add(key)
        _redraw()

    def _late(self, pause: float = 0.0) -> None:
        if bpy.app.background:      # which has no timers and nobody who waits
            self.late_looks()
            return
        self._due = time.monotonic() + pause
        if not bpy.app.timers.is_registered(_late_looks):
            bpy.app.timers.register(_late_looks, first_interval=pause)


_overlay: list[Overlay] = []        # none or one


def is_on() -> bool:
    return bool(_overlay)


def switch(on: bool, loading: bool = False) -> None:
    """Switches the overlay on or off; `loading`: because another file is opened just now."""
    if on and not _overlay:
        _overlay.append(Overlay())
        _overlay[0].forget()
    while _overlay and not on:
        _overlay.pop().close(loading)


def forget(*_: Any) -> None:
    """Something has changed that no update of the scene tells of: everything is looked at again."""
    if _overlay:
        _overlay[0].forget()


def lines(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """What the panel says while the overlay is on, a line each."""
    if not _overlay:
        return []
    if bake_job.current() is not None:
        return ["Waits for the bake"]
    found = _overlay[0].found(scene, view_layer)
    if found is None:
        return ["At this frame: not looked yet"]
    if found.problem:
        return [found.problem]
    if not found.count:
        return ["At this frame: nothing crosses"]
    return [f"At this frame: {found.count} edges cross" if found.count > 1 else "At this frame: 1 edge crosses"]


# ---------------------------------------------------------------------- what Blender calls


def _changed(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    if _overlay and depsgraph is not None:
        _overlay[0].changed(scene, depsgraph)


def _off(*_: Any) -> None:
    switch(False, loading=True)


def _late_looks() -> float | None:
    return _overlay[0].late_looks() if _overlay else None


def _draw() -> None:
    context = bpy.context
    view: Any = context.space_data
    if not _overlay or not view.overlay.show_overlays:
        return
    batches = _overlay[0].batches(context.scene, context.view_layer, _made)
    if batches is None:
        return
    import gpu

    faces, edges = batches
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("LESS_EQUAL")
    gpu.matrix.push_projection()
    projection = gpu.matrix.get_projection_matrix()
    projection[2] -= NEARER * projection[3]
    gpu.matrix.load_projection_matrix(projection)
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    shader.uniform_float("color", FACES)
    faces.draw(shader)
    gpu.matrix.pop_projection()
    gpu.state.depth_test_set("NONE")        # edges also where they are inside a fold: that is where one looks for them
    shader = gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    shader.uniform_float("viewportSize", (context.region.width, context.region.height))
    shader.uniform_float("lineWidth", EDGE_WIDTH * context.preferences.system.ui_scale)
    shader.uniform_float("color", EDGES)
    edges.draw(shader)
    gpu.state.blend_set("NONE")


def _made(found: Crossings) -> tuple[Any, Any]:
    import gpu
    from gpu_extras.batch import batch_for_shader

    corners: Any = found.triangles.reshape(-1, 3)
    ends: Any = found.edges.reshape(-1, 3)
    return (batch_for_shader(gpu.shader.from_builtin("UNIFORM_COLOR"), "TRIS", {"pos": corners}),
            batch_for_shader(gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR"), "LINES", {"pos": ends}))


def _in_windows() -> Iterator[tuple[bpy.types.Scene, bpy.types.ViewLayer]]:
    """Scenes and view layers that somebody sees; without a window, those that scripts work in."""
    seen = ([(bpy.context.scene, bpy.context.view_layer)] if bpy.app.background else
            [(window.scene, window.view_layer) for window in bpy.context.window_manager.windows])
    yield from dict.fromkeys(seen)


def _redraw() -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "PROPERTIES"}:
                area.tag_redraw()


# ---------------------------------------------------------------------- the property


def attach() -> None:
    setattr(bpy.types.WindowManager, PROPERTY, bpy.props.BoolProperty(
        name="Show Crossings",
        description="Show in the 3D Viewport, at the current frame, the faces of cloth that cross something in red, "
                    "and the edges that pierce them",
        get=lambda _: is_on(), set=lambda _, on: switch(on), options=set()))


def detach() -> None:
    switch(False)
    delattr(bpy.types.WindowManager, PROPERTY)

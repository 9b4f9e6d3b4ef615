# SPDX-License-Identifier: GPL-3.0-or-later
"""A bar at the bottom of the timeline and the dope sheet that shows which frames of the active cloth are baked.

It follows the editor's own switches for caches (View > Cache), as the bars of Blender's simulations do.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..bake import bake_job, session, takes
from ..properties import baked_record
from ..properties.settings import kind_of_settings
from . import bake_changes

BAKED, PARTIAL, OUTDATED = "BAKED", "PARTIAL", "OUTDATED"
"""States of frames: of the bake in use, of one that runs, was stopped or is not in use, and changed since the bake."""
COLOURS = {BAKED: (0.16, 0.48, 0.95, 0.9), PARTIAL: (0.45, 0.75, 1.0, 0.75), OUTDATED: (1.0, 0.55, 0.1, 0.9)}
"""Colours of the states, with their opacity."""
TRACK_COLOUR = (0.0, 0.0, 0.0, 0.25)
"""Colour of the whole bar."""
HEIGHT = 5.0
"""Height of the bar, over the interface's scale [pixels]."""
BOTTOM = 8.0
"""Distance from the lower end of the editor, where the handles of its scroll bar are, over the scale [pixels]."""

Span = tuple[int, int, str]
"""First frame, last frame, and state."""


def baked_frames(obj: bpy.types.Object) -> list[Span]:
    """Return the baked frames of a cloth in order, with their states. Later ones are drawn over earlier ones.

    Fast enough for drawing.
    """
    found: list[Span] = []
    report = baked_record.report_of(obj)
    if report is not None:
        changed = bake_changes.known_changes(bpy.context.scene, obj, report) or baked_record.lacks_keys(obj)
        found.append((report["first"], report["last"], OUTDATED if changed else BAKED))
    bake, job = session.running() if session.is_of(obj) else None, bake_job.current()
    if bake is not None:
        frames = [certificate["frame"] for certificate in bake.certificates[:1] + bake.certificates[-1:]]
        found += [(frames[0], frames[-1], PARTIAL)] if frames else []
    elif job is None:
        stopped = takes.unused(bpy.context.scene, obj)
        if stopped is not None and stopped.reached is not None:
            found.append((stopped.first, stopped.reached, PARTIAL))
    elif (progress := job.progress) is not None and progress.certificate is not None and obj.name in progress.cloths:
        found.append((progress.frame - progress.done + 1, progress.frame, PARTIAL))
    return found


def rectangles(spans: list[Span], to_region: Any, width: float) -> list[tuple[float, float, str]]:
    """Return left and right end [pixels] and state of the frames that are inside a region `width` wide.

    to_region: function from a frame to its place [pixels].
    """
    found = []
    for first, last, state in spans:
        left, right = max(to_region(first - 0.5), 0.0), min(to_region(last + 0.5), width)
        if left < right:
            found.append((left, right, state))
    return found


def is_shown(space: Any, obj: bpy.types.Object | None) -> bool:
    """Return whether an editor shows the bar of an object."""
    return (obj is not None and obj.type == "MESH" and kind_of_settings(obj.muslin) == "CLOTH"
            and space.show_cache and space.cache_cloth)


def _draw() -> None:
    """Draw the bar in the current dope sheet."""
    context = bpy.context
    obj, region = context.object, context.region
    if not is_shown(context.space_data, obj):
        return
    spans = baked_frames(obj)
    if not spans:
        return
    import gpu
    from gpu_extras.batch import batch_for_shader

    view: Any = region.view2d
    scale = context.preferences.system.ui_scale
    bars = rectangles(spans, lambda frame: view.view_to_region(frame, 0.0, clip=False)[0], region.width)
    bottom, top = BOTTOM * scale, (BOTTOM + HEIGHT) * scale
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for left, right, colour in [(0.0, region.width, TRACK_COLOUR),
                                *((left, right, COLOURS[state]) for left, right, state in bars)]:
        corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
        batch = batch_for_shader(shader, "TRIS", {"pos": corners}, indices=[(0, 1, 2), (0, 2, 3)])
        shader.uniform_float("color", colour)
        batch.draw(shader)
    gpu.state.blend_set("NONE")


_drawing: list[Any] = []        # the handle of the draw handler, without one in background mode


def attach() -> None:
    """Draw the bar in all timelines and dope sheets; nothing in background mode."""
    if not bpy.app.background:
        _drawing.append(bpy.types.SpaceDopeSheetEditor.draw_handler_add(_draw, (), "WINDOW", "POST_PIXEL"))


def detach() -> None:
    """Do not draw the bar any more."""
    while _drawing:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_drawing.pop(), "WINDOW")

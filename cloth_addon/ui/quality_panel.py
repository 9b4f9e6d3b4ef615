# SPDX-License-Identifier: GPL-3.0-or-later
"""The Quality panel: figures of all frames as curves, the worst frames, and the time and size of a bake."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..bake import played_frames, session, takes
from ..bake.bake_job import duration
from ..bake.bake_statistics import FloatArray, Statistics, is_of_previous, statistics_of
from ..bake.take_parts import borders
from ..properties import baked_record
from ..properties.number_text import number_text
from . import bake_changes, bake_state
from .certificate_text import length_text
from .curve_icons import CurveIcons, style_of
from .panel_layout import OF_PREVIOUS, PhysicsTab, name_and_value, paragraph

PROPERTY = "muslin_curve"
"""Name of the window manager's property."""
LARGEST_FRAME = 1048574
"""Largest number of a frame in Blender, forwards and backwards [-]."""
LARGEST_PICTURE = 12.0
"""Largest width of the picture [widths of a button]."""
SMALLEST_PICTURE = 4.0
"""Smallest width of the picture [widths of a button]."""
AXIS_WIDTH = 3.4
"""Width of the labels beside the picture [widths of a button]."""
RIM = 2.2
"""Width of the panel that is used neither by the labels nor by the picture [widths of a button]."""


def percent_text(value: float) -> str:
    """Return an elongation in percent."""
    return f"{number_text(value, 3)} %"


def count_text(value: float) -> str:
    """Return a number of things."""
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"


def seconds_text(value: float) -> str:
    """Return a time of any length."""
    return f"{number_text(value, 2)} s" if value < 9.95 else duration(value)


@dataclass(frozen=True)
class Figure:
    """A figure of a frame: its title, its values (F,) from statistics, and the button to its worst frame.

    Attributes:
        worst: text on the button to the frame with the largest value; empty for none.
        from_value: value above which there is a button.
        if_unequal: whether there is a button only if the values of the frames after the first differ.
    """

    title: str
    values: Callable[[Statistics], FloatArray]
    worst: str = ""
    from_value: float = 0.0
    if_unequal: bool = False


@dataclass(frozen=True)
class Chart:
    """One or two curves with one axis.

    Attributes:
        title, description: texts of the menu.
        figures: the curves.
        text: function that writes a value.
        smallest: smallest upper end of the axis.
    """

    title: str
    description: str
    figures: tuple[Figure, ...]
    text: Callable[[float], str]
    smallest: float = 0.0


def _elongation(name: str) -> Callable[[Statistics], FloatArray]:
    """Return a function with the elongation [%] of a ratio of lengths; 0 where it is shorter."""
    return lambda statistics: np.maximum(0.0, 100.0 * (statistics.values(name) - 1.0))


def _figure(name: str, sign: float = 1.0) -> Callable[[Statistics], FloatArray]:
    return lambda statistics: sign * statistics.values(name)


CHARTS = {
    "STRETCH": Chart("Stretch", "By how much the longest edge, and 99 % of all edges, are longer than at rest", (
        Figure("Largest", _elongation("stretch_max"), "Most stretch", 0.005),
        Figure("99 % of Edges", _elongation("stretch_p99"))), percent_text, 0.1),
    "CROSSINGS": Chart("Crossings", "Number of edges that pass through a face, and of those beside them where "
                       "colliders leave no room for cloth", (
                           Figure("Crossings", _figure("crossings"), "Most crossings"),
                           Figure("Crossings of Pinched Cloth", _figure("crossings_pinched"),
                                  "Most crossings of pinched cloth")),
                       count_text, 1.0),
    "GAP": Chart("Gap and Penetration", "Smallest distance between surfaces, and, below 0, the largest depth of a "
                 "vertex inside a collider", (
                     Figure("Smallest Gap", _figure("smallest_gap")),
                     Figure("Penetration", _figure("deepest_penetration", -1.0), "Deepest")), length_text),
    "STEPS": Chart("Steps", "Time steps of a frame, and those of them that were taken again in halves", (
        Figure("Steps", _figure("steps"), "Most steps", if_unequal=True), Figure("Taken Again", _figure("rejected"))),
        count_text, 1.0),
    "SECONDS": Chart("Seconds", "Time that the simulation of a frame took", (
        Figure("Seconds", _figure("seconds"), "Slowest"),), seconds_text),
}
"""The charts by the items of the menu."""


class MUSLIN_OT_frame_go(bpy.types.Operator):
    """Go to this frame"""
    bl_idname = "muslin.frame_go"
    bl_label = "Go to Frame"
    bl_options = {"INTERNAL"}

    frame: bpy.props.IntProperty(name="Frame", description="Number of the frame", default=1, min=-LARGEST_FRAME,
                                 max=LARGEST_FRAME, options={"SKIP_SAVE"})

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.scene.frame_set(self.frame)
        return {"FINISHED"}


class MUSLIN_PT_quality(PhysicsTab, bpy.types.Panel):
    bl_label = "Quality"
    bl_parent_id = "MUSLIN_PT_bake"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and statistics_of(context.object) is not None

    def draw(self, context: bpy.types.Context) -> None:
        statistics = statistics_of(context.object)
        if statistics is None:
            return
        report = baked_record.report_of(context.object)
        runs, of_previous = session.is_of(context.object), is_of_previous(context.object)
        if of_previous:
            paragraph(self.layout.column(align=True), OF_PREVIOUS, context.region.width, icon="NONE")
        col = self.layout.column()
        col.active = not of_previous if runs else played_frames.are_whole(context.object) and not (
            report and bake_changes.known_changes(context.scene, context.object, report))
        manager: Any = context.window_manager
        col.prop(manager, PROPERTY, text="")
        chart = CHARTS[getattr(manager, PROPERTY)]
        record = None if runs else baked_record.known(context.object)
        changes = borders(bake_state.mixed_parts_of(record, takes.in_use(context.object)) if record else [],
                          statistics.first, statistics.last)
        _draw_chart(col, chart, statistics, context, changes)
        if changes:
            paragraph(col, f"Upright lines: other settings from frame {', '.join(map(str, changes))} on",
                      context.region.width)
        _draw_worst(col.column(align=True), statistics)
        _draw_costs(col.column(align=True), statistics, context.region.width)


def worst_frames(statistics: Statistics) -> list[tuple[str, int]]:
    """Return the text and the frame of the buttons to the worst frames, where there is something to see."""
    found = []
    for chart in CHARTS.values():
        for figure in chart.figures:
            values = np.abs(figure.values(statistics))
            if not figure.worst or not np.isfinite(values).any():
                continue
            place = int(np.nanargmax(values))
            equal = np.ptp(values[1:]) == 0.0 if len(values) > 1 else True
            if values[place] > figure.from_value and not (figure.if_unequal and equal):
                frame = statistics.first + place
                found.append((f"{figure.worst}: frame {frame} ({chart.text(float(values[place]))})", frame))
    return found


def costs(statistics: Statistics) -> list[tuple[str, str]]:
    """Return label and value of the time and the sizes of a bake. Unknown ones are left out."""
    seconds = statistics.values("seconds")
    solved = seconds[1:][np.isfinite(seconds[1:])]                  # the first frame is not solved
    found = [("Seconds per Frame", seconds_text(float(solved.mean())) if len(solved) else ""),
             ("Total Time", "" if statistics.total_seconds is None else seconds_text(statistics.total_seconds)),
             ("Shape Keys", size_text(statistics.memory)), ("On Disk", size_text(statistics.disk))]
    return [(name, value) for name, value in found if value]


def size_text(size: int | None) -> str:
    """Return a number of bytes; empty for None."""
    if size is None:
        return ""
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{number_text(size / unit, 3)} {name}"
    return f"{size} bytes"


def _draw_chart(col: Any, chart: Chart, statistics: Statistics, context: bpy.types.Context, changes: list[int]
                ) -> None:
    """Draw the legend, the axis, the picture with a line before each frame of `changes`, and the frames below it."""
    curves = [figure.values(statistics) for figure in chart.figures]
    index = context.scene.frame_current - statistics.first
    if not any(np.isfinite(curve).any() for curve in curves):
        paragraph(col, "No frame has this figure", context.region.width, icon="NONE")
        return
    system = context.preferences.system
    unit = 18.0 * (system.ui_scale or 1.0) + 2.0 * system.pixel_size        # width of a button [pixels]
    scale = min(max(context.region.width / unit - AXIS_WIDTH - RIM, SMALLEST_PICTURE), LARGEST_PICTURE)
    style = style_of(context.preferences)
    icons = _icons()
    picture = icons.picture(statistics, chart.title, curves, chart.smallest, index, max(16, round(scale * unit)), style,
                            [frame - statistics.first for frame in changes])
    legend = col.column(align=True)
    for number, (figure, curve) in enumerate(zip(chart.figures, curves, strict=True)):
        value = abs(float(curve[index])) if 0 <= index < len(curve) else math.nan
        now = f": {chart.text(value)} at frame {context.scene.frame_current}" if math.isfinite(value) else ""
        paragraph(legend, figure.title + now, context.region.width, icon_value=icons.swatch(number, style))
    low, high = icons.limits
    row = col.row()
    row.alignment = "LEFT"
    axis = row.column(align=True)
    axis.ui_units_x = AXIS_WIDTH
    _label_right(axis, chart.text(high))
    between = axis.column()
    between.scale_y = max(scale - 2.0, 0.1)
    between.label(text="")
    _label_right(axis, chart.text(low))
    plot = row.column(align=True)
    plot.template_icon(icon_value=picture, scale=scale)
    ends = plot.row()
    ends.ui_units_x = scale
    ends.label(text=str(statistics.first))
    if statistics.last > statistics.first:
        _label_right(ends, str(statistics.last))


def _label_right(layout: Any, text: str) -> None:
    row = layout.row()
    row.alignment = "RIGHT"
    row.label(text=text)


def _draw_worst(col: Any, statistics: Statistics) -> None:
    """Draw the buttons to the worst frames."""
    for text, frame in worst_frames(statistics):
        col.operator("muslin.frame_go", text=text).frame = max(-LARGEST_FRAME, min(frame, LARGEST_FRAME))


def _draw_costs(col: Any, statistics: Statistics, width: int) -> None:
    """Draw times and sizes in two columns."""
    for name, value in costs(statistics):
        name_and_value(col, name, value, width, 0.6)


# ---------------------------------------------------------------------- registration

_made: list[CurveIcons] = []        # the icons, from the first drawing to the end


def _icons() -> CurveIcons:
    """Return the icons, which the first call makes."""
    if not _made:
        _made.append(CurveIcons())
    return _made[0]


def attach() -> None:
    """Register the menu that chooses the curves."""
    items = [(name, chart.title, chart.description) for name, chart in CHARTS.items()]
    setattr(bpy.types.WindowManager, PROPERTY, bpy.props.EnumProperty(
        name="Curve", description="Figure that is shown for all frames", items=items, options={"SKIP_SAVE"}))


def detach() -> None:
    """Remove the icons and the menu."""
    while _made:
        _made.pop().close()
    delattr(bpy.types.WindowManager, PROPERTY)


classes = (MUSLIN_OT_frame_go, MUSLIN_PT_quality)

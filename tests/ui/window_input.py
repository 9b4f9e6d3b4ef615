# SPDX-License-Identifier: GPL-3.0-or-later
"""Mouse and keyboard input on Muslin's panel, and waiting for its results.

`ui_sim` finds a button by its operator and a field by its property, and clicks and types there.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import bpy
import ui_sim as ui

MODULE = "bl_ext.user_default.muslin"
SEARCH_STEP = 18        # distance of the points at which a button is searched [pixels]; buttons are 20 high
TURNS, WHEEL = 12, 6    # looks for a field in an area, and turns of the mouse wheel between them
COLUMNS = 0.6, 0.3, 0.85                # places of buttons across a panel, over its width

Steps = Generator[None, None, Any]

PARTS = ("bake.bake_job", "bake.found_take", "bake.session", "bake.takes", "bake.window_bake", "bake.live_view",
         "bake.preparation", "bake.watch", "properties.baked_record", "ui.bake_changes", "ui.bake_state",
         "ui.bake_panels", "ui.quality_panel")
"""Modules of the extension that scenarios use, as attributes of this one."""

bake_changes: Any = None
bake_job: Any = None
bake_panels: Any = None
bake_state: Any = None
baked_record: Any = None
found_take: Any = None
live_view: Any = None
preparation: Any = None
quality_panel: Any = None
session: Any = None
takes: Any = None
watch: Any = None
window_bake: Any = None
pictures = Path()
found: dict[str, tuple[int, int]] = {}


def load_modules() -> None:
    """Import the extension's modules, which are new ones after it was disabled and enabled."""
    for part in PARTS:
        globals()[part.rpartition(".")[2]] = importlib.import_module(f"{MODULE}.cloth_addon.{part}")


def physics_tab() -> Any:
    """Show the Physics tab, and return the Properties editor."""
    props = ui.area("PROPERTIES")
    props.spaces.active.context = "PHYSICS"
    return props


def until(condition: Callable[[], bool], what: str, seconds: float = 300.0) -> Steps:
    """Wait until the condition is true; fail after `seconds` with a message that names `what`."""
    start = time.monotonic()
    while not condition():
        yield
        assert time.monotonic() - start < seconds, f"waited {seconds:g} s for {what}"


@contextmanager
def turns() -> Iterator[list[float]]:
    """Yield a list that receives the time of each turn of the bake [s]."""
    taken: list[float] = []
    advance = bake_job.Job.advance

    def timed(running: Any) -> bool:
        begin = time.monotonic()
        try:
            return advance(running)
        finally:
            taken.append(time.monotonic() - begin)

    with mock.patch.object(bake_job.Job, "advance", timed):
        yield taken


def at(name: str) -> Steps:
    """Return the place of an operator's button or a property's field in the Physics tab, and remember it."""
    props = physics_tab()
    yield
    if name in found:
        yield from ui.hover(*found[name])
        if is_under(props, name):
            return found[name]
    for column in COLUMNS:
        for turns in (0, -40, *5 * [12]):                           # here, at the top, and further down
            yield from wheel(props, turns)
            if place := (yield from in_column(props, name, column)):
                found[name] = place
                return place
    raise AssertionError(f"no button {name!r} in the Physics tab")


def in_column(area: Any, name: str, column: float) -> Steps:
    """Move the pointer down a column of an area, as wide as 1, until a button or field is under it; return its place,
    or None if it is not there."""
    region = ui.region(area)
    x, top = region.x + int(column * region.width), region.y + region.height - SEARCH_STEP // 2
    for y in range(top, region.y, -SEARCH_STEP):
        for place in x, x + 1:                                      # leaves one button, enters the next
            ui.send("MOUSEMOVE", "NOTHING", place, y)
        yield
        if is_under(area, name):
            for inside in y - SEARCH_STEP // 3, y + SEARCH_STEP // 3, y:            # not at its rim, and still there
                yield from ui.hover(x, inside)
                if is_under(area, name):
                    return x, inside
    return None


def is_under(area: Any, name: str) -> bool:
    """Return whether the pointer is over the button of an operator, or the field of a property, in an area."""
    operator, prop = ui.under(area, ui.region(area))
    return f"bpy.ops.{name}(" in operator or prop.endswith("." + name)


def wheel(area: Any, turns: int) -> Steps:
    """Turn the mouse wheel over an area: down, or up if `turns` is below 0."""
    x, y = area.x + area.width // 2, area.y + area.height // 2
    if turns:
        yield from ui.hover(x, y)
    for _ in range(abs(turns)):
        ui.send("WHEELDOWNMOUSE" if turns > 0 else "WHEELUPMOUSE", "PRESS", x, y)
    if turns:
        yield


def scrolled_to(area: Any, name: str) -> Steps:
    """Turn the mouse wheel over an area until the field of a property is there, and return its place."""
    for _ in range(TURNS):
        if place := (yield from in_column(area, name, COLUMNS[0])):
            return place
        yield from wheel(area, WHEEL)
    raise AssertionError(f"no field {name!r} in the panels")


def click(name: str) -> Steps:
    """Click the button of an operator or the field of a property."""
    yield from ui.click(*(yield from at(name)))


def type_value(name: str, text: str) -> Steps:
    """Type a value into the field of a property."""
    yield from type_at(*(yield from at(name)), text)


def type_at(x: int, y: int, text: str) -> Steps:
    """Type a value into the field at a place."""
    for value in ("PRESS", "RELEASE", "PRESS", "RELEASE"):      # double click
        ui.send("LEFTMOUSE", value, x, y)
        yield
    yield from ui.key("A", x, y, ctrl=True)
    yield from ui.text(text, x, y)
    yield from ui.key("RET", x, y)


def no_bake() -> bool:
    """Return whether no bake runs."""
    return bake_job.current() is None


def baking(fraction: float = 0.0) -> Callable[[], bool]:
    """Return the condition that a bake runs and is past `fraction`."""
    return lambda: bake_job.current() is not None and bake_job.current().fraction > fraction


def press(key: str, **modifiers: bool) -> Steps:
    """Press a key with the pointer over the 3D view."""
    view = ui.area("VIEW_3D")
    yield from ui.key(key, view.x + view.width // 2, view.y + view.height // 2, **modifiers)
    yield


def picture(name: str) -> Steps:
    """Let the launcher take a screenshot, if pictures are wanted."""
    if pictures.name:
        for _ in range(8):
            yield
        (pictures / f"{name}.ready").touch()
        yield from until((pictures / f"{name}.png").exists, f"the picture {name}")


def messages() -> str:
    """Return the text of Blender's Info editor."""
    area = ui.area("OUTLINER")
    kind, area.ui_type = area.ui_type, "INFO"
    with bpy.context.temp_override(window=ui.window(), area=area, region=ui.region(area)):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
    area.ui_type = kind
    return bpy.context.window_manager.clipboard

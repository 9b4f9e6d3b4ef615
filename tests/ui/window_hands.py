# SPDX-License-Identifier: GPL-3.0-or-later
"""Mouse and keyboard on Muslin's panel, and waiting for what comes of it.

`ui_sim` finds a button by its operator and a field by its property, and clicks and types there.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import ui_sim as ui

MODULE = "bl_ext.user_default.muslin"
PITCH = 14              # pixels between two places where a button is looked for; buttons are 20 high

Steps = Generator[None, None, Any]

job: Any = None
baked_record: Any = None
pictures = Path()
found: dict[str, tuple[int, int]] = {}


def load_modules() -> None:
    """Of the extension, which is another after it was switched off and on."""
    global job, baked_record
    job, baked_record = (importlib.import_module(f"{MODULE}.cloth_addon.{name}")
                         for name in ("bake.bake_job", "properties.baked_record"))


def physics_tab() -> Any:
    props = ui.area("PROPERTIES")
    props.spaces.active.context = "PHYSICS"
    return props


def until(condition: Callable[[], bool], what: str, seconds: float = 100.0) -> Steps:
    start = time.monotonic()
    while not condition():
        yield
        assert time.monotonic() - start < seconds, f"waited {seconds:g} s for {what}"


@contextmanager
def turns() -> Iterator[list[float]]:
    """The seconds that the bake holds the window for, each time that it gets its turn."""
    taken: list[float] = []
    advance = job.Job.advance

    def timed(running: Any) -> bool:
        begin = time.monotonic()
        try:
            return advance(running)
        finally:
            taken.append(time.monotonic() - begin)

    job.Job.advance = timed
    try:
        yield taken
    finally:
        job.Job.advance = advance


def at(name: str) -> Steps:
    """Where the button of an operator or the field of a property is in the Physics tab: looked for once."""
    props = physics_tab()
    yield
    if name in found:
        yield from ui.hover(*found[name])
        operator, prop = ui.under(props, ui.region(props))
        if f"bpy.ops.{name}(" in operator or prop.endswith("." + name):
            return found[name]
    yield from ui.find(props, name, step=PITCH)
    found[name] = ui.find.xy
    return found[name]


def click(name: str) -> Steps:
    """A click on the button of an operator or the field of a property."""
    yield from ui.click(*(yield from at(name)))


def no_bake() -> bool:
    return job.current() is None


def baking(fraction: float = 0.0) -> Callable[[], bool]:
    return lambda: job.current() is not None and job.current().fraction > fraction


def press(key: str, **modifiers: bool) -> Steps:
    """A key, with the pointer over the 3D view."""
    view = ui.area("VIEW_3D")
    yield from ui.key(key, view.x + view.width // 2, view.y + view.height // 2, **modifiers)
    yield


def picture(name: str) -> Steps:
    """Has the launcher take a screenshot, where pictures were asked for."""
    if pictures.name:
        for _ in range(8):
            yield
        (pictures / f"{name}.ready").touch()
        yield from until((pictures / f"{name}.png").exists, f"the picture {name}")


def messages() -> str:
    """What Blender's Info editor lists."""
    area = ui.area("OUTLINER")
    kind, area.ui_type = area.ui_type, "INFO"
    with bpy.context.temp_override(window=ui.window(), area=area, region=ui.region(area)):
        bpy.ops.info.select_all(action="SELECT")
        bpy.ops.info.report_copy()
    area.ui_type = kind
    return bpy.context.window_manager.clipboard

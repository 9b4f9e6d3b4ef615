# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user does with Muslin, done with mouse and keyboard in Blender's window. Started by run_window_test.py.

A scenario is a generator: at each `yield` Blender handles events and redraws. `ui_sim` finds a button by its operator
and a field by its property, and clicks and types there.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import ui_sim as ui

MODULE = "bl_ext.user_default.muslin"
FROZEN = 0.5            # seconds for which the bake may keep the window from answering
MENU_ABOVE = 31         # pixels from the first value of a fabric up to the menu of presets
PITCH = 14              # pixels between two places where a button is looked for; buttons are 20 high
LIMIT = 200.0           # seconds for one scenario

Steps = Generator[None, None, Any]


job: Any = None
baked_record: Any = None
pictures = Path()


def load_modules() -> None:
    """Of the extension, which is another after it was switched off and on."""
    global job, baked_record
    job, baked_record = (importlib.import_module(f"{MODULE}.cloth_addon.{name}") for name in ("job", "baked_record"))


# ---------------------------------------------------------------------- scene and state

def mesh_object(name: str, bm: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    bm.free()
    thing = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(thing)
    return thing


CELLS = 10
PINNED = [CELLS, (CELLS + 1) ** 2 - 1]


def sheet_and_ball(frames: int) -> tuple[Any, Any]:
    """A scene of a sheet, two of its corners in the vertex group Pins, over a ball."""
    bpy.data.batch_remove([*bpy.data.objects, *bpy.data.meshes, *bpy.data.actions])
    bm = bmesh.new()
    bmesh.ops.create_uvsphere(bm, u_segments=24, v_segments=12, radius=0.4)
    ball = mesh_object("Ball", bm)
    bm = bmesh.new()
    bmesh.ops.create_grid(bm, x_segments=CELLS, y_segments=CELLS, size=1.0)
    sheet = mesh_object("Sheet", bm)
    sheet.location.z = 0.5
    make_current(sheet)
    group = sheet.vertex_groups.new(name="Pins")
    group.add(PINNED, 1.0, "REPLACE")
    bpy.context.scene.frame_end = frames
    bpy.context.scene.muslin.steps_per_frame = 6                 # a bake that is slow enough to be watched
    bpy.context.scene.frame_set(3)
    bpy.ops.ed.undo_push(message="Scene made")
    return sheet, ball


def physics_tab() -> Any:
    props = ui.area("PROPERTIES")
    props.spaces.active.context = "PHYSICS"
    return props


def make_current(thing: Any) -> None:
    bpy.context.view_layer.update()
    for other in bpy.context.view_layer.objects:
        other.select_set(other == thing)
    bpy.context.view_layer.objects.active = thing


def state(thing: Any) -> dict[str, Any]:
    """All that a cancelled or deleted bake must leave as it was."""
    mesh = thing.data
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", coordinates)
    return {
        "coordinates": coordinates.tobytes(),
        "keys": None if mesh.shape_keys is None else [block.name for block in mesh.shape_keys.key_blocks],
        "animation": thing.animation_data is None, "modifiers": [modifier.name for modifier in thing.modifiers],
        "frame": bpy.context.scene.frame_current,
        "data": {name: len(getattr(bpy.data, name)) for name in ("actions", "meshes", "objects", "shape_keys")},
    }


def shape_at(thing: Any, frame: int) -> Any:
    """Evaluated vertices (V, 3) in the object's space."""
    bpy.context.scene.frame_set(frame)
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", coordinates)
    return coordinates.reshape(-1, 3)


# ---------------------------------------------------------------------- hands

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


found: dict[str, tuple[int, int]] = {}


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


# ---------------------------------------------------------------------- scenarios

def first_steps() -> Steps:
    """From a mesh to a pinned cloth of silk over a collider, by the panel alone."""
    assert MODULE in bpy.context.preferences.addons, "the extension is not enabled"
    sheet, ball = sheet_and_ball(frames=12)
    physics_tab()
    yield from picture("empty")
    yield from click("muslin.cloth_add")
    assert sheet.muslin.kind == "CLOTH" and sheet.muslin.fabric == "cotton"

    x, y = yield from at("areal_density")
    yield from ui.click(x, y + MENU_ABOVE)
    yield from ui.key("S", x, y + MENU_ABOVE, unicode="s")
    yield
    assert sheet.muslin.fabric == "silk", sheet.muslin.fabric
    light = sheet.muslin.areal_density
    x, y = yield from at("areal_density")
    for value in ("PRESS", "RELEASE", "PRESS", "RELEASE"):      # a double click, to type
        ui.send("LEFTMOUSE", value, x, y)
        yield
    yield from ui.key("A", x, y, ctrl=True)
    yield from ui.text("0.25", x, y)
    yield from ui.key("RET", x, y)
    yield
    assert abs(sheet.muslin.areal_density - 0.25) < 1e-6 and sheet.muslin.fabric == "CUSTOM"
    yield from press("Z", ctrl=True)
    sheet, ball = bpy.data.objects["Sheet"], bpy.data.objects["Ball"]
    assert sheet.muslin.fabric == "silk" and sheet.muslin.areal_density == light

    x, y = yield from at("pin_group")
    yield from ui.click(x, y)
    yield from ui.text("pin", x, y)
    yield from ui.key("RET", x, y)
    yield
    assert sheet.muslin.pin_group == "Pins"
    yield from picture("cloth")

    make_current(ball)
    yield
    yield from click("muslin.collider_add")
    assert ball.muslin.kind == "COLLIDER"
    yield from picture("collider")
    yield from click("muslin.remove")
    assert ball.muslin.kind == "NONE"


def ready(frames: int) -> Steps:
    """The scene of first_steps, set by script."""
    yield from press("ESC")         # a message of the scenario before covers the panel until the pointer has left it
    sheet, ball = sheet_and_ball(frames)
    sheet.muslin.kind, sheet.muslin.pin_group, ball.muslin.kind = "CLOTH", "Pins", "COLLIDER"
    make_current(sheet)
    bpy.ops.ed.undo_push(message="Muslin set")
    yield
    yield       # the Properties editor sees the new active object
    physics_tab()
    yield
    return sheet


def bake() -> Steps:
    """Bake, watch, Esc; bake again, scrub, undo, redo, delete."""
    sheet = yield from ready(frames=24)
    before = state(sheet)

    yield from click("muslin.bake")
    yield from until(baking(0.1), "the bake to get on")
    running = job.current()
    assert running.text().startswith("Baking "), running.text()
    yield from picture("baking")
    yield from press("ESC")
    yield from until(no_bake, "the bake to be cancelled")
    assert running.fraction < 1.0 and not running.finished, "Esc came too late to cancel anything"
    assert state(sheet) == before, "a cancelled bake left something behind"

    with turns() as taken:
        yield from click("muslin.bake")
        yield from until(no_bake, "the bake to end")
    print(f"a bake of 24 frames took {len(taken)} turns, the longest {max(taken):.2f} s")
    assert max(taken) < FROZEN, f"the bake held the window for {max(taken):.2f} s"
    assert baked_record.has_bake(sheet) and bpy.context.scene.frame_current == before["frame"]
    assert "Baked 'Sheet', frames 1 to 24" in messages()

    shapes = [shape_at(sheet, frame) for frame in (1, 8, 16, 24)]
    free = [i for i in range(len(sheet.data.vertices)) if i not in PINNED]
    rest = np.frombuffer(before["coordinates"], np.float32).reshape(-1, 3)
    assert np.array_equal(shapes[0], rest), "the bake does not start at the rest shape"
    for early, late in zip(shapes, shapes[1:], strict=False):
        assert np.abs(late - early)[free].max() > 0.01, "scrubbing shows no motion"
        assert np.abs(late - rest)[PINNED].max() < 1e-6, "a pinned vertex moved"
    yield from picture("baked")

    bpy.context.scene.frame_set(before["frame"])
    after = state(sheet)
    yield from press("Z", ctrl=True)
    sheet = bpy.data.objects["Sheet"]
    assert not baked_record.has_bake(sheet) and state(sheet) == before, "one undo does not take the bake back"
    yield from press("Z", ctrl=True, shift=True)
    sheet = bpy.data.objects["Sheet"]
    assert state(sheet) == after, "redo does not bring the bake back"

    yield from click("muslin.bake_delete")
    assert state(sheet) == before, "a deleted bake left something behind"


def interruptions() -> Steps:
    """Undo, save, load and removal while a bake runs."""
    sheet = yield from ready(frames=400)
    before = state(sheet)
    sheet.location.x = 1.0
    bpy.ops.ed.undo_push(message="Moved")

    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    yield from press("Z", ctrl=True)
    yield from until(no_bake, "undo to cancel the bake")
    sheet = bpy.data.objects["Sheet"]
    assert sheet.location.x == 0.0 and state(sheet) == before, "undo during a bake"

    file = str(Path(bpy.app.tempdir) / "during.blend")
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    bpy.ops.wm.save_as_mainfile(filepath=file, check_existing=False)
    here = job.current().fraction
    yield from until(baking(here), "the bake to go on after saving")
    bpy.ops.wm.open_mainfile(filepath=file)
    yield from until(no_bake, "loading a file to cancel the bake")
    sheet = bpy.data.objects["Sheet"]
    assert state(sheet) == before, "a file saved during a bake is not as before it"

    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    bpy.data.objects.remove(bpy.data.objects["Sheet"])
    yield from until(no_bake, "the bake to notice that its object is gone")
    assert "Sheet" in messages().splitlines()[-1], messages()
    assert bpy.context.scene.frame_current == before["frame"]


def errors() -> Steps:
    """What cannot be baked is refused in words, and nothing changes."""
    sheet = yield from ready(frames=12)
    sheet.muslin.pin_group = "Pinz"
    before = state(sheet)
    yield from click("muslin.bake")
    yield from until(no_bake, "the bake to be refused")
    yield
    assert "'Pinz'" in messages() and "Sheet" in messages(), messages()
    assert state(sheet) == before
    yield from press("ESC")         # away with the message

    sheet.muslin.pin_group = "Pins"
    make_current(sheet)
    with bpy.context.temp_override(window=ui.window(), area=ui.area("VIEW_3D"), region=ui.region(ui.area("VIEW_3D"))):
        bpy.ops.object.mode_set(mode="EDIT")
    yield
    yield from click("muslin.bake")
    yield from until(no_bake, "the bake to be refused")
    yield
    assert "Edit Mode" in messages(), messages()


def leaving() -> Steps:
    """The extension is switched off, and Blender is left, while a bake runs. Nothing comes after this scenario."""
    sheet = yield from ready(frames=400)
    before = state(sheet)
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    bpy.ops.preferences.addon_disable(module=MODULE)
    yield
    yield
    assert no_bake() and not hasattr(bpy.types.Object, "muslin")
    assert state(sheet) == before, "switching the extension off during a bake left something behind"
    assert not [handler for name in ("undo_pre", "redo_pre", "load_pre", "save_pre")
                for handler in getattr(bpy.app.handlers, name) if "muslin" in handler.__module__]

    bpy.ops.preferences.addon_enable(module=MODULE)
    load_modules()
    yield
    yield
    yield from click("muslin.bake")
    yield from until(baking(0.01), "the bake to get on")
    print("window test: leaving Blender while a bake runs", flush=True)
    bpy.ops.wm.quit_blender()
    yield from until(lambda: False, "Blender to end")


def start(scenarios: list[str], picture_folder: str) -> None:
    global pictures
    pictures = Path(picture_folder)
    others = {name: getattr(importlib.import_module(f"{name}_scenario"), name)           # which need what is above
              for name in ("crossings", "compare", "panels")}

    def all_of_them() -> Steps:
        load_modules()
        for name in scenarios:
            begin = time.monotonic()
            yield from (others.get(name) or globals()[name])()
            print(f"window test: {name} passed in {time.monotonic() - begin:.1f} s", flush=True)

    ui.main(all_of_them, LIMIT * len(scenarios))

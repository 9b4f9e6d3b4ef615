# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate that is out of date is shown as such, with what has changed and the frames that were baked."""

from __future__ import annotations

import bpy
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.scripted import crumple, simulate_as


@pytest.fixture
def sheet(extension, scene, monkeypatch):
    """A baked sheet of many settings over a collider with an animated parent."""
    scene.muslin.backend = "NUMPY"
    monkeypatch.setattr(extension.core, "simulate", simulate_as(extension.core, crumple))
    sheet = builders.sheet(8)
    builders.pin(sheet, {0: 1.0, 1: 0.5})
    builders.box("Ball", 0.3).location.z = -1.0
    parent = bpy.data.objects.new("Arm", None)
    scene.collection.objects.link(parent)
    builders.animate(parent, "location", {1: (0, 0, 0), 4: (1, 0, 0)})
    scene.objects["Ball"].parent = parent
    scene.frame_set(1)
    builders.finish(extension.bake.bake(scene))
    return sheet


def told(extension, sheet):
    """Return what the panel says has changed."""
    bpy.context.view_layer.update()
    return " ".join(draw_all(extension, sheet, width=4000).texts)


def move(scene, sheet):
    scene.objects["Ball"].location.x += 1.0


def key(scene, sheet):
    builders.animate(scene.objects["Ball"], "location", {3: (2, 0, 0)})


def edit_collider(scene, sheet):
    scene.objects["Ball"].data.vertices[0].co.z += 0.1


def friction(scene, sheet):
    scene.objects["Ball"].muslin.friction = 0.9


def parent(scene, sheet):
    builders.animate(scene.objects["Arm"], "location", {4: (2, 0, 0)})


def another(scene, sheet):
    builders.box("Block")


def removed(scene, sheet):
    bpy.data.objects.remove(scene.objects["Ball"])


def no_collider(scene, sheet):
    scene.objects["Ball"].muslin.kind = "NONE"


def weight(scene, sheet):
    sheet.muslin.areal_density *= 2


def shape(scene, sheet):
    sheet.data.shape_keys.reference_key.data[5].co.z += 0.1


def pins(scene, sheet):
    sheet.vertex_groups["Pins"].add([7], 1.0, "REPLACE")


def gravity(scene, sheet):
    scene.gravity.z = -1.0


def wind(scene, sheet):
    scene.muslin.wind = (1, 0, 0)


def rate(scene, sheet):
    scene.render.fps = 30


def end(scene, sheet):
    scene.frame_end = 60


def steps(scene, sheet):
    scene.muslin.steps_per_frame = 7


CHANGES = [
    (move, "collider 'Ball' moved or changed"), (key, "collider 'Ball' moved or changed"),
    (edit_collider, "collider 'Ball' (its mesh)"), (friction, "collider 'Ball' (its settings)"), (parent, "'Arm'"),
    (another, "collider 'Block' is new"), (removed, "collider 'Ball' is gone"),
    (no_collider, "collider 'Ball' is gone"), (weight, "settings (Weight)"), (shape, "mesh"), (pins, "vertex groups"),
    (gravity, "gravity"), (wind, "wind"), (rate, "frame rate"), (end, "frame range (now 1 to 60)"),
    (steps, "solver settings (Steps per Frame)")]


@pytest.mark.parametrize(("change", "text"), CHANGES, ids=[change.__name__ for change, _ in CHANGES])
def test_a_change_since_the_bake_is_named(extension, scene, sheet, change, text):
    assert "Changed since the bake" not in told(extension, sheet)
    change(scene, sheet)
    said = told(extension, sheet)
    assert text in said.partition("Changed since the bake: ")[2].partition("Bake again")[0], said
    assert "Baked Frames 1 to 4" in said


def test_playing_saving_and_loading_change_nothing(extension, scene, sheet, tmp_path):
    for frame in (4, 2, 9):
        scene.frame_set(frame)
        assert "Changed since the bake" not in told(extension, sheet), frame
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    assert "Changed since the bake" not in told(extension, bpy.data.objects["Sheet"])


def test_a_renamed_cloth_and_a_bake_of_an_earlier_version_are_drawn(extension, scene, sheet):
    sheet.name = "Cape"
    assert "Changed since the bake" not in told(extension, sheet)
    changes = extension.bake_changes.changes
    report = extension.baked_record.report_of(sheet)
    assert changes(scene, sheet, {**report, "fingerprints": {}}) == []
    assert changes(scene, sheet, {**report, "fingerprints": {"A": {}, "B": {}}}) == [
        "cloth 'A' is gone", "cloth 'B' is gone"]


def test_a_cloth_that_was_baked_with_it_and_has_changed_is_named(extension, scene, sheet):
    other = builders.sheet(8, name="Other", height=2.0)
    builders.finish(extension.bake.bake(scene))
    other.muslin.friction = 0.9
    assert "cloth 'Other': settings" in told(extension, sheet)


def test_bake_again_is_beside_delete_bake_and_settings_stay_as_they_are(extension, scene, sheet):
    drawn = draw_all(extension, sheet)
    assert drawn.operators.index("muslin.bake_delete") == drawn.operators.index("muslin.bake") + 1
    assert "Bake Again" in drawn.texts


# ---------------------------------------------------------------------- hints


def hints(extension, scene, obj):
    bpy.context.view_layer.update()
    return extension.hints.hints(scene, obj)


def test_hints_on_a_cloth_that_is_not_baked_falls_or_is_coarse(extension, scene):
    cube = builders.box("Cube", kind="CLOTH")
    assert [text.partition(":")[0] for text in hints(extension, scene, cube)] == [
        "Not baked", "Only 8 vertices", "No pins, and no collider in the scene"]
    bpy.data.objects.remove(cube)
    sheet = builders.sheet(8)
    floor = builders.box("Floor")
    floor.location.z = 5.0
    scene.frame_end = 24
    assert hints(extension, scene, sheet)[1:] == ["No collider is in reach of its fall"]
    floor.location.z = -2.0
    assert hints(extension, scene, sheet)[1:] == []
    floor.location.x = 40.0
    assert hints(extension, scene, sheet)[1:] == ["No collider is in reach of its fall"]
    builders.pin(sheet, {0: 1.0})
    assert hints(extension, scene, sheet)[1:] == []
    assert "No faces: the model Rope bends, too" in draw_all(
        extension, builders.mesh_object("Rope", [(0, 0, 0), (1, 0, 0)], edges=[(0, 1)])).texts


def test_blender_s_collision_is_noted_and_taken_over_on_request(extension, scene):
    sheet, ball = builders.sheet(8), builders.box("Ball", kind="NONE")
    ball.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.update()
    ball.collision.cloth_friction, ball.collision.thickness_outer = 40.0, 0.09
    note = "'Ball' has Blender's Collision, but stops nothing here: press Use as Collider"
    drawn = draw_all(extension, sheet, width=4000)
    assert note in drawn.texts and "muslin.collision_use" in drawn.operators
    assert "muslin.collision_use" in draw_all(extension, ball).operators
    scene.muslin.backend = "NUMPY"
    assert note in builders.finish(extension.bake.bake(scene, frames=(1, 2))).notes
    assert bpy.ops.muslin.collision_use() == {"FINISHED"}
    assert ball.muslin.kind == "COLLIDER"
    assert ball.muslin.friction == pytest.approx(0.4) and ball.muslin.thickness == pytest.approx(0.08)
    assert not bpy.ops.muslin.collision_use.poll()
    assert extension.read_scene.notes_on_ignored(scene, bpy.context.view_layer) == []


def test_stretch_is_never_negative(extension):
    assert [extension.report_notes.stretch_text(ratio) for ratio in (0.9989, 1.0, 1.034)] == [
        "0.00 %", "0.00 %", "3.40 %"]


def test_every_model_has_a_description(extension):
    assert all(description for _, _, description, _ in extension.enum_items.model_items())

# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake is written completely or not at all, replaces an earlier one, and Delete Bake restores the state before."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture(autouse=True)
def simulated(extension, monkeypatch):
    """Simulate random motion, and return the list of the simulated core.Scenes."""
    scenes = []
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple, scenes))
    return scenes


def plain(scene):
    return builders.sheet()


def with_own_keys(scene):
    sheet = builders.sheet()
    sheet.shape_key_add(name="Basis")
    key = sheet.shape_key_add(name="Bulge", from_mix=False)
    key.data[3].co.z += 1.0
    key.value = 0.3
    sheet.active_shape_key_index = 1
    return sheet


def with_animated_keys(scene):
    sheet = with_own_keys(scene)
    builders.animate(sheet.data.shape_keys.key_blocks["Bulge"], "value", {1: 0.0, 4: 1.0})
    return sheet


def with_a_driven_key(scene):
    sheet = with_own_keys(scene)
    sheet.data.shape_keys.key_blocks["Bulge"].driver_add("value").driver.expression = "frame / 9"
    return sheet


def with_a_lone_basis(scene):
    sheet = builders.sheet()
    sheet.shape_key_add(name="Basis")
    return sheet


def with_an_action_that_has_no_slot_for_the_keys(scene):
    import bpy

    sheet = with_own_keys(scene)
    sheet.data.shape_keys.animation_data_create().action = bpy.data.actions.new("Empty")
    return sheet


def with_modifiers_and_a_pinned_shape(scene):
    sheet = builders.sheet()
    sheet.modifiers.new("Subdivision", "SUBSURF")
    sheet.modifiers.new("Cast", "CAST").factor = 0.2
    sheet.show_only_shape_key = True
    sheet["mine"] = 3
    sheet.data["mine"] = "too"
    return sheet


CASES = [plain, with_own_keys, with_animated_keys, with_a_driven_key, with_a_lone_basis,
         with_an_action_that_has_no_slot_for_the_keys, with_modifiers_and_a_pinned_shape]


@pytest.fixture(params=CASES, ids=lambda case: case.__name__)
def sheet(request, scene):
    sheet = request.param(scene)
    scene.frame_set(1)
    return sheet


def test_delete_bake_restores_exactly_the_state_before(extension, scene, sheet):
    before = builders.state(sheet)
    builders.finish(extension.bake.bake(scene))
    assert builders.state(sheet) != before
    assert extension.baked_record.has_bake(sheet)
    assert extension.shape_keys.delete_bake(sheet)
    scene.frame_set(1)
    assert builders.state(sheet) == before
    assert not extension.shape_keys.delete_bake(sheet)


def test_a_bake_over_a_bake_starts_from_the_user_s_own_shape_at_any_frame(extension, scene, sheet, simulated):
    builders.finish(extension.bake.bake(scene, frames=(3, 5)))
    builders.finish(extension.bake.bake(scene))
    builders.finish(extension.bake.bake(scene, frames=(3, 5)))
    assert np.array_equal(simulated[2].cloths[0].positions, simulated[0].cloths[0].positions)


def test_a_second_bake_replaces_the_first_and_starts_from_the_user_s_own_shape(extension, scene, sheet, simulated):
    before = builders.state(sheet)
    builders.finish(extension.bake.bake(scene))
    first = builders.state(sheet)
    scene.frame_set(3)                  # a frame at which the first bake differs from the user's shape
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(1)
    second = builders.state(sheet)
    for core_scene in simulated[1:]:
        assert np.array_equal(core_scene.cloths[0].positions, simulated[0].cloths[0].positions)
    assert second == first
    extension.shape_keys.delete_bake(sheet)
    scene.frame_set(1)
    assert builders.state(sheet) == before


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 8, 9])
def test_a_bake_cancelled_at_any_moment_leaves_everything_as_it_was(extension, scene, steps):
    sheet = with_animated_keys(scene)
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(2, subframe=0.25)
    before = builders.state(sheet)
    bake = extension.bake.bake(scene)
    for _ in range(steps):
        next(bake)
    bake.close()
    assert builders.state(sheet) == before


def test_a_bake_that_fails_leaves_everything_as_it_was(extension, scene, sheet, monkeypatch):
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(2)
    before = builders.state(sheet)

    def fails(start, since):
        if since == 2:
            raise extension.core.SolverError("no step was small enough")
        return start

    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, fails))
    with pytest.raises(extension.core.SolverError):
        builders.finish(extension.bake.bake(scene))
    assert builders.state(sheet) == before


@pytest.mark.parametrize(("failing", "call"), [
    ("_add_key", 1), ("_add_key", 2), ("_add_key", 7), ("_add_key", 12),
    ("_prepare_animation", 1), ("_prepare_animation", 2), ("_prepare_animation", 3),
    ("_write_curve", 1), ("_write_curve", 3), ("_write_curve", 6)])
def test_a_failure_while_writing_restores_the_bakes_of_all_objects(extension, scene, monkeypatch, failing, call):
    sheets = [builders.sheet(name="A"), with_animated_keys(scene), builders.sheet(name="C")]
    builders.finish(extension.bake.bake(scene, [sheets[1], sheets[2]]))
    scene.frame_set(2)
    before = [builders.state(sheet) for sheet in sheets]
    original = getattr(extension.shape_keys, failing)
    calls = []

    def fails(*arguments):
        calls.append(1)
        if len(calls) == call:
            raise MemoryError
        return original(*arguments)

    monkeypatch.setattr(extension.shape_keys, failing, fails)
    with pytest.raises(extension.core.ClothError, match="not enough memory .*; close other programs"):
        builders.finish(extension.bake.bake(scene))
    scene.frame_set(2)
    assert [builders.state(sheet) for sheet in sheets] == before


def test_keys_are_named_by_their_frames(extension, scene):
    sheet = plain(scene)
    scene.frame_start, scene.frame_end = 9, 11
    builders.finish(extension.bake.bake(scene))
    assert [key.name for key in sheet.data.shape_keys.key_blocks] == ["Basis", "Muslin 0009", "Muslin 0010",
                                                                      "Muslin 0011"]


def test_a_shape_key_added_after_a_bake_survives_its_deletion(extension, scene):
    sheet = plain(scene)
    builders.finish(extension.bake.bake(scene))
    sheet.shape_key_add(name="Sculpted", from_mix=False)
    extension.shape_keys.delete_bake(sheet)
    keys = sheet.data.shape_keys
    assert [key.name for key in keys.key_blocks] == ["Basis", "Sculpted"]
    assert keys.use_relative and keys.animation_data is None


def test_a_bake_can_be_saved_and_deleted_after_loading(extension, scene, tmp_path):
    import bpy

    sheet = with_animated_keys(scene)
    scene.frame_set(1)
    before = builders.state(sheet)
    builders.finish(extension.bake.bake(scene))
    shown = builders.displayed(sheet, 3)
    scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "baked.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "baked.blend"))
    sheet = bpy.data.objects["Sheet"]
    assert np.array_equal(builders.displayed(sheet, 3), shown)
    assert extension.baked_record.report_of(sheet)["last"] == 4
    extension.shape_keys.delete_bake(sheet)
    bpy.context.scene.frame_set(1)
    assert builders.state(sheet) == before


def test_a_copy_of_a_baked_object_and_the_original_are_deleted_independently(extension, scene):
    sheet = plain(scene)
    builders.finish(extension.bake.bake(scene))
    copy = sheet.copy()
    copy.data = sheet.data.copy()
    scene.collection.objects.link(copy)
    shown = [builders.displayed(sheet, frame) for frame in (2, 3)]
    extension.shape_keys.delete_bake(copy)
    assert copy.data.shape_keys is None
    assert np.array_equal([builders.displayed(sheet, frame) for frame in (2, 3)], shown)
    extension.shape_keys.delete_bake(sheet)
    assert sheet.data.shape_keys is None


def test_a_damaged_record_is_an_error_and_has_no_report(extension, scene):
    sheet = plain(scene)
    builders.finish(extension.bake.bake(scene))
    keys = sheet.data.shape_keys
    for text, message in (("{", "cannot be read"), ("[1]", "cannot be read"), ('{"version": 99}', "another version")):
        keys["muslin_bake"] = text
        assert extension.baked_record.has_bake(sheet)
        assert extension.baked_record.report_of(sheet) is None
        with pytest.raises(extension.core.SceneError, match=f"Sheet: .*{message}"):
            extension.shape_keys.delete_bake(sheet)


def test_keys_animated_by_a_shared_action_are_refused(extension, scene):
    import bpy

    sheet = with_animated_keys(scene)
    other = with_own_keys(scene)
    action = sheet.data.shape_keys.animation_data.action
    animation = other.data.shape_keys.animation_data_create()
    animation.action, animation.action_slot = action, action.slots[0]
    scene.frame_set(1)
    before = builders.state(sheet)
    with pytest.raises(extension.core.SceneError, match="Sheet: the action .* animates 2 data-blocks in one slot"):
        builders.finish(extension.bake.bake(scene, [sheet]))
    assert builders.state(sheet) == before
    assert bpy.data.actions[action.name].users == 2


def test_undo_removes_a_bake_and_redo_restores_it(extension, scene):
    import bpy

    sheet = plain(scene)
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.ed.undo_push(message="before")
    builders.finish(extension.bake.bake(scene))
    bpy.ops.ed.undo_push(message="Bake Cloth")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Sheet"].data.shape_keys is None
    bpy.ops.ed.redo()
    sheet = bpy.data.objects["Sheet"]
    assert len(sheet.data.shape_keys.key_blocks) == 5
    assert extension.shape_keys.delete_bake(sheet)


def as_version_1(extension, sheet):
    """Make a bake as earlier versions have written it: without marks on the keys and the action."""
    keys = sheet.data.shape_keys
    values = json.loads(keys[extension.baked_record.PROPERTY])
    values["report"].pop("fingerprints")
    keys[extension.baked_record.PROPERTY] = json.dumps({**values, "version": 1})
    for block in keys.key_blocks:
        block.slider_min = 0.0
    keys.animation_data.action.pop(extension.delete_animation.MADE, None)


def test_a_bake_of_version_1_is_deleted_and_replaced_as_any_other(extension, scene, sheet):
    before = builders.state(sheet)
    for again in (False, True):
        builders.finish(extension.bake.bake(scene))
        as_version_1(extension, sheet)
        assert extension.baked_record.report_of(sheet)["last"] == 4
        if again:
            builders.finish(extension.bake.bake(scene))
        extension.shape_keys.delete_bake(sheet)
        scene.frame_set(1)
        assert builders.state(sheet) == before


@pytest.mark.parametrize("version", [0, -5, True, 999, 4, None, "1", 1.5])
def test_records_of_unknown_versions_are_refused(extension, scene, version):
    sheet = plain(scene)
    builders.finish(extension.bake.bake(scene))
    keys = sheet.data.shape_keys
    values = json.loads(keys[extension.baked_record.PROPERTY])
    keys[extension.baked_record.PROPERTY] = json.dumps({**values, "version": version})
    before = builders.state(sheet)
    with pytest.raises(extension.core.SceneError, match="another version|version is .*, not"):
        extension.shape_keys.delete_bake(sheet)
    assert builders.state(sheet) == before and extension.baked_record.problem_of(sheet)


def test_a_record_that_is_forgotten_leaves_the_keys_to_the_user(extension, scene):
    import bpy

    sheet = plain(scene)
    bpy.context.view_layer.objects.active = sheet
    builders.finish(extension.bake.bake(scene))
    assert not bpy.ops.muslin.bake_forget.poll()
    sheet.data.shape_keys[extension.baked_record.PROPERTY] = "{}"
    assert bpy.ops.muslin.bake_forget() == {"FINISHED"}
    assert not extension.baked_record.has_bake(sheet) and len(sheet.data.shape_keys.key_blocks) == 5
    sheet.shape_key_clear()
    builders.finish(extension.bake.bake(scene))
    assert extension.baked_record.has_bake(sheet)

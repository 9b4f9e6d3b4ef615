# SPDX-License-Identifier: GPL-3.0-or-later
"""Baked shape keys that the user edits, renames or mutes: the panel tells, and no button discards that silently."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from bpy_extras import anim_utils

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture(params=["absolute", "relative"])
def sheet(extension, scene, monkeypatch, request):
    """Return a sheet that is baked together with another cloth, in each kind of shape keys."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    scene.muslin.backend, scene.frame_end = "NUMPY", 8
    sheet = builders.sheet()
    builders.sheet(name="Towel", height=3.0)
    if request.param == "relative":
        sheet.shape_key_add(name="Basis")
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(5)
    return sheet


def blocks(obj):
    return obj.data.shape_keys.key_blocks


def edit(obj, frame):
    """Move the shape of a frame in Edit Mode."""
    bpy.context.view_layer.objects.active = obj
    obj.active_shape_key_index = list(blocks(obj).keys()).index(f"Muslin {frame:04d}")
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.transform.resize(value=(3.0, 3.0, 3.0))
    bpy.ops.transform.translate(value=(0.0, 0.0, -1.0))
    bpy.ops.object.mode_set(mode="OBJECT")


def drawn(extension, obj):
    return " ".join(draw_all(extension, obj, 3000).texts)


def found(extension, scene, obj):
    return extension.bake_changes.known_changes(scene, obj, extension.baked_record.report_of(obj))


def test_an_edited_frame_is_told_and_makes_the_figures_stale(extension, scene, sheet, tmp_path):
    assert found(extension, scene, sheet) == []
    edit(sheet, 5)
    assert found(extension, scene, sheet) == ["baked frame 5 was edited by hand"]
    assert found(extension, scene, bpy.data.objects["Towel"]) == ["cloth 'Sheet': baked frame 5 was edited by hand"]
    text = drawn(extension, sheet)
    assert "Changed since the bake: baked frame 5 was edited by hand. Bake again" in text and "Up to date" not in text
    assert extension.timeline_bar.baked_frames(sheet)[0][2] == extension.timeline_bar.OUTDATED
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "edited.blend"), check_existing=False)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "edited.blend"))
    assert "baked frame 5 was edited by hand" in drawn(extension, bpy.data.objects["Sheet"])


def test_frames_that_were_edited_are_listed_in_ranges(extension, scene, sheet):
    for frame in (2, 4, 5, 6):
        blocks(sheet)[f"Muslin {frame:04d}"].data[3].co.x += 1e-4
    assert found(extension, scene, sheet) == ["baked frames 2 and 4 to 6 were edited by hand"]
    blocks(sheet)["Muslin 0002"].data[3].co.x += 1e-4
    for block in list(blocks(sheet))[1:]:
        block.data[0].co.z += 1.0
    assert found(extension, scene, sheet) == ["baked frames 1 to 8 were edited by hand"]


def test_what_changes_no_key_is_no_edit(extension, scene, sheet):
    bpy.context.view_layer.objects.active = sheet
    for index, block in enumerate(blocks(sheet)):
        sheet.active_shape_key_index = index
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.object.mode_set(mode="OBJECT")
        scene.frame_set(index)
        if index == 3:
            block.name = "Third"
    assert extension.edit_check.edits_of(scene, sheet) == []
    blocks(sheet)["Third"].data[1].co.z += 1.0
    assert extension.edit_check.edits_of(scene, sheet) == [("Sheet", 3)]
    extension.shape_keys.delete_bakes([sheet, bpy.data.objects["Towel"]])
    builders.finish(extension.bake.bake(scene))
    assert found(extension, scene, sheet) == []


def test_relative_keys_that_are_muted_or_masked_are_not_shown_as_baked(extension, scene, sheet):
    if not sheet.data.shape_keys.use_relative:
        return                                                      # Blender ignores both
    blocks(sheet)["Muslin 0004"].mute = True
    sheet.vertex_groups.new(name="Half")
    blocks(sheet)["Muslin 0006"].vertex_group = "Half"
    blocks(sheet)["Muslin 0008"].relative_key = blocks(sheet)["Muslin 0001"]
    assert found(extension, scene, sheet) == ["baked frames 4, 6 and 8 were edited by hand"]


def test_a_bake_of_an_earlier_version_is_not_called_edited(extension, scene, sheet):
    keys, record = sheet.data.shape_keys, extension.baked_record
    keys[record.PROPERTY] = keys[record.PROPERTY].replace('"key_digests"', '"other"')
    edit(sheet, 5)
    assert record.problem_of(sheet) == "" and found(extension, scene, sheet) == []


def test_a_bake_that_fails_to_write_leaves_the_edit_known(extension, scene, sheet, monkeypatch):
    edit(sheet, 5)
    original, calls = extension.shape_keys._write_curve, []

    def fails(*arguments):
        calls.append(1)
        if len(calls) == 1:
            raise MemoryError
        return original(*arguments)

    monkeypatch.setattr(extension.shape_keys, "_write_curve", fails)
    with pytest.raises(extension.core.ClothError):
        builders.finish(extension.bake.bake(scene, [sheet]))
    assert found(extension, scene, sheet) == ["baked frame 5 was edited by hand"]


def test_the_window_compares_all_keys_in_turns_and_those_of_the_shown_frame_later(extension, scene, sheet, monkeypatch):
    module, state = extension.bake_changes, SimpleNamespace(now=100.0, timers=[], turns=0)

    def monotonic():
        state.now += 0.006                                          # two keys fill a turn
        return state.now

    timers = SimpleNamespace(register=lambda call, first_interval: state.timers.append(call),
                             is_registered=lambda call: call in state.timers)
    monkeypatch.setattr(module, "bpy", SimpleNamespace(
        app=SimpleNamespace(background=False, timers=timers), data=bpy.data))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(extension.edit_check, "time", SimpleNamespace(monotonic=monotonic))
    monkeypatch.setattr(module, "_redraw", lambda: None)
    monkeypatch.setattr(module, "_known", type(module._known)())

    def settled():
        """Let the timer run to its end, and return what the panel says and the number of turns."""
        found(extension, scene, sheet)
        turns = 0
        while state.timers:
            turns += 1
            if state.timers[0]() is None:
                state.timers.clear()
        return found(extension, scene, sheet), turns

    said, turns = settled()
    assert said == [] and turns >= 4
    blocks(sheet)["Muslin 0003"].points.foreach_set("co", np.zeros(75, np.float32))         # not reported by Blender
    blocks(sheet)["Muslin 0005"].points.foreach_set("co", np.zeros(75, np.float32))
    state.now += 3.0
    said, turns = settled()
    assert said == ["baked frame 5 was edited by hand"] and turns <= 2
    module.forget()
    state.now += 1.0
    assert settled()[0] == ["baked frames 3 and 5 were edited by hand"]


def reports(capfd):
    return capfd.readouterr().out


def test_every_button_that_discards_an_edit_says_so(extension, scene, sheet, capfd):
    bpy.context.view_layer.objects.active = sheet
    for button in (lambda: bpy.ops.muslin.bake(mode="HERE"), lambda: bpy.ops.muslin.bake(only_active=True),
                   bpy.ops.muslin.bake_use, bpy.ops.muslin.bake_delete):
        edit(sheet, 5)
        scene.frame_set(6)
        reports(capfd)
        assert button() == {"FINISHED"}
        assert "'Sheet': baked frame 5 was edited by hand" in reports(capfd)
    builders.finish(extension.bake.bake(scene, [sheet]))
    assert bpy.ops.muslin.bake_delete() == {"FINISHED"}
    assert "edited" not in reports(capfd)


def test_the_basis_that_keys_of_the_user_need_is_not_called_left(extension, scene, sheet):
    sheet.shape_key_add(name="Smile", from_mix=False).data[3].co.z += 1.0
    extension.shape_keys.delete_bake(sheet)
    assert "Smile" in blocks(sheet) and "earlier bake" not in drawn(extension, sheet)
    blocks(sheet)[0].slider_min = extension.baked_record.MARK       # as earlier versions have left it
    assert "earlier bake" not in drawn(extension, sheet)
    builders.finish(extension.bake.bake(scene))
    extension.shape_keys.delete_bake(sheet)
    assert "Smile" in blocks(sheet) and "earlier bake" not in drawn(extension, sheet)


def curve_of(sheet, name):
    """The F-curve of the value of a shape key, None without one."""
    keys = sheet.data.shape_keys
    animation = keys.animation_data
    if animation is None or animation.action_slot is None:
        return None
    return anim_utils.action_get_channelbag_for_slot(animation.action, animation.action_slot).fcurves.find(
        f'key_blocks["{name}"].value')


@pytest.mark.parametrize("shown", [1, 5])
def test_a_renamed_baked_key_that_is_left_loses_the_f_curve_of_the_bake(extension, scene, sheet, shown):
    scene.frame_set(shown)
    names = [block.name for block in blocks(sheet)]
    blocks(sheet)["Muslin 0005"].name = "My precious"
    extension.shape_keys.delete_bake(sheet)
    assert [block.name for block in blocks(sheet)] == [names[0], "My precious"]
    assert sheet.data.shape_keys.animation_data is None and blocks(sheet)["My precious"].value == 0.0
    assert all(np.ptp(builders.displayed(sheet, frame)[:, 2]) < 1e-3 for frame in (1, 5))
    text = drawn(extension, sheet)
    assert "1 shape key of an earlier bake is left: remove it" in text and "F-curve" not in text


def test_a_deletion_that_fails_gives_a_renamed_key_its_f_curve_and_value_back(extension, scene, sheet, monkeypatch):
    relative = sheet.data.shape_keys.use_relative                            # absolute keys have one F-curve together
    blocks(sheet)["Muslin 0005"].name = "My precious"
    scene.frame_set(5)
    before = builders.displayed(sheet, 5)
    towel = bpy.data.objects["Towel"]
    restore = extension.delete_animation.restore_animation

    def fails(keys, *rest):
        restore(keys, *rest)
        if keys == towel.data.shape_keys:
            raise MemoryError

    monkeypatch.setattr(extension.delete_animation, "restore_animation", fails)
    with pytest.raises(MemoryError):
        extension.shape_keys.delete_bakes([sheet, towel])
    assert np.array_equal(builders.displayed(sheet, 5), before)
    if relative:
        assert len(curve_of(sheet, "My precious").keyframe_points) == 3
        assert blocks(sheet)["My precious"].value == 1.0


def test_a_renamed_baked_key_whose_f_curve_was_edited_is_told_and_that_it_still_moves_the_cloth(
        extension, scene, sheet):
    relative = sheet.data.shape_keys.use_relative
    blocks(sheet)["Muslin 0005"].name = "My precious"
    if relative:
        curve_of(sheet, "My precious").keyframe_points[0].co.x -= 1.0
    extension.shape_keys.delete_bake(sheet)
    assert "My precious" in blocks(sheet)
    text = drawn(extension, sheet)
    assert "1 shape key of an earlier bake is left: remove it in Object Data > Shape Keys" in text
    moves = builders.displayed(sheet, 5)[:, 2].std() > 1e-3 and np.ptp(builders.displayed(sheet, 1)[:, 2]) < 1e-3
    assert moves == relative == ("Its F-curve still moves the cloth" in text)
    sheet.shape_key_remove(blocks(sheet)["My precious"])
    assert "earlier bake" not in drawn(extension, sheet)


def test_a_new_cloth_makes_the_bakes_stale_beside_which_it_would_be_baked(extension, scene, sheet):
    builders.sheet(name="New", height=1.0)
    assert found(extension, scene, sheet) == ["cloth 'New' is new"]
    assert found(extension, scene, bpy.data.objects["Towel"]) == ["cloth 'New' is new"]
    assert "cloth 'New' is new" in drawn(extension, sheet)
    builders.finish(extension.bake.bake(scene, [sheet]))            # Only This Cloth
    assert found(extension, scene, sheet) == []
    bpy.data.objects["New"].name = "Newer"
    assert found(extension, scene, sheet) == []
    builders.sheet(name="Newest", height=2.0)
    assert found(extension, scene, sheet) == ["cloth 'Newest' is new"]


def test_a_bake_that_goes_on_or_is_used_again_does_not_make_a_new_cloth_an_old_one(extension, scene, sheet):
    builders.sheet(name="New", height=1.0)
    bpy.context.view_layer.objects.active = sheet
    for button in (bpy.ops.muslin.bake_use, lambda: bpy.ops.muslin.bake(mode="HERE")):
        assert button() == {"FINISHED"}
        assert found(extension, scene, sheet) == ["cloth 'New' is new"]
    sheet.name = "Blanket"
    assert found(extension, scene, sheet) == ["cloth 'New' is new"]

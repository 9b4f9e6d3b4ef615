# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions of artists before, during and after a bake end in a correct bake or an error that names the cause."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture
def crumpled(extension, monkeypatch):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))


def begun(extension, scene):
    """Return a bake that has solved its second frame."""
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.frame == 2 and progress.certificate is not None:
            return steps
    raise AssertionError("the bake ended")


@pytest.mark.parametrize("height", [0.5, 0.53])
def test_cloth_that_starts_closer_to_a_collider_than_its_thickness_bakes(extension, scene, height):
    sheet = builders.sheet(6, height=height)
    builders.box()
    report = builders.finish(extension.bake.bake(scene))
    assert max(frame["deepest_penetration"] for frame in report.certificates) < 0.01
    assert np.ptp(builders.displayed(sheet, 4)[:, 2]) < 0.1


def test_a_collider_whose_faces_change_but_not_their_number_is_refused(extension, scene, crumpled):
    builders.sheet()
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, radius=0.4, location=(0.0, 0.0, -1.0))
    ball = bpy.context.object
    ball.muslin.kind = "COLLIDER"
    builders.animate(ball.modifiers.new("Bend", "SIMPLE_DEFORM"), "angle", {1: 0.1, 4: 2.0})
    ball.modifiers.new("Lighter", "DECIMATE").ratio = 0.5
    scene.frame_set(1)
    with pytest.raises(extension.core.ColliderError, match="other faces at frame 2 than at frame 1, though as many"):
        builders.finish(extension.bake.bake(scene))
    ball.modifiers.move(1, 0)
    builders.finish(extension.bake.bake(scene))


def test_a_collider_whose_triangulation_changes_as_it_bends_bakes(extension, scene, crumpled):
    builders.sheet()
    box, cuts = builders.box(), []
    box.modifiers.new("Triangulate", "TRIANGULATE").quad_method = "SHORTEST_DIAGONAL"
    box.shape_key_add(name="Basis")
    lean = box.shape_key_add(name="Lean")
    for corner in (0, 3, 5):
        lean.data[corner].co.x += 0.4
    builders.animate(lean, "value", {1: 0.0, 4: 1.0})
    for frame in (4, 1):
        scene.frame_set(frame)
        evaluated = box.evaluated_get(bpy.context.view_layer.depsgraph)
        cuts.append([tuple(face.vertices) for face in evaluated.data.polygons])
    assert cuts[0] != cuts[1]
    builders.finish(extension.bake.bake(scene))


# ---------------------------------------------------------------------- changes of a bake by hand


def test_a_renamed_key_of_a_bake_belongs_to_the_user_and_a_new_bake_works(
        extension, scene, crumpled):
    sheet = builders.sheet()
    builders.finish(extension.bake.bake(scene))
    sheet.data.shape_keys.key_blocks["Muslin 0002"].name = "Mine"
    builders.finish(extension.bake.bake(scene))
    wanted = crumple(builders.displayed_now(builders.sheet(name="Twin")), 3)
    assert np.abs(builders.displayed(sheet, 4) - wanted).max() < 1e-5
    extension.shape_keys.delete_bake(sheet)
    assert [block.name for block in sheet.data.shape_keys.key_blocks] == ["Basis", "Mine"]


def test_a_modifier_may_be_removed_during_a_bake(extension, scene, crumpled):
    sheet = builders.sheet()
    subdivision = sheet.modifiers.new("Subdivision", "SUBSURF")
    sheet.modifiers.new("Cast", "CAST").factor = 0.2
    steps = begun(extension, scene)
    sheet.modifiers.remove(subdivision)
    builders.finish(steps)
    assert extension.baked_record.has_bake(sheet)


def test_shape_keys_added_during_a_bake_are_an_error(extension, scene, crumpled):
    sheet = builders.sheet()
    steps = begun(extension, scene)
    sheet.shape_key_add(name="Basis")
    sheet.shape_key_add(name="Bulge", from_mix=False).value = 1.0
    with pytest.raises(extension.core.SceneError, match="Sheet: its shape keys changed while the bake ran.*bake again"):
        builders.finish(steps)
    assert [block.name for block in sheet.data.shape_keys.key_blocks] == ["Basis", "Bulge"]


@pytest.mark.parametrize("name", ["Sheet", "Box"])
def test_edit_mode_during_a_bake_is_an_error_that_changes_nothing(extension, scene, crumpled, name):
    sheet = builders.sheet()
    builders.box()
    before = builders.state(sheet)
    steps = begun(extension, scene)
    bpy.context.view_layer.objects.active = scene.objects[name]
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(extension.core.ClothError, match=f"{name}: is in Edit Mode.*; leave it"):
        builders.finish(steps)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert builders.state(sheet) == before


def test_a_collider_whose_mesh_is_edited_in_another_object_is_refused(extension, scene):
    builders.sheet()
    twin = bpy.data.objects.new("Twin", builders.box().data)
    scene.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = twin
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(extension.core.ColliderError, match="Box: is in Edit Mode; leave it"):
        builders.finish(extension.bake.bake(scene))
    bpy.ops.object.mode_set(mode="OBJECT")


def test_dyntopo_which_would_lose_the_shape_keys_is_refused(extension, scene):
    bpy.context.view_layer.objects.active = builders.sheet()
    bpy.ops.object.mode_set(mode="SCULPT")
    bpy.ops.sculpt.dynamic_topology_toggle()
    with pytest.raises(extension.core.SceneError, match="Sheet: is sculpted with Dyntopo.*leave Sculpt Mode"):
        builders.finish(extension.bake.bake(scene))
    bpy.ops.sculpt.dynamic_topology_toggle()
    builders.finish(extension.bake.bake(scene))
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize("wrong", [np.nan, 1e300])
def test_positions_that_are_not_finite_are_never_written(extension, scene, monkeypatch, wrong):
    def motion(start, since):
        start[3, 2] = wrong if since == 2 else 0.0
        return start

    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, motion))
    sheet = builders.sheet()
    before = builders.state(sheet)
    with pytest.raises(extension.core.SceneError, match="Sheet: vertex 3 would be at .* at frame 3, .*raise Steps"):
        builders.finish(extension.bake.bake(scene))
    assert builders.state(sheet) == before


# ---------------------------------------------------------------------- bakes of other files


def linked(tmp_path):
    """Save the file, link its baked sheet into a new empty scene, and return it."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Sheet"]
    sheet = wanted.objects[0]
    bpy.context.scene.collection.objects.link(sheet)
    return sheet


@pytest.mark.parametrize("make, message", [
    (lambda sheet: sheet.make_local(), "Sheet: its mesh is linked from .*make it local"),
    (lambda sheet: sheet.override_create(remap_local_usages=True), "Sheet: it is a library override; make it local")],
    ids=["local object", "override"])
@pytest.mark.parametrize("operator", ["bake_delete", "remove"])
def test_a_bake_of_a_linked_mesh_is_not_deleted(extension, scene, crumpled, tmp_path, make, message, operator):
    builders.sheet()
    builders.finish(extension.bake.bake(scene))
    sheet = make(linked(tmp_path))
    bpy.context.view_layer.objects.active = sheet
    with pytest.raises(RuntimeError, match=message):
        getattr(bpy.ops.muslin, operator)()
    assert extension.baked_record.has_bake(sheet) and sheet.muslin.kind == "CLOTH"


def test_delete_all_bakes_keeps_linked_bakes(extension, scene, crumpled, tmp_path):
    builders.sheet()
    builders.finish(extension.bake.bake(scene))
    linked_sheet = linked(tmp_path)
    with pytest.raises(RuntimeError, match="No object of the scene has a bake"):
        bpy.ops.muslin.bake_delete_all()
    local = builders.sheet(name="Local")
    builders.finish(extension.bake.bake(bpy.context.scene, [local]))
    bpy.ops.muslin.bake_delete_all()
    assert extension.baked_record.has_bake(linked_sheet) and not extension.baked_record.has_bake(local)


def test_if_one_bake_cannot_be_deleted_all_are_kept(extension, scene, crumpled):
    first, second = builders.sheet(name="A"), builders.sheet(name="B")
    builders.finish(extension.bake.bake(scene))
    bpy.context.view_layer.objects.active = second
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(RuntimeError, match="B: is in Edit Mode"):
        bpy.ops.muslin.bake_delete_all()
    assert extension.baked_record.has_bake(first)
    bpy.ops.object.mode_set(mode="OBJECT")


# ---------------------------------------------------------------------- rigs


@pytest.mark.parametrize("animate", [
    lambda modifier: setattr(modifier.driver_add("show_viewport").driver, "expression", "1"),
    lambda modifier: builders.animate(modifier, "show_viewport", {1: False, 3: True})], ids=["driver", "keyframes"])
def test_a_subdivision_whose_visibility_is_animated_acts_on_the_baked_cloth(extension, scene, crumpled, animate):
    sheet = builders.sheet()
    animate(sheet.modifiers.new('Sub "D"', "SUBSURF"))
    scene.frame_set(1)
    before = builders.state(sheet)
    builders.finish(extension.bake.bake(scene))
    assert [len(builders.displayed(sheet, frame)) for frame in (3, 4)] == [81, 81]
    animation = sheet.animation_data
    curves = list(animation.drivers) or animation.action.layers[0].strips[0].channelbags[0].fcurves
    assert [curve.mute for curve in curves] == [False]
    scene.frame_set(1)
    extension.shape_keys.delete_bake(sheet)
    assert builders.state(sheet) == before


def test_a_subdivision_animated_by_a_linked_action_is_off_during_the_simulation(extension, scene, crumpled, tmp_path):
    sheet = builders.sheet()
    builders.animate(sheet.modifiers.new("Subdivision", "SUBSURF"), "show_viewport", {1: False, 3: True})
    sheet = linked(tmp_path)
    sheet.make_local()
    sheet.data.make_local()
    assert sheet.animation_data.action.library is not None
    builders.finish(extension.bake.bake(bpy.context.scene, frames=(1, 4)))
    assert len(builders.displayed(sheet, 4)) == 81


def test_a_bone_of_scale_zero_is_an_error_that_names_the_frame(extension, scene, crumpled):
    sheet, rig = builders.sheet(), builders.armature()
    sheet.vertex_groups.new(name="Bone1").add([0, 1], 1.0, "REPLACE")
    sheet.modifiers.new("Rig", "ARMATURE").object = rig
    builders.animate(rig.pose.bones["Bone1"], "scale", {1: (1.0, 1.0, 1.0), 3: (0.0, 0.0, 0.0)})
    scene.frame_set(1)
    with pytest.raises(extension.core.SceneError, match=r"vertex 0 freely \(2 such\) at frame 3, .*'Rig'"):
        builders.finish(extension.bake.bake(scene))
    assert sheet.data.shape_keys is None


def test_a_modifier_that_changes_weights_of_stiffness_is_noted(extension, scene, crumpled):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 1.0})
    sheet.muslin.stretch_group = sheet.vertex_groups.new(name="Stiff").name
    sheet.vertex_groups["Stiff"].add([0], 1.0, "REPLACE")
    sheet.modifiers.new("Fade", "VERTEX_WEIGHT_MIX").vertex_group_a = "Stiff"
    other = sheet.modifiers.new("Unused", "VERTEX_WEIGHT_EDIT")
    other.vertex_group = sheet.vertex_groups.new(name="Mask").name
    notes = builders.finish(extension.bake.bake(scene)).notes
    assert [note.partition(" is ignored")[0] for note in notes] == [
        "Sheet: the modifier 'Fade' of the weights of 'Stiff'"]


@pytest.mark.parametrize("name, kind, value, message", [
    ("start_velocity", "FLOAT_VECTOR", (0.0, 0.0, float("nan")),
     r"'start_velocity' is \(0, 0, nan\) at vertex 3, which is no num"),
    ("birth", "FLOAT", -1.0, r"'birth' is \(-1\) at vertex 3, which is no number of seconds from 0 on; correct it")])
def test_an_invalid_attribute_value_is_an_error_that_names_it(extension, scene, name, kind, value,
                                                                          message):
    sheet = builders.sheet()
    attribute = sheet.data.attributes.new(name, kind, "POINT")
    setattr(attribute.data[3], "vector" if kind == "FLOAT_VECTOR" else "value", value)
    with pytest.raises(extension.core.MeshError, match=message):
        builders.finish(extension.bake.bake(scene))


# ---------------------------------------------------------------------- export


@pytest.mark.parametrize("basis", [True, False])
def test_gltf_exports_relative_shape_keys_and_not_absolute_ones_as_the_guide_says(extension, scene, tmp_path,
                                                                                        basis):
    sheet = builders.sheet()
    if basis:
        sheet.shape_key_add(name="Basis")
    builders.pin(sheet, {0: 1.0, 4: 1.0})
    scene.frame_end = 12
    builders.finish(extension.bake.bake(scene))
    wanted = builders.displayed(sheet, 10)
    assert wanted[:, 2].min() < -0.1
    bpy.ops.export_scene.gltf(filepath=str(tmp_path / "sheet.glb"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "sheet.glb"))
    got = next(obj for obj in bpy.data.objects if obj.type == "MESH")
    low = builders.displayed(got, 10)[:, 2].min()        # only the minimum: the import has a vertex per face corner
    assert low == pytest.approx(wanted[:, 2].min() if basis else 0.0, abs=1e-3)

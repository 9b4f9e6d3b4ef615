# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingerprints differ after every change that a bake would show, and after no other."""

from __future__ import annotations

import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture
def made(scene):
    """Build a pinned cloth on an armature, a collider whose parent is animated, and wind; return the cloth."""
    import bpy

    sheet, box = builders.sheet(), builders.box()
    builders.pin(sheet, {0: 1.0, 4: 0.5})
    rig = builders.armature(2)
    sheet.vertex_groups.new(name="Bone0").add(range(25), 1.0, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    builders.animate(rig.pose.bones["Bone0"], "location", {1: (0.0, 0.0, 0.0), 4: (0.0, 1.0, 0.0)})
    carrier = bpy.data.objects.new("Carrier", None)
    scene.collection.objects.link(carrier)
    box.parent = carrier
    builders.animate(carrier, "location", {1: (0.0, 0.0, -2.0), 4: (1.0, 0.0, -2.0)})
    carrier.driver_add("scale", 0).driver.expression = "1 + frame / 10"
    bpy.ops.object.effector_add(type="WIND")
    bpy.context.object.name = "Gale"
    scene.muslin.backend = "NUMPY"                                  # nothing is compiled
    scene.frame_set(1)
    return sheet


def move_a_vertex(scene, sheet):
    sheet.data.vertices[3].co.z += 0.1


def other_faces(scene, sheet):
    sheet.data.flip_normals()


def a_weight(scene, sheet):
    sheet.vertex_groups["Pins"].add([4], 0.6, "REPLACE")


def a_setting(scene, sheet):
    sheet.muslin.friction += 0.1


def no_cloth(scene, sheet):
    sheet.muslin.kind = "NONE"


def a_modifier_more(scene, sheet):
    sheet.modifiers.new("Wave", "WAVE")


def a_modifier_s_setting(scene, sheet):
    sheet.modifiers["Armature"].use_deform_preserve_volume = True


def place(scene, sheet):
    sheet.location.x += 1.0


def shape_keys(scene, sheet):
    sheet.shape_key_add(name="Basis")
    sheet.shape_key_add(name="Bulge").value = 0.3


def rest_pose(scene, sheet):
    import bpy

    bpy.data.armatures["Rig"].pose_position = "REST"


def another_bone(scene, sheet):
    import bpy

    bpy.data.objects["Rig"].pose.bones["Bone1"].location.x = 0.2


def a_keyframe_of_the_rig(scene, sheet):
    import bpy

    builders.animate(bpy.data.objects["Rig"].pose.bones["Bone0"], "location", {4: (0.0, 2.0, 0.0)})


def a_keyframe_of_the_collider_s_parent(scene, sheet):
    import bpy

    builders.animate(bpy.data.objects["Carrier"], "location", {4: (3.0, 0.0, -2.0)})


def a_driver(scene, sheet):
    import bpy

    bpy.data.objects["Carrier"].animation_data.drivers[0].driver.expression = "1 + frame / 20"


def the_collider_s_mesh(scene, sheet):
    import bpy

    bpy.data.meshes["Box"].vertices[0].co.x -= 0.1


def the_collider_s_thickness(scene, sheet):
    import bpy

    bpy.data.objects["Box"].muslin.thickness = 0.02


def no_collider(scene, sheet):
    import bpy

    bpy.data.objects["Box"].muslin.kind = "NONE"


def one_collider_more(scene, sheet):
    builders.box("Second")


def wind_strength(scene, sheet):
    import bpy

    bpy.data.objects["Gale"].field.strength = 3.0


def uniform_wind(scene, sheet):
    scene.muslin.wind.x = 1.0


def gravity(scene, sheet):
    scene.gravity.z = -1.6


def keyed_gravity(scene, sheet):
    builders.animate(scene, "gravity", {1: (0.0, 0.0, -9.81), 3: (0.0, 0.0, 0.0)})


def no_gravity(scene, sheet):
    scene.use_gravity = False


def frame_rate(scene, sheet):
    scene.render.fps = 30


def frame_range(scene, sheet):
    scene.frame_end = 9


def unit_scale(scene, sheet):
    scene.unit_settings.scale_length = 0.01


def steps(scene, sheet):
    scene.muslin.steps_per_frame = 3


CHANGES = [
    (move_a_vertex, "mesh"), (other_faces, "mesh"), (a_weight, "vertex groups, attributes and UV map"),
    (a_setting, "settings"), (no_cloth, "settings"), (a_modifier_more, "object and modifiers"),
    (a_modifier_s_setting, "object and modifiers"), (place, "object and modifiers"), (shape_keys, "shape keys"),
    (rest_pose, "armature 'Rig'"), (another_bone, "object 'Rig'"), (a_keyframe_of_the_rig, "object 'Rig'"),
    (a_keyframe_of_the_collider_s_parent, "object 'Carrier'"), (a_driver, "object 'Carrier'"),
    (the_collider_s_mesh, "collider 'Box' (its mesh)"), (the_collider_s_thickness, "collider 'Box' (its settings)"),
    (no_collider, "collider 'Box'"), (one_collider_more, "collider 'Second'"), (wind_strength, "force field 'Gale'"),
    (uniform_wind, "wind"), (gravity, "gravity"), (keyed_gravity, "gravity"), (no_gravity, "gravity"),
    (frame_rate, "frame rate"), (frame_range, "frame range"), (unit_scale, "unit scale"), (steps, "solver settings")]


def other_frame(scene, sheet):
    scene.frame_set(3)


def selection_and_display(scene, sheet):
    sheet.select_set(True)
    sheet.hide_set(True)
    sheet.display_type = "WIRE"
    sheet.modifiers["Armature"].show_expanded = False


def an_object_apart(scene, sheet):
    builders.box("Apart", kind="NONE")


def backend(scene, sheet):
    scene.muslin.backend = "AUTOMATIC"


def view_of_another_frame_after_loading(scene, sheet):
    import bpy

    scene.frame_set(2)
    folder = bpy.app.tempdir
    bpy.ops.wm.save_as_mainfile(filepath=f"{folder}/fingerprint.blend")
    bpy.ops.wm.open_mainfile(filepath=f"{folder}/fingerprint.blend")


HARMLESS = [other_frame, selection_and_display, an_object_apart, backend, view_of_another_frame_after_loading]


@pytest.mark.parametrize(("change", "part"), CHANGES, ids=lambda value: getattr(value, "__name__", None))
def test_every_change_of_what_a_bake_depends_on_is_named(extension, scene, made, change, part):
    before = extension.fingerprint.fingerprint(scene, made)
    change(scene, made)
    assert part in extension.fingerprint.differences(before, extension.fingerprint.fingerprint(scene, made))


@pytest.mark.parametrize("change", HARMLESS, ids=lambda change: change.__name__)
def test_what_a_bake_does_not_depend_on_changes_nothing(extension, scene, made, change):
    import bpy

    before = extension.fingerprint.fingerprint(scene, made)
    change(scene, made)
    after = extension.fingerprint.fingerprint(bpy.context.scene, bpy.data.objects["Sheet"])
    assert extension.fingerprint.differences(before, after) == []


@pytest.mark.parametrize("own_keys", [False, True])
def test_a_bake_and_its_deletion_change_nothing(extension, scene, made, monkeypatch, own_keys):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    if own_keys:
        shape_keys(scene, made)
        builders.animate(made.data.shape_keys.key_blocks["Bulge"], "value", {1: 0.0, 4: 1.0})
    before = extension.fingerprint.fingerprint(scene, made)
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(3)
    assert extension.fingerprint.fingerprint(scene, made) == before
    extension.shape_keys.delete_bake(made)
    assert extension.fingerprint.fingerprint(scene, made) == before


def kinds(owner):
    return [item.identifier for item in owner.bl_rna.properties["type"].enum_items]


def key_everything(owner):
    """Animate every setting of a modifier or constraint that can be, and return their number."""
    count = 0
    for prop in owner.bl_rna.properties:
        if prop.is_readonly or prop.type not in ("FLOAT", "INT", "BOOLEAN") or getattr(prop, "is_array", False):
            continue
        value = getattr(owner, prop.identifier)
        try:
            for frame, change in ((1, 0), (4, 1)):
                setattr(owner, prop.identifier, type(value)(value + change * (0.1 if prop.type == "FLOAT" else 1)))
                owner.keyframe_insert(prop.identifier, frame=frame)
            count += 1
        except TypeError:                                               # it cannot be animated
            pass
    return count


def test_animated_settings_of_every_modifier_and_constraint_change_nothing_from_frame_to_frame(extension, scene):
    """Some settings are two views of one number in Blender, and some change others."""
    import bpy

    sheet, box = builders.sheet(3), builders.box()
    differ, count = [], 0
    for owners, names in ((box.modifiers, kinds(bpy.types.Modifier)), (box.constraints, kinds(bpy.types.Constraint))):
        for name in names:
            try:
                added = owners.new("Part.1", name) if owners is box.modifiers else owners.new(name)
            except (RuntimeError, TypeError):                           # not for meshes, or not in this version
                continue
            if added is None:
                continue
            scene.frame_set(1)
            count += key_everything(added)
            found = []
            for frame in (1, 4):
                scene.frame_set(frame)
                found.append(extension.fingerprint.fingerprint(scene, sheet))
            if found[0] != found[1]:
                differ.append(name)
            owners.remove(added)
            box.animation_data_clear()
    assert count > 300 and not differ

# SPDX-License-Identifier: GPL-3.0-or-later
"""Input that cannot be baked is an error that names it, and nothing is changed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as

NAN, INFINITY = float("nan"), float("inf")      # Blender stores infinity as its largest number


def no_vertices(scene):
    builders.mesh_object("Nothing", [])


def nan_vertex(scene):
    sheet = builders.sheet()
    sheet.data.vertices[7].co.x = float("nan")


def zero_area_triangle(scene):
    builders.mesh_object("Flat", [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 1, 3)])


def zero_length_edge(scene):
    builders.mesh_object("Thread", [(0, 0, 0), (1, 0, 0), (1, 0, 0)], edges=[(0, 1), (1, 2)])


def duplicate_vertices(scene):
    builders.mesh_object("Doubled", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (2, 0, 0), (1, 1, 0)],
                         [(0, 1, 2), (3, 4, 5)])


def degenerate_uv(scene):
    sheet = builders.sheet()
    sheet.data.uv_layers.new(name="Map")
    for corner in sheet.data.uv_layers["Map"].uv:
        corner.vector = (0.5, 0.5)
    sheet.muslin.grain = "UV"


def no_uv(scene):
    builders.sheet().muslin.grain = "UV"


def missing_uv(scene):
    sheet = builders.sheet()
    sheet.data.uv_layers.new(name="Map")
    sheet.muslin.grain, sheet.muslin.uv_map = "UV", "Other"


def missing_pin_group(scene):
    builders.sheet().muslin.pin_group = "Shoulders"


def empty_pin_group(scene):
    builders.pin(builders.sheet(), {})


def pin_group_of_weight_zero(scene):
    builders.pin(builders.sheet(), {3: 0.0})


def pin_weight_that_is_no_number(scene):
    builders.pin(builders.sheet(), {3: NAN})


def pin_target_that_becomes_nan(scene):
    sheet = builders.sheet()
    builders.pin(sheet, {4: 1.0})
    sheet.shape_key_add(name="Basis")
    lost = sheet.shape_key_add(name="Lost")
    lost.data[4].co.z = NAN
    builders.animate(lost, "value", {1: 0.0, 2: 0.0, 3: 1.0})


def nan_vertex_of_a_collider(scene):
    builders.sheet()
    builders.box().data.vertices[3].co.y = NAN


def collider_without_triangles(scene):
    builders.sheet()
    builders.mesh_object("Wire", [(0, 0, 0), (1, 0, 0)], edges=[(0, 1)], kind="COLLIDER")


def collider_that_changes_its_vertex_count(scene):
    builders.sheet()
    box = builders.box()
    array = box.modifiers.new("Array", "ARRAY")
    builders.animate(array, "count", {1: 1, 2: 1, 3: 2})


def collider_of_another_type(scene):
    import bpy

    builders.sheet()
    curve = bpy.data.objects.new("Path", bpy.data.curves.new("Path", "CURVE"))
    scene.collection.objects.link(curve)
    curve.muslin.kind = "COLLIDER"


def reversed_frames(scene):
    builders.sheet()
    scene.muslin.use_custom_range = True
    scene.muslin.frame_start, scene.muslin.frame_end = 10, 5


def one_frame(scene):
    builders.sheet()
    scene.frame_start = scene.frame_end = 3


def edit_mode(scene):
    import bpy

    bpy.context.view_layer.objects.active = builders.sheet()
    bpy.ops.object.mode_set(mode="EDIT")


def shared_mesh(scene):
    import bpy

    sheet = builders.sheet()
    scene.collection.objects.link(bpy.data.objects.new("Twin", sheet.data))


def scale_zero(scene):
    builders.sheet().scale = (1.0, 0.0, 1.0)


def scale_zero_on_the_flat_axis(scene):
    builders.sheet().scale = (1.0, 1.0, 0.0)


def scale_that_becomes_zero(scene):
    builders.animate(builders.sheet(), "scale", {1: (1.0, 1.0, 1.0), 3: (1.0, 1.0, 0.0)})


def another_type(scene):
    import bpy

    curve = bpy.data.objects.new("Rope", bpy.data.curves.new("Rope", "CURVE"))
    scene.collection.objects.link(curve)
    curve.muslin.kind = "CLOTH"


def no_cloth(scene):
    builders.box()


def switched_off(scene):
    builders.sheet().hide_viewport = True


def collider_switched_off(scene):
    builders.sheet()
    builders.box().hide_viewport = True


def absolute_keys_of_its_own(scene):
    sheet = builders.sheet()
    sheet.shape_key_add(name="Basis")
    sheet.shape_key_add(name="Later")
    sheet.data.shape_keys.use_relative = False


def solo_shape_key(scene):
    sheet = builders.sheet()
    sheet.shape_key_add(name="Basis")
    sheet.shape_key_add(name="Bulge")
    sheet.show_only_shape_key = True


def blender_s_own_cloth(scene):
    builders.sheet().modifiers.new("Cloth", "CLOTH")


def collider_that_is_built(scene):
    builders.sheet()
    build = builders.box().modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = 1, 3


def collider_that_is_nearly_built(scene):
    """At the first frame Blender's Build modifier has all vertices, and one face is missing."""
    builders.sheet()
    build = builders.box().modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = -10, 13


def collider_with_a_vertex_that_becomes_nan(scene):
    builders.sheet()
    box = builders.box()
    box.shape_key_add(name="Basis")
    lost = box.shape_key_add(name="Lost")
    lost.data[2].co.x = NAN
    builders.animate(lost, "value", {1: 0.0, 2: 0.0, 3: 1.0})


def collider_whose_location_becomes_infinite(scene):
    builders.sheet()
    builders.animate(builders.box(), "location", {1: (0, 0, 0), 2: (0, 0, 0), 3: (INFINITY, 0, 0)})


def infinite_location(scene):
    builders.sheet().location.x = INFINITY


def location_that_becomes_infinite(scene):
    builders.animate(builders.sheet(), "location", {1: (0, 0, 0), 2: (0, 0, 0), 3: (INFINITY, 0, 0)})


def infinite_scale(scene):
    builders.sheet().scale.x = INFINITY


def nan_wind(scene):
    builders.sheet()
    scene.muslin.wind = (0.0, NAN, 0.0)


def infinite_wind(scene):
    builders.sheet()
    scene.muslin.wind = (INFINITY, 0.0, 0.0)


def wind_field(strength, location):
    def prepare(scene):
        import bpy

        builders.sheet()
        bpy.ops.object.effector_add(type="WIND")
        gale = bpy.context.object
        gale.name, gale.field.strength, gale.location.x = "Gale", strength, location

    prepare.__name__ = f"wind_field_of_strength_{strength}_at_{location}"
    return prepare


def huge_gravity(scene):
    builders.sheet()
    scene.gravity = (0.0, 0.0, -1e9)


CASES = [
    (collider_that_is_built, "ColliderError", "Box: has no triangles at frame 1; .*Build"),
    (collider_that_is_nearly_built, "ColliderError", "Box: has 6 faces at frame 3 and had 5 at frame 1; .* modifier"),
    (collider_with_a_vertex_that_becomes_nan, "ColliderError", "Box: vertex 2 is at .*nan.* at frame 3, .*shape key"),
    (collider_whose_location_becomes_infinite, "ColliderError", r"Box: its location is \(3.4.* at frame 3, .* keys"),
    (infinite_location, "MeshError", r"Sheet: its location is \(3.4.* at frame 1, .* correct it"),
    (location_that_becomes_infinite, "MeshError", "Sheet: its location is .* at frame 3"),
    (infinite_scale, "MeshError", "Sheet: has a rotation or scale at frame 1, which is no number .* correct them"),
    (pin_weight_that_is_no_number, "PinError", "Sheet: the weight of vertex 3 in its pin group 'Pins' is nan.*assign"),
    (pin_target_that_becomes_nan, "MeshError", r"Sheet: vertex 4 is at .*nan\) m at frame 3, .*shape key that puts it"),
    (nan_vertex_of_a_collider, "ColliderError", "Box: vertex 3 is at .*nan.* at frame 1, .*move or delete that vertex"),
    (nan_wind, "SceneError", r"the wind is \(0, nan, 0\) m/s, .*Bake panel"),
    (infinite_wind, "SceneError", r"the wind is \(3.4.* m/s, .*Bake panel"),
    (wind_field(NAN, 0.0), "SceneError", "Gale: is a force field of strength nan at .* at frame 1, .*correct strength"),
    (wind_field(1.0, INFINITY), "SceneError", r"Gale: .* at \(3.4.* at frame 1, .*correct strength, location"),
    (huge_gravity, "SceneError", r"gravity is \(0, 0, -1e9\) m/s², .*correct Scene > Gravity"),
    (no_vertices, "MeshError", "Nothing: has no vertices; give its mesh faces"),
    (nan_vertex, "MeshError", "Sheet: vertex 7 is at .*nan"),
    (zero_area_triangle, "MeshError", r"Flat: triangle 0 \(vertices \[0, 1, 2\]\) has no area"),
    (zero_length_edge, "MeshError", r"Thread: edge \[1, 2\] has length zero"),
    (duplicate_vertices, "MeshError", "Doubled: vertices 1 and 3 are at the same place"),
    (degenerate_uv, "MeshError", "Sheet: triangle 0 .* has no area in UV map 'Map' .*unwrap"),
    (no_uv, "MeshError", "Sheet: has no UV map for its grain"),
    (missing_uv, "MeshError", "Sheet: has no UV map 'Other'"),
    (missing_pin_group, "PinError", "Sheet: has no vertex group 'Shoulders'"),
    (empty_pin_group, "PinError", "Sheet: no vertex has a weight in its pin group 'Pins'"),
    (pin_group_of_weight_zero, "PinError", "Sheet: no vertex has a weight in its pin group 'Pins'"),
    (collider_without_triangles, "ColliderError", "Wire: has no triangles at frame 1; give the mesh faces"),
    (collider_that_changes_its_vertex_count, "ColliderError", "Box: has 16 vertices at frame 3 and had 8 at frame 1"),
    (collider_of_another_type, "ColliderError", "Path: is a curve, not a mesh"),
    (reversed_frames, "SceneError", "10 to 5 is reversed.*Custom Range"),
    (one_frame, "SceneError", "3 to 3 is one frame, .* at least 2 frames: set .*Custom Range"),
    (edit_mode, "SceneError", "Sheet: is in Edit Mode"),
    (shared_mesh, "SceneError", "Sheet: shares its mesh 'Sheet' with 'Twin'; make.*Make Single User"),
    (scale_zero, "SceneError", "Sheet: its scale .* y 0,"),
    (scale_zero_on_the_flat_axis, "SceneError", "Sheet: its scale .* z 0"),
    (scale_that_becomes_zero, "SceneError", "Sheet: its scale .* z 0.* at frame 3"),
    (another_type, "SceneError", "Rope: is a curve, not a mesh"),
    (no_cloth, "SceneError", "scene 'Scene' has no cloth; choose Cloth as .*Physics > Muslin"),
    (switched_off, "SceneError", "Sheet: is switched off in view layer 'ViewLayer'"),
    (collider_switched_off, "SceneError", "Box: is switched off in view layer 'ViewLayer'"),
    (absolute_keys_of_its_own, "SceneError", "Sheet: its 2 shape keys are absolute"),
    (solo_shape_key, "SceneError", "Sheet: shows its active shape key alone"),
    (blender_s_own_cloth, "SceneError", "Sheet: has Blender's own Cloth modifier 'Cloth'"),
]


@pytest.fixture(autouse=True)
def still(extension, monkeypatch):
    """Simulate cloth without motion."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))


@pytest.mark.parametrize(("prepare", "error", "message"), CASES, ids=lambda value: getattr(value, "__name__", None))
def test_bad_input_is_an_error_that_names_it_and_nothing_is_changed(extension, scene, prepare, error, message):
    import bpy

    prepare(scene)
    scene.frame_set(1)
    before = snapshot(scene)
    with pytest.raises(getattr(extension.core, error), match=message) as caught:
        builders.finish(extension.bake.bake(scene))
    assert ";" in str(caught.value) or ":" in str(caught.value)
    assert snapshot(scene) == before
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")


def snapshot(scene):
    """Return the state of all objects of the scene."""
    return {obj.name: builders.state(obj) if obj.type == "MESH" else obj.type for obj in scene.objects}


@pytest.mark.parametrize("what", ["object", "mesh", "override", "override of both"])
def test_linked_objects_and_meshes_are_refused_and_linked_colliders_are_not(extension, scene, tmp_path, what):
    import bpy

    sheet = builders.sheet()
    box = builders.box()
    library = str(tmp_path / "library.blend")
    bpy.data.libraries.write(library, {sheet, box}, fake_user=True)
    for obj in (sheet, box):
        bpy.data.meshes.remove(obj.data)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Sheet", "Box"]
    sheet, box = wanted.objects
    scene.collection.objects.link(box)
    if what == "mesh":
        mesh = sheet.data
        sheet = bpy.data.objects.new("Local", mesh)
        sheet.muslin.kind = "CLOTH"
    if what.startswith("override"):
        sheet = sheet.override_create()
    if what == "override of both":
        sheet.data = sheet.data.override_create()
    scene.collection.objects.link(sheet)
    with pytest.raises(extension.core.SceneError, match="(is linked from .*library.blend|is a library override)"):
        builders.finish(extension.bake.bake(scene))
    bpy.data.objects.remove(sheet)
    local = builders.sheet(name="Here")
    builders.finish(extension.bake.bake(scene))
    assert extension.baked_record.report_of(local)["colliders"] == ["Box"]


def test_an_object_that_is_not_cloth_or_not_in_the_scene_is_named(extension, scene):
    import bpy

    builders.sheet()
    box = builders.box()
    elsewhere = bpy.data.objects.new("Elsewhere", box.data.copy())
    for objects, message in (([box], "Box: is not cloth"), ([elsewhere], "Elsewhere: is not in scene 'Scene'"),
                             ([], "no objects were given to bake; give cloth objects")):
        with pytest.raises(extension.core.SceneError, match=message):
            builders.finish(extension.bake.bake(scene, objects))


def test_a_flat_collider_with_zero_scale_along_its_normal_bakes(extension, scene):
    builders.sheet()
    floor = builders.mesh_object("Floor", np.array([(-5, -5, -1), (5, -5, -1), (5, 5, -1), (-5, 5, -1)]),
                                 [(0, 1, 2, 3)], kind="COLLIDER")
    floor.scale.z = 0.0
    builders.finish(extension.bake.bake(scene))

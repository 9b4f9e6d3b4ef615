# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields, field weights and absorption of a Blender scene as the core's."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector, noise

from tests.addon import blender_fields, builders


def values_of(extension):
    """Return the names of the numbers of a field."""
    return importlib.import_module(f"{extension.core.__name__}.description.force_fields").VALUES


def row(extension, inputs, number=0, frame=1):
    """Return the numbers of a field at a frame by name."""
    field = inputs.scene.fields[number]
    values = field.values((frame - 1) / 24.0)
    return dict(zip(values_of(extension), values.tolist(), strict=True))


def test_every_number_of_a_field_is_read_in_metres(extension, scene, read_inputs):
    scene.unit_settings.scale_length = 0.5
    builders.sheet()
    matrix = Matrix.LocRotScale(Vector((1.0, 2.0, 3.0)), Euler((0.3, 0.2, 0.1)), Vector((1.0, 2.0, 1.0)))
    blender_fields.add_field(
        "HARMONIC", matrix, strength=3.0, flow=0.5, wind_factor=0.25, noise=0.1, falloff_power=2.0,
        use_min_distance=True, distance_min=1.0, use_max_distance=True, distance_max=4.0, radial_falloff=1.5,
        use_radial_min=True, radial_min=0.5, use_radial_max=True, radial_max=2.0, rest_length=0.5,
        harmonic_damping=0.75, seed=7, falloff_type="TUBE", z_direction="NEGATIVE", use_absorption=True)
    inputs = read_inputs()
    found = row(extension, inputs)
    wanted = {"x": 0.5, "y": 1.0, "z": 1.5, "xx": matrix[0][0], "zy": matrix[2][1], "influence": 1.0, "strength": 3.0,
              "flow": 0.5, "wind_factor": 0.25, "noise": 0.1, "power": 2.0, "minimum": 0.5, "maximum": 2.0,
              "radial_power": 1.5, "radial_minimum": 0.25, "radial_maximum": 1.0, "rest_length": 0.25, "size": 0.25,
              "damping": 0.75}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, rel=1e-6)
    field, = inputs.scene.fields
    assert (field.kind, field.shape, field.falloff, field.z_direction, field.seed, field.name, field.absorption) == (
        "harmonic", "point", "tube", "negative", 7, "Field", True)
    assert not (field.gravitation or field.global_coordinates or field.two_dimensional)
    assert field.noise_rate.frame_rate == 24.0


def test_limits_that_are_off_are_infinite_and_angles_stay_degrees(extension, scene, read_inputs):
    scene.unit_settings.scale_length = 0.5
    builders.sheet()
    blender_fields.add_field("FORCE", falloff_type="CONE", use_radial_max=True, radial_max=30.0, distance_max=3.0,
                             use_gravity_falloff=True)
    inputs = read_inputs()
    found = row(extension, inputs)
    assert found["maximum"] == np.inf and found["radial_maximum"] == 30.0
    assert inputs.scene.fields[0].gravitation


def test_blender_multiplies_linear_drag_with_the_square_of_the_speed(extension, read_inputs):
    builders.sheet()
    blender_fields.add_field("DRAG", linear_drag=1.5, quadratic_drag=0.5)
    found = row(extension, read_inputs())
    assert (found["quadratic_drag"], found["linear_drag"]) == (1.5, 0.5)


@pytest.mark.parametrize("name, first, last", [
    ("strength", 1.0, 3.0), ("flow", 0.0, 1.0), ("noise", 0.0, 2.0), ("wind_factor", 0.0, 1.0),
    ("falloff_power", 0.0, 2.0), ("size", 0.5, 1.0), ("harmonic_damping", 0.0, 1.0)])
def test_a_keyed_number_is_read_at_every_frame(extension, read_inputs, name, first, last):
    builders.sheet()
    obj = blender_fields.add_field("TURBULENCE")
    builders.animate(obj.field, name, {1: first, 3: last})
    inputs = read_inputs(3)
    core_name = {"falloff_power": "power", "harmonic_damping": "damping"}.get(name, name)
    assert [row(extension, inputs, frame=frame)[core_name] for frame in (1, 3)] == pytest.approx([first, last])


def test_keyed_switches_change_the_numbers(extension, read_inputs):
    builders.sheet()
    obj = blender_fields.add_field("FORCE", distance_max=2.0)
    builders.animate(obj.field, "use_max_distance", {1: False, 2: True})
    builders.animate(obj.field, "apply_to_location", {1: True, 2: False})
    inputs = read_inputs(2)
    found = [row(extension, inputs, frame=frame) for frame in (1, 2)]
    assert [(values["maximum"], values["influence"]) for values in found] == [(np.inf, 1.0), (2.0, 0.0)]


def test_a_keyed_choice_has_a_record_for_each_value_and_one_with_influence(extension, read_inputs):
    builders.sheet()
    obj = blender_fields.add_field("FORCE")
    builders.animate(obj.field, "z_direction", {1: "POSITIVE", 3: "NEGATIVE"})
    inputs = read_inputs(3)
    assert sorted(field.z_direction for field in inputs.scene.fields) == ["both", "negative", "positive"]
    for frame, wanted in ((1, "positive"), (3, "negative")):
        acting = [field.z_direction for number, field in enumerate(inputs.scene.fields)
                  if row(extension, inputs, number, frame)["influence"]]
        assert acting == [wanted]
    assert not inputs.notes


def test_what_cannot_follow_its_keys_is_named(extension, read_inputs):
    builders.sheet()
    obj = blender_fields.add_field("FORCE")
    builders.animate(obj.field, "seed", {1: 1, 3: 2})
    note, = read_inputs().notes
    assert "'Field' (Force)" in note and "Seed" in note


def test_a_moving_field_is_read_between_frames_too(extension, read_inputs):
    builders.sheet()
    obj = blender_fields.add_field("FORCE")
    builders.animate(obj, "rotation_euler", {1: (0.0, 0.0, 0.0), 2: (0.0, 3.0, 0.0)})
    inputs = read_inputs(2)
    field, = inputs.scene.fields
    middle = dict(zip(values_of(extension), field.values(0.5 / 24.0).tolist(), strict=True))
    assert np.hypot(middle["xz"], middle["zz"]) == pytest.approx(1.0, abs=0.02)


def test_surface_and_points_take_the_evaluated_mesh(extension, read_inputs):
    builders.sheet()
    rng = np.random.default_rng(3)
    for shape in ("SURFACE", "POINTS"):
        obj = blender_fields.add_field("FORCE", blender_fields.placed(rng), blender_fields.bumpy_mesh(rng), name=shape,
                                       shape=shape)
        obj.shape_key_add(name="Basis")
        key = obj.shape_key_add(name="Up")
        key.data[5].co.z += 1.0
        builders.animate(key, "value", {1: 0.0, 2: 1.0})
    inputs = read_inputs(2)
    points, surface = inputs.scene.fields
    assert (points.shape, surface.shape) == ("points", "surface")
    assert points.triangles is None and len(surface.triangles) == 18 and surface.normals is None
    for field in (points, surface):
        moved = field.vertices(1.0 / 24.0) - field.vertices(0.0)
        assert np.flatnonzero(np.linalg.norm(moved, axis=1) > 1e-3).tolist() == [5]
    assert np.linalg.norm(points.normals(0.0), axis=1) == pytest.approx(np.ones(16))
    matrix = np.array(inputs.field_objects[0].matrix_world)
    wanted = np.array([vertex.normal for vertex in inputs.field_objects[0].data.vertices]) @ matrix[:3, :3].T
    assert points.normals(0.0) == pytest.approx(wanted / np.linalg.norm(wanted, axis=1, keepdims=True), abs=1e-6)


def test_the_surface_of_a_curve_has_edges(extension, read_inputs):
    import bpy

    builders.sheet()
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.splines.new("POLY").points.add(3)
    for i, point in enumerate(curve.splines[0].points):
        point.co = (i, 0.0, 0.0, 1.0)
    blender_fields.add_field("WIND", data=curve, shape="SURFACE")
    field, = read_inputs().scene.fields
    assert field.curve and field.triangles is None and len(field.edges) == 3


def test_a_field_without_faces_acts_from_its_origin(extension, read_inputs):
    import bpy

    builders.sheet()
    blender_fields.add_field("FORCE", data=bpy.data.meshes.new("Empty"), shape="SURFACE")
    assert read_inputs().scene.fields[0].shape == "point"


def test_a_mesh_that_changes_its_vertices_is_refused(extension, read_inputs):
    import bpy

    builders.sheet()
    obj = blender_fields.add_field("FORCE", data=blender_fields.bumpy_mesh(np.random.default_rng(0)), shape="POINTS")
    modifier = obj.modifiers.new("Array", "ARRAY")
    builders.animate(modifier, "count", {1: 1, 2: 2})
    with pytest.raises(extension.core.SceneError, match="32 vertices at frame 2 and had 16 at frame 1"):
        read_inputs(2)
    bpy.context.scene.frame_set(1)


def test_the_noise_table_is_blender_s_noise(extension):
    table = extension.noise_table.noise_table()
    first, second, gradients = table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2:]
    points = np.random.default_rng(1).uniform(-300.0, 300.0, (500, 3)).astype(np.float32).astype(float)
    base = np.floor(points).astype(int)
    inside = points - base
    weight = inside ** 3 * (inside * (6.0 * inside - 15.0) + 10.0)
    total = np.zeros(len(points))
    for corner in np.ndindex(2, 2, 2):
        i, j, k = (base + corner).T % 256
        slope = gradients[(second[(first[i] + j) % 256] + k) % 256]
        factor = np.where(np.array(corner) == 1, weight, 1.0 - weight).prod(axis=1)
        total += factor * np.einsum("ij,ij->i", slope, inside - corner)
    wanted = [noise.noise(point, noise_basis="PERLIN_NEW") for point in points]
    assert total == pytest.approx(np.array(wanted), abs=2e-6)


def test_weights_and_effector_collection_are_read(extension, scene, read_inputs):
    import bpy

    sheet = builders.sheet()
    chosen = bpy.data.collections.new("Chosen")
    near, _ = (blender_fields.add_field("FORCE", name=name) for name in ("Near", "Far"))
    chosen.objects.link(near)
    sheet.muslin.effector_collection = chosen
    names = extension.field_weights_settings.FIELD_WEIGHTS
    for number, name in enumerate(names):
        setattr(sheet.muslin, f"weight_{name}", 0.125 * number)
    builders.animate(sheet.muslin, "weight_vortex", {1: 0.5, 3: 2.0})
    weights = read_inputs(3).cloths[0].field_weights
    assert weights.fields == ["Near"]
    for number, name in enumerate(names):
        value = getattr(weights, name)
        assert (value(0.0), value(2.0 / 24.0)) == (0.5, 2.0) if name == "vortex" else value == 0.125 * number
    sheet.muslin.effector_collection = None
    assert read_inputs().cloths[0].field_weights.fields is None


def test_an_effector_collection_without_a_field_is_noted(scene, read_inputs):
    import bpy

    sheet, chosen = builders.sheet(), bpy.data.collections.new("Chosen")
    sheet.muslin.effector_collection = chosen
    assert read_inputs().notes == []                                        # the scene has no field, either
    wind = blender_fields.add_field("WIND", name="Breeze")
    (note,) = read_inputs().notes
    assert note.startswith("Sheet: its Effector Collection 'Chosen' has no force field, so that none of the scene acts "
                           "on it (Breeze). ")
    chosen.objects.link(wind)
    assert read_inputs().notes == []


def test_a_field_does_not_act_on_its_own_object(extension, read_inputs):
    import bpy

    sheet = builders.sheet()
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.forcefield_toggle()
    builders.sheet(name="Other")
    inputs = read_inputs()
    fields = {cloth.name: cloth.field_weights.fields for cloth in inputs.cloths}
    assert fields == {"Sheet": [], "Other": None}


def test_absorption_of_colliders_is_read_and_may_be_keyed(extension, read_inputs):
    builders.sheet(height=3.0)
    builders.box("Still").muslin.absorption = 0.5
    builders.animate(builders.box("Keyed").muslin, "absorption", {1: 0.0, 3: 1.0})
    keyed, still = read_inputs(3).scene.colliders
    assert still.absorption_at(0.0) == 0.5
    assert (keyed.absorption_at(0.0), keyed.absorption_at(2.0 / 24.0)) == (0.0, 1.0)


@pytest.mark.parametrize("kind, hint", [("CHARGE", "particles only"), ("TEXTURE", "choose its Texture"),
                                        ("FLUID_FLOW", "choose its Domain Object")])
def test_fields_that_are_left_out_are_named(extension, read_inputs, kind, hint):
    builders.sheet()
    blender_fields.add_field(kind)
    inputs = read_inputs()
    assert not inputs.scene.fields
    note, = inputs.notes
    assert "'Field'" in note and hint in note


def test_fields_of_particles_are_named(extension, read_inputs):
    builders.sheet()
    emitter = blender_fields.particles(np.eye(3))
    emitter.particle_systems[0].settings.force_field_1.type = "FORCE"
    note, = read_inputs().notes
    assert "'Emitter'" in note and "shape Points" in note


def test_hidden_fields_are_left_out_and_silent_types_have_no_note(extension, read_inputs):
    builders.sheet()
    blender_fields.add_field("FORCE").hide_viewport = True
    blender_fields.add_field("GUIDE")
    inputs = read_inputs()
    assert not inputs.scene.fields and not inputs.notes


@pytest.mark.parametrize("strength", [float("inf"), 1e6])
def test_a_strength_that_is_too_large_is_refused(extension, read_inputs, strength):
    builders.sheet()
    blender_fields.add_field("FORCE", strength=strength)
    with pytest.raises(extension.core.SceneError, match="Field.*strength.*frame 1.*correct strength"):
        read_inputs()


def test_no_fall_is_expected_where_cloth_has_no_weight_or_a_field_moves_it(extension, scene):
    import bpy

    sheet = builders.sheet(10)
    builders.box().location.x = 50.0
    bpy.context.view_layer.update()

    def falls():
        return [hint for hint in extension.hints.hints(scene, sheet) if "fall" in hint]

    assert falls() == ["No collider is in reach of its fall"]
    sheet.muslin.weight_gravity = 0.0
    assert falls() == []
    sheet.muslin.weight_gravity = 1.0
    blender_fields.add_field("FORCE")
    assert falls() == []


def test_use_as_collider_takes_over_the_absorption_of_blender_s_collision(extension):
    box = builders.box(kind="NONE")
    box.modifiers.new("Collision", "COLLISION")
    box.collision.absorption = 0.25
    extension.blender_collision.take_over(box)
    assert box.muslin.kind == "COLLIDER" and box.muslin.absorption == 0.25

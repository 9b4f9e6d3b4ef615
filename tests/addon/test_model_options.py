# SPDX-License-Identifier: GPL-3.0-or-later
"""Jelly, particles and projective sheets in Blender: settings, bakes, and Add Particles."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders


def points(kind="CLOTH", **attributes):
    obj = builders.mesh_object("Dust", [(0, 0, 1), (0.5, 0, 1), (0, 0.5, 2)], kind=kind)
    for name, (type_, values) in attributes.items():
        data = obj.data.attributes.new(name, type_, "POINT").data
        data.foreach_set("vector" if type_ == "FLOAT_VECTOR" else "value", np.asarray(values, np.float32).ravel())
    return obj


def test_vertices_without_edges_are_particles_with_the_settings_of_the_panel(read):
    obj = points()
    obj.muslin.particle_mass, obj.muslin.neighbour_radius, obj.muslin.neighbour_count = 0.25, 0.6, 1
    obj.muslin.neighbour_stiffness, obj.muslin.neighbour_damping = 50.0, 0.5
    (cloth,) = read().cloths
    assert cloth.model == "particles" and cloth.mesh.loose_points.all()
    assert cloth.model_options == pytest.approx(
        {"mass": 0.25, "radius": 0.6, "nearest": 1, "spring_stiffness": 50.0, "spring_damping": 0.5})
    assert not cloth.velocities.any() and not cloth.births.any()


KINDS = {"dust": ([], [], 0.0), "weighed dust": ([], [], 0.1), "a net": ([], [(0, 1), (1, 2)], 0.1),
         "a sheet's corners": ([(0, 1, 2)], [], 0.1)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_panel_shows_exactly_the_fabric_settings_that_move_particles(extension, scene, read, kind):
    faces, edges, mass = KINDS[kind]
    obj = builders.mesh_object("Dust", [(0, 0, 0), (0.5, 0, 0.3), (0, 0.5, 0.2)], faces, edges)
    builders.pin(obj, {0: 1.0})                                          # makes edges stretch
    simulate, muslin = extension.core.simulate, obj.muslin
    muslin.model, muslin.particle_mass, muslin.viscous_drag, muslin.use_max_elongation = "particles", mass, 0.5, True
    scene.muslin.wind, scene.muslin.backend, scene.frame_end = (3.0, 1.0, 0.0), "NUMPY", 2

    def moved():
        frames = simulate(read(), extension.core.Solver(backend="numpy"), range(1, 7))
        return np.concatenate([frame.positions[0] for frame in frames])

    still, used = moved(), set()
    for name in extension.model_options.ALL_OF_FABRIC - {"grain", "air_law"}:  # particles have no grain
        before = getattr(muslin, name)
        setattr(muslin, name, 0.1 if name == "max_elongation" else 2.0 * before + 0.5)
        used |= {name} if not np.allclose(moved(), still, rtol=0.0, atol=1e-9) else set()
        setattr(muslin, name, before)
        muslin.air_law = "QUADRATIC"                                         # air_drag has chosen the other one
    assert used == extension.model_options.fabric_settings_used(obj) - {"air_law"}


def test_the_panel_shows_all_fabric_settings_of_a_sheet(extension, scene):
    sheet = builders.sheet(3)
    assert extension.model_options.fabric_settings_used(sheet) == extension.model_options.ALL_OF_FABRIC
    sheet.muslin.model = "particles"
    assert extension.model_options.fabric_settings_used(sheet) < extension.model_options.ALL_OF_FABRIC


def test_a_projective_sheet_has_the_panel_s_moduli_if_by_moduli_is_on(read):
    sheet = builders.sheet(3)
    sheet.muslin.model = "projective"
    assert read().cloths[0].model_options == {}
    sheet.muslin.use_moduli, sheet.muslin.young_modulus = True, 500.0
    sheet.muslin.poisson_ratio, sheet.muslin.sheet_thickness = 0.25, 0.4
    assert read().cloths[0].model_options == pytest.approx(
        {"young_modulus": 5e5, "poisson_ratio": 0.25, "sheet_thickness": 4e-4})


def test_velocity_and_birth_are_read_from_attributes_in_object_space(read, scene):
    scene.unit_settings.scale_length = 0.01
    obj = points(start_velocity=("FLOAT_VECTOR", np.eye(3)), birth=("FLOAT", [0.0, 0.1, 0.2]))
    obj.rotation_euler, obj.scale = (0.0, 0.0, np.pi / 2), (2.0, 2.0, 2.0)
    (cloth,) = read().cloths
    np.testing.assert_allclose(cloth.velocities, 0.02 * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]), atol=1e-8)
    np.testing.assert_allclose(cloth.births, [0.0, 0.1, 0.2], rtol=1e-6)


def test_a_sheet_starts_with_the_velocities_of_its_attribute(read):
    sheet = builders.sheet(3)
    data = sheet.data.attributes.new("start_velocity", "FLOAT_VECTOR", "POINT").data
    data.foreach_set("vector", np.tile(np.float32([0, 0, 3]), 9))
    np.testing.assert_allclose(read().cloths[0].velocities, np.tile([0.0, 0.0, 3.0], (9, 1)))


def test_attributes_of_another_type_or_domain_are_ignored(read):
    sheet = builders.sheet(3)
    sheet.data.attributes.new("start_velocity", "FLOAT", "POINT")
    sheet.data.attributes.new("birth", "FLOAT", "FACE")
    (cloth,) = read().cloths
    assert not cloth.velocities.any() and not cloth.births.any()


@pytest.mark.parametrize("kind", ["fountain", "waterfall", "semi_sphere", "explosion"])
def test_added_particles_move_as_the_core_s_emitter_defines(extension, scene, kind):
    import bpy

    scene.cursor.location = (1.0, 2.0, 3.0)
    assert bpy.ops.muslin.particles_add(kind=kind, count=20, seed=5, speed=2.0) == {"FINISHED"}
    obj = bpy.context.object
    assert obj.muslin.kind == "CLOTH" and obj.muslin.model == "particles" and len(obj.data.vertices) == 20
    builders.finish(extension.bake.bake(scene))
    x, v = extension.core.emit(kind, 20, seed=5, speed=2.0, origin=(1.0, 2.0, 3.0))
    for frame in range(scene.frame_start, scene.frame_end + 1):
        t = (frame - scene.frame_start) / 24.0
        wanted = x + t * v + 0.5 * t * t * np.array([0.0, 0.0, -9.81])
        np.testing.assert_allclose(builders.displayed(obj, frame), wanted, atol=2e-5)


def test_particles_wait_for_their_birth(extension, scene):
    import bpy

    bpy.ops.muslin.particles_add(kind="fountain", count=4, duration=4.0 / 24.0)
    builders.finish(extension.bake.bake(scene))
    moved = np.linalg.norm(builders.displayed(bpy.context.object, 3), axis=1) > 1e-6
    assert moved.tolist() == [True, True, False, False]


def test_adding_particles_leaves_one_object_selected(scene):
    import bpy

    first = builders.sheet(3)
    first.select_set(True)
    bpy.ops.muslin.particles_add(kind="explosion", count=3)
    assert [o.name for o in bpy.context.selected_objects] == [bpy.context.object.name] == ["Explosion"]


@pytest.mark.parametrize("structure", ["TETRAHEDRA", "LATTICE"])
def test_a_jelly_box_bakes_and_rests_on_a_floor(extension, scene, structure):
    scene.frame_end = 12
    floor = builders.mesh_object("Floor", [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2, 3)],
                                 kind="COLLIDER")
    box = builders.box("Jelly", 0.5, kind="CLOTH")
    box.location.z = 0.4
    box.muslin.model, box.muslin.jelly_structure = "jelly", structure
    box.muslin.young_modulus, box.muslin.jelly_cells = 50.0, 4
    report = builders.finish(extension.bake.bake(scene))
    assert report.summary()["crossings"] == 0
    shown = builders.displayed(box, 12)
    assert 0.0 < shown[:, 2].min() < 0.15 and np.isfinite(shown).all()
    assert floor.name == "Floor"


def test_jelly_is_read_with_the_settings_of_the_panel(read):
    box = builders.box("Jelly", 0.5, kind="CLOTH")
    muslin = box.muslin
    muslin.model, muslin.young_modulus, muslin.poisson_ratio, muslin.density = "jelly", 5.0, 0.4, 500.0
    (cloth,) = read().cloths
    options = dict(cloth.model_options)
    assert options.pop("structure") == "tetrahedra" and options.pop("cells") is None
    assert options == pytest.approx({"young_modulus": 5e3, "poisson_ratio": 0.4, "density": 500.0}, rel=1e-6)
    muslin.jelly_structure, muslin.jelly_cells = "LATTICE", 9
    options = read().cloths[0].model_options
    assert (options["structure"], options["poisson_ratio"], options["cells"]) == ("lattice", None, 9)


def test_an_open_mesh_as_jelly_is_an_error_with_a_remedy(extension, scene):
    sheet = builders.sheet(3)
    sheet.muslin.model = "jelly"
    with pytest.raises(extension.core.MeshError, match="Sheet: is open: edge .* Solidify"):
        builders.finish(extension.bake.bake(scene))

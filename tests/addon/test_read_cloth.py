# SPDX-License-Identifier: GPL-3.0-or-later
"""The core gets cloth and colliders as Blender displays them, in world space and metres."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders


def test_cloth_is_read_as_it_is_displayed_in_world_space(read, scene):
    import bpy

    parent = bpy.data.objects.new("Parent", None)
    scene.collection.objects.link(parent)
    parent.scale, parent.rotation_euler = (1.0, 2.0, 0.5), (0.1, 0.2, 0.3)
    sheet = builders.sheet()
    sheet.parent, sheet.scale, sheet.location = parent, (-1.0, 3.0, 1.0), (5.0, 6.0, 7.0)
    sheet.modifiers.new("Cast", "CAST").factor = 0.5
    shown = builders.displayed(sheet, 1)
    assert np.allclose(read().cloths[0].positions, shown, atol=1e-5)


def test_lengths_and_accelerations_are_in_metres(read, scene):
    scene.unit_settings.scale_length = 0.01
    scene.gravity = (0.0, 0.0, -981.0)
    scene.muslin.wind = (100.0, 0.0, 0.0)
    sheet = builders.sheet(size=200.0)
    sheet.muslin.thickness = 0.5
    core_scene = read()
    assert np.ptp(core_scene.cloths[0].positions[:, 0]) == pytest.approx(2.0)
    assert core_scene.cloths[0].thickness == pytest.approx(0.005)
    assert core_scene.gravity == pytest.approx([0.0, 0.0, -9.81])
    assert core_scene.wind_at(0.0) == pytest.approx([1.0, 0.0, 0.0])


def test_without_a_unit_system_a_unit_is_a_metre(read, scene):
    scene.unit_settings.scale_length = 0.01
    scene.unit_settings.system = "NONE"
    builders.sheet(size=2.0)
    assert np.ptp(read().cloths[0].positions[:, 0]) == pytest.approx(2.0)


def test_gravity_is_off_if_the_scene_switches_it_off(read, scene):
    builders.sheet()
    scene.use_gravity = False
    assert read().gravity.tolist() == [0.0, 0.0, 0.0]


def test_a_scene_in_centimetres_with_blender_s_default_gravity_gets_a_note(extension, scene, read):
    scene.unit_settings.scale_length = 0.01
    sheet = builders.sheet(size=200.0)
    read()
    assert "0.0981 m/s²" in extension.baked_record.report_of(sheet)["notes"][0]


def test_faces_of_any_size_and_loose_edges_are_read(read, scene):
    vertices = [(0, 0, 0), (2, 0, 0), (2, 1, 0), (0, 1, 0), (3, 0.5, 0), (-1, 0, 0), (-1, 1, 0), (-2, 0.5, 0),
                (-3, 0.5, 0)]
    builders.mesh_object("Mixed", vertices, [(0, 1, 2, 3), (1, 4, 2), (0, 3, 6, 7, 5)], [(7, 8)])
    mesh = read().cloths[0].mesh
    assert len(mesh.triangles) == 2 + 1 + 3
    assert mesh.loose_edges.tolist() == [[7, 8]]
    assert mesh.areas.sum() == pytest.approx(2.0 + 0.5 + 1.5)


def test_the_settings_of_the_fabric_reach_the_core(read, scene):
    sheet = builders.sheet()
    values = {"areal_density": 0.4, "stretch_warp": 100.0, "stretch_weft": 200.0, "shear": 30.0, "bend_warp": 1e-3,
              "bend_weft": 2e-3, "damping": 0.02, "friction": 0.7, "air_drag": 0.9, "viscous_drag": 0.05,
              "isotropic_damping": 0.06, "spring_damping": 0.08}
    for name, value in values.items():
        setattr(sheet.muslin, name, value)
    fabric = read().cloths[0].material
    assert (fabric.areal_density, *fabric.stretch, fabric.shear, *fabric.bend, fabric.damping, fabric.friction,
            fabric.air_drag) == pytest.approx((0.4, 100.0, 200.0, 30.0, 1e-3, 2e-3, 0.02, 0.7, 0.9))
    assert (fabric.viscous_drag, fabric.isotropic_damping, fabric.spring_damping) == pytest.approx((0.05, 0.06, 0.08))


def test_the_settings_of_the_air_reach_the_core(read, scene):
    sheet = builders.sheet()
    sheet.muslin.drag_coefficient, sheet.muslin.skin_friction, scene.muslin.air_density = 1.5, 0.03, 0.9
    sheet.muslin.slow_drag_speed = 0.3
    fabric = read().cloths[0].material
    assert (fabric.drag_coefficient, fabric.skin_friction, fabric.slow_drag_speed) == pytest.approx((1.5, 0.03, 0.3))
    assert fabric.air_drag is None
    assert read().air_density == pytest.approx(0.9)
    sheet.muslin.air_law = "LINEAR"
    assert read().cloths[0].material.air_drag == pytest.approx(0.70434)
    for law, prop, unused in (("LINEAR", "air_drag", "drag_coefficient"), ("QUADRATIC", "skin_friction", "air_drag"),
                              ("QUADRATIC", "slow_drag_speed", "air_drag"), ("LINEAR", "air_drag", "slow_drag_speed")):
        sheet.muslin.air_law = law
        for name in (prop, unused):
            sheet.keyframe_insert(f"muslin.{name}", frame=1)
        assert set(read().cloths[0].keyed_material.changes) == {prop}
        sheet.animation_data_clear()


def warp_directions(mesh):
    """Return the direction of u (T, 3) in world space, from the rest coordinates."""
    a, b, c = (mesh.positions[mesh.triangles[:, i]] for i in range(3))
    d = mesh.uv[:, 1:] - mesh.uv[:, :1]                                       # (T, 2, 2)
    inverse = np.linalg.inv(d)
    return np.einsum("tj,tjk->tk", inverse[:, 0], np.stack([b - a, c - a], axis=1))


def test_the_grain_follows_the_object_s_x_axis(read, scene):
    sheet = builders.sheet()
    sheet.rotation_euler.z = 0.5
    along = warp_directions(read().cloths[0].mesh)
    assert np.allclose(along, [np.cos(0.5), np.sin(0.5), 0.0], atol=1e-5)


@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_the_grain_follows_u_of_a_uv_map_and_lengths_are_those_of_the_mesh(read, scene, mirror):
    sheet = builders.sheet(size=2.0)
    layer = sheet.data.uv_layers.new(name="Pattern")
    for loop in sheet.data.loops:
        x, y, _ = sheet.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (0.1 * (0.6 * x + 0.8 * y), mirror * 0.1 * (-0.8 * x + 0.6 * y))
    sheet.muslin.grain, sheet.muslin.uv_map = "UV", "Pattern"
    mesh = read().cloths[0].mesh
    assert np.allclose(warp_directions(mesh), [0.6, 0.8, 0.0], atol=1e-5)
    assert mesh.areas.sum() == pytest.approx(4.0)


def test_pin_weights_are_read_and_their_targets_follow_the_evaluated_mesh(read, scene):
    sheet = builders.sheet()
    builders.pin(sheet, {0: 1.0, 4: 1.0, 7: 0.25})
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), 4: (3.0, 0.0, 0.0)})
    sheet.modifiers.new("Subdivision", "SUBSURF")
    cloth = read().cloths[0]
    assert cloth.pins.held.tolist() == [0, 4]
    assert cloth.pins.weights[7] == pytest.approx(0.25)
    sheet.modifiers.clear()
    sheet.shape_key_clear()
    end = 3 / 24
    assert np.allclose(cloth.pins.positions(cloth.pins.held, end), builders.displayed(sheet, 4)[[0, 4]], atol=1e-6)


def test_only_the_pin_group_counts(read, scene):
    sheet = builders.sheet()
    builders.pin(sheet, {3: 1.0}, "Other")
    builders.pin(sheet, {8: 1.0})
    assert read().cloths[0].pins.held.tolist() == [8]


def test_colliders_are_read_with_their_modifiers_and_face_outwards_when_mirrored(read, scene):
    builders.sheet()
    box = builders.box()
    box.scale = (-1.0, 2.0, 1.0)
    box.modifiers.new("Subdivision", "SUBSURF").subdivision_type = "SIMPLE"
    box.muslin.friction = 0.6
    collider = read().colliders[0]
    positions = collider.at(0.0)
    a, b, c = (positions[collider.triangles[:, i]] for i in range(3))
    assert len(positions) == 26
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0                  # negative with inward normals
    assert volume == pytest.approx(2.0, rel=1e-6)
    assert collider.friction == pytest.approx(0.6)


def facets():
    """Return a cloth of a triangle, a quad and a pentagon that face up, with a UV map that is its x and y."""
    obj = builders.mesh_object("Facets", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0.5, 0), (2, 1.5, 0),
                                          (1.5, 2, 0), (0.5, 1.8, 0)], [(0, 1, 2, 3), (1, 4, 2), (3, 2, 5, 6, 7)])
    layer = obj.data.uv_layers.new(name="Flat")
    for loop in obj.data.loops:
        layer.uv[loop.index].vector = obj.data.vertices[loop.vertex_index].co[:2]
    return obj


@pytest.mark.parametrize("uv", [False, True])
def test_cloth_shows_the_same_side_when_mirrored(read, uv):
    """A mirrored object displays its faces from the same side: the triangles are the same, and face up."""
    obj, found = facets(), []
    if uv:
        obj.muslin.grain, obj.muslin.uv_map = "UV", "Flat"
    for scale in (1.0, -1.0):
        obj.scale.x = scale
        mesh = read().cloths[0].mesh
        a, b, c = (mesh.positions[mesh.triangles[:, i]] for i in range(3))
        assert (np.cross(b - a, c - a)[:, 2] > 0.0).all()
        assert np.allclose(np.abs(warp_directions(mesh)), [1.0, 0.0, 0.0], atol=1e-5)
        found.append(sorted(map(sorted, mesh.triangles.tolist())))
    assert found[0] == found[1]


def test_all_cloth_of_the_scene_is_simulated_together(read, scene):
    for name in ("B", "A", "C"):
        builders.sheet(name=name)
    builders.box()
    core_scene = read()
    assert [cloth.name for cloth in core_scene.cloths] == ["A", "B", "C"]
    assert [collider.name for collider in core_scene.colliders] == ["Box"]


def test_geometry_nodes_that_only_move_vertices_are_read_and_others_are_off(read, scene):
    import bpy

    def nodes(name, node):
        tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
        tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
        middle = tree.nodes.new(node)
        given, made = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
        tree.links.new(given.outputs[0], middle.inputs[0])
        tree.links.new(middle.outputs[0], made.inputs[0])
        return middle

    sheet = builders.sheet()
    nodes("Lift", "GeometryNodeSetPosition").inputs["Offset"].default_value = (0.0, 0.0, 0.5)
    nodes("Divide", "GeometryNodeSubdivideMesh")
    for name in ("Divide", "Lift"):
        sheet.modifiers.new(name, "NODES").node_group = bpy.data.node_groups[name]
    positions = read().cloths[0].positions
    assert positions.shape == (25, 3)
    assert np.allclose(positions[:, 2], 0.5)
    assert all(modifier.show_viewport for modifier in sheet.modifiers)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams, buttons, patterns and painted maps: the panel's settings reach the simulation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders


@pytest.fixture
def read_cloth(read):
    """Return a function that bakes cloth without motion and returns the core.Cloth that was simulated."""
    return lambda: read().cloths[0]


def panels(gap=0.2):
    """Add two squares of 2 x 2 quads side by side, with three loose edges between them; return object and edges."""
    vertices = [(x + side * (1.0 + gap), y, 0.0) for side in (0, 1) for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)]
    faces = [(a, a + 3, a + 4, a + 1) for b in (0, 9) for a in (b, b + 1, b + 3, b + 4)]
    seams = [(6, 9), (7, 10), (8, 11)]
    return builders.mesh_object("Panels", vertices, faces, seams), np.array(seams)


def group(obj, weights, name="Painted"):
    made = obj.vertex_groups.new(name=name)
    for vertex, weight in weights.items():
        made.add([vertex], weight, "REPLACE")
    return name


def attribute(obj, values, name="painted"):
    made = obj.data.attributes.new(name, "FLOAT", "POINT")
    made.data.foreach_set("value", np.asarray(values, np.float32))
    return name


def gaps(obj, pairs, frame):
    x = builders.displayed(obj, frame)
    return np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)


def test_with_sewing_loose_edges_between_faces_are_pulled_shut(extension, scene):
    obj, seams = panels()
    obj.muslin.use_sewing, obj.muslin.sewing_time = True, 0.25
    scene.frame_end, scene.use_gravity = 9, False
    builders.finish(extension.bake.bake(scene))
    assert gaps(obj, seams, 4).min() > 0.05
    assert gaps(obj, seams, 9).max() < 1e-3


def test_without_sewing_loose_edges_are_threads(read_cloth):
    panels()
    cloth = read_cloth()
    assert len(cloth.seams) == 0
    assert len(cloth.mesh.loose_edges) == 3


def test_the_largest_force_and_the_closing_time_reach_the_core(read_cloth):
    obj, _ = panels()
    obj.muslin.use_sewing, obj.muslin.sewing_force, obj.muslin.sewing_time = True, 8.0, 0.5
    sewing, = read_cloth().sewing
    assert sewing.time == 0.5
    assert sewing.most == pytest.approx([4.0, 4.0, 4.0])           # half a metre of border per seam edge


def test_buttons_are_loose_edges_with_both_ends_in_their_group(extension, scene):
    obj, seams = panels()
    obj.muslin.button_group, obj.muslin.sewing_time = group(obj, {6: 1.0, 9: 1.0, 7: 1.0}), 0.25
    scene.frame_end, scene.use_gravity = 9, False
    builders.finish(extension.bake.bake(scene))
    shut = gaps(obj, seams, 9)
    assert shut[0] < 1e-3
    assert shut[1:].min() > 0.05                                   # these edges are threads


def test_buttons_beside_seams_are_no_seams(read_cloth):
    obj, _ = panels()
    obj.muslin.use_sewing, obj.muslin.button_group = True, group(obj, {6: 1.0, 9: 1.0})
    cloth = read_cloth()
    assert cloth.seams.tolist() == [[7, 10], [8, 11]]
    assert [len(sewing.start) for sewing in cloth.sewing] == [2, 1]
    assert len(cloth.mesh.loose_edges) == 0


@pytest.mark.parametrize("size, wanted", [(0.0, 2.0), (3.0, 2.25)])
def test_a_uv_map_is_the_rest_shape_with_the_given_size_or_the_area_of_the_mesh(read_cloth, size, wanted):
    """The UV map is half a unit wide and high, and the mesh has 2 m^2."""
    obj, _ = panels()
    layer = obj.data.uv_layers.new(name="Pattern")
    for loop in obj.data.loops:
        x, y, _ = obj.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (0.25 * (x - 0.2 * (x > 1.1)), 0.5 * y)
    obj.muslin.rest_shape, obj.muslin.uv_map, obj.muslin.pattern_size = "UV", "Pattern", size
    mesh = read_cloth().mesh
    assert mesh.areas.sum() == pytest.approx(wanted)
    assert np.ptp(mesh.uv[..., 0]) == pytest.approx(np.sqrt(wanted))


@pytest.mark.parametrize("way", ["rest_shape", "grain"])
def test_quads_stay_quads_if_a_uv_map_is_the_rest_shape_or_the_grain(read_cloth, way):
    sheet = builders.sheet(4)
    layer = sheet.data.uv_layers.new(name="Pattern")
    for loop in sheet.data.loops:
        x, y, _ = sheet.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (0.3 * x, 0.3 * y)
    setattr(sheet.muslin, way, "UV")
    sheet.muslin.model = "thread_cloth"
    assert read_cloth().mesh.quads.tolist() == [list(face.vertices) for face in sheet.data.polygons]


def test_a_uv_square_is_a_length_in_the_scene_s_units(read_cloth, scene):
    scene.unit_settings.scale_length = 0.01
    sheet = builders.sheet(size=200.0)
    layer = sheet.data.uv_layers.new(name="Pattern")
    for loop in sheet.data.loops:
        x, y, _ = sheet.data.vertices[loop.vertex_index].co
        layer.uv[loop.index].vector = (x / 200.0, y / 200.0)
    sheet.muslin.rest_shape, sheet.muslin.pattern_size = "UV", 300.0
    assert read_cloth().mesh.areas.sum() == pytest.approx(9.0)


def test_a_shrink_group_scales_rest_lengths_by_its_weights(read_cloth):
    sheet = builders.sheet()
    sheet.muslin.shrink_group = group(sheet, {0: 1.0, 1: 0.5})
    sheet.muslin.shrink_min, sheet.muslin.shrink_max = 0.1, 0.3
    assert read_cloth().mesh.scale[:3] == pytest.approx([0.7, 0.8, 0.9])


def test_without_a_group_all_of_the_fabric_shrinks(read_cloth):
    sheet = builders.sheet(size=2.0)
    sheet.muslin.shrink_min = 0.5
    assert read_cloth().mesh.areas.sum() == pytest.approx(1.0)


def test_shrunk_cloth_gathers(extension, scene):
    sheet = builders.sheet(5)
    sheet.muslin.shrink_min, sheet.muslin.sewing_time = 0.2, 0.25
    scene.frame_end, scene.use_gravity = 12, False
    builders.finish(extension.bake.bake(scene))
    assert np.ptp(builders.displayed(sheet, 12)[:, 0]) < 0.9


def test_a_wrinkle_attribute_may_have_either_sign(read_cloth):
    sheet = builders.sheet(3)
    sheet.muslin.wrinkle_group = attribute(sheet, np.repeat([-1.0, 0.0, 1.0], 3))
    sheet.muslin.wrinkle_curvature, sheet.muslin.wrinkle_direction = 12.0, "WEFT"
    curvature = read_cloth().mesh.curvature
    assert curvature[:, :2] == pytest.approx(np.zeros_like(curvature[:, :2]), abs=1e-9)
    assert sorted(set(np.round(curvature[:, 2], 6))) == [-8.0, -4.0, 4.0, 8.0]


@pytest.mark.parametrize(("field", "values", "message"), [
    ("shrink_group", [0.0, 5.0, 0.0], "'painted', its Shrink Group in Muslin's panel, is 5 at vertex 1 .1 such., "
                                      "which shrinks it to nothing"),
    ("stretch_group", [0.0, 0.0, -3.0], "'painted', its Stretch Group .* is -3 at vertex 2 .* negative"),
    ("wrinkle_group", [np.nan, 0.0, 0.0], "'painted', its Wrinkle Group .* is nan at vertex 0 .* not a number")])
def test_invalid_painted_values_are_errors_with_the_panel_s_labels(read_cloth, extension, field, values,
                                                                               message):
    sheet = builders.sheet(3)
    setattr(sheet.muslin, field, attribute(sheet, [*values, *np.zeros(len(sheet.data.vertices) - 3)]))
    sheet.muslin.shrink_max, sheet.muslin.stretch_factor = 0.3, 2.0
    with pytest.raises(extension.core.ClothError, match=message):
        read_cloth()


def test_cloth_with_a_wrinkle_map_leaves_its_plane(extension, scene):
    sheet = builders.sheet(5)
    sheet.muslin.wrinkle_group = group(sheet, dict.fromkeys(range(25), 1.0))
    sheet.muslin.wrinkle_curvature, sheet.muslin.bend_warp = 4.0, 1e-2
    scene.frame_end, scene.use_gravity = 12, False
    builders.finish(extension.bake.bake(scene))
    assert np.ptp(builders.displayed(sheet, 12)[:, 2]) > 0.02


@pytest.mark.parametrize("what", ["stretch", "shear", "bend"])
def test_a_stiffness_group_multiplies_up_to_its_factor(read_cloth, what):
    sheet = builders.sheet()
    setattr(sheet.muslin, f"{what}_group", group(sheet, {0: 1.0, 1: 0.5}))
    setattr(sheet.muslin, f"{what}_factor", 5.0)
    maps = read_cloth().maps.stiffness
    assert list(maps) == [what]
    assert maps[what][:3] == pytest.approx([5.0, 3.0, 1.0])


@pytest.mark.parametrize("prop, message", [
    ("shrink_group", "as Shrink Group"), ("wrinkle_group", "as Wrinkle Group"), ("bend_group", "as Bending Group"),
    ("button_group", "for its buttons"),
])
def test_a_missing_group_is_an_error_that_names_it(extension, scene, prop, message):
    sheet = builders.sheet()
    setattr(sheet.muslin, prop, "Gone")
    with pytest.raises(extension.core.ClothError, match=f"Sheet: .*'Gone'.*{message}|Sheet: .*'Gone' {message}"):
        builders.finish(extension.bake.bake(scene))


def test_a_group_without_a_loose_edge_has_no_button(extension, scene):
    sheet = builders.sheet()
    sheet.muslin.button_group = group(sheet, {0: 1.0, 1: 1.0})
    with pytest.raises(extension.core.ClothError, match="no loose edge with both ends"):
        builders.finish(extension.bake.bake(scene))


def test_sewing_a_mesh_without_loose_edges_is_an_error(extension, scene):
    builders.sheet().muslin.use_sewing = True
    with pytest.raises(extension.core.ClothError, match="no loose edges between its faces to sew"):
        builders.finish(extension.bake.bake(scene))

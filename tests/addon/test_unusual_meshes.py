# SPDX-License-Identifier: GPL-3.0-or-later
"""Unusual but valid meshes, such as Suzanne: quads that share three vertices, and surfaces that touch."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders

FOLDED = [(-0.5, 0.0, 0.0), (0.0, -0.2, 0.0), (0.5, 0.0, 0.0), (0.0, 1.0, 1.0), (0.0, 1.5, 0.0)]
"""Two quads around vertex 1 share 0, 1 and 2; the line from 0 to 2 is the shorter diagonal of both."""


@pytest.mark.parametrize("model", ["baraff_witkin", "jelly"])
def test_suzanne_bakes(extension, scene, model):
    bpy.ops.mesh.primitive_monkey_add()
    suzanne = bpy.context.object
    suzanne.muslin.kind, suzanne.muslin.model = "CLOTH", model
    suzanne.muslin.young_modulus = 100.0
    scene.muslin.backend, scene.muslin.use_self_collision, scene.frame_end = "NUMPY", False, 2
    report = builders.finish(extension.bake.bake(scene))
    assert len(report.certificates) == 2 and np.isfinite(builders.displayed(suzanne, 2)).all()
    scene.frame_set(1)
    finder = extension.crossings.CrossingsFinder()
    finder.update(bpy.context.view_layer, bpy.context.evaluated_depsgraph_get())
    finder.find("numpy")
    assert finder.found.count == report.certificates[0]["crossings"] > 0         # the eyes cross the head
    assert finder.found.faces["Suzanne"].max() < len(suzanne.data.polygons)


def test_a_doubled_face_is_an_error_with_a_remedy(extension, scene):
    builders.mesh_object("Doubled", FOLDED, [(0, 1, 2, 4), (0, 1, 2, 4), (2, 1, 3)])
    with pytest.raises(extension.core.MeshError, match="Doubled: triangle .* is there 2 times.*delete all but one"):
        builders.finish(extension.bake.bake(scene))


def test_uv_coordinates_stay_with_the_corners_of_a_cut_quad(extension, scene):
    """The pattern is the mesh seen from above, so that rest lengths equal lengths if the UV corners are right."""
    folded = builders.mesh_object("Folded", [(x, y, 0.001 * z) for x, y, z in FOLDED],
                                  [(0, 1, 2, 4), (2, 1, 0, 3), (0, 3, 4)])
    uv = [FOLDED[vertex][:2] for face in folded.data.polygons for vertex in face.vertices]
    folded.data.uv_layers.new(name="Map").uv.foreach_set("vector", np.ravel(uv))
    folded.muslin.rest_shape, folded.muslin.pattern_size = "UV", 1.0
    settings = extension.settings.scene_settings_of(scene)
    (cloth,) = extension.read_scene.read_scene(scene, settings, None, scene.view_layers[0]).cloths
    modelled = np.linalg.norm(np.diff(cloth.positions[cloth.mesh.edges], axis=1)[:, 0], axis=1)
    np.testing.assert_allclose(cloth.mesh.rest_lengths, modelled, rtol=1e-4)


def boxes(*corners):
    """Add one mesh of boxes of width 1 with their lowest corners at `corners`, and return it."""
    places = np.concatenate([np.array(corner) + [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
                             for corner in corners])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return builders.mesh_object("Boxes", places, [tuple(8 * k + vertex for vertex in side)
                                                  for k in range(len(corners)) for side in sides])


def test_surfaces_that_touch_at_a_vertex_are_separated_slightly(extension, scene):
    separate = extension.coincident_vertices.separate_coincident_vertices
    two, scene.muslin.backend = boxes((0, 0, 0), (1, 1, 1)), "NUMPY"
    before = extension.mesh_data.positions(two.data).astype(np.float64)
    after = separate(before, two.data)
    moved = np.linalg.norm(after - before, axis=1)
    assert np.flatnonzero(moved).tolist() == [7, 8] and 0.0 < moved.max() < 1e-4
    assert (after[8] > after[7]).all()                                   # each moves into its own box
    builders.finish(extension.bake.bake(scene))


def test_unmerged_borders_and_doubled_surfaces_are_refused(extension, scene):
    doubled = boxes((0, 0, 0), (0, 0, 0))
    with pytest.raises(extension.core.MeshError, match="Boxes: vertices 0 and 8 are at the same place"):
        builders.finish(extension.bake.bake(scene))
    bpy.data.objects.remove(doubled)
    builders.mesh_object("Seam", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)],
                         [(0, 1, 2), (3, 5, 4)])
    with pytest.raises(extension.core.MeshError, match="Seam: vertices 1 and 3 are at the same place"):
        builders.finish(extension.bake.bake(scene))


def ngon(corners):
    """Add a cloth of one face with these corners (n, 2)."""
    return builders.mesh_object("Gore", [(x, y, 0.0) for x, y in corners], [tuple(range(len(corners)))])


def read_cloths(extension, scene):
    settings = extension.settings.scene_settings_of(scene)
    return extension.read_scene.read_scene(scene, settings, None, bpy.context.view_layer).cloths


def test_faces_of_many_corners_are_cut_as_blender_displays_them(extension, scene):
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    gore = ngon(np.column_stack([(1.0 + 0.3 * np.cos(5.0 * angle)) * np.cos(angle), np.sin(angle)]))
    gore.data.calc_loop_triangles()
    shown = {tuple(sorted(triangle.vertices)) for triangle in gore.data.loop_triangles}
    mesh = read_cloths(extension, scene)[0].mesh
    assert {tuple(sorted(triangle)) for triangle in mesh.triangles.tolist()} == shown
    assert mesh.is_diagonal.sum() == 21


def test_a_face_with_corners_in_line_has_triangles_of_some_area(extension, scene):
    ngon([(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (1.0, 1.0), (0.5, 1.0), (0.0, 1.0)])
    assert read_cloths(extension, scene)[0].mesh.areas.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("pair", [(12, 13), (12, 18)])
@pytest.mark.parametrize("rest", ["", "Rest"])
def test_an_edge_or_a_face_that_has_collapsed_inside_a_surface_is_refused(extension, scene, pair, rest):
    """Two neighbours, and two corners of a face, of the mesh and of its rest shape."""
    sheet, scene.muslin.backend = builders.sheet(5), "NUMPY"
    points = sheet.data.vertices
    if rest:
        sheet.shape_key_add(name="Basis")
        points = sheet.shape_key_add(name=rest).data
        sheet.muslin.rest_shape_key = rest
    points[pair[0]].co = points[pair[1]].co
    with pytest.raises(extension.core.MeshError, match="Sheet: edge .* has length zero.*Merge by Distance"):
        builders.finish(extension.bake.bake(scene))


CHAIN = [(0, 1), (1, 2), (2, 3), (3, 4)]


def points_and_edges(edges, model):
    """Add a cloth of some vertices with these edges and no faces, and return it."""
    places = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 3)).tolist()
    mesh = bpy.data.meshes.new("Points")
    mesh.from_pydata(places, edges, [])
    obj = bpy.data.objects.new("Points", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.muslin.kind, obj.muslin.model = "CLOTH", model
    return obj


@pytest.mark.parametrize(("edges", "model", "note", "remark"), [
    ([], "baraff_witkin", "no edges and no faces: its 5 vertices are simulated as particles", "vertices are particles"),
    ([], "rope", "no edges and no faces: its 5 vertices are simulated as particles", "vertices are particles"),
    (CHAIN, "baraff_witkin", "no faces: its edges are simulated as threads", "Rope bends"),
    ([], "particles", "", ""), (CHAIN, "rope", "", ""), (CHAIN, "particles", "", "")])
def test_a_mesh_without_faces_is_noted_where_the_chosen_model_needs_them(extension, scene, edges, model, note, remark):
    obj = points_and_edges(edges, model)
    scene.muslin.backend = "NUMPY"
    notes = builders.finish(extension.bake.bake(scene)).notes
    found = extension.hints.model_remark(obj)
    assert len(notes) == bool(note) and all(each.startswith(f"Points: its mesh has {note}") for each in notes)
    assert bool(found) == bool(remark) and remark in found

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a scene with rigs, modifiers and other cloth is read as, and what a bake says about it."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as


@pytest.fixture
def notes(extension, scene, monkeypatch):
    """Return a function that bakes two frames without motion and returns the notes."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    scene.frame_start, scene.frame_end = 1, 2
    return lambda: builders.finish(extension.bake.bake(scene)).notes


def vertex_parent(cloth, other):
    other.parent, other.parent_type, other.parent_vertices = cloth, "VERTEX", (0, 0, 0)


def copied_location(cloth, other):
    cloth.vertex_groups.new(name="Corner").add([0], 1.0, "REPLACE")
    constraint = other.constraints.new("COPY_LOCATION")
    constraint.target, constraint.subtarget = cloth, "Corner"


def surface_deform(cloth, other):
    other.modifiers.new("Follow", "SURFACE_DEFORM").target = cloth


def input_of_nodes(cloth, other):
    tree = bpy.data.node_groups.new("Follow", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    name = tree.interface.new_socket("Onto", in_out="INPUT", socket_type="NodeSocketObject").identifier
    start, end = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    tree.links.new(start.outputs[0], end.inputs[0])
    modifier = other.modifiers.new("Follow", "NODES")
    modifier.node_group = tree
    if hasattr(modifier, "properties"):
        getattr(modifier.properties.inputs, name).value = cloth
    else:
        modifier[name] = cloth


def by_way_of_an_empty(cloth, other):
    empty = bpy.data.objects.new("Hand", None)
    bpy.context.scene.collection.objects.link(empty)
    vertex_parent(cloth, empty)
    other.parent = empty


def object_parent(cloth, other):
    other.parent = cloth


@pytest.mark.parametrize("kind", ["CLOTH", "COLLIDER"])
@pytest.mark.parametrize(("tie", "named"), [(vertex_parent, True), (copied_location, True), (surface_deform, True),
                                            (input_of_nodes, True), (by_way_of_an_empty, True), (object_parent, False)])
def test_an_object_that_other_cloth_places_is_noted(notes, kind, tie, named):
    cloth, other = builders.sheet(name="Cape"), builders.sheet(name="Brooch", size=0.2, height=1.0)
    other.muslin.kind = kind
    tie(cloth, other)
    assert [note.partition(", which ")[0] for note in notes()] == ["Brooch: the shape of 'Cape'"] * named


def with_armature(obj):
    armature = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    bone = armature.data.edit_bones.new("Bone")
    bone.head, bone.tail = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    group = obj.vertex_groups.new(name="Bone")
    group.add(range(len(obj.data.vertices)), 1.0, "REPLACE")
    modifier = obj.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    return modifier, armature.pose.bones["Bone"]


@pytest.mark.parametrize("above", [True, False])
def test_a_subdivision_above_an_armature_is_noted(notes, above):
    sheet = builders.sheet()
    if above:
        sheet.modifiers.new("Subdivision", "SUBSURF")
    with_armature(sheet)
    if not above:
        sheet.modifiers.new("Subdivision", "SUBSURF")
    assert [note.partition(", which ")[0] for note in notes()] == [
        "Sheet: the modifier 'Subdivision' is above 'Armature'"] * above


@pytest.mark.parametrize(("viewport", "render", "where"), [(False, True, "the render"), (True, False, "the viewport"),
                                                           (True, True, None)])
def test_an_armature_that_the_render_and_the_viewport_do_not_share_is_noted(notes, viewport, render, where):
    modifier, _ = with_armature(builders.sheet())
    modifier.show_viewport, modifier.show_render = viewport, render
    assert [note.partition(" only")[0] for note in notes()] == [
        f"Sheet: the modifier 'Armature' is on in {where}"] * (where is not None)


@pytest.mark.parametrize("stands_at", [1, 8])
def test_an_armature_that_keys_switch_on_moves_pinned_cloth(extension, scene, stands_at):
    sheet = builders.sheet()
    builders.pin(sheet, dict.fromkeys(range(25), 1.0))
    modifier, bone = with_armature(sheet)
    for frame, on in ((1, False), (5, True)):
        modifier.show_viewport = on
        modifier.keyframe_insert("show_viewport", frame=frame)
    bone.location = (0.0, 0.5, 0.0)
    scene.frame_start, scene.frame_end = 1, 8
    scene.frame_set(stands_at)
    builders.finish(extension.bake.bake(scene))
    assert np.abs(builders.displayed(sheet, 4)[:, 2]).max() < 1e-5
    assert np.abs(builders.displayed(sheet, 8)[:, 2] - 0.5).max() < 1e-4


def test_loose_vertices_are_named_and_stay_with_the_object(extension, scene):
    sheet = builders.sheet()
    sheet.data.vertices.add(2)
    sheet.data.vertices[25].co, sheet.data.vertices[26].co = (0.0, 0.0, 1.0), (3.0, 0.0, 0.0)
    for frame, x in ((1, 0.0), (6, 1.0)):
        sheet.location.x = x
        sheet.keyframe_insert("location", frame=frame)
    scene.frame_start, scene.frame_end = 1, 6
    report = builders.finish(extension.bake.bake(scene))
    assert ["loose vertices (25, 26; 2 in all)" in note for note in report.notes] == [True]
    at = builders.displayed(sheet, 6)
    np.testing.assert_allclose(at[25:], [(1.0, 0.0, 1.0), (4.0, 0.0, 0.0)], atol=1e-5)
    assert at[:25, 2].max() < -0.1 and np.abs(at[:25, 0]).max() < 0.6


@pytest.mark.parametrize(("vertices", "named"), [(1, True), (0, False)])
def test_a_seam_to_a_vertex_without_faces_is_noted(notes, vertices, named):
    left = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    right = [(x + 1.2, y, z) for x, y, z in left]
    bare = [(1.1, 0.5, 0.3), (1.1, 0.5, 0.6)] * vertices
    sheet = builders.mesh_object("Panels", left + right + bare, [(0, 1, 2, 3), (4, 5, 6, 7)],
                                 [(1, 4), (2, 8), (8, 9)] if vertices else [(1, 4), (2, 7)])
    sheet.muslin.use_sewing = True
    assert ["Sewing leaves loose edges as threads where an end belongs to no face (vertices 8)" in note
            for note in notes()] == [True] * named


@pytest.mark.parametrize(("away", "named"), [(0.0, False), (1e4, True)])
def test_vertices_far_from_the_origin_of_their_object_are_noted(notes, away, named):
    sheet = builders.sheet()
    sheet.data.transform(Matrix.Translation((away, 0.0, 0.0)))
    assert ["where Blender rounds places by" in note for note in notes()] == [True] * named

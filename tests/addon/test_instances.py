# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth collides with the instances of colliders that the viewport shows."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as

LAST = 12


@pytest.fixture
def sheet(scene):
    scene.frame_start, scene.frame_end = 1, LAST
    return builders.sheet(9, size=0.5, height=0.0)


def below(box, where=(0.0, 0.0, -0.35)):
    """Return an empty below the cloth, where an instance of a box of 0.4 m is to stand; the box is not in the scene."""
    bpy.context.scene.collection.objects.unlink(box)
    empty = bpy.data.objects.new("Place", None)
    empty.location = where
    bpy.context.scene.collection.objects.link(empty)
    return empty


def of_collection():
    box, parts = builders.box("Part", 0.4), bpy.data.collections.new("Parts")
    empty = below(box)
    parts.objects.link(box)
    empty.instance_type, empty.instance_collection = "COLLECTION", parts


def of_collection_in_collection():
    of_collection()
    outer, empty = bpy.data.collections.new("Outer"), bpy.data.objects.new("Outer", None)
    place = bpy.data.objects["Place"]
    bpy.context.scene.collection.objects.unlink(place)
    outer.objects.link(place)
    empty.instance_type, empty.instance_collection = "COLLECTION", outer
    bpy.context.scene.collection.objects.link(empty)


def of_collider_collection():
    of_collection()
    bpy.data.objects["Part"].muslin.kind = "NONE"
    solids = bpy.data.collections.new("Solids")
    solids.objects.link(bpy.data.objects["Place"])
    bpy.context.scene.muslin.collider_collection = solids


def on_vertices():
    box = builders.box("Part", 0.4)
    points = builders.mesh_object("Points", [(0.0, 0.0, 2.65), (5.0, 0.0, 0.0)], kind="NONE")
    points.instance_type = "VERTS"
    box.parent = points
    box.location.z = -3.0               # the original stands far below the cloth, its instances 3 m below the points


def of_geometry_nodes(kind="COLLIDER"):
    points = builders.mesh_object("Points", [(0.0, 0.0, -0.35)], kind=kind)
    tree = bpy.data.node_groups.new("Studs", "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    start, end, copies, stud = (tree.nodes.new(name) for name in (
        "NodeGroupInput", "NodeGroupOutput", "GeometryNodeInstanceOnPoints", "GeometryNodeMeshCube"))
    stud.inputs["Size"].default_value = (0.4, 0.4, 0.4)
    for source, target, socket in [(start, copies, "Points"), (stud, copies, "Instance"), (copies, end, "Geometry")]:
        tree.links.new(source.outputs[0], target.inputs[socket])
    points.modifiers.new("Studs", "NODES").node_group = tree


@pytest.mark.parametrize("build", [of_collection, of_collection_in_collection, of_collider_collection, on_vertices,
                                   of_geometry_nodes], ids=lambda build: build.__name__)
def test_instances_stop_cloth(extension, scene, sheet, build):
    build()
    report = builders.finish(extension.bake.bake(scene))
    at = builders.displayed(sheet, LAST)
    on_top = (np.abs(at[:, :2]) < 0.15).all(axis=1)
    assert on_top.any() and (at[on_top, 2] > -0.15).all()       # the instance ends at -0.15; free fall reaches -1.0
    assert (report.notes, len(report.colliders)) == ([], 1)


@pytest.mark.parametrize("kind", ["NONE", "COLLIDER"])
def test_an_instance_belongs_to_the_collider_that_makes_it(extension, scene, sheet, kind):
    of_geometry_nodes(kind)
    builders.finish(extension.bake.bake(scene))
    assert (builders.displayed(sheet, LAST)[:, 2].max() > -0.2) == (kind == "COLLIDER")


def test_a_moving_instance_carries_cloth(extension, scene, sheet):
    of_collection()
    place = bpy.data.objects["Place"]
    for frame, height in ((1, -0.35), (LAST, 0.15)):
        place.location.z = height
        place.keyframe_insert("location", frame=frame)
    builders.finish(extension.bake.bake(scene))
    at = builders.displayed(sheet, LAST)
    assert at[(np.abs(at[:, :2]) < 0.15).all(axis=1), 2].min() > 0.34


def test_an_instance_that_vanishes_is_an_error_that_names_the_frame(extension, scene, sheet, monkeypatch):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    of_collection()
    place = bpy.data.objects["Place"]
    for frame, hidden in ((1, False), (5, True)):
        place.hide_viewport = hidden
        place.keyframe_insert("hide_viewport", frame=frame)
    with pytest.raises(extension.core.ColliderError, match="Part: has 0 instances at frame 5 and had 1"):
        builders.finish(extension.bake.bake(scene))


def test_a_collider_with_instances_may_be_renamed_during_a_bake(extension, scene, sheet, monkeypatch):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    of_collection()
    steps = extension.bake.bake(scene)
    next(steps)
    bpy.data.objects["Part"].name = "Renamed"
    assert builders.finish(steps).last == LAST


def test_cloth_that_is_instanced_is_no_collider(extension, scene, sheet):
    parts, empty = bpy.data.collections.new("Parts"), bpy.data.objects.new("Copy", None)
    parts.objects.link(sheet)
    empty.instance_type, empty.instance_collection = "COLLECTION", parts
    empty.location.z = -0.3
    scene.collection.objects.link(empty)
    report = builders.finish(extension.bake.bake(scene))
    assert report.colliders == [] and builders.displayed(sheet, LAST)[:, 2].max() < -0.5


def test_no_hint_says_that_nothing_stops_cloth_over_an_instance(extension, scene, sheet):
    assert any("falls without end" in hint for hint in extension.hints.hints(scene, sheet))
    of_collection_in_collection()
    assert not any("fall" in hint for hint in extension.hints.hints(scene, sheet))
    sheet.muslin.collision_collection = bpy.data.collections.new("Empty")
    assert any("Collision Collection: it falls without end" in hint for hint in extension.hints.hints(scene, sheet))

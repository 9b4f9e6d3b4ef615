# SPDX-License-Identifier: GPL-3.0-or-later
"""Collision settings of a cloth: how they are read, drawn, set from the command line, and what they do in a bake."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.addon import builders, drawing


@pytest.fixture
def cloths(scene):
    """Return two sheets over a floor and a box."""
    scene.muslin.backend = "NUMPY"
    lower, upper = builders.sheet(5, "Lower"), builders.sheet(5, "Upper", height=0.05)
    floor = builders.mesh_object("Floor", [(-9, -9, -0.05), (9, -9, -0.05), (0, 9, -0.05)], [(0, 1, 2)],
                                 kind="COLLIDER")
    box = builders.box("Box", size=0.2)
    box.location.z = -5.0
    bpy.context.view_layer.objects.active = lower
    bpy.context.view_layer.update()
    return lower, upper, floor, box


@pytest.fixture
def contacts(extension, scene):
    """Return a function that reads the scene, and returns the contact of each cloth by name, and the notes."""
    def read(objects=None):
        found = extension.read_scene.read_scene(scene, extension.settings.scene_settings_of(scene), objects,
                                                bpy.context.view_layer)
        return {cloth.name: cloth.contact for cloth in found.scene.cloths}, found.notes
    return read


def group(obj, name, vertices, weight=1.0):
    obj.vertex_groups.new(name=name).add(list(vertices), weight, "REPLACE")


def collection(name, *objects):
    made = bpy.data.collections.new(name)
    for obj in objects:
        made.objects.link(obj)
    return made


def test_as_it_comes_a_cloth_collides_with_everything(extension, cloths, contacts):
    for contact in contacts()[0].values():
        assert contact.self_collision and contact.collisions and contact.colliders is None
        assert contact.not_self is None and contact.not_objects is None and contact.layer == 0
        assert contact.self_friction is None and contact.self_distance is None


def test_every_setting_reaches_the_core_in_metres(cloths, contacts, scene):
    lower, upper, floor, box = cloths
    scene.unit_settings.scale_length = 0.5
    group(lower, "Hidden", range(10)), group(lower, "Loose", range(5), 0.01)
    settings = lower.muslin
    settings.use_collision, settings.use_self_collision, settings.layer = False, False, 3
    settings.object_collision_group, settings.self_collision_group = "Hidden", "Loose"
    settings.use_self_friction, settings.self_friction, settings.self_distance = True, 0.75, 0.02
    settings.collision_collection = collection("Some", floor, upper, lower)
    contact = contacts()[0]["Lower"]
    assert not contact.collisions and not contact.self_collision and contact.layer == 3
    assert contact.not_objects.sum() == 10 and contact.not_self.sum() == 5
    assert (contact.self_friction, contact.self_distance) == (0.75, pytest.approx(0.01))
    assert sorted(contact.colliders) == ["Floor", "Upper"]
    settings.use_self_friction = False
    assert contacts()[0]["Lower"].self_friction is None


def test_a_collection_names_only_what_is_baked_and_a_note_says_when_nothing_is_left(cloths, contacts):
    lower, upper, _, _ = cloths
    lower.muslin.collision_collection = collection("Others", upper)
    found, notes = contacts()
    assert found["Lower"].colliders == ("Upper",) and not any("Collision Collection" in note for note in notes)
    found, notes = contacts([lower])
    assert found["Lower"].colliders == ()
    assert [note for note in notes if note.startswith("Lower: its Collision Collection 'Others' has no collider")]


@pytest.mark.parametrize(("prop", "panel"), [("object_collision_group", "Object Collisions"),
                                             ("self_collision_group", "Self Collisions")])
def test_a_group_that_is_not_there_is_refused(extension, cloths, contacts, prop, panel):
    setattr(cloths[0].muslin, prop, "Colar")
    with pytest.raises(extension.core.ClothError, match=f"Lower: has no vertex group 'Colar' to leave out of {panel}"):
        contacts()


def test_a_cloth_passes_what_its_collection_leaves_out(extension, cloths, scene):
    lower, upper, floor, box = cloths
    scene.frame_end = 12
    lower.muslin.collision_collection = collection("Only the Box", box)
    report = builders.finish(extension.bake.bake(scene))
    assert builders.displayed(lower, 12)[:, 2].max() < -0.2
    assert builders.displayed(upper, 12)[:, 2].min() > -0.05
    assert report.summary()["crossings"] == 0
    assert report.settings["cloths"]["Lower"]["contact"]["collision_collection"] == "Only the Box"


def test_what_was_changed_since_a_bake_is_named(extension, cloths, scene):
    lower = cloths[0]
    scene.frame_end = 2
    group(lower, "Hem", range(5))
    lower.muslin.self_collision_group = "Hem"
    report = builders.finish(extension.bake.bake(scene)).as_dict()

    def changes():
        return extension.bake_changes.changes(scene, lower, report)

    assert changes() == []
    lower.muslin.self_distance = 0.01
    assert changes() == ["settings (Self Distance)"]
    lower.muslin.self_distance, lower.muslin.use_collision = 0.0, False
    assert changes() == ["settings (Object Collisions)"]
    lower.muslin.use_collision = True
    lower.vertex_groups["Hem"].add([7], 1.0, "REPLACE")
    assert changes() == ["vertex groups, attributes and UV map"]


def test_self_collision_that_an_earlier_file_switched_off_stays_off_and_can_be_switched_on(extension, cloths, scene):
    scene.muslin.use_self_collision = False
    assert not extension.settings.scene_settings_of(scene).solver().self_collision
    assert drawn(extension, scene)["MUSLIN_PT_self_collisions"][:2] == ["use_self_collision"] * 2     # cloth, scene
    scene.muslin.use_self_collision = True
    assert drawn(extension, scene)["MUSLIN_PT_self_collisions"] == [
        "use_self_collision", "use_self_friction", "self_friction", "self_distance", "self_collision_group"]


def drawn(extension, scene):
    """Return the names of the properties that each panel of collisions draws."""
    found = {}
    for cls in extension.collision_panels.classes:
        layout = drawing.Layout()
        drawing.draw(cls, layout)
        found[cls.__name__] = layout.props
    return found


def test_blenders_panels_are_there(extension, cloths, scene):
    found = drawn(extension, scene)
    assert found["MUSLIN_PT_object_collisions"] == [
        "use_collision", "thickness", "friction", "object_collision_group", "collision_collection"]
    assert found["MUSLIN_PT_collisions"] == ["layer", "resolve_start"]


def test_the_overlay_draws_no_excluded_crossing(extension, cloths, scene):
    lower, upper, floor, box = cloths
    box.location.z = 0.0
    finder = extension.crossings.CrossingsFinder()

    def pairs():
        bpy.context.view_layer.update()
        finder.update(bpy.context.view_layer, bpy.context.evaluated_depsgraph_get())
        finder.find("numpy")
        return {(pair.first, pair.second) for pair in finder.found.pairs}

    assert pairs() == {("Lower", "Box"), ("Upper", "Box")}
    lower.muslin.use_collision = False
    assert pairs() == {("Upper", "Box")}
    lower.muslin.use_collision = True
    group(upper, "All", range(25))
    upper.muslin.object_collision_group = "All"
    assert pairs() == {("Lower", "Box")}
    upper.vertex_groups["All"].remove([12])
    assert pairs() == {("Lower", "Box"), ("Upper", "Box")}
    upper.muslin.object_collision_group, lower.muslin.collision_collection = "Gone", collection("Floor", floor)
    assert pairs() == {("Upper", "Box")}


def test_a_collection_is_set_by_name_from_the_command_line(extension, cloths, scene):
    lower = cloths[0]
    made = collection("Props", cloths[2])
    variant, = extension.wedges.variants_of(["material.collision_collection=Props", "material.self_distance=0.02"])
    extension.wedges.apply(variant, scene, [lower])
    assert lower.muslin.collision_collection == made and lower.muslin.self_distance == pytest.approx(0.02)
    variant, = extension.wedges.variants_of(["material.collision_collection="])
    extension.wedges.apply(variant, scene, [lower])
    assert lower.muslin.collision_collection is None
    variant, = extension.wedges.variants_of(["material.collision_collection=Prop"])
    with pytest.raises(extension.arguments.UsageError, match="there is no collection 'Prop'; perhaps 'Props'"):
        extension.wedges.apply(variant, scene, [lower])


def test_layers_bring_a_jacket_out_of_a_shirt(extension, scene):
    """Two tubes, one shifted by more than it is wider: the jacket is outside all around after a few frames."""
    scene.use_gravity, scene.frame_end = False, 20
    angle, z = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False), np.linspace(-0.15, 0.15, 6)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    faces = [(24 * j + i, 24 * j + (i + 1) % 24, 24 * (j + 1) + (i + 1) % 24, 24 * (j + 1) + i)
             for j in range(5) for i in range(24)]
    made = [builders.mesh_object(name, [(r * x + shift, r * y, h) for h in z for x, y in ring], faces)
            for name, r, shift in (("Shirt", 0.2, 0.0), ("Jacket", 0.208, 0.012))]
    for cloth, number in zip(made, (0, 1), strict=True):
        cloth.muslin.layer, cloth.muslin.thickness = number, 0.003
    builders.finish(extension.bake.bake(scene))
    shirt, jacket = (builders.displayed(cloth, 20) for cloth in made)
    centre = shirt.mean(axis=0)
    away = [np.linalg.norm((x - centre)[:, :2], axis=1).reshape(6, 24).mean(axis=0) for x in (shirt, jacket)]
    assert (away[1] > away[0]).all()


def test_a_hint_says_that_nothing_can_stop_a_cloth(extension, cloths, scene):
    lower, upper, _, box = cloths
    falls = [hint for hint in extension.hints.hints(scene, lower) if "without end" in hint]
    assert falls == []
    lower.muslin.collision_collection = collection("Cloth", upper)
    assert "No pins, and no collider in the Collision Collection: it falls without end" in extension.hints.hints(
        scene, lower)
    lower.muslin.collision_collection, lower.muslin.use_collision = None, False
    assert "No pins, and Object Collisions are off: it falls without end" in extension.hints.hints(scene, lower)


@pytest.mark.parametrize(("of_objects", "of_itself", "friction", "distance", "greyed"), [
    (True, True, False, 0.0, set()),
    (False, True, False, 0.0, {"object_collision_group", "collision_collection"}),
    (False, True, True, 0.0, {"friction", "object_collision_group", "collision_collection"}),
    (False, True, True, 0.1, {"thickness", "friction", "object_collision_group", "collision_collection"}),
    (False, False, False, 0.0, {"thickness", "friction", "object_collision_group", "collision_collection"})])
def test_a_setting_that_has_an_effect_is_not_grey(extension, cloths, of_objects, of_itself, friction, distance,
                                                  greyed):
    """Self collisions take distance and friction from those with objects where they have none of their own."""
    muslin = cloths[0].muslin
    muslin.use_collision, muslin.use_self_collision = of_objects, of_itself
    muslin.use_self_friction, muslin.self_distance = friction, distance
    layout = drawing.Layout()
    drawing.draw(extension.collision_panels.MUSLIN_PT_object_collisions, layout)
    assert set(layout.greyed) == greyed


def test_a_hint_says_that_cloth_passes_through_its_pin_target(extension, cloths, scene):
    lower, upper, floor, box = cloths
    box.muslin.kind = "NONE"
    builders.pin(lower, {0: 1.0})
    lower.muslin.pin_target = box
    passes = "No collider in the scene: the cloth passes through its Pin Target 'Box'. Make that a Muslin Collider"
    assert passes not in extension.hints.hints(scene, lower)                # the floor may stand in for the box
    floor.muslin.kind = "NONE"
    assert passes in extension.hints.hints(scene, lower)
    assert not any("Pin Target" in hint for hint in extension.hints.hints(scene, upper))
    box.muslin.kind = "COLLIDER"
    assert passes not in extension.hints.hints(scene, lower)

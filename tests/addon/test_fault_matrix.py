# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that changes while a bake runs is noticed, by a ClothError that changes nothing, or is harmless.

Each action is done at each moment of a bake, which is stepped like any generator. An action that matters must end the
bake by an error with a remedy; the objects are then as the action has left them, and the scene is at its frame. An
action that does not matter must leave the result unchanged to the byte. A new action is one function in a list.
"""

from __future__ import annotations

import contextlib

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as
from tests.cases import case_count

MOMENTS = (1, 3, 4, 5)
"""Numbers of `yield` statements after which something is done: a bake of four frames has nine."""
FRAME = 3
"""Frame of the scene before the bake."""


@pytest.fixture(autouse=True)
def scripted(extension, monkeypatch):
    """Simulate random motion."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))


def build():
    """Build a rigged, pinned cloth, a collider with an animated parent, one at rest, and wind; return the scene."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 4
    scene.muslin.backend = "NUMPY"
    sheet, box, floor = builders.sheet(), builders.box(), builders.box("Floor")
    floor.location.z = -3.0
    builders.pin(sheet, {0: 1.0, 4: 0.5})
    rig = builders.armature(2)
    sheet.vertex_groups.new(name="Bone0").add(range(25), 1.0, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    sheet.modifiers.new("Subdivision", "SUBSURF")
    builders.animate(rig.pose.bones["Bone0"], "location", {1: (0.0, 0.0, 0.0), 4: (0.0, 1.0, 0.0)})
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), 4: (0.5, 0.0, 0.0)})
    carrier = bpy.data.objects.new("Carrier", None)
    scene.collection.objects.link(carrier)
    box.parent = carrier
    builders.animate(carrier, "location", {1: (0.0, 0.0, -2.0), 4: (1.0, 0.0, -2.0)})
    bpy.ops.object.effector_add(type="WIND")
    bpy.context.object.name = "Gale"
    builders.box("Apart", kind="NONE")
    bpy.data.scenes.new("Other")
    scene.frame_set(FRAME)
    return scene


def obj(name):
    return bpy.data.objects[name]


def edit_mode(name):
    bpy.context.view_layer.objects.active = obj(name)
    bpy.ops.object.mode_set(mode="EDIT")


def other_faces():
    mesh = obj("Sheet").data
    vertices = [tuple(vertex.co) for vertex in mesh.vertices]
    faces = [list(face.vertices)[::-1] for face in mesh.polygons]
    mesh.clear_geometry()
    mesh.from_pydata(vertices, [], faces)


def a_seam():
    mesh = obj("Sheet").data
    mesh.edges.add(1)
    mesh.edges[-1].vertices = (0, 24)
    mesh.update()


def another_mesh():
    other = obj("Sheet").data.copy()
    other.vertices[3].co.z += 0.5
    obj("Sheet").data = other


def twin():
    copy = bpy.data.objects.new("Twin", obj("Sheet").data)
    bpy.context.scene.collection.objects.link(copy)


def shape_keys():
    obj("Sheet").shape_key_add(name="Basis")
    obj("Sheet").shape_key_add(name="Bulge").value = 0.5


def constraint():
    obj("Floor").constraints.new("COPY_LOCATION").target = obj("Apart")


NOTICED = {
    "vertex moved": lambda: setattr(obj("Sheet").data.vertices[3].co, "z", 0.4),
    "vertex added": lambda: obj("Sheet").data.vertices.add(1),
    "faces replaced": other_faces,
    "seam added": a_seam,
    "mesh exchanged": another_mesh,
    "mesh shared": twin,
    "mesh cleared": lambda: obj("Sheet").data.clear_geometry(),
    "weight painted": lambda: obj("Sheet").vertex_groups["Pins"].add([4], 0.9, "REPLACE"),
    "pin group removed": lambda: obj("Sheet").vertex_groups.remove(obj("Sheet").vertex_groups["Pins"]),
    "shape keys added": shape_keys,
    "setting of the cloth": lambda: setattr(obj("Sheet").muslin, "friction", 0.9),
    "model": lambda: setattr(obj("Sheet").muslin, "model", "mass_spring"),
    "cloth switched off": lambda: setattr(obj("Sheet").muslin, "kind", "NONE"),
    "cloth made a collider": lambda: setattr(obj("Sheet").muslin, "kind", "COLLIDER"),
    "cloth unlinked": lambda: bpy.context.scene.collection.objects.unlink(obj("Sheet")),
    "cloth in Edit Mode": lambda: edit_mode("Sheet"),
    "cloth with a parent": lambda: setattr(obj("Sheet"), "parent", obj("Carrier")),
    "key of the cloth": lambda: obj("Sheet").keyframe_insert("location", frame=9),
    "animation cleared": lambda: obj("Sheet").animation_data_clear(),
    "deforming modifier added": lambda: obj("Sheet").modifiers.new("Wave", "WAVE"),
    "deforming modifier off": lambda: setattr(obj("Sheet").modifiers["Armature"], "show_viewport", False),
    "modifiers cleared": lambda: obj("Sheet").modifiers.clear(),
    "bone posed": lambda: setattr(obj("Rig").pose.bones["Bone1"].location, "x", 0.3),
    "rest pose": lambda: setattr(obj("Rig").data, "pose_position", "REST"),
    "collider moved": lambda: setattr(obj("Floor").location, "z", 0.0),
    "collider moved to nan": lambda: setattr(obj("Floor").location, "z", float("nan")),
    "vertex moved to nan": lambda: setattr(obj("Sheet").data.vertices[3].co, "z", float("nan")),
    "cloth turned to nan": lambda: setattr(obj("Sheet").rotation_euler, "z", float("nan")),
    "collider's parent keyed": lambda: obj("Carrier").keyframe_insert("location", frame=9),
    "collider's mesh edited": lambda: setattr(obj("Floor").data.vertices[0].co, "x", 3.0),
    "collider in Edit Mode": lambda: edit_mode("Floor"),
    "collider's modifier": lambda: obj("Floor").modifiers.new("Bevel", "BEVEL"),
    "collider's constraint": constraint,
    "collider's thickness": lambda: setattr(obj("Floor").muslin, "thickness", 0.1),
    "collider switched off": lambda: setattr(obj("Floor").muslin, "kind", "NONE"),
    "collider added": lambda: setattr(obj("Apart").muslin, "kind", "COLLIDER"),
    "collider unlinked": lambda: bpy.context.scene.collection.objects.unlink(obj("Floor")),
    "wind changed": lambda: setattr(obj("Gale").field, "strength", 9.0),
    "wind turned": lambda: setattr(obj("Gale").rotation_euler, "x", 1.0),
    "uniform wind": lambda: setattr(bpy.context.scene.muslin.wind, "x", 3.0),
    "frame rate": lambda: setattr(bpy.context.scene.render, "fps", 60),
    "time stretching": lambda: setattr(bpy.context.scene.render, "frame_map_new", 200),
    "unit scale": lambda: setattr(bpy.context.scene.unit_settings, "scale_length", 0.01),
    "frame range": lambda: setattr(bpy.context.scene, "frame_end", 40),
    "custom range": lambda: setattr(bpy.context.scene.muslin, "use_custom_range", True),
    "gravity": lambda: setattr(bpy.context.scene.gravity, "z", 0.0),
    "no gravity": lambda: setattr(bpy.context.scene, "use_gravity", False),
    "gravity keyed": lambda: bpy.context.scene.keyframe_insert("gravity", frame=2),
    "integrator": lambda: setattr(bpy.context.scene.muslin, "integrator", "IMPLICIT_EULER"),
    "steps": lambda: setattr(bpy.context.scene.muslin, "steps_per_frame", 5),
    "object removed": lambda: bpy.data.objects.remove(obj("Sheet")),
    "mesh removed": lambda: bpy.data.meshes.remove(obj("Sheet").data),
    "collider removed": lambda: bpy.data.objects.remove(obj("Box")),
    "collider's mesh removed": lambda: bpy.data.meshes.remove(obj("Box").data),
    "collider's parent removed": lambda: bpy.data.objects.remove(obj("Carrier")),
    "rig removed": lambda: bpy.data.objects.remove(obj("Rig")),
    "wind removed": lambda: bpy.data.objects.remove(obj("Gale")),
    "action removed": lambda: bpy.data.actions.remove(obj("Sheet").animation_data.action),
    "all objects removed": lambda: bpy.data.batch_remove(list(bpy.data.objects)),
    "scene removed": lambda: bpy.data.scenes.remove(bpy.data.scenes["Scene"]),
    "view layer removed": lambda: (bpy.context.scene.view_layers.new("Second"), bpy.context.scene.view_layers.remove(
        bpy.context.scene.view_layers[0])),
    "another file": lambda: bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True),
}
"""Actions that a bake must notice."""


def new_material():
    obj("Sheet").data.materials.append(bpy.data.materials.new("Red"))


HARMLESS = {
    "nothing": lambda: None,
    "other frame": lambda: bpy.context.scene.frame_set(17),
    "subframe": lambda: bpy.context.scene.frame_set(2, subframe=0.5),
    "cloth renamed": lambda: setattr(obj("Sheet"), "name", "Napkin"),
    "mesh renamed": lambda: setattr(obj("Sheet").data, "name", "Napkin"),
    "collider renamed": lambda: setattr(obj("Floor"), "name", "A Ground"),
    "scene renamed": lambda: setattr(bpy.context.scene, "name", "Act 1"),
    "rig renamed": lambda: setattr(obj("Rig"), "name", "Bones"),
    "selection": lambda: obj("Sheet").select_set(True),
    "eye icon": lambda: obj("Sheet").hide_set(True),
    "display": lambda: setattr(obj("Sheet"), "display_type", "WIRE"),
    "material": new_material,
    "keyed cloth dragged": lambda: setattr(obj("Sheet").location, "x", 7.0),
    "keyed cloth dragged to nan": lambda: setattr(obj("Sheet").location, "x", float("nan")),
    "keyed bone dragged": lambda: setattr(obj("Rig").pose.bones["Bone0"].location, "y", 7.0),
    "keyed parent dragged": lambda: (setattr(obj("Carrier").location, "x", 7.0), bpy.context.view_layer.update()),
    "Subdivision added": lambda: obj("Sheet").modifiers.new("More", "SUBSURF"),
    "Subdivision removed": lambda: obj("Sheet").modifiers.remove(obj("Sheet").modifiers["Subdivision"]),
    "object added": lambda: builders.box("New", kind="NONE"),
    "object removed": lambda: bpy.data.objects.remove(obj("Apart")),
    "other scene removed": lambda: bpy.data.scenes.remove(bpy.data.scenes["Other"]),
    "backend": lambda: setattr(bpy.context.scene.muslin, "backend", "AUTOMATIC"),
    "view layer added": lambda: bpy.context.scene.view_layers.new("Second"),
}
"""Actions that change nothing of a bake."""


def layer_excluded():
    collection = bpy.data.collections.new("Hidden")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(obj("Sheet"))
    bpy.context.scene.collection.objects.unlink(obj("Sheet"))
    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True


def undo():
    for message in ("before", "after"):
        bpy.ops.ed.undo_push(message=message)
    bpy.ops.ed.undo()


EITHER = {
    "cloth switched off in the layer": layer_excluded,
    "undo": undo,
    "saved": lambda: bpy.ops.wm.save_as_mainfile(
        filepath=f"{bpy.app.tempdir}/running.blend", copy=True),
    "garbage collected": lambda: bpy.data.orphans_purge(),
    "dependencies updated": lambda: bpy.context.view_layer.update(),
}
"""Actions that a bake may notice or not."""


def run(extension, actions):
    """Bake, with the actions at their moments, and return what the bake and the actions have left.

    `actions` is a list of pairs: number of the `yield`, and the action. Returns the error, None without one, and the
    state of the cloth before and after the rest of the bake, None where it is gone.
    """
    scene = bpy.context.scene
    steps, count, left = extension.bake.bake(scene), 0, None
    try:
        while True:
            next(steps)
            count += 1
            for moment, action in actions:
                if moment == count:
                    action()
                    left = state()
    except StopIteration:
        return None, left, state()
    except extension.core.ClothError as error:
        return error, left, state()


def state():
    """Return the state of the cloth, apart from what the scene's frame sets; None if it is gone."""
    meshes = [item for item in bpy.data.objects if item.name in ("Sheet", "Napkin")]
    found = builders.state(meshes[0]) if meshes else None
    if found is not None:
        found.pop("frame"), found.pop("matrix")
    return found


def frame_of(scene):
    """Return the frame of the scene, None if it is gone."""
    try:
        return scene.frame_current
    except ReferenceError:
        return None


def judge(extension, actions, wanted):
    """Raise AssertionError unless a bake with these actions is as `wanted`: "noticed", "harmless" or "either"."""
    scene = build()
    error, left, after = run(extension, actions)
    if error is None:
        assert wanted != "noticed", "finished without a word"
        assert after["keys"] == undisturbed(extension)[2]["keys"], "the result differs"
        return
    assert wanted != "harmless", f"refused: {error}"
    assert "; " in str(error) and any(way in str(error) for way in (
        "bake again", "make it single-user", "show it")), f"no remedy: {error}"
    assert after == left, "the failed bake has changed the cloth"
    assert frame_of(scene) in (FRAME, None), "the frame is not restored"


def undisturbed(extension, found=[]):       # noqa: B006
    """Return the result of a bake in which nothing is done."""
    if not found:
        build()
        found.append(run(extension, []))
    return found[0]


@pytest.mark.parametrize("name", NOTICED)
def test_a_change_that_matters_is_noticed_at_every_moment(extension, name):
    undisturbed(extension)
    failed = failures(extension, lambda moment: [(moment, NOTICED[name])], "noticed")
    assert not failed, failed


@pytest.mark.parametrize("name", HARMLESS)
def test_a_change_that_does_not_matter_changes_no_byte_at_any_moment(extension, name):
    undisturbed(extension)
    failed = failures(extension, lambda moment: [(moment, HARMLESS[name])], "harmless")
    assert not failed, failed


@pytest.mark.parametrize("name", EITHER)
def test_a_change_that_may_matter_is_noticed_or_harmless(extension, name):
    undisturbed(extension)
    failed = failures(extension, lambda moment: [(moment, EITHER[name])], "either")
    assert not failed, failed


def failures(extension, actions_at, wanted):
    """Return what failed at which moment."""
    found = {}
    for moment in MOMENTS:
        try:
            judge(extension, actions_at(moment), wanted)
        except AssertionError as error:
            found[moment] = str(error).splitlines()[0]
    return found


@pytest.mark.parametrize("name", [*NOTICED, *EITHER])
def test_a_change_before_the_first_step_is_baked_or_refused(extension, name):
    """Nothing was read then, but the objects may be gone that are to be baked."""
    scene = build()
    steps = extension.bake.bake(scene, [obj("Sheet")])
    {**NOTICED, **EITHER}[name]()
    try:
        builders.finish(steps)
    except extension.core.ClothError as error:
        assert ";" in str(error), f"no remedy: {error}"


@pytest.mark.parametrize("moment", [1, *(pytest.param(moment, marks=pytest.mark.once) for moment in (4, 5))])
def test_a_bake_can_be_cancelled_after_every_change(extension, moment):
    for name, action in {**NOTICED, **HARMLESS, **EITHER}.items():
        scene = build()
        steps = extension.bake.bake(scene)
        for _ in range(moment):
            next(steps)
        action()
        left = state()
        steps.close()
        assert state() == left and frame_of(scene) in (FRAME, None), name


@pytest.mark.parametrize("name", ["faces replaced", "setting of the cloth", "collider moved", "frame rate",
                                  "object removed", "collider removed", "scene removed", "another file"])
def test_a_comparison_notices_changes_as_a_bake_does(extension, tmp_path, name):
    for moment in (2, 5, 10, 13):                                   # of two runs, each of nine `yield` statements
        scene = build()
        variants = extension.comparison.variants_of(["baraff_witkin"], ["bdf2", "implicit_euler"])
        steps = extension.comparison.compare(scene, [obj("Sheet")], variants, tmp_path / "sheet")
        for _ in range(moment):
            next(steps)
        NOTICED[name]()
        with pytest.raises(extension.core.ClothError, match="compare again"):
            builders.finish(steps)
        assert not (tmp_path / "sheet").exists() and frame_of(scene) in (FRAME, None)


def test_random_sequences_of_actions_end_in_an_error_or_in_the_same_bytes(extension):
    undisturbed(extension)
    table = {**NOTICED, **HARMLESS, **EITHER}
    names = sorted(table)
    failed = []
    for seed in range(case_count(40)):
        rng = np.random.default_rng([seed, 5])
        chosen = [(int(rng.integers(1, 10)), str(rng.choice(names))) for _ in range(int(rng.integers(1, 5)))]
        quiet = [(moment, tolerant(table[name])) for moment, name in chosen]
        try:
            judge(extension, quiet, "harmless" if all(name in HARMLESS for _, name in chosen) else "either")
        except Exception as error:
            failed.append((seed, chosen, repr(error)[:200]))
    assert not failed, failed


def tolerant(action):
    """Return the action without its errors: an earlier one may have removed what it works on."""
    def act():
        with contextlib.suppress(KeyError, AttributeError, ReferenceError, RuntimeError, TypeError, IndexError):
            action()
    return act

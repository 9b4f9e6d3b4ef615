# SPDX-License-Identifier: GPL-3.0-or-later
"""Complete bakes with the core's simulation."""

from __future__ import annotations

import json
import re
import threading

import numpy as np
import pytest

from tests.addon import builders


def lowest(obj, frame):
    return builders.displayed(obj, frame)[:, 2].min()


@pytest.mark.parametrize("integrator", ["IMPLICIT_EULER", "BDF2"])
def test_free_cloth_falls_as_gravity_says(extension, scene, integrator):
    sheet = builders.sheet(4)
    sheet.muslin.air_drag = 0.0
    scene.frame_end = 7
    scene.muslin.steps_per_frame, scene.muslin.integrator = 4, integrator
    builders.finish(extension.bake.bake(scene))
    h, n = 1 / 96, 24
    fall = h * h * n * (n + 1) / 2 if integrator == "IMPLICIT_EULER" else 0.5 * (h * n) ** 2   # g h^2 (1 + 2 + ... + n)
    assert np.allclose(builders.displayed(sheet, 7)[:, 2], -9.81 * fall, rtol=1e-4)


def test_the_solver_has_the_settings_of_the_panel(extension, scene):
    def solver():
        return extension.settings.scene_settings_of(scene).solver()

    assert solver().integrator == "bdf2" and solver().self_collision and solver().resolve_start
    scene.muslin.integrator, scene.muslin.use_self_collision = "IMPLICIT_EULER", False
    scene.muslin.resolve_start = False
    assert not solver().resolve_start
    assert solver().integrator == "implicit_euler" and not solver().self_collision
    assert solver().solid_contact == "springs"
    scene.muslin.solid_contact = "CONSTRAINTS"
    assert solver().solid_contact == "constraints"


def test_pinned_vertices_follow_the_rig_exactly(extension, scene):
    sheet = builders.sheet(5)
    builders.pin(sheet, {0: 1.0, 4: 1.0})
    rig = builders.armature(1)
    sheet.vertex_groups.new(name="Bone0").add(range(25), 1.0, "REPLACE")
    sheet.modifiers.new("Armature", "ARMATURE").object = rig
    builders.animate(rig, "location", {1: (0.0, 0.0, 0.0), 4: (0.1, 0.2, 0.1)})
    rigid = {frame: builders.displayed(sheet, frame)[[0, 4]] for frame in range(1, 5)}
    builders.finish(extension.bake.bake(scene))
    for frame, wanted in rigid.items():
        assert np.abs(builders.displayed(sheet, frame)[[0, 4]] - wanted).max() < 1e-6
    assert lowest(sheet, 4) < rigid[4][:, 2].min() - 0.02


def test_meshes_of_the_collider_collection_are_colliders(extension, scene):
    """Meshes of nested collections are, too; cloth and other objects are not, and none is without a collection."""
    import bpy

    chosen, within = (bpy.data.collections.new(name) for name in ("Solids", "Inner"))
    scene.collection.children.link(chosen)
    chosen.children.link(within)
    box, sheet = builders.box("Table", size=0.4, kind="NONE"), builders.sheet(7, height=0.25)
    other = builders.sheet(3, name="Cloth of the collection", size=0.2, height=3.0)
    for obj, collection in ((box, within), (other, chosen), (bpy.data.objects.new("Empty", None), chosen)):
        collection.objects.link(obj)
    scene.frame_end = 14
    scene.muslin.collider_collection = chosen
    report = builders.finish(extension.bake.bake(scene))
    assert report.colliders == ["Table"] and builders.displayed(sheet, 14)[24, 2] > 0.2     # rests on the table
    assert len(bpy.data.objects["Cloth of the collection"].data.shape_keys.key_blocks) > 10
    scene.muslin.collider_collection = None
    report = builders.finish(extension.bake.bake(scene))
    assert report.colliders == [] and builders.displayed(sheet, 14)[24, 2] < 0.0


def test_a_collider_holds_the_cloth_that_falls_on_it(extension, scene):
    sheet = builders.sheet(7, size=0.6, height=0.06)
    floor = builders.box("Floor", size=2.0)
    floor.location.z = -1.0
    scene.frame_end = 12
    report = builders.finish(extension.bake.bake(scene))
    assert report.colliders == ["Floor"]
    assert lowest(sheet, 12) > -1e-3


def test_cloths_are_baked_together_and_each_gets_its_own_keys(extension, scene):
    sheets = [builders.sheet(3, name=name, height=height) for name, height in (("Upper", 1.0), ("Lower", 0.0))]
    builders.pin(sheets[0], {0: 1.0})
    report = builders.finish(extension.bake.bake(scene))
    assert report.cloths == ["Lower", "Upper"]
    assert np.allclose(builders.displayed(sheets[0], 4)[0], builders.displayed(sheets[0], 1)[0])
    assert lowest(sheets[1], 4) < -0.05
    assert {extension.baked_record.report_of(sheet)["last"] for sheet in sheets} == {4}


def test_baking_twice_gives_the_same_bytes(extension, scene):
    sheet = builders.sheet(6)
    builders.pin(sheet, {0: 1.0})
    found = []
    for _ in range(2):
        builders.finish(extension.bake.bake(scene))
        found.append(builders.state(sheet)["keys"])
    assert found[0] == found[1]


def test_a_sheet_in_centimetres_moves_as_the_same_sheet_in_metres(extension, scene):
    shapes = []
    for unit in (1.0, 0.01):
        scene.unit_settings.scale_length = unit
        scene.gravity = (0.0, 0.0, -9.81 / unit)
        sheet = builders.sheet(5, name=f"Sheet {unit}", size=1.0 / unit)
        builders.pin(sheet, {0: 1.0, 4: 1.0})
        builders.finish(extension.bake.bake(scene, [sheet]))
        shapes.append(builders.displayed(sheet, 4) * unit)
    assert np.abs(shapes[0] - shapes[1]).max() < 1e-5


def test_progress_has_the_number_of_frames_and_the_certificate(extension, scene):
    builders.sheet(3)
    found = list(extension.bake.bake(scene))
    assert [p.fraction for p in found] == sorted(p.fraction for p in found)
    assert (found[0].done, found[-1].done, found[-1].total, found[-1].seconds_left) == (0, 4, 4, 0.0)
    assert {p.frame for p in found if p.certificate is not None} == {1, 2, 3, 4}
    assert all(p.certificate is None for p in found if not p.touches_blender)
    assert found[3].seconds_left > 0.0
    assert found[0].cloths == ("Sheet",)


def test_work_that_does_not_touch_blender_data_can_run_in_another_thread(extension, scene, monkeypatch):
    sheet = builders.sheet(4)
    builders.pin(sheet, {0: 1.0})
    box = builders.box(size=0.2)
    builders.animate(box, "location", {1: (0.0, 0.0, -0.2), 4: (0.0, 0.0, -0.1)})
    here = threading.get_ident()
    touched = []

    def recorded(method):
        def record_and_call(self, *arguments):
            touched.append(threading.get_ident())
            return method(self, *arguments)
        return record_and_call

    for owner, name in ((extension.frame_window.FrameWindow, "_values"),
                        (extension.key_coordinates.KeyFitter, "key_coordinates")):
        monkeypatch.setattr(owner, name, recorded(getattr(owner, name)))
    bake = extension.bake.bake(scene)
    progress = next(bake)
    while progress.done < progress.total:
        if progress.touches_blender:
            progress = next(bake)
        else:
            results = []
            thread = threading.Thread(target=lambda results=results: results.append(next(bake)))
            thread.start()
            thread.join()
            progress = results[0]
    builders.finish(bake)
    assert extension.baked_record.has_bake(sheet)
    assert len(touched) >= 4 and set(touched) == {here}


def test_a_bake_restores_the_current_frame(extension, scene):
    builders.sheet(3)
    scene.frame_set(3, subframe=0.5)
    builders.finish(extension.bake.bake(scene))
    assert (scene.frame_current, scene.frame_subframe) == (3, 0.5)


def test_changing_the_frame_during_a_bake_does_not_change_the_result(extension, scene):
    sheet = builders.sheet(4)
    builders.pin(sheet, {0: 1.0})
    builders.animate(sheet, "location", {1: (0.0, 0.0, 0.0), 4: (1.0, 0.0, 0.0)})
    builders.finish(extension.bake.bake(scene))
    alone = builders.state(sheet)["keys"]
    for _ in extension.bake.bake(scene):
        scene.frame_set(17)
    assert builders.state(sheet)["keys"] == alone


def test_the_report_is_json_and_stored_with_the_object(extension, scene):
    sheet = builders.sheet(3)
    report = builders.finish(extension.bake.bake(scene, frames=(2, 5)))
    kept = extension.baked_record.report_of(sheet)
    assert json.loads(json.dumps(report.as_dict(), allow_nan=False))["certificates"] == kept["certificates"]
    assert (kept["first"], kept["last"], len(kept["certificates"])) == (2, 5, 4)
    assert kept["summary"]["steps"] == sum(frame["steps"] for frame in kept["certificates"]) >= 3
    assert kept["summary"]["not_converged"] == 0
    assert kept["settings"]["cloths"]["Sheet"]["areal_density"] == pytest.approx(sheet.muslin.areal_density)
    assert kept["settings"]["scene"]["frame_rate"] == 24.0


@pytest.mark.parametrize("name", ["scene", "cloths", "solver"])
def test_a_cloth_of_any_name_leaves_the_settings_of_the_scene_in_the_report(extension, scene, name):
    scene.muslin.backend = "NUMPY"
    sheet = builders.sheet(3, name)
    builders.sheet(3, "Other", height=1.0)
    report = builders.finish(extension.bake.bake(scene)).as_dict()
    assert set(report["settings"]["cloths"]) == {name, "Other"}
    assert report["settings"]["cloths"][name]["areal_density"] == pytest.approx(sheet.muslin.areal_density)
    assert report["settings"]["scene"]["frame_rate"] == 24.0
    sheet.name = "Renamed"
    take = extension.apply_take.Take.open(extension.takes.in_use(sheet).folder)
    builders.finish(extension.apply_take.apply_take(
        scene, scene.view_layers[0], take, extension.apply_take.objects_of(extension.takes.in_use(sheet), scene),
        extension.progress.StageTimer()))
    settings = extension.baked_record.report_of(sheet)["settings"]
    assert set(settings["cloths"]) == {"Renamed", "Other"} and settings["scene"]["frame_rate"] == 24.0


def test_settings_of_a_take_of_an_earlier_version_are_read(extension):
    stored = {"scene": {"a": 1}, "cloths": {"b": 2}, "Sheet": {"c": 3}}
    assert extension.apply_take._settings(stored, ["Sheet", "cloths"]) == {
        "scene": {"a": 1}, "cloths": {"Sheet": {"c": 3}, "cloths": {"b": 2}}}
    assert extension.apply_take._settings({"scene": {"a": 1}, "cloths": {"b": 2}}, ["cloths"]) == {
        "scene": {"a": 1}, "cloths": {"cloths": {"b": 2}}}


def test_values_that_are_not_finite_become_none_in_json(extension):
    values = {"gap": float("inf"), 3: (np.float32(0.5), np.nan)}
    assert extension.report.json_values(values) == {"gap": None, "3": [0.5, None]}


def test_the_view_layer_of_a_depsgraph_is_baked(extension, scene):
    sheet = builders.sheet(3)
    other = scene.view_layers.new("Other")
    other.layer_collection.exclude = True
    other.update()
    for layer in scene.view_layers:
        layer.update()
    builders.finish(extension.bake.bake(scene, depsgraph=scene.view_layers[0].depsgraph))
    assert extension.baked_record.has_bake(sheet)


def test_cloth_that_starts_inside_a_collider_is_noted(extension, scene):
    builders.sheet(name="Napkin", size=0.5)
    builders.box("Table", size=0.4)
    scene.frame_start, scene.frame_end = 1, 2
    scene.muslin.resolve_start = False
    report = builders.finish(extension.bake.bake(scene))
    assert any("At frame 1" in note and "inside a collider" in note for note in report.notes)


def test_cloth_that_is_moved_out_of_a_collider_is_noted_where_it_is_whole(extension, scene):
    builders.sheet(name="Napkin", size=0.2)
    builders.box("Room", size=0.4)
    scene.frame_start, scene.frame_end = 1, 2
    report = builders.finish(extension.bake.bake(scene))
    assert report.certificates[0]["deepest_penetration"] == 0.0
    assert any("Before frame 1, " in note and "was moved out: Napkin by up to 0." in note for note in report.notes)


@pytest.mark.parametrize("preroll", [0, 2])
def test_cloth_that_crosses_a_collider_and_is_moved_out_is_noted_with_how_far(extension, scene, preroll):
    sheet = builders.sheet(9, name="Napkin", size=0.5)
    start = builders.displayed(sheet, 1)
    builders.box("Table", size=0.3)
    builders.sheet(4, name="Far", height=3.0)
    scene.frame_start, scene.frame_end, scene.muslin.preroll = 1, 2, preroll
    report = builders.finish(extension.bake.bake(scene))
    (note,) = [note for note in report.notes if "was moved" in note]
    found = re.fullmatch(r"Before frame (-?\d+), cloth that started (.*)with (\d+) edges through faces, was moved out: "
                         r"Napkin by up to (.*) m\. (.*)Fit to Body puts that shape into the mesh\.", note)
    assert found and int(found[3]) > 0 and int(found[1]) == 1 - preroll
    if not preroll:
        way = np.linalg.norm(builders.displayed(sheet, 1) - start, axis=1).max()
        assert float(found[4]) == pytest.approx(way, rel=0.06)                       # two digits


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("inwards", [True, False])
def test_a_box_with_inward_normals_keeps_cloth_inside_mirrored_or_not(extension, scene, inwards, mirrored):
    """The displayed direction of the normals counts, which Blender keeps for a mirrored object."""
    sheet = builders.sheet(size=0.5)
    room = builders.box(size=1.0)
    if inwards:
        room.data.flip_normals()
    else:
        sheet.location.x = 0.6                                       # a part of it is in the solid
        scene.muslin.resolve_start = False
    room.scale = (1.0, -1.0 if mirrored else 1.0, 1.2)
    scene.frame_start, scene.frame_end = 1, 14 if inwards else 2
    report = builders.finish(extension.bake.bake(scene))
    within = np.abs(builders.displayed(sheet, scene.frame_end)).max(axis=0) <= (0.5, 0.5, 0.6)
    assert within.all() or not inwards
    assert inwards != any("inside a collider" in note for note in report.notes)


def test_a_vertex_group_of_a_collider_is_left_out(extension, scene):
    """The cloth falls through the half of a floor that is left out."""
    cloth = builders.sheet(4, name="Cloth", size=0.3, height=0.03)
    cloth.location.x = 0.5
    floor = builders.sheet(9, name="Floor", size=2.0)
    floor.muslin.kind = "COLLIDER"
    group = floor.vertex_groups.new(name="Off")
    group.add([i for i, vertex in enumerate(floor.data.vertices) if vertex.co.x > -0.01], 1.0, "REPLACE")
    scene.frame_end = 10

    def lowest():
        report = builders.finish(extension.bake.bake(scene))
        assert not any(frame["crossings"] for frame in report.certificates)
        return builders.displayed(cloth, 10)[:, 2].min()

    assert lowest() > 0.0
    before = extension.fingerprint.fingerprint(scene, cloth)
    floor.muslin.left_out_group = "Off"
    assert extension.fingerprint.fingerprint(scene, cloth) != before
    assert lowest() < -0.2
    floor.muslin.left_out_group = "Nothing"
    with pytest.raises(extension.core.ColliderError, match="no vertex group 'Nothing'"):
        builders.finish(extension.bake.bake(scene))

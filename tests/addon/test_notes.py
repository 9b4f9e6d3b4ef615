# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of a bake on ignored objects and likely mistakes, the remaining time, and reasons of disabled buttons."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as


def test_the_remaining_time_is_estimated_from_the_solved_frames(extension, scene, monkeypatch):
    builders.sheet(3)
    clock = [0.0]
    real = simulate_as(extension.core, lambda x, n: x)

    def ten_seconds_a_frame(*arguments, **options):
        for frame in real(*arguments, **options):
            clock[0] += 10.0
            yield frame

    replace_simulation(monkeypatch, extension.core, ten_seconds_a_frame)
    monkeypatch.setattr(extension.progress, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    found = [progress.seconds_left for progress in extension.bake.bake(scene) if not progress.stage]
    assert found == [None, None, 20.0, 10.0, 0.0, 0.0]


def still(extension, monkeypatch):
    """Simulate cloth without motion."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))


def test_a_mesh_of_the_collider_collection_outside_the_scene_is_noted(extension, scene, monkeypatch):
    still(extension, monkeypatch)
    builders.sheet()
    solids = bpy.data.collections.new("Solids")
    box = builders.box(kind="NONE")
    scene.collection.objects.unlink(box)
    solids.objects.link(box)
    scene.muslin.collider_collection = solids
    report = builders.finish(extension.bake.bake(scene))
    assert report.colliders == []
    assert report.notes == ["'Box' of the Collider Collection 'Solids' is not in the scene and stops nothing: link it, "
                            "or the collection, to the scene"]
    scene.collection.children.link(solids)
    report = builders.finish(extension.bake.bake(scene))
    assert (report.colliders, report.notes) == (["Box"], [])


def test_ignored_colliders_are_named_in_the_panel_and_on_the_sheet_of_a_comparison(extension, scene, monkeypatch,
                                                                                       tmp_path):
    sheet, solids = builders.sheet(), bpy.data.collections.new("Solids")
    box = builders.box(kind="NONE")
    scene.collection.objects.unlink(box)
    solids.objects.link(box)
    scene.muslin.collider_collection = solids
    drawn = []
    monkeypatch.setattr(extension.bake_panels, "paragraph", lambda column, text, width: drawn.append(text))
    context = SimpleNamespace(scene=scene, view_layer=bpy.context.view_layer, region=SimpleNamespace(width=300))
    panel = SimpleNamespace(layout=MagicMock(), column=lambda context: MagicMock())
    extension.bake_panels.MUSLIN_PT_bake.draw_ignored(panel, context, [])
    extension.bake_panels.MUSLIN_PT_bake.draw_ignored(panel, context, list(drawn))      # the bake has said it
    variants = extension.comparison.variants_of(["baraff_witkin"], ["bdf2"])
    result = builders.finish(extension.comparison.compare(scene, [sheet], variants, tmp_path, (1, 2)))
    assert [note.partition(" is ")[0] for note in drawn] == ["'Box' of the Collider Collection 'Solids'"]
    assert result.values["settings"]["scene"]["notes"] == drawn
    assert "of the Collider Collection &#x27;Solids&#x27; is not in the scene" in result.sheet.read_text()


def notes_with(scene, extension, **settings):
    """Return the notes of a bake of a sheet 1 m wide with these settings; `gravity` is the scene's."""
    scene.gravity.z = settings.pop("gravity", -9.81)
    for name, value in settings.items():
        setattr(builders.sheet(3, name="Napkin").muslin, name, value)
    scene.frame_start, scene.frame_end = 1, 2
    return builders.finish(extension.bake.bake(scene)).notes


@pytest.mark.parametrize(("thickness", "named"), [(0.0, False), (0.2, False), (1.0, True)])
def test_a_thickness_that_is_large_for_the_cloth_is_noted(extension, scene, thickness, named):
    notes = notes_with(scene, extension, thickness=thickness)
    assert [note.partition(" is large ")[0] for note in notes] == ["Napkin: its Distance of 1 m"] * named


@pytest.mark.parametrize(("gravity", "named"), [(-30.0, False), (-981.0, True)])
def test_gravity_of_many_times_the_earth_s_is_noted(extension, scene, gravity, named):
    notes = notes_with(scene, extension, gravity=gravity, thickness=0.0)
    assert [note.partition(". If ")[0] for note in notes] == ["Gravity is 981 m/s², 100 times the earth's"] * named


@pytest.mark.parametrize("moved", [False, True])
def test_a_duplicate_at_the_same_place_is_noted(extension, scene, moved):
    builders.sheet(3, name="Napkin").location.z = 0.1 * moved
    builders.sheet(3, name="Other")
    notes = notes_with(scene, extension)
    assert [note.partition(", as ")[0] for note in notes] == ["Other starts exactly at the place of Napkin"] * (
        not moved)


@pytest.mark.parametrize("scale", [0.0, 0.5])
def test_a_collider_of_scale_0_is_noted(extension, scene, scale):
    builders.sheet(3, name="Napkin").location.z = 2.0
    builders.box().scale = (scale, scale, scale)
    notes = notes_with(scene, extension)
    assert [note.partition(" at frame 1,")[0] for note in notes] == ["'Box' has no area"] * (scale == 0.0)


def test_a_pin_that_jumps_is_noted_as_a_cause_of_stretch(extension, scene):
    sheet = builders.sheet(4, name="Flag")
    builders.pin(sheet, {0: 1.0})
    scene.frame_start, scene.frame_end = 1, 3
    for frame, x in ((1, 0.0), (2, 0.0), (3, 9.0)):
        sheet.location.x = x
        sheet.keyframe_insert("location", frame=frame)
    (note,) = builders.finish(extension.bake.bake(scene)).notes
    assert note.startswith("Frame 3: fabric stretched by ") and "slow what moves the pins or the colliders" in note


def test_stretch_between_pins_is_noted_as_theirs(extension, scene):
    sheet = builders.sheet(4, name="Flag")
    builders.pin(sheet, dict.fromkeys(range(16), 1.0))
    builders.animate(sheet, "scale", {1: (1, 1, 1), 3: (1.5, 1, 1)})
    scene.frame_start, scene.frame_end = 1, 3
    scene.frame_set(1)
    notes = builders.finish(extension.bake.bake(scene)).notes
    assert notes == ["Frame 3: fabric stretched by 50 %, between pinned vertices by up to 50 %. Correct what moves the "
                     "pins there, or pin fewer vertices."]
    report = extension.baked_record.report_of(sheet)
    assert ("Stretch between Pins", "50.00 %") in extension.certificate_text.frame_facts(report, 3)
    assert "Stretch between Pins" not in dict(extension.certificate_text.frame_facts(report, 1))
    assert ("Largest Stretch", "50.00 % between pins") in extension.certificate_text.facts(report)
    report["certificates"][-1]["stretch_pinned"] = 1.4
    assert ("Largest Stretch", "50.00 %") in extension.certificate_text.frame_facts(report, 3)


@pytest.mark.parametrize(("thickness", "named"), [(0.02, False), (0.5, True)])
def test_a_collider_whose_thickness_is_large_for_the_cloth_is_noted(extension, scene, thickness, named):
    builders.box("Ball", size=0.4).muslin.thickness = thickness
    notes = notes_with(scene, extension, thickness=0.0)
    expected = "Ball: its Thickness of 0.5 m is large for Napkin, which is 1 m wide: cloth keeps that distance from it"
    assert [note.startswith(expected) for note in notes if "Thickness" in note] == [True] * named


def test_what_crosses_later_is_noted_with_its_objects_and_frames(extension):
    """Check the note on crossings; a start that crosses has another note."""
    def noted(counts, pin_group=""):
        certificates = [{"crossings": count, "crossing_pairs": [
            {"first": "Cloth", "second": "Table", "crossings": count}] * (count > 0)} for count in counts]
        return extension.report_notes.crossing_note({
            "first": 10, "certificates": certificates, "cloths": ["Cloth"],
            "settings": {"cloths": {"Cloth": {"pin_group": pin_group}}}})

    assert noted([0, 0, 0]) == noted([3, 5, 0]) == ""
    free, pinned = noted([0, 4, 63, 0]), noted([0, 4, 63, 0], "Pin")
    assert free.startswith("Cloth crosses something in 2 of 4 frames, first in frame 11 and most in frame 12: 63 edges "
                           "cross faces (Cloth, Table 63). Slow down what moves there, or raise Steps per Frame.")
    assert "pins" not in free
    assert "If pins take it through a collider, move them around that. If not: Slow down what moves there" in pinned


def start_note(extension, **start):
    values = {"crossings": 0, "crossing_pairs": [], "deepest_penetration": 0.0} | start
    return extension.report_notes.start_note({"first": 3, "certificates": [values]})


def test_cloth_that_starts_crossed_or_inside_a_collider_is_noted(extension):
    pairs = [{"first": "Suz", "second": "Suz", "crossings": 9}, {"first": "Suz", "second": "Box", "crossings": 2}]
    crossed = start_note(extension, crossings=11, crossing_pairs=pairs)
    assert crossed.startswith("At frame 3 11 edges cross faces (Suz with Itself 9; Suz, Box 2). Move apart")
    assert "collider" not in crossed
    left = [{"first": "Flag", "second": "Pole", "crossings": 11, "place": (0.1, 0.25, 1.0)}]
    placed = start_note(extension, crossings=11, crossing_pairs=pairs, start={"crossings": 30, "left": left})
    assert "around (0.10, 0.25, 1.00) m" in placed
    inside = start_note(extension, deepest_penetration=0.25)
    assert inside.startswith("At frame 3 the deepest vertex is 0.25 m inside a collider. ") and "room" in inside
    assert start_note(extension) == ""


def test_a_bake_that_exceeds_the_memory_is_an_error_with_its_size(extension, scene, monkeypatch):
    sheet = builders.sheet(4)
    sheet.shape_key_add(name="Basis")

    def full(*_):
        raise MemoryError

    monkeypatch.setattr(extension.apply_take, "np", SimpleNamespace(empty=full, float32=np.float32, prod=np.prod))
    with pytest.raises(extension.core.SceneError, match="Sheet: 4 frames of 16 vertices take .* GB .*Mesh Cache"):
        builders.finish(extension.bake.bake(scene))
    assert len(sheet.data.shape_keys.key_blocks) == 1


@pytest.mark.parametrize("operator", ["cloth_add", "bake", "bake_delete", "compare", "remove"])
def test_a_disabled_button_names_the_linked_object(scene, tmp_path, operator):
    builders.sheet()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, wanted):
        wanted.objects = ["Sheet"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.objects.active = wanted.objects[0]
    with pytest.raises(RuntimeError, match="'Sheet' is linked from another file; make it local"):
        getattr(bpy.ops.muslin, operator)()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators as scripts call them; tests/ui tests them in the window."""

from __future__ import annotations

from dataclasses import replace

import bpy
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.scripted import replace_simulation, simulate_as


@pytest.fixture
def sheet(scene):
    sheet = builders.sheet()
    bpy.context.view_layer.objects.active = sheet
    return sheet


def test_cloth_and_collider_are_one_call_each_and_can_be_removed(sheet):
    sheet.muslin.kind = "NONE"
    assert not bpy.ops.muslin.bake.poll()
    assert bpy.ops.muslin.collider_add() == {"FINISHED"} and sheet.muslin.kind == "COLLIDER"
    assert bpy.ops.muslin.remove() == {"FINISHED"} and sheet.muslin.kind == "NONE"
    assert bpy.ops.muslin.cloth_add() == {"FINISHED"} and sheet.muslin.kind == "CLOTH"


def test_the_values_of_a_new_cloth_are_stored_in_the_file(sheet):
    sheet.muslin.kind = "NONE"
    assert not sheet.muslin.is_property_set("shear")
    bpy.ops.muslin.cloth_add()
    assert sheet.muslin.is_property_set("shear")


def test_operators_need_a_mesh_object(scene):
    empty = bpy.data.objects.new("Empty", None)
    scene.collection.objects.link(empty)
    bpy.context.view_layer.objects.active = empty
    for name in ("cloth_add", "collider_add", "remove", "bake", "bake_delete"):
        assert not getattr(bpy.ops.muslin, name).poll(), name


@pytest.mark.parametrize(("operator", "reason"), [
    ("cloth_add", "editable mesh"), ("remove", "takes no part"), ("bake", "is not cloth"), ("bake_all", "has no cloth"),
    ("bake_delete", "has no bake"), ("bake_delete_all", "has a bake"), ("bake_cancel", "No bake is running"),
    ("compare", "is not cloth"), ("fit_to_body", "is not cloth"),
    ("compare_open", "no sheet"), ("crossings_select", "is not cloth"),
    ("particles_add", "Object Mode")])
def test_a_disabled_button_gives_the_reason(scene, operator, reason):
    if operator == "particles_add":
        bpy.context.view_layer.objects.active = builders.sheet()
        bpy.ops.object.mode_set(mode="EDIT")
    try:
        with pytest.raises(RuntimeError, match=f"poll.*{reason}"):
            getattr(bpy.ops.muslin, operator)()
    finally:
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")


def test_bake_and_delete_bake(extension, sheet):
    assert not bpy.ops.muslin.bake_delete.poll()
    assert bpy.ops.muslin.bake() == {"FINISHED"}
    assert extension.baked_record.has_bake(sheet)
    assert bpy.ops.muslin.bake_delete() == {"FINISHED"}
    assert sheet.data.shape_keys is None


def test_a_bake_from_a_script_waits_for_slow_frames(extension, sheet, monkeypatch):
    """Polling without a pause would take Python's lock from the thread of the bake."""
    job = extension.bake_job
    idle = []

    class Watched(job.Job):
        def advance(self, **how):
            idle.append(how.get("idle", False))
            return super().advance(**how)

    monkeypatch.setattr(job, "Job", Watched)
    assert bpy.ops.muslin.bake() == {"FINISHED"}
    assert idle and all(idle)


def test_bake_takes_every_cloth_in_one_solve_or_the_object_alone(extension, sheet):
    other = builders.sheet(name="Other", height=1.0)
    assert bpy.ops.muslin.bake(only_active=True) == {"FINISHED"}
    assert extension.baked_record.has_bake(sheet) and not extension.baked_record.has_bake(other)
    for operator in (bpy.ops.muslin.bake, bpy.ops.muslin.bake_all):
        assert operator() == {"FINISHED"}
        assert all(extension.baked_record.report_of(cloth)["cloths"] == ["Other", "Sheet"] for cloth in (sheet, other))
    assert bpy.ops.muslin.bake_delete_all() == {"FINISHED"}
    assert sheet.data.shape_keys is None and other.data.shape_keys is None


def test_removing_a_baked_cloth_deletes_its_bake(sheet):
    bpy.ops.muslin.bake()
    bpy.ops.muslin.remove()
    assert sheet.data.shape_keys is None and sheet.muslin.kind == "NONE"


@pytest.mark.parametrize("kind", ["NONE", "COLLIDER"])
def test_an_object_that_is_no_cloth_any_more_offers_to_delete_its_bake(extension, sheet, kind):
    bpy.ops.muslin.bake()
    sheet.muslin.kind = kind                                        # as a script does
    drawn = draw_all(extension, sheet, 3000)
    assert drawn.operators.count("muslin.bake_delete") == 1 and "muslin.bake" not in drawn.operators
    assert any("is no cloth now, and its bake of frames 1 to 4 still moves it" in text for text in drawn.texts)
    assert bpy.ops.muslin.bake_delete() == {"FINISHED"} and sheet.data.shape_keys is None
    assert "muslin.bake_delete" not in draw_all(extension, sheet).operators


def test_an_object_that_is_no_cloth_any_more_offers_to_forget_a_damaged_bake(extension, sheet):
    bpy.ops.muslin.bake()
    sheet.muslin.kind = "NONE"
    sheet.data.shape_keys[extension.baked_record.PROPERTY] = "{"
    drawn = draw_all(extension, sheet, 3000)
    assert "muslin.bake_forget" in drawn.operators and "muslin.bake_delete" not in drawn.operators


def test_all_bakes_of_the_scene_are_deleted_with_that_of_an_object_that_is_no_cloth_any_more(sheet):
    bpy.ops.muslin.bake()
    sheet.muslin.kind = "NONE"
    assert bpy.ops.muslin.bake_delete_all() == {"FINISHED"} and sheet.data.shape_keys is None


@pytest.mark.parametrize("operator", ["bake", "bake_all"])
def test_an_error_is_reported_and_names_the_object_and_what_is_wrong(sheet, operator):
    sheet.muslin.pin_group = "Pinz"
    with pytest.raises(RuntimeError, match=r"Sheet.*'Pinz'"):
        getattr(bpy.ops.muslin, operator)()
    assert sheet.data.shape_keys is None


def test_a_damaged_bake_is_an_error_and_nothing_is_deleted(extension, sheet):
    bpy.ops.muslin.bake()
    sheet.data.shape_keys[extension.baked_record.PROPERTY] = "{"
    keys = len(sheet.data.shape_keys.key_blocks)
    for operator in (bpy.ops.muslin.bake_delete, bpy.ops.muslin.remove):
        with pytest.raises(RuntimeError, match="cannot be read"):
            operator()
    assert sheet.muslin.kind == "CLOTH" and len(sheet.data.shape_keys.key_blocks) == keys


def test_a_bake_is_not_deleted_in_edit_mode(extension, sheet):
    bpy.ops.muslin.bake()
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        for operator in (bpy.ops.muslin.bake_delete, bpy.ops.muslin.remove):
            with pytest.raises(RuntimeError, match=r"Sheet.*Edit Mode"):
                operator()
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
    assert extension.baked_record.has_bake(sheet) and sheet.muslin.kind == "CLOTH"


def test_the_certificate_is_shown_in_the_scene_s_units(extension, sheet):
    text = extension.certificate_text
    bpy.ops.muslin.bake()
    report = extension.baked_record.report_of(sheet)
    report["certificates"][2]["converged"] = False
    report["summary"].update(stretch_max=1.0183, stretch_p99=None, deepest_penetration=0.00031, not_converged=2)
    facts = dict(text.facts(report))
    assert facts["Largest Stretch"] == "1.83 %" and "99 % of Edges Below" not in facts
    assert facts["Deepest Penetration"] == "0.31 mm"
    system = bpy.context.scene.unit_settings
    system.system = "IMPERIAL"
    assert text.length_text(0.0254) == '1"'
    system.system = "METRIC"
    assert [text.length_text(metres) for metres in (3.5e-7, 0.0451, 1.25)] == ["0.00035 mm", "45.1 mm", "1.25 m"]
    assert facts["Unconverged Frames"] == "2 of 4, first: 3"
    assert [dict(text.frame_facts(report, frame)).get("Converged") for frame in (2, 3)] == [None, "No"]
    assert text.headline(report).startswith("Baked 'Sheet', frames 1 to 4, in ")


def stretched(core, *p99):
    """Return a stand-in for `core.simulate` whose certificates have the `p99` stretch given for each frame."""
    still = simulate_as(core, lambda x, since: x)

    def simulate(*given, **options):
        for frame, most in zip(still(*given, **options), p99, strict=True):
            yield replace(frame, certificate=replace(frame.certificate, stretch_p99=most))
    return simulate


def test_large_stretch_is_a_warning_with_its_frame_and_a_remedy(extension, sheet, monkeypatch, capfd):
    replace_simulation(monkeypatch, extension.core, stretched(extension.core, 1.0, 1.05, 1.312, 1.2))
    assert bpy.ops.muslin.bake() == {"FINISHED"}
    warnings = [line for line in capfd.readouterr().out.splitlines() if line.startswith("Warning: ")]
    assert len(warnings) == 1 and "Frame 3: fabric stretched by 31 %" in warnings[0]
    assert "Steps per Frame" in warnings[0]
    assert extension.baked_record.report_of(sheet)["notes"] == [warnings[0].removeprefix("Warning: ")]


@pytest.mark.parametrize("settings", [
    {"fabric": "rubber"}, {"rest_shape": "UV"}, {"shrink_min": 0.2}, {"model": "projective", "use_moduli": True}, {}])
def test_small_or_intended_stretch_is_no_warning(extension, sheet, monkeypatch, settings):
    sheet.data.uv_layers.new(name="Map").uv.foreach_set("vector", [0, 0, 1, 0, 1, 1, 0, 1] * 16)
    for name, value in settings.items():
        setattr(sheet.muslin, name, value)
    most = 1.3 if settings else 1.09
    replace_simulation(monkeypatch, extension.core, stretched(extension.core, 1.0, most, most, most))
    bpy.ops.muslin.bake()
    assert extension.baked_record.report_of(sheet)["notes"] == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""Compression, buckling and separate damping: the panel's settings reach the core."""

from __future__ import annotations

from dataclasses import asdict, replace

import bpy
import pytest

from tests.addon import builders, drawing


def test_a_new_object_resists_compression_and_damps_as_its_fabric_says(read):
    builders.sheet(3)
    material = read().cloths[0].material
    assert not material.two_sided
    assert material.damping_of("bend") == material.damping_of("shear") == material.damping


def test_compression_and_separate_damping_reach_the_core(read):
    muslin = builders.sheet(3).muslin
    muslin.model, muslin.use_compression, muslin.use_separate_damping = "baraff_witkin", True, True
    muslin.compression_warp, muslin.compression_weft = 20.0, 0.0
    muslin.compression_damping, muslin.shear_damping, muslin.bend_damping = 0.1, 0.2, 0.3
    material = read().cloths[0].material
    assert material.compression == (20.0, 0.0)
    assert [material.damping_of(what) for what in ("compression", "shear", "bend")] == pytest.approx([0.1, 0.2, 0.3])


def test_models_that_have_no_compression_leave_it_out(read):
    muslin = builders.sheet(3).muslin
    muslin.model, muslin.use_compression, muslin.use_separate_damping = "projective", True, True
    assert not read().cloths[0].material.two_sided


@pytest.mark.parametrize(("model", "switched", "buckles"), [
    ("baraff_witkin", "use_buckling", True), ("baraff_witkin", "use_compression", False),
    ("baraff_witkin", "use_separate_damping", False), ("projective", "use_buckling", False),
    ("mass_spring", "use_buckling", False)])
def test_buckling_reaches_the_core_where_it_has_an_effect(extension, scene, read, model, switched, buckles):
    sheet = builders.sheet(3)
    muslin = sheet.muslin
    muslin.model, muslin.use_buckling = model, True
    setattr(muslin, switched, True)
    assert read().cloths[0].model_options == ({"buckling": True} if buckles else {})
    assert extension.settings.settings_of(sheet, scene).buckling is buckles
    assert extension.compression_settings.may_buckle(muslin, model, "bdf2") is buckles


def test_faces_do_not_buckle_in_projective_dynamics_nor_in_a_comparison_with_it(extension, scene):
    sheet = builders.sheet(3)
    assert extension.settings.settings_of(sheet, scene).buckling
    assert not extension.settings.settings_of(sheet, scene, integrator="projective_dynamics").buckling
    one = replace(extension.settings.scene_settings_of(scene), integrator="projective_dynamics")
    given = extension.read_scene.read_scene(scene, one, None, bpy.context.view_layer)
    assert given.sources[0].settings.buckling is False
    scene.muslin.integrator = "PROJECTIVE_DYNAMICS"
    assert not extension.settings.settings_of(sheet, scene).buckling
    assert extension.settings.settings_of(sheet, scene, integrator="bdf2").buckling


def test_switching_buckling_off_is_a_changed_setting_of_a_bake_and_no_part_of_the_fabric(extension, scene, baked):
    sheet = builders.sheet(3)
    baked()
    before = extension.fingerprint.fingerprint(scene, sheet)
    sheet.muslin.use_buckling = False
    report = extension.baked_record.report_of(sheet)
    assert "Buckling" in " ".join(extension.bake_changes.changes(scene, sheet, report))
    assert sheet.muslin.fabric == "cotton"
    sheet.muslin.use_buckling = True
    assert extension.fingerprint.fingerprint(scene, sheet) == before


def test_a_bake_of_a_version_without_buckling_does_not_list_it_as_changed(extension, scene):
    sheet = builders.sheet(3)
    sheet.muslin.use_buckling = False
    earlier = extension.report.json_values(asdict(extension.settings.settings_of(sheet, scene)))
    del earlier["buckling"]
    sheet.muslin.areal_density = 0.3
    now = extension.report.json_values(asdict(extension.settings.settings_of(sheet, scene)))
    assert extension.setting_titles.changed_settings(earlier, now) == ["Weight"]
    sheet.muslin.use_buckling = True
    now = extension.report.json_values(asdict(extension.settings.settings_of(sheet, scene)))
    assert "Buckling" in extension.setting_titles.changed_settings(earlier, now)


@pytest.mark.parametrize("others", [("use_plasticity",), ("use_tearing",), ("use_pressure",),
                                    ("use_max_elongation", "use_dynamic_mesh")])
def test_a_sheet_that_buckles_is_baked_with_other_options(extension, scene, others):
    sheet = builders.sheet(4, height=1.0)
    scene.muslin.backend = "NUMPY"
    for name in ("use_buckling", *others):
        setattr(sheet.muslin, name, True)
    if sheet.muslin.use_tearing:
        bpy.context.view_layer.objects.active = sheet
        bpy.ops.muslin.tear_split()
    report = builders.finish(extension.bake.bake(scene))
    assert report.settings["cloths"][sheet.name]["buckling"] is True


@pytest.mark.parametrize(("model", "shown"), [("baraff_witkin", True), ("projective", False), ("mass_spring", False)])
def test_the_stiffness_panel_shows_buckling_for_models_that_have_it(extension, model, shown):
    sheet, layout = builders.sheet(3), drawing.Layout()
    bpy.context.view_layer.objects.active = sheet
    sheet.muslin.model = model
    drawing.draw(extension.fabric_panels.MUSLIN_PT_stiffness, layout)
    assert {"shear", "bend_weft_micro"} <= set(layout.props) and ("use_buckling" in layout.props) == shown

# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets on an object: a preset sets the values, and the values determine the preset."""

from __future__ import annotations

import pytest

from tests.addon import builders


def test_a_new_cloth_is_cotton(scene):
    assert builders.sheet().muslin.fabric == "cotton"


def test_a_preset_sets_every_value_of_the_core_s_material(extension, scene):
    sheet = builders.sheet()
    for name in extension.core.Material.presets():
        sheet.muslin.fabric = name
        assert sheet.muslin.fabric == name
        material = extension.settings.settings_of(sheet, scene).material("Sheet")
        preset = extension.core.Material.preset(name)
        for field in ("areal_density", "stretch", "shear", "bend", "damping", "friction", "drag_coefficient",
                      "skin_friction", "slow_drag_speed"):
            assert getattr(material, field) == pytest.approx(getattr(preset, field), rel=1e-6), (name, field)
        assert material.air_drag is preset.air_drag is None


def test_changing_any_value_makes_the_fabric_custom_until_it_is_changed_back(extension, scene):
    muslin = builders.sheet().muslin
    presets = extension.fabric_presets
    for prop in presets.PRESET_PROPERTIES:
        if prop == "air_law":
            continue
        before = getattr(muslin, prop)
        setattr(muslin, prop, not before if isinstance(before, bool) else before * 1.5 + 0.001)
        unused = prop in (*presets.OF_COMPRESSION, *presets.OF_SEPARATE_DAMPING)
        assert muslin.fabric == ("cotton" if unused else "CUSTOM"), prop
        setattr(muslin, prop, before)
        if prop == "air_drag":                                      # which has chosen the linear law
            assert (muslin.air_law, muslin.fabric) == ("LINEAR", "CUSTOM")
            muslin.air_law = "QUADRATIC"
        assert muslin.fabric == "cotton", prop


def test_a_keyed_value_belongs_to_any_preset_at_every_frame(scene):
    muslin = builders.sheet().muslin
    muslin.fabric = "denim"
    for frame, factor in ((1, 1.0), (5, 3.0)):
        muslin.stretch_warp *= factor
        muslin.id_data.keyframe_insert("muslin.stretch_warp", frame=frame)
    for frame in (1, 3, 5):
        scene.frame_set(frame)
        assert muslin.fabric == "denim", frame
    muslin.shear *= 2.0
    assert muslin.fabric == "CUSTOM"


def test_choosing_custom_keeps_the_values(scene):
    muslin = builders.sheet().muslin
    muslin.areal_density = 0.5
    muslin.fabric = "CUSTOM"
    assert muslin.areal_density == 0.5 and muslin.fabric == "CUSTOM"


def test_bending_is_typed_in_millionths(scene):
    muslin = builders.sheet().muslin
    muslin.bend_warp_micro, muslin.bend_weft_micro = 12.5, 0.3
    assert muslin.bend_warp == pytest.approx(12.5e-6) and muslin.bend_weft == pytest.approx(0.3e-6)
    muslin.bend_warp = 2e-5
    assert muslin.bend_warp_micro == pytest.approx(20.0)


def test_every_value_of_every_preset_is_within_the_limits_of_its_property(extension, scene):
    rna = builders.sheet().muslin.bl_rna.properties
    for name in extension.core.Material.presets():
        for prop, value in extension.fabric_presets.preset_values(name).items():
            if rna[prop].type != "FLOAT":
                continue
            assert rna[prop].hard_min <= value <= rna[prop].hard_max, (name, prop)
            assert rna[prop].soft_min <= value <= rna[prop].soft_max, (name, prop)


def test_the_tooltips_of_presets_say_that_friction_is_replaced(extension):
    items = extension.fabric_presets.preset_items()
    assert all("Friction" in description for name, _, description, _ in items if name != "CUSTOM")
    assert "Friction" in extension.fabric_choice.MUSLIN_PT_fabric_presets.__doc__


STIFFNESSES_AND_SUCH = (
    "areal_density", "stretch_warp", "stretch_weft", "shear", "bend_warp", "bend_weft", "bend_warp_micro",
    "bend_weft_micro", "damping", "friction", "air_drag", "drag_coefficient",
    "skin_friction", "slow_drag_speed", "viscous_drag", "spring_damping", "isotropic_damping",
    "compression_warp", "compression_weft", "compression_damping", "shear_damping", "bend_damping", "self_friction",
    "self_distance", "young_modulus", "density", "neighbour_stiffness", "neighbour_damping", "internal_tension",
    "internal_compression", "pin_stiffness", "uniform_pressure_force", "target_volume", "plastic_time", "hardening")


def test_tooltips_say_what_more_of_it_looks_like(scene):
    rna = builders.sheet().muslin.bl_rna.properties
    assert [name for name in STIFFNESSES_AND_SUCH if "more" not in rna[name].description.lower()] == []

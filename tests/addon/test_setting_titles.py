# SPDX-License-Identifier: GPL-3.0-or-later
"""Titles of changed settings: the words of the fields in the panels, whatever the setting is."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from tests.addon import builders

OTHER_WORDS = {
    "use_pressure_volume": "Target Volume", "use_self_friction": "Self Friction",
    "use_self_collision": "Self Collision",
    "use_separate_damping": "Shear of Separate Damping", "use_moduli": "Young's Modulus",
    "use_plasticity": "Stretch Yield of Plasticity", "use_plastic_stretch": "Stretch Yield of Plasticity",
    "use_plastic_bending": "Bending Yield of Plasticity", "use_max_elongation": "Limit Stretch",
    "thickness": "Distance",
    "internal_spring_max_length": "Max Length of Internal Springs",
    "internal_spring_max_diversion": "Max Diversion of Internal Springs",
    "stretch_warp": "Stretch", "stretch_weft": "Stretch", "bend_warp": "Bending", "bend_weft": "Bending",
    "bend_warp_micro": "Bending", "bend_weft_micro": "Bending",
    "compression_warp": "Compression", "compression_weft": "Compression",
    "use_custom_range": "frame range",
}
"""Titles of settings that share one with others, by property."""


LEFT_OUT = ("rna_type", "name", "fabric", "kind")
"""Properties that are no settings, and the fabric, which sets many."""


def change(values, prop, obj):
    """Give a property another value."""
    import bpy

    name, before = prop.identifier, getattr(values, prop.identifier)
    if prop.type == "POINTER":
        setattr(values, name, obj if prop.fixed_type.identifier == "Object" else bpy.data.collections.new("Other"))
    elif prop.type == "BOOLEAN":
        setattr(values, name, not before)
    elif prop.type == "ENUM":
        setattr(values, name, next(i.identifier for i in prop.enum_items if i.identifier != before))
    elif prop.type == "STRING":
        setattr(values, name, "Other")
    elif prop.is_array:
        setattr(values, name, [n + 1 for n in before])
    else:
        higher = before + max(1, before)
        setattr(values, name, higher if higher <= prop.hard_max else type(before)(0.5 * before))


@pytest.mark.parametrize("model", ["baraff_witkin", "jelly", "particles"])
def test_a_changed_setting_has_the_title_of_its_field(extension, scene, model):
    sheet, target = builders.sheet(), builders.box("Target")
    own, faults, titled = sheet.muslin, {}, 0
    own.model, own.rest_shape_key = model, "Key"
    for prop in own.bl_rna.properties:
        if prop.type == "BOOLEAN":
            setattr(own, prop.identifier, True)

    def table():
        return extension.report.json_values({**asdict(extension.settings.settings_of(sheet, scene)),
                                             "scene": asdict(extension.settings.scene_settings_of(scene))})

    for values, prop in [(group, prop) for group in (own, scene.muslin) for prop in group.bl_rna.properties]:
        if prop.is_readonly or prop.identifier in LEFT_OUT or getattr(prop, "is_enum_flag", False):
            continue
        old, before = getattr(values, prop.identifier), table()
        old = list(old) if getattr(prop, "is_array", False) else old
        change(values, prop, target)
        titles = extension.setting_titles.changed_settings(before, table())
        setattr(values, prop.identifier, old)
        wanted = OTHER_WORDS.get(prop.identifier, prop.name)
        titled += bool(titles)
        if titles and not any(wanted in text for text in titles) or len(titles) != len(set(titles)):
            faults[prop.identifier] = wanted, titles
    assert titled > 80 and not faults, faults

# SPDX-License-Identifier: GPL-3.0-or-later
"""The panels of rest shape, compression, damping, plasticity and internal springs draw their settings."""

from __future__ import annotations

import pytest

from tests.addon import builders, drawing

SHOWN = {"MUSLIN_PT_compression": {"use_compression", "compression_warp", "compression_weft"},
         "MUSLIN_PT_separate_damping": {"use_separate_damping", "compression_damping", "shear_damping",
                                        "bend_damping"},
         "MUSLIN_PT_plasticity": {"use_plasticity", "stretch_yield", "bend_yield", "plastic_time", "hardening"},
         "MUSLIN_PT_tearing": {"use_tearing", "tear_strength", "tear_group"},
         "MUSLIN_PT_internal_springs": {"use_internal_springs", "internal_spring_max_length", "internal_compression",
                                        "internal_group"},
         "MUSLIN_PT_rest_shape": {"rest_shape_key", "use_dynamic_mesh"}}


@pytest.mark.parametrize("name", SHOWN)
def test_a_panel_shows_its_settings_for_models_that_have_them(extension, name):
    import bpy

    box = builders.box(kind="CLOTH")
    box.shape_key_add(name="Basis")
    bpy.context.view_layer.objects.active = box
    box.muslin.model = "baraff_witkin"
    panel = next(cls for cls in extension.panels.classes if cls.__name__ == name)
    assert panel.poll(bpy.context)
    layout = drawing.Layout()
    drawing.draw(panel, layout)
    assert SHOWN[name] <= set(layout.props)
    box.muslin.model = "jelly"
    assert panel.poll(bpy.context) == (name == "MUSLIN_PT_rest_shape")

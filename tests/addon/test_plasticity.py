# SPDX-License-Identifier: GPL-3.0-or-later
"""Plasticity: the panel's settings reach the core, and what stays survives a bake that goes on."""

from __future__ import annotations

import numpy as np

from tests.addon import builders


def test_nothing_stays_in_a_new_object(read):
    builders.sheet(3)
    assert read().cloths[0].plasticity is None


def test_settings_reach_the_core(read):
    muslin = builders.sheet(3).muslin
    muslin.model, muslin.use_plasticity, muslin.stretch_yield, muslin.bend_yield = "baraff_witkin", True, 2.0, 30.0
    muslin.plastic_time, muslin.hardening = 0.5, 1.5
    own = read().cloths[0].plasticity
    assert np.allclose((own.stretch_yield, own.bend_yield, own.time, own.hardening), (0.02, 30.0, 0.5, 1.5))
    muslin.use_plastic_bending = False
    assert read().cloths[0].plasticity.bend_yield is None
    muslin.use_plastic_stretch = False
    assert read().cloths[0].plasticity is None
    muslin.use_plastic_stretch, muslin.model = True, "mass_spring"
    assert read().cloths[0].plasticity is None


def test_cloth_that_its_weight_stretched_stays_long(extension, scene):
    lowest = {}
    for name in ("elastic", "plastic"):
        sheet = builders.sheet(5, name, height=2.0)
        builders.pin(sheet, dict.fromkeys(range(5), 1.0))
        muslin = sheet.muslin
        muslin.model, muslin.stretch_warp, muslin.stretch_weft, muslin.areal_density = "baraff_witkin", 20.0, 20.0, 0.5
        muslin.use_plasticity, muslin.stretch_yield, muslin.use_plastic_bending = name == "plastic", 0.5, False
        muslin.air_law, muslin.air_drag = "LINEAR", 0.7                       # so that it hangs still soon
        scene.frame_end = 14
        builders.finish(extension.bake.bake(scene, [sheet]))
        lowest[name] = builders.displayed(sheet, 14)[:, 2].min()
    assert lowest["plastic"] < lowest["elastic"] - 0.02


def test_keyed_yields_are_read_at_every_frame(extension, read):
    sheet = builders.sheet(3)
    sheet.muslin.use_plasticity, sheet.muslin.model = True, "baraff_witkin"
    builders.animate(sheet.muslin, "stretch_yield", {1: 1.0, 3: 5.0})
    own = read().cloths[0].plasticity
    assert isinstance(own.stretch_yield, extension.core.Keyed) and not callable(own.bend_yield)
    assert np.isclose(own.stretch_yield(0.0), 0.01)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields of Blender move cloth that is baked."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import blender_fields, builders
from tests.addon.scripted import replace_simulation, simulate_as

ALONG_X = (0.0, 0.5 * np.pi, 0.0)


def field(kind="WIND", **settings):
    """Add a field at the origin whose Z axis is the world's x, and return it."""
    from mathutils import Euler

    obj = blender_fields.add_field(kind, Euler(ALONG_X).to_matrix().to_4x4(), name="Fan", **settings)
    obj.rotation_euler = ALONG_X
    return obj


def drift(extension, scene, sheet, frames=(1, 6, 12)):
    """Bake without gravity, and return the mean x of the sheet at some frames."""
    scene.use_gravity, scene.frame_end = False, frames[-1]
    builders.finish(extension.bake.bake(scene))
    return [builders.displayed(sheet, frame)[:, 0].mean() for frame in frames]


@pytest.mark.parametrize("kind", ["WIND", "FORCE"])
def test_cloth_is_moved_by_a_field_and_follows_its_animation(extension, scene, kind):
    sheet = builders.sheet()
    sheet.rotation_euler.y = 0.5 * np.pi
    sheet.muslin.air_drag = 1.0
    sheet.location.x = 0.5
    fan = field(kind)
    builders.animate(fan.field, "strength", {1: 0.0, 6: 0.0, 7: 8.0})
    x = drift(extension, scene, sheet)
    assert abs(x[1] - x[0]) < 1e-6
    assert x[2] - x[1] > 0.1


def test_a_strength_of_one_is_one_newton_per_square_metre(extension, scene):
    sheet = builders.sheet()
    sheet.location.x = 0.5
    sheet.muslin.areal_density = 0.25
    sheet.muslin.air_drag = sheet.muslin.viscous_drag = 0.0
    sheet.muslin.weight_force = 0.5
    scene.muslin.steps_per_frame = 8
    field("FORCE", strength=1.0, shape="PLANE")
    x = drift(extension, scene, sheet, (1, 13))
    assert x[1] - x[0] == pytest.approx(0.5 * 0.5 / 0.25 * (12 / 24.0) ** 2, rel=0.02)


@pytest.mark.parametrize("setting, value", [("weight_all", 0.0), ("weight_force", 0.0), ("apply_to_location", False)])
def test_a_field_without_weight_or_effect_moves_nothing(extension, scene, setting, value):
    sheet = builders.sheet()
    sheet.location.x = 0.5
    fan = field("FORCE", strength=5.0)
    setattr(sheet.muslin if setting.startswith("weight") else fan.field, setting, value)
    x = drift(extension, scene, sheet, (1, 4))
    assert abs(x[1] - x[0]) < 1e-6


def test_cloth_floats_falls_or_rises_by_its_own_weight_of_gravity(extension, scene):
    floats, falls = builders.sheet(name="Floats"), builders.sheet(name="Falls")
    falls.location.x = 3.0
    rises = builders.sheet(name="Rises")
    rises.location.x = -3.0
    floats.muslin.weight_gravity, rises.muslin.weight_gravity = 0.0, -1.0
    builders.finish(extension.bake.bake(scene))
    assert abs(builders.displayed(floats, 4)[:, 2].mean()) < 1e-6
    assert builders.displayed(falls, 4)[:, 2].mean() < -0.05 < 0.05 < builders.displayed(rises, 4)[:, 2].mean()


def test_ignored_fields_are_named_in_the_panel_and_in_the_report(extension, scene, monkeypatch):
    import bpy

    builders.sheet()
    field(noise=0.5)
    for kind, name in (("CHARGE", "Spark"), ("GUIDE", "Path"), ("TEXTURE", "Hidden")):
        obj = blender_fields.add_field(kind, name=name)
        obj.hide_viewport = name == "Hidden"
    bpy.context.view_layer.update()
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    notes = builders.finish(extension.bake.bake(scene)).notes
    assert notes == ["The force field 'Spark' (Charge) moves particles only, not cloth"]
    assert extension.field_notes.notes_on_ignored(scene, bpy.context.view_layer) == notes

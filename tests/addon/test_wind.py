# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's wind fields as the air of the simulation."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import replace_simulation, simulate_as

PLACES = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 2.0, 0.0], [-1.0, 0.0, 0.0]])


def field(strength=4.0, **settings):
    """Add a wind field at the origin that blows along x, and return it."""
    import bpy

    obj = bpy.data.objects.new("Fan", None)
    bpy.context.scene.collection.objects.link(obj)
    obj.rotation_euler.y = 0.5 * np.pi
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    if obj.field is None or obj.field.type != "WIND":
        bpy.ops.object.forcefield_toggle()
        obj.field.type = "WIND"
    obj.field.strength = strength
    for name, value in settings.items():
        setattr(obj.field, name, value)
    bpy.context.view_layer.update()
    return obj


def speeds(core_scene, time=0.0):
    """Return the speed along x at PLACES, after checking that it is zero across."""
    air = core_scene.wind_at(time, PLACES)
    assert air[:, 1:] == pytest.approx(np.zeros((len(PLACES), 2)), abs=1e-6)
    return air[:, 0]


def test_a_new_field_is_uniform_and_adds_to_the_scene_s_wind(read, scene):
    builders.sheet()
    field()
    scene.muslin.wind = (1.0, 0.0, 0.0)
    assert speeds(read()) == pytest.approx([5.0] * 5)


@pytest.mark.parametrize("settings, wanted", [
    ({"shape": "POINT", "falloff_power": 1.0}, [4.0, 2.0, 1.0, 4.0 / 3.0, 2.0]),
    ({"shape": "PLANE", "falloff_power": 1.0}, [4.0, 2.0, 1.0, 4.0, 2.0]),
    ({"shape": "POINT", "falloff_power": 2.0, "use_min_distance": True, "distance_min": 1.0},
     [4.0, 4.0, 4.0 / 9.0, 1.0, 4.0]),
    ({"shape": "PLANE", "use_max_distance": True, "distance_max": 1.5}, [4.0, 4.0, 0.0, 4.0, 4.0]),
    ({"shape": "PLANE", "z_direction": "POSITIVE"}, [4.0, 4.0, 4.0, 4.0, 0.0]),
    ({"falloff_type": "TUBE", "use_radial_max": True, "radial_max": 1.0}, [4.0, 4.0, 4.0, 0.0, 4.0]),
])
def test_a_field_falls_off_as_its_settings_say(read, settings, wanted):
    builders.sheet()
    field(**settings)
    assert speeds(read()) == pytest.approx(wanted, abs=1e-5)


def test_lengths_of_a_field_are_in_the_scene_s_units(read, scene):
    scene.unit_settings.scale_length = 0.01
    builders.sheet(size=100.0)
    field(shape="PLANE", use_max_distance=True, distance_max=150.0)
    assert speeds(read()) == pytest.approx([4.0, 4.0, 0.0, 4.0, 4.0], abs=1e-5)


def test_cloth_is_blown_away_by_a_field_and_follows_its_animation(extension, scene):
    sheet = builders.sheet()
    sheet.rotation_euler.y = 0.5 * np.pi
    sheet.muslin.air_drag = 1.0
    scene.use_gravity, scene.frame_end = False, 12
    builders.animate(field(), "rotation_euler", {1: (0.0, 0.5 * np.pi, 0.0), 6: (0.0, 0.5 * np.pi, 0.0)})
    fan = scene.objects["Fan"]
    builders.animate(fan.field, "strength", {1: 0.0, 6: 0.0, 7: 8.0})
    builders.finish(extension.bake.bake(scene))
    x = [builders.displayed(sheet, frame)[:, 0].mean() for frame in (1, 6, 12)]
    assert abs(x[1] - x[0]) < 1e-6
    assert x[2] - x[1] > 0.1


def test_ignored_fields_are_named_in_the_panel_and_in_the_report(extension, scene, monkeypatch):
    import bpy

    builders.sheet()
    field(noise=0.5)
    for kind, name in (("TURBULENCE", "Whirl"), ("GUIDE", "Path"), ("VORTEX", "Hidden")):
        obj = field()
        obj.name, obj.field.type, obj.hide_viewport = name, kind, name == "Hidden"
    bpy.context.view_layer.update()
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))
    notes = builders.finish(extension.bake.bake(scene)).notes
    assert [note.partition(":")[0] for note in notes] == [
        "The noise of the wind field 'Fan' is left out", "The force field 'Whirl' (Turbulence) is left out"]
    assert extension.wind.notes_on_ignored(scene, bpy.context.view_layer) == notes

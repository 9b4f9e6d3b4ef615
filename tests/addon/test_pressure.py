# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure: the panel's settings reach the core with Blender's names and units, and cloth is blown up."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders


def volume(obj, frame):
    """Return the volume of a convex mesh [Blender units^3] at a frame of its bake, from its middle."""
    x = builders.displayed(obj, frame)
    x = x - x.mean(axis=0)
    total = 0.0
    for polygon in obj.data.polygons:
        a, *rest = polygon.vertices
        total += sum(abs(np.dot(x[a], np.cross(x[b], x[c]))) for b, c in zip(rest[:-1], rest[1:], strict=True)) / 6.0
    return total


def test_a_new_object_has_none(read):
    builders.box(kind="CLOTH")
    assert read().cloths[0].pressure is None


def test_all_settings_reach_the_core_in_si(read, scene):
    box = builders.box(kind="CLOTH", size=2.0)
    muslin = box.muslin
    muslin.use_pressure, muslin.uniform_pressure_force, muslin.pressure_factor = True, 2.0, 0.5
    muslin.target_volume, muslin.fluid_density = 3.0, -1.5
    group = box.vertex_groups.new(name="Top")
    group.add([0, 1], 0.5, "REPLACE")
    muslin.pressure_group = "Top"
    pressure = read().cloths[0].pressure
    assert (pressure.uniform, pressure.gas, pressure.scale) == (2000.0, 1000.0, 0.5)
    assert pressure.target_volume is None and pressure.fluid_density == pytest.approx(-1500.0)
    assert np.allclose(pressure.weights[:2], 0.5) and not pressure.weights[2:].any()
    muslin.use_pressure_volume, scene.unit_settings.scale_length = True, 0.5
    assert read().cloths[0].pressure.target_volume == pytest.approx(3.0 / 8.0)


def test_keyed_settings_follow_their_curves(extension, read, scene):
    muslin = builders.box(kind="CLOTH").muslin
    muslin.use_pressure, muslin.use_pressure_volume = True, True
    for name, values in (("uniform_pressure_force", (0.0, 4.0)), ("pressure_factor", (1.0, 3.0)),
                         ("target_volume", (1.0, 2.0)), ("fluid_density", (0.0, 1.0))):
        for frame, value in zip((1, 5), values, strict=True):
            setattr(muslin, name, value)
            muslin.id_data.keyframe_insert(f"muslin.{name}", frame=frame)
    pressure = read().cloths[0].pressure
    for what, start in (("uniform", 0.0), ("scale", 1.0), ("target_volume", 1.0), ("fluid_density", 0.0)):
        assert isinstance(getattr(pressure, what), extension.core.Keyed), what
        assert getattr(pressure, what)(0.0) == pytest.approx(start), what


def test_a_box_is_blown_up_and_keeps_its_volume_without_pressure(extension, scene):
    box = builders.box(kind="CLOTH")
    box.muslin.use_pressure, box.muslin.uniform_pressure_force = True, 1.0
    builders.finish(extension.bake.bake(scene))
    blown = volume(box, 4)
    box.muslin.uniform_pressure_force = 0.0
    builders.finish(extension.bake.bake(scene))
    assert np.isfinite(blown) and blown > 1.001 * volume(box, 4)


def test_a_group_that_is_not_there_is_refused(extension, read):
    muslin = builders.box(kind="CLOTH").muslin
    muslin.use_pressure, muslin.pressure_group = True, "Gone"
    with pytest.raises(extension.core.ClothError, match="no vertex group.*'Gone'.*Pressure"):
        read()


@pytest.mark.parametrize("settings, text", [
    ({"use_pressure": False, "uniform_pressure_force": 0.2}, ""),
    ({"uniform_pressure_force": 0.2}, "Fills to 1.25 x the volume at the start"),
    ({"uniform_pressure_force": 0.2, "use_pressure_volume": True}, ""),
    ({"uniform_pressure_force": 0.2, "use_pressure_volume": True, "target_volume": 1.0},
     "Fills to 1.25 x the Target Volume"),
    ({"uniform_pressure_force": 1.0, "use_pressure_volume": True, "target_volume": 1.0}, ""),
    ({"use_pressure": False}, ""),
    ({}, "Keeps the volume at the start"),
    ({"use_pressure_volume": True}, "No pressure: raise Pressure or Target Volume"),
    ({"use_pressure_volume": True, "target_volume": 1.0}, "Fills to the Target Volume"),
    ({"use_pressure_volume": True, "target_volume": 1.0, "fluid_density": 1.0}, ""),
])
def test_the_panel_says_where_a_pressure_ends(extension, settings, text):
    muslin = builders.box(kind="CLOTH").muslin
    for name, value in ({"use_pressure": True} | settings).items():
        setattr(muslin, name, value)
    assert extension.pressure_panel.volume_in_balance(muslin) == text

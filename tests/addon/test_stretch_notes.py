# SPDX-License-Identifier: GPL-3.0-or-later
"""The note on a fabric that is stretched: its remedy fits the cause, and there is none for what the user asked for."""

from __future__ import annotations

import pytest

from tests.addon import builders


@pytest.fixture
def note(extension, scene):
    """Return a function that bakes a sheet, and returns the note on a stretch of 30 % in each of its frames."""
    def baked(keyed=(), **settings):
        sheet = builders.sheet(4, name="Flag")
        sheet.vertex_groups.new(name="Soft").add([0, 1], 1.0, "REPLACE")
        settings = {"model": "baraff_witkin"} | settings
        for name, value in settings.items():
            setattr(sheet.muslin, name, value)
        for name, value in keyed:
            for frame in (1, 2):
                setattr(sheet.muslin, name, value)
                sheet.muslin.keyframe_insert(name, frame=frame)
        scene.frame_end = 3
        report = builders.finish(extension.bake.bake(scene)).as_dict()
        for frame in report["certificates"]:
            frame["stretch_p99"] = 1.3
        return extension.report_notes.stretch_note(report)

    return baked


def test_the_remedy_without_pins_names_no_character(note):
    assert note().endswith("Increase Steps per Frame, or slow what moves the colliders there.")


def test_cloth_under_pressure_is_told_of_its_pressure(note):
    found = note(use_pressure=True, use_pressure_volume=True)
    assert "If that is its Pressure, lower Pressure, Pressure Scale or Target Volume, or raise Stretch" in found


@pytest.mark.parametrize("name", ["stretch_warp", "stretch_weft", "shrink_min"])
def test_a_fabric_whose_length_is_keyed_has_no_note(note, name):
    assert note(keyed=[(name, 0.0 if name == "shrink_min" else 40.0)]) == ""


@pytest.mark.parametrize("group", ["", "Soft"])
def test_a_fabric_that_is_painted_soft_has_no_note(note, group):
    """The factor counts where there is a group."""
    found = note(stretch_factor=0.01, stretch_group=group)
    assert found.partition(",")[0] == ("" if group else "Frame 1: fabric stretched by 30 %")

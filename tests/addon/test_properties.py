# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that scripts write."""

import time

import pytest

from tests.addon import builders


def test_a_setting_that_does_not_exist_is_an_error(scene):
    sheet = builders.sheet(3)
    sheet.muslin.use_sewing = True
    assert sheet.muslin.use_sewing
    for settings, misspelt in ((sheet.muslin, "sewing"), (scene.muslin, "integrater")):
        with pytest.raises(AttributeError, match=misspelt):
            setattr(settings, misspelt, True)


def test_a_number_out_of_range_is_clamped_as_the_guide_says(scene):
    sheet = builders.sheet(3)
    for settings in (sheet.muslin, scene.muslin):
        for prop in settings.bl_rna.properties:
            if prop.type in ("FLOAT", "INT") and not prop.is_array and prop.hard_min > -1e9:
                setattr(settings, prop.identifier, type(prop.default)(prop.hard_min - 1))
                assert getattr(settings, prop.identifier) == pytest.approx(prop.hard_min), prop.identifier
    sheet.muslin.areal_density = -1
    assert sheet.muslin.areal_density == pytest.approx(1e-4)


def test_a_script_prints_the_stage_before_the_first_frame(extension, scene, monkeypatch, capfd):
    import bpy

    backends = extension.backends
    builders.sheet(3)
    scene.frame_end, scene.muslin.backend = 2, "NUMPY"

    def slow():
        yield "Compiling"
        time.sleep(0.5)                                              # longer than a turn
        yield "Compiling"
        time.sleep(0.5)

    monkeypatch.setattr(backends, "prepare", lambda solver, models: slow())
    assert bpy.ops.muslin.bake_all() == {"FINISHED"}
    assert capfd.readouterr().out.count("Muslin: Compiling") == 1

# SPDX-License-Identifier: GPL-3.0-or-later
"""Internal springs: the panel's settings reach the core, with Blender's names."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders


def test_a_new_object_has_none(read):
    builders.box(kind="CLOTH")
    assert read().cloths[0].internal_springs is None


def test_all_settings_reach_the_core_in_si(read, scene):
    box = builders.box(kind="CLOTH", size=2.0)
    muslin = box.muslin
    muslin.use_internal_springs, muslin.internal_tension, muslin.internal_compression = True, 3.0, 2.0
    muslin.internal_spring_max_length, muslin.internal_spring_max_diversion = 5.0, 0.3
    muslin.internal_spring_normal_check, muslin.damping = False, 0.02
    group = box.vertex_groups.new(name="Firm")
    group.add([0, 1], 1.0, "REPLACE")
    muslin.internal_group, muslin.internal_factor = "Firm", 4.0
    scene.unit_settings.scale_length = 0.5
    springs = read().cloths[0].internal_springs
    assert (springs.tension, springs.compression, springs.check_normals) == (3000.0, 2000.0, False)
    assert (springs.max_length, springs.max_diversion, springs.damping) == pytest.approx((2.5, 0.3, 0.02))
    assert np.allclose(springs.scale[:2], 4.0) and np.allclose(springs.scale[2:], 1.0)


def test_a_filled_box_bakes(extension, scene):
    box = builders.box(kind="CLOTH")
    box.muslin.use_internal_springs = True
    builders.finish(extension.bake.bake(scene))
    assert np.isfinite(builders.displayed(box, 4)).all()


def test_a_group_that_is_not_there_is_refused(extension, read):
    muslin = builders.box(kind="CLOTH").muslin
    muslin.use_internal_springs, muslin.internal_group = True, "Gone"
    with pytest.raises(extension.core.ClothError, match="no vertex group.*'Gone'.*Internal Springs"):
        read()


def test_keyed_moduli_are_read_at_every_frame(extension, read):
    box = builders.box(kind="CLOTH")
    box.muslin.use_internal_springs = True
    builders.animate(box.muslin, "internal_compression", {1: 2.0, 3: 50.0})
    springs = read().cloths[0].internal_springs
    assert isinstance(springs.compression, extension.core.Keyed) and springs.tension == 5000.0
    assert springs.compression(0.0) == pytest.approx(2000.0)

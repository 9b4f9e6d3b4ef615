# SPDX-License-Identifier: GPL-3.0-or-later
"""Compression and separate damping: the panel's settings reach the core."""

from __future__ import annotations

import pytest

from tests.addon import builders


def test_a_new_object_resists_compression_and_damps_as_its_fabric_says(read):
    builders.sheet(3)
    material = read().cloths[0].material
    assert not material.two_sided
    assert material.damping_of("bend") == material.damping_of("shear") == material.damping


def test_compression_and_separate_damping_reach_the_core(read):
    muslin = builders.sheet(3).muslin
    muslin.model, muslin.use_compression, muslin.use_separate_damping = "baraff_witkin", True, True
    muslin.compression_warp, muslin.compression_weft = 20.0, 0.0
    muslin.compression_damping, muslin.shear_damping, muslin.bend_damping = 0.1, 0.2, 0.3
    material = read().cloths[0].material
    assert material.compression == (20.0, 0.0)
    assert [material.damping_of(what) for what in ("compression", "shear", "bend")] == pytest.approx([0.1, 0.2, 0.3])


def test_models_that_have_no_compression_leave_it_out(read):
    muslin = builders.sheet(3).muslin
    muslin.model, muslin.use_compression, muslin.use_separate_damping = "projective", True, True
    assert not read().cloths[0].material.two_sided

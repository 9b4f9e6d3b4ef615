# SPDX-License-Identifier: GPL-3.0-or-later
"""Files with bakes of earlier versions of the record play, are drawn, and can be baked again and deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all

FILES = sorted((Path(__file__).parent / "old_files").glob("record_version_*.blend"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def sheet(request, extension, tmp_path):
    """Open a copy of an old file, a pinned sheet of 3 x 3 vertices baked for 3 frames, and return the sheet."""
    shutil.copy(request.param, tmp_path / "old.blend")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    return bpy.data.objects["Sheet"]


def test_there_is_a_file_for_every_earlier_version(extension):
    versions = [path.stem.removeprefix("record_version_") for path in FILES]
    assert versions == [str(number) for number in range(1, extension.baked_record.VERSION)]


def test_the_bake_plays_and_is_drawn(extension, sheet):
    first, last = (builders.displayed(sheet, frame) for frame in (1, 3))
    assert np.abs(last - first).max() > 1e-3 and np.isfinite(last).all()
    record = extension.baked_record.load(sheet)
    assert (record.first, record.last, record.take, record.cloth) == (1, 3, "", "")
    assert not extension.baked_record.lacks_keys(sheet)
    drawn = draw_all(extension, sheet)
    assert "muslin.bake_delete" in drawn.operators and not any("damaged" in text for text in drawn.texts)
    assert extension.bake_state.state_of(bpy.context.scene, sheet).source is None


def test_the_bake_can_be_deleted(extension, sheet):
    assert extension.shape_keys.delete_bake(sheet)
    assert sheet.data.shape_keys is None
    assert np.abs(builders.displayed(sheet, 3)[:, 2]).max() == 0.0


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_it_can_be_baked_again_and_saved(extension, sheet, tmp_path, result):
    scene = bpy.context.scene
    shown = builders.displayed(sheet, 3)
    scene.muslin.backend, sheet.muslin.result = "NUMPY", result
    builders.finish(extension.bake.bake(scene))
    assert extension.baked_record.load(sheet).version == extension.baked_record.VERSION
    assert np.abs(builders.displayed(sheet, 3) - shown).max() < 0.1
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "old.blend"))
    sheet = bpy.data.objects["Sheet"]
    assert extension.takes.in_use(sheet).is_complete
    assert extension.shape_keys.delete_bake(sheet) and sheet.data.shape_keys is None and not sheet.modifiers

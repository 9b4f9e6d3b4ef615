# SPDX-License-Identifier: GPL-3.0-or-later
"""The rest shape of a cloth object: a shape key, and a mesh that changes its shape while it is simulated."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders


def with_key(scale=0.5, name="Small", **where):
    """Return a sheet with a shape key that makes it smaller."""
    sheet = builders.sheet(5, "Sheet", **where)
    sheet.shape_key_add(name="Basis")
    block = sheet.shape_key_add(name=name)
    block.value = 0.0                                                                # Blender 5.2 adds keys at 1
    for point in block.data:
        point.co = [c * scale for c in point.co]
    return sheet


def test_a_shape_key_is_the_rest_shape_and_the_mesh_where_the_cloth_starts(read):
    sheet = with_key()
    sheet.scale, sheet.location = (2.0, 2.0, 2.0), (0.0, 0.0, 3.0)
    sheet.muslin.rest_shape_key = "Small"
    cloth = read().cloths[0]
    start = np.ptp(cloth.positions, axis=0)
    assert np.allclose(np.ptp(cloth.mesh.positions, axis=0), 0.5 * start)
    assert np.allclose(cloth.mesh.areas.sum(), 0.25 * start[0] * start[1])
    assert np.allclose(cloth.positions[:, 2], 3.0)


def test_cloth_shrinks_to_its_rest_shape_key(extension, scene):
    sheet = with_key(0.8)
    sheet.muslin.rest_shape_key, sheet.muslin.model = "Small", "baraff_witkin"
    scene.frame_end, scene.use_gravity = 12, False
    before = np.ptp(builders.displayed(sheet, 1), axis=0)
    builders.finish(extension.bake.bake(scene))
    assert np.ptp(builders.displayed(sheet, 12), axis=0)[:2] == pytest.approx(0.8 * before[:2], rel=0.1)


def test_a_shape_key_that_is_not_there_is_refused(extension, read):
    sheet = with_key()
    sheet.muslin.rest_shape_key = "Large"
    with pytest.raises(extension.core.MeshError, match="Sheet.*no shape key 'Large' of its own.*Rest Shape Key"):
        read()


def test_the_rest_shape_follows_an_animated_mesh(extension, scene):
    sheet = with_key(0.5)
    builders.animate(sheet.data.shape_keys.key_blocks["Small"], "value", {1: 0.0, 8: 1.0})
    sheet.muslin.use_dynamic_mesh = True
    scene.frame_end, scene.use_gravity = 14, False
    before = np.ptp(builders.displayed(sheet, 1), axis=0)
    builders.finish(extension.bake.bake(scene))
    assert np.ptp(builders.displayed(sheet, 14), axis=0)[:2] == pytest.approx(0.5 * before[:2], rel=0.1)


def test_without_dynamic_mesh_the_rest_shape_stands_still(read):
    assert with_key().muslin.use_dynamic_mesh is False
    assert read().cloths[0].rest_motion is None


def test_a_note_says_that_cloth_starts_in_its_rest_shape_key(extension, scene):
    sheet = with_key(0.8)
    sheet.muslin.rest_shape_key, sheet.muslin.model = "Small", "baraff_witkin"
    block = sheet.data.shape_keys.key_blocks["Small"]
    for value, expected in ((0.0, 0), (1.0, 1)):
        block.value = value
        builders.finish(extension.bake.bake(scene))
        notes = extension.baked_record.report_of(sheet)["notes"]
        assert sum("starts in the shape of its Rest Shape Key 'Small'" in note for note in notes) == expected
        extension.shape_keys.delete_bakes([sheet])


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_a_hint_says_so_before_the_bake(extension, scene, value):
    sheet = with_key(0.8)
    sheet.muslin.rest_shape_key = "Small"
    sheet.data.shape_keys.key_blocks["Small"].value = value
    found = [hint for hint in extension.hints.hints(scene, sheet) if "Rest Shape Key 'Small' has the Value 1" in hint]
    assert len(found) == (value == 1.0)


def test_cloth_that_starts_stretched_by_its_rest_key_is_called_that(extension, scene):
    sheet = with_key(0.8)
    sheet.muslin.rest_shape_key, sheet.muslin.model = "Small", "baraff_witkin"
    scene.frame_end, scene.use_gravity = 8, False
    builders.finish(extension.bake.bake(scene))
    notes = extension.baked_record.report_of(sheet)["notes"]
    assert any("Frame 1: Sheet starts stretched by 25 %, because its Rest Shape Key 'Small' is smaller" in note
               for note in notes)
    assert not any("Steps per Frame" in note for note in notes)


def test_the_list_of_rest_shape_keys_leaves_out_those_of_a_bake(extension, scene):
    sheet = with_key()
    listed = extension.rest_properties.keys_of_user
    assert listed(sheet.muslin, None, "") == ["Basis", "Small"]
    builders.finish(extension.bake.bake(scene))
    assert len(sheet.data.shape_keys.key_blocks) > 2
    assert listed(sheet.muslin, None, "") == ["Basis", "Small"]
    other = builders.sheet(3)
    assert listed(other.muslin, None, "") == []
    builders.finish(extension.bake.bake(scene, objects=[other]))
    assert other.data.shape_keys is not None and listed(other.muslin, None, "") == []

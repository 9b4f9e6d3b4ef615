# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit to Body writes a shape that crosses nothing, as a shape key or into the mesh."""

import bpy
import numpy as np
import pytest

from tests.addon import builders


@pytest.fixture
def crossed(scene):
    """Return a sheet that starts through a box."""
    sheet = builders.sheet(12, size=1.0)
    sheet.location = (0.02, 0.01, 0.16)
    sheet.rotation_euler = (0.05, 0.1, 0.0)
    builders.box(size=0.4)
    bpy.context.view_layer.objects.active = sheet
    sheet.select_set(True)
    bpy.context.view_layer.update()
    return sheet


def crossings(extension, obj):
    """Return how many edges cross faces as displayed."""
    core, x = extension.core, builders.displayed_now(obj)
    triangles = core.ClothMesh(x, faces=[list(p.vertices) for p in obj.data.polygons]).triangles
    box = bpy.data.objects["Box"]
    box.data.calc_loop_triangles()
    faces = np.array([list(triangle.vertices) for triangle in box.data.loop_triangles])
    return core.audit([(x, triangles)], [(builders.displayed_now(box), faces)]).crossings


@pytest.mark.parametrize("target", ["SHAPE_KEY", "MESH"])
@pytest.mark.parametrize("has_keys", [False, True])
def test_a_fitted_cloth_crosses_nothing(extension, crossed, target, has_keys):
    if has_keys:
        crossed.shape_key_add(name="Basis", from_mix=False)
        key = crossed.shape_key_add(name="Up", from_mix=False)
        key.value = 0.5
        for point in key.data:
            point.co.z += 0.02
        bpy.context.view_layer.update()
    before = builders.displayed_now(crossed)
    assert crossings(extension, crossed) > 0
    assert bpy.ops.muslin.fit_to_body(target=target) == {"FINISHED"}
    bpy.context.view_layer.update()
    assert crossings(extension, crossed) == 0
    after = builders.displayed_now(crossed)
    assert 0.001 < np.abs(after - before).max() < 0.3
    names = [] if crossed.data.shape_keys is None else [key.name for key in crossed.data.shape_keys.key_blocks]
    assert ("Fit" in names) == (target == "SHAPE_KEY")
    if target == "SHAPE_KEY":
        crossed.data.shape_keys.key_blocks["Fit"].value = 0.0
        bpy.context.view_layer.update()
        np.testing.assert_allclose(builders.displayed_now(crossed), before, atol=1e-6)


def test_cloth_that_crosses_nothing_is_unchanged(extension, crossed):
    crossed.location.z = 1.0
    bpy.context.view_layer.update()
    assert bpy.ops.muslin.fit_to_body() == {"FINISHED"}
    assert crossed.data.shape_keys is None


def test_pinned_vertices_stay_on_request(extension, crossed):
    builders.pin(crossed, {0: 1.0, 5: 1.0, 11: 1.0})
    before = builders.displayed_now(crossed)
    bpy.ops.muslin.fit_to_body(move_pins=False)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(builders.displayed_now(crossed)[[0, 5, 11]], before[[0, 5, 11]], atol=1e-6)


def test_a_baked_cloth_is_refused(extension, crossed):
    crossed.location.z = 1.0
    bpy.context.scene.frame_end = 3
    bpy.ops.muslin.bake()
    with pytest.raises(RuntimeError, match="delete its bake"):
        bpy.ops.muslin.fit_to_body()


def test_a_fit_can_be_cancelled(extension, crossed):
    steps = extension.fitting.fit_to_body(bpy.context.scene, [crossed], into_mesh=False, move_pins=True)
    for _ in range(4):
        next(steps)
    steps.close()
    assert crossed.data.shape_keys is None

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rope, thread cloth, mass-spring and immediate buckling from Blender's meshes, and Limit Stretch."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders

SHEETS = ("thread_cloth", "mass_spring", "immediate_buckling")


def rope(links=6):
    """Add a rope with a branch, along x, and return it."""
    vertices = [(0.1 * i, 0.0, 1.0) for i in range(links + 1)] + [(0.2, 0.1, 1.0)]
    return builders.mesh_object("Rope", vertices, edges=[(i, i + 1) for i in range(links)] + [(2, links + 1)])


def triangles():
    obj = builders.sheet(5)
    faces = [tuple(p.vertices) for p in obj.data.polygons]
    vertices = [tuple(v.co) for v in obj.data.vertices]
    return builders.mesh_object("Triangles", vertices, [t for a, b, c, d in faces for t in ((a, b, c), (a, c, d))])


def baked(extension, scene, obj):
    """Pin the first vertex of `obj`, bake, and return its displayed positions at the last frame."""
    scene.muslin.backend = "NUMPY"
    builders.pin(obj, {0: 1.0})
    builders.finish(extension.bake.bake(scene, [obj]))
    x = builders.displayed(obj, scene.frame_end)
    assert np.isfinite(x).all()
    return x


def test_a_rope_bakes_from_the_loose_edges_of_a_mesh(extension, scene):
    obj = rope()
    obj.muslin.model = "rope"
    x = baked(extension, scene, obj)
    np.testing.assert_allclose(x[0], (0.0, 0.0, 1.0), atol=1e-6)
    assert (x[1:, 2] < 0.999).all()


@pytest.mark.parametrize("model", SHEETS)
@pytest.mark.parametrize("make", [builders.sheet, triangles], ids=["quads", "triangles"])
def test_sheets_bake_from_quads_and_from_triangles(extension, scene, model, make):
    obj = make()
    if make is triangles:
        scene.collection.objects.unlink(scene.objects["Sheet"])
    obj.muslin.model = model
    start = builders.displayed_now(obj)
    x = baked(extension, scene, obj)
    np.testing.assert_allclose(x[0], start[0], atol=1e-6)
    assert x[-1, 2] < start[-1, 2] - 0.01


def test_a_mesh_that_is_no_grid_is_an_error_with_a_remedy(extension, scene):
    obj = builders.mesh_object("Fan", [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0.5, 0.5, 0.0)],
                               [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)])
    obj.muslin.model = "thread_cloth"
    with pytest.raises(extension.core.MeshError, match="Fan: is no regular grid: .*; take another model"):
        builders.finish(extension.bake.bake(scene, [obj]))


def test_a_rope_with_faces_is_an_error_with_a_remedy(extension, scene):
    obj = builders.sheet(3)
    obj.muslin.model = "rope"
    with pytest.raises(extension.core.MeshError, match="Sheet: has faces .*a rope is edges alone; delete them"):
        builders.finish(extension.bake.bake(scene, [obj]))


def test_limit_stretch_limits_the_edges_of_a_bake(extension, scene):
    obj = rope()
    obj.muslin.model = "rope"
    obj.muslin.stretch_warp, scene.frame_end = 0.5, 13
    assert extension.settings.settings_of(obj, scene).max_elongation is None
    obj.muslin.use_max_elongation, obj.muslin.max_elongation = True, 5.0
    assert extension.settings.settings_of(obj, scene).max_elongation == pytest.approx(0.05)
    x = baked(extension, scene, obj)
    lengths = np.linalg.norm(np.diff(x[:7], axis=0), axis=1)
    assert 0.1 < lengths.max() < 0.1 * 1.055

# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes on cloth whose faces point inwards, where layers and internal springs need them to point outwards."""

from __future__ import annotations

import numpy as np
import pytest

from tests.addon import builders

SIDES, RINGS = 12, 4
TUBE = [(SIDES * j + i, SIDES * j + (i + 1) % SIDES, SIDES * (j + 1) + (i + 1) % SIDES, SIDES * (j + 1) + i)
        for j in range(RINGS - 1) for i in range(SIDES)]


def rings(radii, heights):
    angle = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    return [(r * np.cos(a), r * np.sin(a), z) for r, z in zip(radii, heights, strict=True) for a in angle]


def tube(name, radius, *, inwards=False):
    """Return a cloth: a tube that is open at both ends."""
    faces = [face[::-1] for face in TUBE] if inwards else TUBE
    return builders.mesh_object(name, rings([radius] * RINGS, np.linspace(0.0, 0.3, RINGS)), faces)


def notes(extension, scene):
    import bpy

    bpy.context.view_layer.update()
    return [note for note in extension.read_scene.read_scene(
        scene, extension.settings.scene_settings_of(scene), None, bpy.context.view_layer).notes if "inwards" in note]


@pytest.mark.parametrize("inwards", [False, True])
def test_the_lower_of_two_layers_is_noted_if_its_faces_point_inwards(extension, scene, inwards):
    tube("Shirt", 0.2, inwards=inwards)
    jacket = tube("Jacket", 0.21, inwards=True)
    assert notes(extension, scene) == []                                   # one layer has no order
    jacket.muslin.layer = 1
    assert [note.partition(" is pulled")[0] for note in notes(extension, scene)] == [
        "Shirt: its faces point inwards, so that Jacket, of a higher Layer,"] * inwards


@pytest.mark.parametrize("inwards", [False, True])
def test_a_filled_mesh_is_noted_if_its_faces_point_inwards(extension, scene, inwards):
    toy = tube("Toy", 0.2, inwards=inwards)
    assert notes(extension, scene) == []
    toy.muslin.use_internal_springs = True
    assert [note.partition(": ")[0] for note in notes(extension, scene)] == ["Toy"] * inwards


def test_the_faces_of_a_mirrored_object_count_as_they_are_seen(extension, scene):
    toy = tube("Toy", 0.2)
    toy.muslin.use_internal_springs, toy.scale = True, (-1.0, 1.0, 1.0)
    assert notes(extension, scene) == []


def point_inwards(extension, vertices, faces):
    triangles = [corners for a, b, c, d in faces for corners in ((a, b, c), (a, c, d))]
    return extension.inward_faces.point_inwards(np.array(vertices), np.array(triangles))


def test_only_a_mesh_with_an_inside_can_point_there(extension):
    """A tube has one wherever it stands; a sheet, a bowl, and a flat ring have none."""
    place = np.array([3.0, -20.0, 7.0])
    upright = np.array(rings([0.2, 0.3, 0.3, 0.2], [0.0, 0.2, 0.4, 0.6])) + place
    for faces, wanted in ((TUBE, False), ([face[::-1] for face in TUBE], True)):
        assert point_inwards(extension, upright, faces) is wanted
        assert point_inwards(extension, rings([0.1, 0.2, 0.3, 0.4], [0.0] * RINGS), faces) is False
        bowl = [*rings([0.1, 0.2, 0.3, 0.4], [0.0, 0.0, 0.1, 0.3]), (0.0, 0.0, 0.0)]
        bottom = [(4 * SIDES, (i + 1) % SIDES, i, i) for i in range(SIDES)]
        side = 1 if faces is TUBE else -1
        triangles = [corners for a, b, c, d in faces for corners in ((a, b, c), (a, c, d))]
        triangles += [face[:3][::side] for face in bottom]
        assert extension.inward_faces.point_inwards(np.array(bowl), np.array(triangles)) is False
    assert extension.inward_faces.point_inwards(np.zeros((3, 3)), np.zeros((0, 3), int)) is False


def test_each_piece_counts_by_its_size(extension):
    """A shirt with a small piece inside out, as a badge in the form of a ring, points outwards."""
    large, small = rings([0.2] * RINGS, np.linspace(0.0, 0.3, RINGS)), rings([0.02] * RINGS, np.linspace(1.0, 1.03, 4))
    inside_out = [tuple(SIDES * RINGS + i for i in face[::-1]) for face in TUBE]
    assert point_inwards(extension, large + small, TUBE + inside_out) is False
    assert point_inwards(extension, small + large, TUBE + inside_out) is True

# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances that cloth keeps by default: no more than it has at the start, and half of the usual one at least."""

from __future__ import annotations

import numpy as np
import pytest

import core
from core.contact.contact_distances import contact_distances
from core.model.particle_system import ParticleSystem
from tests.core.contact.shapes import box, sheet

SOLVER = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=0.01, frame_rate=24)


def over_a_box(heights, **options):
    """Return a sheet whose columns of vertices start at some heights above the top of a box, and the box."""
    x, triangles = sheet(len(heights), len(heights), 1.0, 1.0)
    place = x.copy()
    place[:, 2] = 0.5 + np.tile(heights, len(heights))
    return core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), positions=place, **options), box(
        (2.0, 2.0, 1.0))


def kept(cloth, *colliders):
    return ParticleSystem(core.Scene([cloth], list(colliders))).thickness


def test_cloth_keeps_the_distance_at_which_it_starts_between_half_of_the_usual_one_and_all_of_it():
    usual = over_a_box(np.zeros(6))[0].distance
    cloth, top = over_a_box([-0.01, 0.0, 0.6 * usual, 0.8 * usual, 1.5 * usual, 5.0])
    found = kept(cloth, core.Collider(*top, name="Box"))
    above = cloth.positions[:, 2] - 0.5
    np.testing.assert_allclose(found, np.clip(above, 0.5 * usual, usual), rtol=1e-9)
    thick = kept(cloth, core.Collider(*top, thickness=0.3 * usual, name="Box"))
    np.testing.assert_allclose(thick, np.clip(above - 0.3 * usual, 0.5 * usual, usual), rtol=1e-9)


def test_a_thickness_that_is_given_is_kept_wherever_cloth_starts():
    cloth, top = over_a_box([0.0, 0.01, 0.02, 0.03], thickness=0.04)
    assert (kept(cloth, core.Collider(*top, name="Box")) == 0.04).all()


def test_neither_excluded_colliders_nor_the_inside_of_a_room_make_cloth_thinner():
    cloth, top = over_a_box([0.0, 0.0, 0.0, 0.0], contact=core.ClothContact(collisions=False))
    assert (kept(cloth, core.Collider(*top, name="Box")) == cloth.distance).all()
    cloth, _ = over_a_box([0.0, 0.0, 0.0, 0.0])
    walls, faces = box((9.0, 9.0, 9.0))
    room = core.Collider(walls, faces[:, ::-1], name="Room")
    assert (kept(cloth, room) == cloth.distance).all()


def test_each_cloth_has_its_own_distances_from_colliders_and_cloth():
    """Of two sheets on a box the second one collides with nothing; a third has a distance of its own from cloth."""
    on, top = over_a_box([0.0, 0.0, 0.0, 0.0])
    off, _ = over_a_box([0.0, 0.0, 0.0, 0.0], name="Off", contact=core.ClothContact(collisions=False))
    own, _ = over_a_box([0.0, 0.0, 0.0, 0.0], name="Own", contact=core.ClothContact(self_distance=0.3))
    system = ParticleSystem(core.Scene([off, on, own], [core.Collider(*top, name="Box")]))
    usual, count = on.distance, len(on.positions)
    np.testing.assert_allclose(system.thickness, np.repeat([usual, 0.5 * usual, 0.5 * usual], count), rtol=1e-9)
    found, _ = contact_distances([off, own], [True, True], [], [], None)
    np.testing.assert_allclose(found, np.full(2 * count, usual), rtol=1e-9)
    from_cloth = contact_distances([on, own], [True, True], system.scene.colliders, system.shapes, None)[1]
    np.testing.assert_allclose(from_cloth, np.repeat([0.5 * usual, 0.15], count), rtol=1e-9)


def test_a_split_mesh_keeps_the_distances_of_the_whole_one():
    x, triangles = sheet(4, 4, 1.0, 1.0)
    corners = core.ClothMesh(x[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3), split=True)
    _, top = over_a_box([0.0, 0.0, 0.0, 0.0])
    lying = core.Cloth(corners, core.Material.preset("cotton"), tearing=core.Tearing(100.0),
                       positions=corners.positions + [0.0, 0.0, 0.5])
    found = kept(lying, core.Collider(*top, name="Box"))
    assert len(found) == len(x)
    np.testing.assert_allclose(found, 0.5 * lying.distance, rtol=1e-9)


@pytest.mark.parametrize("part", [0.6, 0.8])
def test_a_tight_tube_is_not_blown_up(part):
    """A tube of radius R that starts `part` of the usual distance d off a cylinder stays as wide; given d, it has to
    stretch by (1 - part) d / R."""
    around, along, radius = 24, 12, 0.04
    angle = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(around)], axis=1)

    def tube(r, count, height):
        x = np.concatenate([ring * [r, r, 0] + [0, 0, height * k / count] for k in range(count + 1)])
        i, j = np.meshgrid(np.arange(count), np.arange(around), indexing="ij")
        corner = [(a * around + b % around).ravel() for a, b in ((i, j), (i, j + 1), (i + 1, j + 1), (i + 1, j))]
        return x, np.stack(corner, axis=1)

    x, quads = tube(radius, along, 0.12)
    free = core.Cloth(core.ClothMesh(x, faces=quads.tolist()), core.Material.preset("cotton"))
    usual = free.distance
    solid, faces = tube((radius - part * usual) / np.cos(np.pi / around), 1, 0.3)
    solid[:, 2] -= 0.1
    collider = core.Collider(solid, np.concatenate([faces[:, :3], faces[:, [0, 2, 3]]]), friction=0.5, name="Arm")
    stretch = {}
    for name, thickness in (("usual", None), ("given", usual)):
        cloth = core.Cloth(core.ClothMesh(x, faces=quads.tolist()), core.Material.preset("cotton"), thickness=thickness)
        scene = core.Scene([cloth], [collider], gravity=(0.0, 0.0, 0.0))
        stretch[name] = list(core.simulate(scene, SOLVER, range(13)))[-1].certificate.stretch_p99 - 1.0
    assert stretch["given"] > 0.5 * (1.0 - part) * usual / radius
    assert stretch["usual"] < 0.2 * stretch["given"]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Stiffness and frame of the pairs that touch in a step."""

import numpy as np
import pytest

from core.contact.moving_contacts import turned
from core.contact.pair_contacts import STICK_DRAG, STIFFNESS, make_contacts
from core.contact.turns import turns
from tests.core.contact.shapes import rotation

H, MASS, INERTIA = 0.04, 0.5, 40.0
ON_FACE = np.array([[1.0, -0.2, -0.5, -0.3]])


def pair_on(normals, gaps, thickness=0.01, free=(0,)):
    """Return contacts of vertex 0 with faces whose corners the collider moves, at `gaps` [m] along `normals`."""
    count = len(normals)
    x = np.zeros((1 + 3 * count, 3))
    for k, (normal, gap) in enumerate(zip(normals, gaps, strict=True)):
        x[1 + 3 * k:4 + 3 * k] = -gap * np.asarray(normal)
    vertices = np.array([[0, *range(1 + 3 * k, 4 + 3 * k)] for k in range(count)])
    inverse, inertia = np.zeros(len(x)), np.zeros(len(x))
    inverse[list(free)], inertia[list(free)] = 1.0 / MASS, INERTIA
    return make_contacts(np.arange(count), vertices, np.repeat(ON_FACE, count, axis=0), np.array(normals, dtype=float),
                         np.full(count, thickness), np.full(count, 0.3), x, inverse, H, inertia=inertia)


UP, DOWN, ASIDE = [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]


def test_one_vertex_alone_is_held_as_stiffly_as_it_resists_itself():
    contacts = pair_on([UP, ASIDE], [0.005, 0.008])
    assert contacts.stiffness == pytest.approx([INERTIA, INERTIA])
    assert contacts.grip == pytest.approx([INERTIA, INERTIA])


def test_several_vertices_are_held_by_their_mass():
    contacts = pair_on([UP], [0.005], free=(0, 1))
    assert contacts.stiffness == pytest.approx(STIFFNESS * contacts.mass)
    assert contacts.grip == pytest.approx(STICK_DRAG * contacts.mass)


@pytest.mark.parametrize(("gaps", "squeezed"), [((0.009, 0.009), True), ((0.004, 0.017), False)])
def test_what_is_pressed_from_opposite_sides_without_room_is_held_softly(gaps, squeezed):
    contacts = pair_on([UP, DOWN], gaps)
    soft = contacts.stiffness < 0.9 * INERTIA
    assert soft.all() if squeezed else not soft.any()


def test_turns_are_the_rotation_of_a_rigid_triangle_and_none_of_a_flat_one():
    rng = np.random.default_rng(3)
    corners, turn = rng.normal(size=(5, 3, 3)), rotation([0.3, -1.0, 0.4], 1.3)
    corners[4, 2] = corners[4, 1]
    found = turns(corners, corners @ turn.T + [1.0, 2.0, 3.0])
    assert found[:4] == pytest.approx(np.repeat(turn[None], 4, axis=0), abs=1e-12)
    assert found[4] == pytest.approx(np.eye(3))


def test_what_turns_with_a_face_does_not_slide_over_it():
    """The velocities of both ends of the gap differ by what the offset between them turns."""
    contacts, turn = pair_on([UP], [0.005]), rotation([1.0, 0.0, 0.0], 0.2)
    start = np.zeros((4, 3))
    start[1:] = [[0.3, 0.0, -0.005], [-0.2, 0.4, -0.005], [-0.1, -0.6, -0.005]]
    offset = ON_FACE[0] @ start
    moved = turned(contacts, np.array([0]), turn[None], start, H)
    slide = ON_FACE[0] @ (start @ turn.T - start) / H + moved.carried[0]
    assert slide == pytest.approx(0.0, abs=1e-15) and moved.normal[0] == pytest.approx(turn @ UP)
    assert np.linalg.norm(offset) > 0.0

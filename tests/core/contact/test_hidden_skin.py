# SPDX-License-Identifier: GPL-3.0-or-later
"""Test which skin of a collider another part of it hides when the simulation starts."""

import numpy as np
import pytest

import core
from core.contact.colliders import SurfaceShape
from core.contact.covered import covered
from core.contact.hidden_skin import hidden_skin
from core.contact.homes import HomePlaces, gathered, no_homes, noted, spread
from core.contact.pinch import Resistance, go_home, strayed
from core.contact.surfaces import SurfaceSet
from core.model.particle_system import ParticleSystem
from tests.core.contact.shapes import ball, box
from tests.scenes.staging import cloth

RADIUS = 0.1


def hidden_of(*parts):
    begin = np.cumsum([0, *(len(x) for x, _ in parts)])
    x = np.concatenate([x for x, _ in parts])
    return hidden_skin(SurfaceShape.build(x, np.concatenate(
        [triangles + k for (_, triangles), k in zip(parts, begin, strict=False)])), x)


def test_each_part_hides_what_is_in_it_of_the_other():
    x, triangles = ball(16, 8, RADIUS)
    y = x + [0.0, 0.0, 1.2 * RADIUS]
    inside = [(np.linalg.norm(one - other.mean(axis=0), axis=1) < 0.97 * RADIUS)[triangles].all(axis=1)
              for one, other in ((x, y), (y, x))]
    assert 0 < inside[0].sum() < len(triangles) // 2
    np.testing.assert_array_equal(hidden_of((x, triangles), (y, triangles)), np.concatenate(inside))


def test_a_part_that_crosses_itself_hides_nothing():
    """A hand lies on the thigh when a walk begins, and cloth is worn on that thigh when the hand has gone."""
    x, triangles = ball(24, 24, RADIUS)
    angle, r = 1.15 * np.pi * x[:, 2] / RADIUS, RADIUS + 0.3 * x[:, 0]
    bent = np.stack([r * np.sin(angle), 0.3 * x[:, 1], r * np.cos(angle)], axis=1)     # both of its ends in each other
    shape = SurfaceShape.build(bent, triangles)
    assert len(covered([(bent, shape, shape.tree)], bent.min(axis=0), bent.max(axis=0))[0]) > 50
    assert not hidden_of((bent, triangles)).any()


def test_a_part_that_is_hidden_as_a_whole_is_to_come_out():
    x, triangles = ball(16, 8, RADIUS)
    slab, more = box((1.0, 1.0, 0.5))
    assert not hidden_of((x, triangles), (slab, more)).any()
    assert hidden_of((x + [0.0, 0.0, 0.25], triangles), (slab, more)).any()


@pytest.fixture(name="plate")
def a_plate():
    """Return a sheet of 5 x 5 vertices just above a plate of many triangles, and its surface; that at x > 0 is marked
    as hidden."""
    t = np.linspace(-0.2, 0.2, 21)
    x = np.stack(np.meshgrid(t, t, [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    rows = np.arange(len(x)).reshape(21, 21)
    corner = np.stack([rows[:-1, :-1], rows[1:, :-1], rows[1:, 1:], rows[:-1, 1:]], axis=-1).reshape(-1, 4)
    plate = core.Collider(x, np.concatenate([corner[:, [0, 1, 2]], corner[:, [0, 2, 3]]]))
    sheet = cloth(5, 5, 0.1, 0.1, lambda p: np.stack([p[:, 0], p[:, 1], np.full(len(p), 0.001)], axis=1))
    system = ParticleSystem(core.Scene([sheet], [plate]))
    surfaces = SurfaceSet([plate], system.thickness, np.zeros(len(system.mass))).between(0.0, 0.0)
    surfaces.hidden[(x[plate.triangles][:, :, 0] > -1e-9).all(axis=1)] = True
    return system, surfaces


def test_what_is_hidden_becomes_no_home(plate):
    system, surfaces = plate
    x, count = system.nodes.start, len(system.mass)
    none, one = np.zeros(count, dtype=bool), np.zeros(count, dtype=np.int64)
    homes = noted(no_homes(count), x, surfaces.find(x, x), surfaces, system.triangles, one, none)
    for _ in range(5):
        homes = spread(homes, x, surfaces, system.edges, none)
    np.testing.assert_array_equal(homes.number == 0, x[:, 0] > 1e-9)


def test_a_home_does_not_move_to_what_is_hidden(plate):
    system, surfaces = plate
    x, count = system.nodes.start, len(system.mass)
    every, none = np.ones(count, dtype=bool), np.zeros(count, dtype=bool)
    resistance = Resistance(system.mass, lambda: system.mass, lambda: np.zeros((count, 3)))
    left = x - [0.1, 0.0, 0.0]
    homes = noted(no_homes(count), left, surfaces.find(left, left), surfaces, system.triangles,
                  np.zeros(count, dtype=np.int64), none)
    assert (homes.number != 0).all()
    _, later = go_home(strayed(homes, every, system.edges), none, none, x, 0.01, surfaces, resistance,
                       system.edges)
    np.testing.assert_array_equal(later.astray, x[:, 0] > 1e-9)              # not back where the skin is hidden
    drawn = strayed(homes, np.arange(count) != 7, system.edges)
    for _ in range(50):
        drawn = gathered(drawn, surfaces, system.edges, 0.0 * system.rest_lengths)
    assert (HomePlaces.of(drawn, np.arange(count), surfaces).end[:, 0] < 1e-9).all()

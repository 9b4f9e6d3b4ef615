# SPDX-License-Identifier: GPL-3.0-or-later
"""Skin of colliders that is inside of another part when the simulation starts."""

import numpy as np

import core
from core.contact.colliders import SurfaceShape
from core.contact.hidden_skin import hidden_skin
from core.contact.homes import no_homes, noted, spread
from core.contact.surfaces import SurfaceSet
from core.model.particle_system import ParticleSystem
from tests.core.contact.shapes import ball
from tests.scenes.staging import cloth

RADIUS = 0.1


def shapes(*surfaces):
    return [SurfaceShape.build(x, triangles) for x, triangles in surfaces], [x for x, _ in surfaces]


def joined(*parts):
    begin = np.cumsum([0, *(len(x) for x, _ in parts)])
    return (np.concatenate([x for x, _ in parts]),
            np.concatenate([triangles + k for (_, triangles), k in zip(parts, begin, strict=False)]))


def two_balls():
    x, triangles = ball(16, 8, RADIUS)
    return (x, triangles), (x + [0.0, 0.0, 1.2 * RADIUS], triangles)


def inside_other(one, other):
    """Whether all corners of triangles of a ball are inside of another one."""
    x, triangles = one
    centre = other[0].mean(axis=0)
    return (np.linalg.norm(x - centre, axis=1) < 0.97 * RADIUS)[triangles].all(axis=1)


def test_each_part_hides_what_is_in_it_of_the_other_as_one_collider_or_two():
    one, other = two_balls()
    expected = inside_other(one, other), inside_other(other, one)
    assert 0 < expected[0].sum() < len(one[1]) // 2
    count = len(one[1])
    first, second = np.flatnonzero(expected[0]), count + np.flatnonzero(expected[1])
    by = np.repeat([1, 0], [len(first), len(second)])
    np.testing.assert_array_equal(hidden_skin(*shapes(one, other)), np.stack([by, np.r_[first, second]], axis=1))
    together = hidden_skin(*shapes(joined(one, other)))
    np.testing.assert_array_equal(together, np.stack([0 * by, np.r_[first, second]], axis=1))


def test_a_part_that_crosses_itself_hides_nothing():
    """A hand lies on the thigh when a walk begins, and cloth is worn on that thigh when the hand has gone."""
    x, triangles = ball(16, 8, RADIUS)
    bent = x.copy()
    bent[:, 2] = np.abs(bent[:, 2] - 0.3 * RADIUS)               # its lower part through its upper one
    assert len(hidden_skin(*shapes((bent, triangles)))) == 0


def noted_on(colliders, exclude=()):
    """The homes of a sheet just below the second ball, beside skin that the first one, which is away now, hid."""
    system = ParticleSystem(core.Scene([cloth(4, 4, 0.03, 0.03, lambda p: np.stack(
        [p[:, 0], p[:, 1], np.full(len(p), 0.2 * RADIUS - 0.001)], axis=1))], colliders))
    x, count = system.nodes.start, len(system.mass)
    allowed = np.ones((len(colliders), count), dtype=bool)
    allowed[list(exclude)] = False
    every = SurfaceSet(colliders, system.thickness, np.zeros(count), allowed=allowed)
    surfaces = every.between(1.0, 1.0)
    homes = noted(no_homes(count), x, surfaces.find(x, x), surfaces, system.triangles, np.zeros(count, dtype=np.int64),
                  np.zeros(count, dtype=bool))
    return spread(homes, x, surfaces, system.edges, np.zeros(count, dtype=bool))


def test_what_is_hidden_at_the_start_becomes_no_home_of_cloth_that_collides_with_what_hides_it():
    (x, triangles), (y, more) = two_balls()
    leaves = core.Collider(lambda t: x - [0.0, 0.0, min(t, 1.0)], triangles, name="leaves")
    stays = core.Collider(y, more, name="stays")
    assert (noted_on([leaves, stays]).number == 0).all()
    assert (noted_on([leaves, stays], exclude=[0]).number != 0).any()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted scales of the rest shape that change over time."""

import numpy as np
import pytest

import core
from core.model.particle_system import ParticleSystem
from tests.core.shapes import grid

FABRIC = core.Material(areal_density=0.2, stretch=(500.0, 300.0), shear=60.0, bend=1e-5, damping=0.01)


def cloth(scale, closing=0.0, **options):
    positions, triangles = grid(4, 4)
    return core.Cloth(core.ClothMesh(positions, triangles), FABRIC, rest_scale=scale, sewing_time=closing, **options)


def system(*arguments, **options):
    return ParticleSystem(core.Scene([cloth(*arguments, **options)], gravity=(0, 0, 0)))


def test_no_force_acts_at_the_size_of_each_time():
    of = system(lambda t: 0.9 - 0.5 * t)
    for t, size in ((0.0, 0.9), (0.4, 0.7), (1.0, 0.4)):
        x = size * grid(4, 4)[0]
        assert np.abs(of.elastic(t).force(x)).max() < 1e-12
        assert of.edge_lengths(x) == pytest.approx(of.rest_lengths_at(t))


def test_forces_are_those_of_the_scale_at_the_time():
    rng = np.random.default_rng(4)
    uneven = rng.uniform(0.6, 1.2, 25)
    of, x = system(lambda t: uneven ** t), grid(4, 4)[0] + 0.03 * rng.normal(size=(25, 3))
    fixed = ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(*grid(4, 4)), FABRIC,
                                                  rest_motion=lambda t: grid(4, 4)[0])], gravity=(0, 0, 0)))
    assert of.elastic(0.0).force(x) == pytest.approx(fixed.elastic(0.0).force(x), abs=1e-6)
    d = rng.normal(size=x.shape)
    elastic = of.elastic(0.8)
    slope = (elastic.energy(x + 1e-6 * d) - elastic.energy(x - 1e-6 * d)) / 2e-6
    assert slope == pytest.approx(-float(np.sum(elastic.force(x) * d)), rel=1e-5)


def test_a_gradual_start_leads_to_the_scale_of_its_time():
    of = system(lambda t: 0.8 - 0.1 * t, 1.0)
    for t, size in ((0.0, 1.0), (0.5, 0.5 * (1.0 + 0.75)), (1.0, 0.7), (2.0, 0.6)):
        assert np.abs(of.elastic(t).force(size * grid(4, 4)[0])).max() < 1e-12


def test_limit_stretch_goes_with_the_size():
    of = system(lambda t: 1.0 - 0.5 * t, max_elongation=lambda t: 0.1 + 0.1 * t)
    for t, longest in ((0.0, 1.1), (1.0, 0.5 * 1.2)):
        assert of.strain_limit(t).all_longest == pytest.approx(longest * of.rest_lengths)


@pytest.mark.parametrize("scale, message", [
    (lambda t: 1.0 - 2.0 * t, r"rest_scale at 0\.8000 s of vertex 0 is -0\.6"),
    (lambda t, x: 1.0, "rest_scale is a fun"), (lambda t: None if t else 1.0, r"rest_scale at 0\.8000 s is None")])
def test_what_is_no_scale_is_refused(scale, message):
    with pytest.raises(core.ClothError, match=message):
        system(scale).elastic(0.8)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The particle system is a function of state and time: what was asked before changes no answer."""

import numpy as np

import core
from core.model.particle_system import ParticleSystem
from tests.core.shapes import grid

TIMES = (0.3, 0.0, 1.0, 0.1, 0.3)


def system():
    """A shrinking, buttoned sheet with soft pins on a path, damping, drag and limited stretch: all that changes."""
    mesh = core.ClothMesh(*grid(4, 4))
    fabric = core.Material.preset("cotton", damping=0.01, isotropic_damping=1e-3)
    weights = np.where(mesh.positions[:, 0] < 0.1, 0.5, 0.0)
    cloth = core.Cloth(mesh, fabric, pins=weights, pin_targets=lambda t: mesh.positions + [0.0, 0.0, t], rest_scale=0.8,
                       sewing_time=0.5, buttons=[(6, 18)], max_elongation=0.1)
    return ParticleSystem(core.Scene([cloth], wind=(1.0, 0.0, 0.0)))


def answers(of, time):
    """Everything that depends on time, at one time."""
    x, v = np.random.default_rng(0).normal(scale=0.1, size=(2, of.vertex_count, 3))
    x = x + of.nodes.rest
    rate = of.rate_force(x, v, time)
    return [of.elastic(time).force(x), of.elastic(time).energy(x), of.force(x, v, time), rate.product(v),
            rate.damping(v), of.strain_limit(time).all_longest, of.held_positions(time)[1], of.edge_stiffness(time)]


def test_answers_at_a_time_do_not_depend_on_earlier_questions():
    asked = system()
    for time in TIMES:
        for ours, fresh in zip(answers(asked, time), answers(system(), time), strict=True):
            np.testing.assert_array_equal(ours, fresh)


def test_forces_and_limits_do_change_with_time():
    first, later = answers(system(), 0.0), answers(system(), 0.3)
    assert [not np.array_equal(a, b) for a, b in zip(first, later, strict=True)] == [True] * 6 + [False] * 2


def test_a_simulation_replaces_no_attribute_of_the_system(monkeypatch):
    made = []
    monkeypatch.setattr(core.stepping.simulate, "ParticleSystem",
                        lambda *what, **how: made.append(ParticleSystem(*what, **how)) or made[-1])
    scene = system().scene
    frames = core.simulate(scene, core.Solver(backend="numpy"), range(3))
    next(frames)
    before = dict(vars(made[0]))
    list(frames)
    for name, value in before.items():
        assert vars(made[0])[name] is value, name

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins that let go and catch, and pins of another stiffness."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.model.pin_constraints import SOFT_PIN_FREQUENCY
from tests.core.shapes import grid

FABRIC = core.Material(areal_density=0.3, stretch=500.0, shear=100.0, bend=1e-4, damping=0.01)
RATE = 2.0 * SOFT_PIN_FREQUENCY


def cloth(weights, targets=None, cells=4, fabric=FABRIC, **options):
    positions, triangles = grid(cells, cells)
    return core.Cloth(core.ClothMesh(positions, triangles), fabric, pins=weights, pin_targets=targets, **options)


def run(cloth, last=13, begin=1, start=None, **options):
    settings = {"backend": "numpy", "frame_rate": 24.0} | options
    return list(core.simulate(core.Scene([cloth]), core.Solver(**settings), range(begin, last + 1), start=start))


def switched(time, before, after, rows=(0, 4)):
    """Return a function that gives `rows` the weight `before` until `time` and `after` from then on."""
    def weights(t):
        found = np.zeros(25)
        found[list(rows)] = before if t < time else after
        return found
    return weights


@pytest.mark.parametrize("integrator", core.integrators())
def test_released_cloth_falls_freely(integrator):
    """The momentum after the release is that of weight alone."""
    explicit = integrator in ("explicit_euler", "symplectic_euler", "verlet")
    fabric = replace(FABRIC, stretch=20.0, shear=4.0, damping=0.003) if explicit else FABRIC  # long steps are stable
    frames = run(cloth(switched(0.125, 1.0, 0.0), fabric=fabric), 9, integrator=integrator,
                 steps_per_frame=20 if explicit else 1)
    speed = [frame.velocities[0].mean(axis=0)[2] for frame in frames]
    assert np.diff(speed[4:]) == pytest.approx(np.full(4, -9.81 / 24.0), rel=0.05)


def test_a_caught_vertex_is_drawn_to_its_target_and_follows_it_exactly():
    positions, _ = grid(4, 4)

    def targets(t):
        return positions + (0.5 * t, 0.2 * np.sin(7.0 * t), 0.0)

    frames = run(cloth(switched(0.25, 0.0, 1.0), targets), 49)
    away = [np.abs(frame.positions[0][[0, 4]] - targets(frame.time)[[0, 4]]).max() for frame in frames]
    assert away[5] > 0.2 and max(away[-6:]) < 1e-14
    after = np.array(away[8:16])
    assert after[1:] / after[:-1] == pytest.approx(np.full(7, np.exp(-RATE / 24.0)), rel=1e-6)
    fastest = max(np.abs(frame.velocities[0]).max() for frame in frames[8:])
    assert fastest < 1.5 * RATE * away[5] + 3.0


def test_the_way_to_a_target_does_not_depend_on_the_steps():
    away = [run(cloth(switched(0.0, 0.0, 1.0, (12,)), lambda t: grid(4, 4)[0] + (0.0, 0.0, 0.1)), 6,
                steps_per_frame=steps)[-1].positions[0][12] for steps in (1, 7)]
    assert away[0] == pytest.approx(away[1], abs=1e-12)


def test_weights_that_stay_act_as_weights_that_are_given_once():
    weights = switched(0.0, 0.0, 1.0)(1.0)
    weights[[20, 24]] = 0.4
    one, other = (run(cloth(given))[-1].positions[0] for given in (weights, lambda t: weights))
    assert one == pytest.approx(other, abs=1e-3)


def test_a_continued_simulation_has_the_same_bytes():
    whole = run(cloth(switched(0.25, 0.3, 1.0)), 14)
    for frame in (3, 7, 9):
        rest = run(cloth(switched(0.25, 0.3, 1.0)), 14, frame + 1, whole[frame - 1].checkpoint())
        assert rest[-1].positions[0].tobytes() == whole[-1].positions[0].tobytes()


@pytest.mark.parametrize("stiffness", [0.25, 4.0, lambda t: 4.0])
def test_the_stiffness_of_pins_is_that_of_a_spring(stiffness):
    """All vertices hang on pins of weight 1/2: they sink by g / (P w^2)."""
    fabric = core.Material(areal_density=0.3, stretch=500.0, shear=100.0, viscous_drag=10.0)
    positions, triangles = grid(4, 4)
    made = core.Cloth(core.ClothMesh(positions, triangles), fabric, pins=np.full(25, 0.5), pin_stiffness=stiffness)
    sunk = -run(made, 60)[-1].positions[0][:, 2]
    P = 4.0 if callable(stiffness) else stiffness
    assert sunk == pytest.approx(np.full(25, 9.81 / (P * (2.0 * np.pi * SOFT_PIN_FREQUENCY) ** 2)), rel=0.02)


@pytest.mark.parametrize("options, message", [
    ({"weights": lambda t: np.full(25, 1.0 - 9.0 * t)}, r"pin weight of vertex 0 is -.* at 0\.\d+ s"),
    ({"weights": lambda t: np.ones(3)}, r"pin weights at 0\.0000 s have shape \(3,\)"),
    ({"weights": lambda t, x: 1.0}, "pins is a function of"),
    ({"weights": None, "pin_stiffness": -1.0}, "pin_stiffness"),
    ({"weights": np.full(25, 0.5), "pin_stiffness": lambda t: 1.0 - 9.0 * t}, r"pin_stiffness is -.* at 0\.\d+ s")])
def test_what_is_no_weight_is_refused(options, message):
    with pytest.raises(core.errors.PinError, match=message):
        run(cloth(**options), 6)

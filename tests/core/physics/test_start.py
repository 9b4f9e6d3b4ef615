# SPDX-License-Identifier: GPL-3.0-or-later
"""The first step of multistep integrators: cloth starts with its actual acceleration, not with that of gravity."""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, sheet

HANGING = core.Material(areal_density=0.2, stretch=300.0, shear=100.0, bend=1e-4)


def end(scene, h, steps, integrator="bdf2"):
    solver = core.Solver(frame_rate=1.0 / h, steps_per_frame=1, integrator=integrator, adaptive=False, tolerance=1e-11)
    *_, last = core.simulate(scene, solver, range(steps + 1))
    return last


def assert_second_order(error_of):
    """Assert that error_of(steps) falls to a quarter with twice the steps."""
    errors = np.array([error_of(steps) for steps in (40, 80, 160)])
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.15)


@cases("h", [1 / 24, 1 / 100])
def test_a_sheet_that_starts_at_its_equilibrium_stays_there(h):
    pins = {0: None, 6: None}
    cloth = core.Cloth(sheet((6, 6), (0.5, 0.5)), HANGING, pins=pins)
    exactly = core.Solver(frame_rate=1.0, steps_per_frame=1, newton_iterations="converge", max_newton_iterations=200,
                          tolerance=1e-9, adaptive=False, self_collision=False)
    *_, hung = core.simulate(core.Scene([cloth]), exactly, range(13))
    cloth = core.Cloth(cloth.mesh, HANGING, pins=pins, positions=hung.positions[0])
    for steps in (1, 3):
        frame = end(core.Scene([cloth]), h, steps)
        assert np.abs(frame.velocities[0]).max() < 1e-6
        assert np.abs(frame.positions[0] - hung.positions[0]).max() < 1e-7


def test_a_stretched_spring_that_is_let_go_swings_to_second_order():
    length, tension, mass, width = 0.3, 4.0, 0.1, 0.01
    fabric = core.Material(areal_density=mass / (0.5 * width * length), stretch=tension / width, shear=0.0,
                           thread_width=width)
    mesh = core.ClothMesh([[0.0, 0.0, 0.0], [length, 0.0, 0.0]], edges=[[0, 1]])
    cloth = core.Cloth(mesh, fabric, "rope", pins={0: None}, positions=[[0.0, 0.0, 0.0], [1.1 * length, 0.0, 0.0]])
    scene, omega, t = core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), np.sqrt(tension / length / mass), 0.2

    def error(steps):
        x = end(scene, t / steps, steps).positions[0][1, 0]
        return abs(x / length - (1.0 + 0.1 * np.cos(omega * t)))

    assert_second_order(error)


def test_a_sheet_takes_on_the_speed_of_the_wind_to_second_order():
    density, drag, wind, t = 0.15, 0.7, 5.0, 0.2
    fabric = core.Material(areal_density=density, stretch=50.0, shear=20.0, air_drag=drag)
    scene = core.Scene([core.Cloth(sheet((2, 2), (0.3, 0.3)), fabric)], gravity=(0.0, 0.0, 0.0), wind=(0.0, 0.0, wind))

    def error(steps):
        v = end(scene, t / steps, steps).velocities[0][:, 2].mean()
        return abs(v / (wind * (1.0 - np.exp(-drag * t / density))) - 1.0)

    assert_second_order(error)


@pytest.mark.parametrize("integrator", ["bdf2", "verlet"])
def test_a_particle_is_born_into_the_air_that_slows_it(integrator):
    density, drag, born, t = 0.2, 1.0, 0.1, 0.2
    fabric = core.Material(areal_density=density, stretch=50.0, shear=20.0, viscous_drag=drag)
    v0, rate = np.array([6.0, 0.0, 2.0]), drag / density
    cloth = core.Cloth(core.ClothMesh(np.zeros((1, 3)), points=True), fabric, model="particles", velocities=v0[None],
                       births=[born])
    limit = np.array([0.0, 0.0, -GRAVITY / rate])
    exact = limit * t + (v0 - limit) * (1.0 - np.exp(-rate * t)) / rate

    def error(steps):
        h = t / steps
        return np.abs(end(core.Scene([cloth]), h, steps + steps // 2, integrator).positions[0][0] - exact).max()

    assert_second_order(error)

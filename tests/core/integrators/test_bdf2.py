# SPDX-License-Identifier: GPL-3.0-or-later
"""The second backward differentiation formula: of second order, as published, and implicit Euler where it must be."""

import numpy as np
import pytest

import core
from core.integrators import bdf2, implicit_euler
from core.integrators.multistep_start import BLEND
from core.integrators.step_context import StepContext
from core.model.particle_system import ParticleSystem
from tests.core.shapes import grid

FABRIC = core.Material(areal_density=0.2, stretch=300.0, shear=60.0, bend=1e-4)


def sheet(**options):
    mesh = core.ClothMesh(*grid(5, 5))
    return core.Cloth(mesh, FABRIC, pins={0: None, 5: None}, **options)


def end(steps, integrator, seconds=0.25):
    solver = core.Solver(integrator=integrator, steps_per_frame=steps, frame_rate=1.0 / seconds, tolerance=1e-10,
                         newton_iterations="converge", adaptive=False)
    *_, last = core.simulate(core.Scene([sheet()]), solver, range(2))
    return last.positions[0]


@pytest.mark.once
def test_the_error_falls_with_the_square_of_the_step():
    exact = end(1600, "bdf2")
    coarse, fine = (np.abs(end(steps, "bdf2") - exact).max() for steps in (50, 100))
    assert 3.2 < coarse / fine < 4.8
    assert fine < 0.1 * np.abs(end(100, "implicit_euler") - exact).max()


def test_a_step_solves_the_published_equations():
    h, system = 0.01, ParticleSystem(core.Scene([sheet()]))
    settings = core.Solver(integrator="bdf2", newton_iterations="converge", tolerance=1e-10)
    first = bdf2.step(system, system.initial_state(), h, StepContext.at(system, system.initial_state(), settings)).state
    second = bdf2.step(system, first, h, StepContext.at(system, first, settings)).state
    start = system.initial_state()
    np.testing.assert_allclose(second.x, (4 * first.x - start.x) / 3 + 2 / 3 * h * second.v, rtol=0, atol=1e-12)
    impulse = system.mass[:, None] * (second.v - (4 * first.v - start.v) / 3)
    residual = impulse - 2 / 3 * h * system.elastic(second.time).force(second.x)
    free = np.setdiff1d(np.arange(len(residual)), [0, 5])
    assert np.abs(residual[free]).max() < 1e-8 * np.abs(impulse).max()
    assert second.time == pytest.approx(2 * h)


def test_the_third_step_blends_the_second_and_the_third_formula():
    h, system = 0.01, ParticleSystem(core.Scene([sheet()]))
    settings = core.Solver(integrator="bdf2", newton_iterations="converge", tolerance=1e-10)
    states = [system.initial_state()]
    for _ in range(3):
        states.append(bdf2.step(system, states[-1], h, StepContext.at(system, states[-1], settings)).state)
    x, v = ([getattr(state, name) for state in states[::-1]] for name in "xv")
    share = BLEND

    def rate(f):
        second = 1.5 * f[0] - 2.0 * f[1] + 0.5 * f[2]
        third = 11.0 / 6.0 * f[0] - 3.0 * f[1] + 1.5 * f[2] - f[3] / 3.0
        return ((1.0 - share) * second + share * third) / h

    free = np.setdiff1d(np.arange(system.vertex_count), [0, 5])
    np.testing.assert_allclose(rate(x), v[0], rtol=0, atol=1e-10)
    impulse = (system.mass[:, None] * rate(v))[free]
    residual = impulse - system.elastic(states[-1].time).force(x[0])[free]
    assert np.abs(residual).max() < 1e-8 * np.abs(impulse).max()


def test_no_root_of_the_blend_grows_for_any_step():
    share = BLEND
    weights = np.array([1.5 + share / 3.0, -2.0 - share, 0.5 + share, -share / 3.0])
    for omega in np.geomspace(1e-3, 1e3, 400):                         # of an undamped vibration, over the step
        assert np.abs(np.roots(weights - [1j * omega, 0.0, 0.0, 0.0])).max() < 1.0 + 1e-12


def test_cloth_that_is_let_go_falls_as_galilei_says_from_the_first_step_on():
    cloth = core.Cloth(core.ClothMesh(*grid(5, 5)), FABRIC, velocities=np.tile([0.3, 0.0, 1.0], (36, 1)))
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-10)
    for frame in core.simulate(core.Scene([cloth]), solver, range(5)):
        t = frame.index / 24.0
        np.testing.assert_allclose(frame.positions[0] - cloth.positions, np.tile(
            [0.3 * t, 0.0, t - 0.5 * 9.81 * t * t], (36, 1)), rtol=0, atol=1e-9)


def test_a_step_of_another_size_is_implicit_euler():
    system = ParticleSystem(core.Scene([sheet()]))
    settings = core.Solver(integrator="bdf2")
    start = system.initial_state()
    state = bdf2.step(system, start, 0.015, StepContext.at(system, start, settings)).state
    for h in (0.01, 0.02, 0.005):
        found = bdf2.step(system, state, h, StepContext.at(system, state, settings)).state
        wanted = implicit_euler.step(system, state, h, StepContext.at(system, state, settings),
                                     system.predictor.averaged(state.v)).state
        np.testing.assert_allclose(found.x, wanted.x, rtol=0, atol=1e-9)
        state = found


def test_cloth_falls_onto_a_floor_and_stays_on_top():
    x = np.array([[-3.0, -3, -0.3], [3, -3, -0.3], [3, 3, -0.3], [-3, 3, -0.3]])
    floor = core.Collider(x, [[0, 1, 2], [0, 2, 3]])
    cloth = core.Cloth(core.ClothMesh(*grid(5, 5)), FABRIC)
    for frame in core.simulate(core.Scene([cloth], [floor]), core.Solver(integrator="bdf2"), range(1, 25)):
        assert frame.positions[0][:, 2].min() > -0.3
        assert frame.certificate.crossings == 0

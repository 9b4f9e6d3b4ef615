# SPDX-License-Identifier: GPL-3.0-or-later
"""Smoothed velocities, and the linearisation where smooth motion would end."""

import numpy as np
import pytest

import core
from core.integrators import implicit_euler
from core.integrators.step_context import StepContext
from core.kernels import using
from core.kernels.backend import why_not
from core.model.particle_system import ParticleSystem
from core.model.velocity_predictor import SMOOTHING_SWEEPS, VelocitySmoothing
from core.state import State, Touch
from tests.cases import cases
from tests.core.shapes import grid

BACKENDS = ["numpy", pytest.param("numba", marks=pytest.mark.skipif(bool(why_not("numba")), reason="no Numba"))]
RING = np.column_stack([np.arange(12), np.roll(np.arange(12), -1)])


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_all_do_stays_and_what_neighbours_do_against_each_other_goes(backend):
    with using(backend):
        smooth = VelocitySmoothing(RING, 12)
        np.testing.assert_allclose(smooth(np.full((12, 3), 3.0)), 3.0, rtol=1e-15)
        against = np.tile([[1.0], [-1.0]], (6, 3))
        np.testing.assert_allclose(smooth(against), 0.0, atol=1e-15)


def test_a_wave_is_damped_by_the_squared_cosine_of_half_its_phase():
    wave = np.exp(2j * np.pi * np.arange(12) / 12)
    v = np.column_stack([wave.real, wave.imag, wave.real])
    np.testing.assert_allclose(VelocitySmoothing(RING, 12)(v), v * np.cos(np.pi / 12) ** (2 * SMOOTHING_SWEEPS),
                               atol=1e-14)


def test_a_vertex_without_neighbours_keeps_its_velocity():
    v = np.arange(9.0).reshape(3, 3)
    np.testing.assert_array_equal(VelocitySmoothing(np.array([[0, 2]]), 3)(v)[1], v[1])


def spinning(rate, h=0.02):
    """A sheet that spins about its middle at `rate` [1/s], and its step by 001 and from where it is expected."""
    x, triangles = grid(6, 6)
    system = ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(x, triangles), core.Material(
        areal_density=0.2, stretch=2000.0, shear=400.0, bend=1e-5))], gravity=(0.0, 0.0, 0.0)))
    arm = system.initial_state().x - [0.5, 0.5, 0.0]
    state = State(system.initial_state().x, rate * np.cross([0.0, 0.0, 1.0], arm), 0.0, Touch.none(len(arm)))

    def strain(**where):
        context = StepContext.at(system, state, core.Solver(tolerance=1e-8, **where))
        found = implicit_euler.step(system, state, h, context, None if where else system.smoothing(state.v)).state
        return np.linalg.norm(found.x[system.edges[:, 1]] - found.x[system.edges[:, 0]], axis=1) \
            / system.rest_lengths - 1.0

    return np.abs(strain(newton_iterations=1)).max(), np.abs(strain()).max()


@cases("rate", [2.0, 5.0, 10.0])
def test_a_sheet_that_turns_is_not_taken_for_one_that_stretches(rate):
    from_start, expected = spinning(rate)
    assert expected < 0.5 * from_start

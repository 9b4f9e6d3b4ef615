# SPDX-License-Identifier: GPL-3.0-or-later
"""The predicted end of a step: rigid motion exactly, borders included, and no vibration."""

import numpy as np
import pytest

import core
from core.integrators import implicit_euler
from core.integrators.multistep_start import ROTATION_EXCESS
from core.integrators.step_context import StepContext
from core.kernels import using
from core.kernels.backend import why_not
from core.model.particle_system import ParticleSystem
from core.model.velocity_predictor import MotionPredictor
from core.state import State, Touch
from tests.cases import cases
from tests.core.shapes import grid

BACKENDS = ["numpy", pytest.param("numba", marks=pytest.mark.skipif(bool(why_not("numba")), reason="no Numba"))]
EXCESS_RATIO = 1.0 + ROTATION_EXCESS * 0.3 ** 2


def predictor_of(edges, count):
    return MotionPredictor(edges, count, np.zeros(count, dtype=bool))


def crumpled(seed=1):
    """A sheet that is not flat: positions (36, 3) and edges."""
    x, triangles = grid(5, 5)
    mesh = core.ClothMesh(x, triangles)
    return x + 0.05 * np.random.default_rng(seed).normal(size=x.shape), mesh.edges


def turned(x, axis, angle, middle):
    """Rotate x (V, 3) by `angle` [rad] about an axis through `middle`."""
    k = np.asarray(axis) / np.linalg.norm(axis)
    y = x - middle
    return middle + np.cos(angle) * y + np.sin(angle) * np.cross(k, y) + (1 - np.cos(angle)) * np.outer(y @ k, k)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rotation_about_any_axis_is_found_at_every_vertex(backend):
    x, edges = crumpled()
    omega = np.array([1.0, -2.0, 2.0])                                                   # 3 rad/s
    with using(backend):
        found = predictor_of(edges, len(x)).rotation(x, np.cross(omega, x - 5.0) + [0.3, 0.0, 9.0], 0.1,
                                                           ROTATION_EXCESS)
    np.testing.assert_allclose(found * EXCESS_RATIO, np.tile(0.1 * omega, (len(x), 1)), atol=2e-5)


@pytest.mark.parametrize("backend", BACKENDS)
def test_rigid_motion_is_predicted_without_any_strain(backend):
    x, edges = crumpled()
    with using(backend):
        predictor = predictor_of(edges, len(x))
        middle, h = x.mean(axis=0), 0.1
        omega = np.array([2.0, 1.0, -2.0])
        rotation = np.tile(h * omega, (len(x), 1))
        v = np.tile([0.2, 0.0, 0.0], (len(x), 1)) + np.cross(omega, x - middle)
        end = predictor.end(x, v, None, h, rotation)
        length = [np.linalg.norm(p[edges[:, 1]] - p[edges[:, 0]], axis=1) for p in (x, end)]
        # patches move along straight lines here, so that their middles are h omega / 2 squared further out
        np.testing.assert_allclose(length[1], length[0], rtol=0.06)
        exact = turned(x, omega, 0.3, middle) + [0.02, 0.0, 0.0]
        gain = (np.cross(omega, np.cross(omega, x - middle))) * h
        assert np.abs(predictor.end(x, v, gain, h, rotation) - exact).max() < 0.01


def test_what_neighbours_do_against_each_other_is_left_out():
    ring = np.column_stack([np.arange(12), np.roll(np.arange(12), -1)])
    angle = 2 * np.pi * np.arange(12) / 12
    x = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    against = np.tile([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], (6, 1))
    predictor = predictor_of(ring, 12)
    np.testing.assert_allclose(predictor.end(x, against, None, 0.1, np.zeros((12, 3))), x, atol=1e-15)


def test_a_vertex_without_neighbours_flies_on():
    x, v = np.arange(9.0).reshape(3, 3), np.ones((3, 3))
    predictor = predictor_of(np.array([[0, 2]]), 3)
    end = predictor.end(x, v, None, 0.1, predictor.rotation(x, v, 0.1, 0.0))
    np.testing.assert_allclose(end[1], x[1] + 0.1, rtol=1e-12)


def spinning(rate, h=0.02):
    """Largest strain of a sheet that spins about its middle at `rate` [1/s], after a step of 001 and a turned one."""
    x, triangles = grid(6, 6)
    system = ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(x, triangles), core.Material(
        areal_density=0.2, stretch=2000.0, shear=400.0, bend=1e-5))], gravity=(0.0, 0.0, 0.0)))
    arm = system.initial_state().x - [0.5, 0.5, 0.0]
    state = State(system.initial_state().x, rate * np.cross([0.0, 0.0, 1.0], arm), 0.0, Touch.none(len(arm)))

    def strain(**where):
        context = StepContext.at(system, state, core.Solver(tolerance=1e-8, **where))
        rotation = system.predictor.rotation(state.x, state.v, h, 0.0)
        there = (system.predictor.end(state.x, state.v, None, h, rotation) - state.x) / h
        found = implicit_euler.step(system, state, h, context, None if where else there, unhindered=True).state
        return np.linalg.norm(found.x[system.edges[:, 1]] - found.x[system.edges[:, 0]], axis=1) \
            / system.rest_lengths - 1.0

    return np.abs(strain(newton_iterations=1)).max(), np.abs(strain()).max()


@cases("rate", [2.0, 5.0, 10.0])
def test_a_sheet_that_turns_is_not_taken_for_one_that_stretches(rate):
    from_start, turned_start = spinning(rate)
    assert turned_start < 0.2 * from_start

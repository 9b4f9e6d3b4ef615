# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinned particles are exactly where they are told to be, and attached ones along the directions they are held in."""

import numpy as np
import pytest

import core
from core.integrators.registry import find as find_integrator
from core.integrators.step_context import StepContext
from core.model.particle_system import ParticleSystem
from tests.cases import cases
from tests.core.shapes import grid, random_rotation

FABRIC = core.Material(areal_density=0.2, stretch=(300.0, 300.0), shear=50.0, bend=(1e-4, 1e-4), damping=0.01)
RATE = 24.0


def sheet(cells=4):
    return core.ClothMesh(*grid(cells, cells))


def swing(start):
    """A path that begins at `start` (3,) [m] and turns, rises and speeds up."""
    def path(time):
        return start + 0.3 * np.array([np.sin(5.0 * time), 1.0 - np.cos(3.0 * time), time ** 2])
    return path


def run(cloth, frames=12, **settings):
    solver = core.Solver(frame_rate=RATE, **settings)
    return list(core.simulate(core.Scene([cloth]), solver, range(1, frames + 1)))


def substeps(cloth, count, h, **settings):
    """States after each of `count` steps of size h [s]."""
    system = ParticleSystem(core.Scene([cloth]))
    step, state, states = find_integrator("implicit_euler"), system.initial_state(), []
    for _ in range(count):
        state = step(system, state, h, StepContext.at(system, state, core.Solver(**settings))).state
        states.append(state)
    return states


# ---------------------------------------------------------------------- exact pins


@pytest.mark.parametrize("iterations", [1, 3, "converge"])
@pytest.mark.parametrize("steps", [1, 5])
def test_pins_are_exactly_on_their_trajectories_at_every_frame(iterations, steps):
    mesh = sheet()
    paths = {0: swing(mesh.positions[0]), 4: swing(mesh.positions[4])}
    cloth = core.Cloth(mesh, FABRIC, pins={**paths, 24: None})
    for frame in run(cloth, newton_iterations=iterations, steps_per_frame=steps):
        for vertex, path in paths.items():
            np.testing.assert_allclose(frame.positions[0][vertex], path(frame.time), rtol=0.0, atol=1e-14)
        np.testing.assert_array_equal(frame.positions[0][24], mesh.positions[24])


def test_pins_are_exactly_on_their_trajectories_at_every_substep():
    mesh, h = sheet(), 1.0 / 97.3
    path = swing(mesh.positions[7] + 1.0 / 3.0)
    before = mesh.positions[7]
    for state in substeps(core.Cloth(mesh, FABRIC, pins={7: path, 24: None}), 20, h):
        np.testing.assert_array_equal(state.x[7], path(state.time))
        np.testing.assert_array_equal(state.x[24], mesh.positions[24])
        np.testing.assert_allclose(state.v[7], (state.x[7] - before) / h, atol=1e-11)
        np.testing.assert_allclose(state.v[24], 0.0, atol=1e-11)
        before = state.x[7]


def test_a_pin_that_comes_close_to_the_origin_from_afar_is_there_to_the_last_bit():
    mesh = sheet()
    near = np.array([1e-7, -3e-8, 2e-9]) / 3.0
    for state in substeps(core.Cloth(mesh, FABRIC, pins={24: lambda t: near}), 3, 1.0 / 97.3):
        np.testing.assert_array_equal(state.x[24], near)


def test_weights_of_one_follow_their_targets_exactly_and_weights_of_zero_are_free():
    mesh = sheet()
    weights = np.zeros(25)
    weights[:5] = 1.0
    turn = random_rotation(np.random.default_rng(0))

    def targets(time):
        return mesh.positions @ (np.eye(3) + time * (turn - np.eye(3)))

    for frame in run(core.Cloth(mesh, FABRIC, pins=weights, pin_targets=targets)):
        np.testing.assert_allclose(frame.positions[0][:5], targets(frame.time)[:5], rtol=0.0, atol=1e-14)
    assert np.abs(frame.positions[0][5:] - targets(frame.time)[5:]).min() > 1e-6


def test_a_pin_does_not_let_go_however_hard_it_is_pulled():
    mesh = sheet()
    heavy = core.Material(areal_density=500.0, stretch=(10.0, 10.0), shear=1.0)
    frames = run(core.Cloth(mesh, heavy, pins={0: None}), frames=14)
    assert frames[-1].certificate.stretch_max > 2.0
    np.testing.assert_array_equal(frames[-1].positions[0][0], mesh.positions[0])


def test_a_cloth_pinned_everywhere_is_a_rigid_prop():
    mesh = sheet(2)
    frames = run(core.Cloth(mesh, FABRIC, pins=dict.fromkeys(range(9))), frames=3)
    np.testing.assert_array_equal(frames[-1].positions[0], mesh.positions)
    assert frames[-1].certificate.converged


def test_a_pin_that_starts_away_from_its_trajectory_is_there_after_one_step():
    mesh = sheet()
    offset = np.array([0.0, 0.0, 0.05])
    frames = run(core.Cloth(mesh, FABRIC, pins={0: lambda t: mesh.positions[0] + offset}), frames=2)
    np.testing.assert_array_equal(frames[0].positions[0][0], mesh.positions[0])
    np.testing.assert_allclose(frames[1].positions[0][0], mesh.positions[0] + offset, rtol=0.0, atol=1e-15)


# ---------------------------------------------------------------------- soft pins


def sag(cells, weight):
    """How far a sheet held by soft pins everywhere sinks [m]."""
    mesh = sheet(cells)
    cloth = core.Cloth(mesh, FABRIC, pins=np.full(len(mesh.positions), weight))
    last = run(cloth, frames=72, steps_per_frame=1)[-1]
    assert np.ptp(last.positions[0][:, 2]) < 1e-3, "it sinks as one"
    return -last.positions[0][:, 2].mean()


@cases("weight", [0.2, 0.5, 0.8])
def test_soft_pins_pull_with_five_hertz_times_their_odds_whatever_the_resolution(weight):
    wanted = 9.81 / ((2.0 * np.pi * 5.0) ** 2 * weight / (1.0 - weight))
    for cells in (1, 6):
        assert sag(cells, weight) == pytest.approx(wanted, rel=2e-3)


def test_a_vertex_of_weight_zero_has_no_spring_and_one_of_weight_one_is_held():
    weights = np.linspace(0.0, 1.0, 5).repeat(5)
    for given in (weights, np.zeros(25), np.ones(25)):
        pins = core.Cloth(sheet(), FABRIC, pins=given).pins
        np.testing.assert_array_equal(pins.held, np.flatnonzero(given == 1.0))
        np.testing.assert_array_equal(pins.pulled, np.flatnonzero((given != 0.0) & (given != 1.0)))


def test_a_weight_that_is_one_but_for_rounding_holds_like_one():
    mesh = sheet()
    weights = np.zeros(25)
    weights[:5] = np.nextafter(np.float32(1.0), np.float32(0.0))
    for frame in run(core.Cloth(mesh, FABRIC, pins=weights)):
        assert frame.certificate.converged
    np.testing.assert_allclose(frame.positions[0][:5], mesh.positions[:5], atol=1e-6)


def test_a_soft_pin_oscillates_at_its_frequency():
    mesh = sheet(2)
    start = mesh.positions + [0.0, 0.0, 0.01]
    cloth = core.Cloth(mesh, FABRIC, pins=np.full(9, 0.5), positions=start, pin_targets=lambda t: mesh.positions)
    scene = core.Scene([cloth], gravity=(0.0, 0.0, 0.0))
    heights = [f.positions[0][4, 2] for f in core.simulate(scene, core.Solver(frame_rate=2000.0, steps_per_frame=1,
                                                                              tolerance=1e-8), range(201))]
    assert np.flatnonzero(np.diff(np.sign(heights)))[0] / 2000.0 == pytest.approx(1.0 / 20.0, rel=0.02)


def test_soft_pins_follow_moving_targets():
    mesh = sheet(2)
    cloth = core.Cloth(mesh, FABRIC, pins=np.full(9, 0.95), pin_targets=lambda t: mesh.positions + [t, 0.0, 0.0])
    last = run(cloth, frames=49)[-1]
    assert last.positions[0][:, 0].mean() - 0.5 == pytest.approx(2.0, abs=0.02)
    np.testing.assert_allclose(last.velocities[0][:, 0], 1.0, atol=0.05)


# ---------------------------------------------------------------------- attachments


@cases("iterations", [1, "converge"])
@cases("count", [1, 2, 3])
@cases("moving", [False, True])
def test_an_attached_vertex_is_on_target_along_its_directions_and_free_across(count, moving, iterations):
    mesh = sheet()
    rng = np.random.default_rng(count)
    directions = rng.normal(size=(count, 3)) * rng.uniform(0.1, 10.0, size=(count, 1))
    start = mesh.positions[12]
    path = swing(start) if moving else None
    cloth = core.Cloth(mesh, FABRIC, attachments=[core.Attachment(12, directions, path)])
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    h = 1.0 / 48.0
    states = substeps(cloth, 15, h, newton_iterations=iterations)
    for state in states:
        target = path(state.time) if moving else start
        np.testing.assert_allclose(unit @ (state.x[12] - target), 0.0, atol=1e-12)
    across = np.linalg.svd(unit)[2][count:]
    if count < 3:
        assert np.abs(across @ (states[-1].x[12] - start)).max() > 1e-3, "it falls where it is not held"


def test_several_attachments_of_one_vertex_add_up():
    mesh = sheet()
    path = swing(mesh.positions[12])
    attachments = [core.Attachment(12, [[1.0, 0.0, 0.0]]), core.Attachment(12, [[0.0, 0.0, 2.0]], path)]
    cloth = core.Cloth(mesh, FABRIC, attachments=attachments)
    for state in substeps(cloth, 10, 1.0 / 48.0):
        np.testing.assert_allclose(state.x[12, 0], mesh.positions[12, 0], atol=1e-13)
        np.testing.assert_allclose(state.x[12, 2], path(state.time)[2], atol=1e-13)


def test_a_sheet_attached_to_a_plane_slides_in_it():
    """Held along the slope's normal everywhere, a sheet slides down it with g sin(angle)."""
    mesh, angle, h = sheet(2), np.radians(30.0), 1.0 / 48.0
    normal, down = np.array([np.sin(angle), 0.0, np.cos(angle)]), np.array([np.cos(angle), 0.0, -np.sin(angle)])
    tilted = mesh.positions - np.outer(mesh.positions @ normal, normal)
    cloth = core.Cloth(core.ClothMesh(tilted, mesh.triangles), FABRIC,
                       attachments=[core.Attachment(i, [normal]) for i in range(9)])
    states = substeps(cloth, 10, h, tolerance=1e-10)
    wanted = 9.81 * np.sin(angle) * 10 * h
    np.testing.assert_allclose(states[-1].v @ down, wanted, rtol=1e-8)
    np.testing.assert_allclose(states[-1].v @ normal, 0.0, atol=1e-12)


def test_a_constant_point_as_target_pulls_the_vertex_there_along_its_directions():
    mesh = sheet()
    cloth = core.Cloth(mesh, FABRIC, attachments=[core.Attachment(0, [[0, 0, 1]], (9.0, 9.0, 0.02))])
    state = substeps(cloth, 1, 1.0 / 48.0)[0]
    assert state.x[0, 2] == pytest.approx(0.02, abs=1e-14)
    assert abs(state.x[0, 0]) < 0.1

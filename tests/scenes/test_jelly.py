# SPDX-License-Identifier: GPL-3.0-or-later
"""Jelly in whole simulations: how a hanging block stretches, and how jelly falls, lands, piles up and comes to rest."""

import numpy as np
import pytest

import core
from core.integrators import implicit_euler
from core.integrators.step_context import StepContext
from core.kernels import backend as kernels
from core.model.particle_system import ParticleSystem
from tests.core.shapes import ball, block

FABRIC = core.Material(areal_density=0.2, stretch=1e3, shear=1e2, damping=0.02, friction=0.5)
FLOOR = (np.array([[-2.0, -2.0, 0.0], [2.0, -2.0, 0.0], [2.0, 2.0, 0.0], [-2.0, 2.0, 0.0]]),
         np.array([[0, 1, 2], [0, 2, 3]]))
each_structure = pytest.mark.parametrize("structure", ["tetrahedra", "lattice"])


def jelly(at_rest, triangles, structure, **options):
    options = {"young_modulus": 1e5, "density": 1000.0, "cells": 5} | options
    return core.Cloth(core.ClothMesh(at_rest, triangles), FABRIC, model="jelly", structure=structure, **options)


def available(backend):
    if kernels.why_not(backend):
        pytest.skip(kernels.why_not(backend))
    return backend


# ---------------------------------------------------------------------- how stiff


def hanging(structure, cells, nu):
    """Return the elongation [m] by its own weight of a hanging block, 0.4 m high with E = 400 kPa."""
    positions, faces = block((0.1, 0.1, 0.4), (4, 4, 16))
    fabric = core.Material(areal_density=0.2, stretch=1e3, shear=1e2, damping=0.05)
    top = [core.Attachment(int(i), [[0.0, 0.0, 1.0]]) for i in np.flatnonzero(positions[:, 2] == 0.4)]
    axis = int(np.flatnonzero((positions == [0.05, 0.05, 0.4]).all(axis=1))[0])
    cloth = core.Cloth(core.ClothMesh(positions, faces=faces), fabric, model="jelly", pins={axis: None},
                       attachments=[a for a in top if a.vertex != axis], structure=structure, young_modulus=4e5,
                       poisson_ratio=nu, cells=cells)
    solver = core.Solver(tolerance=1e-5, self_collision=False, steps_per_frame=1, backend="numpy")
    *_, last = core.simulate(core.Scene([cloth]), solver, range(1, 25))
    assert np.abs(last.velocities[0]).max() < 1e-5
    return -last.positions[0][positions[:, 2] == 0.0, 2].mean()


@pytest.mark.parametrize(("structure", "nu", "cells", "error"), [
    ("tetrahedra", 0.0, 8, 0.01), ("tetrahedra", 0.3, 8, 0.01), ("lattice", 0.25, 8, 0.01),
    pytest.param("tetrahedra", 0.3, 16, 0.01, marks=pytest.mark.slow),
    pytest.param("lattice", 0.25, 16, 0.01, marks=pytest.mark.slow)])
def test_a_hanging_block_stretches_by_its_weight_over_its_stiffness(structure, nu, cells, error):
    """The elongation is rho g L^2 / (2 E): each cross-section carries the weight below it. The block is held along its
    length only, and may become narrower.
    """
    wanted = 1000.0 * 9.81 * 0.4 ** 2 / (2.0 * 4e5)
    assert hanging(structure, cells, nu) == pytest.approx(wanted, rel=error)


# ---------------------------------------------------------------------- free motion


@each_structure
def test_it_falls_freely(structure):
    positions, triangles = ball(0.2, 2)
    velocities = np.tile([1.0, -2.0, 3.0], (len(positions), 1))
    cloth = jelly(positions, triangles, structure, velocities=velocities)
    for frame in core.simulate(core.Scene([cloth]), core.Solver(integrator="bdf2"), range(1, 25)):
        t = frame.time
        wanted = positions + t * np.array([1.0, -2.0, 3.0]) + 0.5 * t * t * np.array([0.0, 0.0, -9.81])
        np.testing.assert_allclose(frame.positions[0], wanted, atol=1e-11)


@each_structure
def test_at_rest_without_weight_it_does_not_move(structure):
    positions, triangles = ball(0.2, 2)
    *_, last = core.simulate(core.Scene([jelly(positions, triangles, structure)], gravity=(0, 0, 0)),
                             core.Solver(), range(1, 13))
    np.testing.assert_allclose(last.positions[0], positions, atol=1e-12)


@each_structure
def test_a_struck_block_wobbles_and_keeps_its_momentum(structure):
    positions, triangles = ball(0.2, 2)
    velocities = np.where(positions[:, 2:] > 0.1, [0.0, 2.0, 0.0], 0.0)
    body = jelly(positions, triangles, structure, velocities=velocities, young_modulus=3e3)
    system = ParticleSystem(core.Scene([body], gravity=(0, 0, 0)))
    state, m = system.initial_state(), system.mass[:, None]
    wanted = (m * state.v).sum(axis=0)
    for _ in range(20):
        state = implicit_euler.step(system, state, 1.0 / 48.0, StepContext.at(system, state, core.Solver())).state
    assert np.abs((m * state.v).sum(axis=0) - wanted).max() <= 1e-10 * np.abs(wanted).max()
    assert np.ptp(np.linalg.norm(state.x[:len(positions)] - state.x[:len(positions)].mean(axis=0), axis=1)) > 1e-3


@each_structure
def test_inner_nodes_start_turned_with_a_mesh_that_starts_turned(structure):
    positions, triangles = ball(0.2, 2)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    cloth = jelly(positions, triangles, structure, positions=positions @ turn.T + 1.0)
    *_, last = core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), core.Solver(), range(1, 5))
    np.testing.assert_allclose(last.positions[0], positions @ turn.T + 1.0, atol=1e-12)


# ---------------------------------------------------------------------- contact


@pytest.mark.parametrize(("solid_contact", "backend"), [("constraints", "numpy"), ("springs", "numba")])
@each_structure
def test_a_dropped_block_comes_to_rest_on_the_floor(structure, solid_contact, backend):
    """Compressed by its weight it is rho g L^2 / (2 E) = 2 mm lower, and its sides bulge."""
    positions, faces = block((0.2, 0.2, 0.2), (4, 4, 4))
    mesh = core.ClothMesh(positions + [0.0, 0.0, 0.1], faces=faces)
    cloth, triangles = jelly(mesh.positions, mesh.triangles, structure, cells=4), mesh.triangles
    solver = core.Solver(integrator="bdf2", tolerance=1e-2, steps_per_frame=1, solid_contact=solid_contact,
                         backend=available(backend))
    lowest = np.inf
    for frame in core.simulate(core.Scene([cloth], [core.Collider(*FLOOR)]), solver, range(1, 41)):
        (x,) = frame.positions
        assert core.audit([(x, triangles)], [FLOOR]).crossings == 0
        lowest = min(lowest, x[:, 2].min())
    assert lowest > 0.0
    assert np.ptp(x[:, 2]) == pytest.approx(0.2 - 1000.0 * 9.81 * 0.2 ** 2 / 2e5, abs=2e-3)
    assert np.abs(frame.velocities[0]).max() < 5e-3
    assert frame.certificate.stretch_max < 1.1


@each_structure
def test_a_dropped_block_is_compressed_more_when_it_lands_than_at_rest(structure):
    """At one step a frame the compression depends on rounding: positions that differ by 1e-9 decide it."""
    positions, faces = block((0.2, 0.2, 0.2), (4, 4, 4))
    mesh = core.ClothMesh(positions + [0.0, 0.0, 0.1], faces=faces)
    cloth = jelly(mesh.positions, mesh.triangles, structure, cells=4)
    solver = core.Solver(integrator="bdf2", tolerance=1e-2, steps_per_frame=4)
    frames = core.simulate(core.Scene([cloth], [core.Collider(*FLOOR)]), solver, range(1, 9))
    assert min(np.ptp(frame.positions[0][:, 2]) for frame in frames) < 0.1975


def test_two_jellies_pile_up_without_crossing():
    positions, triangles = ball(0.15, 1)
    first = jelly(positions + [0.0, 0.0, 0.19], triangles, "tetrahedra", name="first", cells=4)
    second = jelly(positions + [0.03, 0.0, 0.55], triangles, "lattice", name="second", cells=4)
    solver = core.Solver(integrator="bdf2", tolerance=1e-2, steps_per_frame=1, backend="numpy")
    nearest = np.inf
    for frame in core.simulate(core.Scene([first, second], [core.Collider(*FLOOR)]), solver, range(1, 17)):
        assert frame.certificate.crossings == 0
        nearest = min(nearest, frame.positions[1][:, 2].min() - frame.positions[0][:, 2].max())
    assert nearest < 0.02                                            # they are in contact
    assert min(x[:, 2].min() for x in frame.positions) > 0.0


def test_a_pinned_part_stays_and_a_soft_pin_pulls_with_the_mass_behind_it():
    positions, triangles = ball(0.2, 2)
    weights = np.where(positions[:, 2] > 0.15, 1.0, 0.0)
    held = jelly(positions, triangles, "tetrahedra", pins=weights)
    *_, last = core.simulate(core.Scene([held]), core.Solver(), range(1, 13))
    np.testing.assert_array_equal(last.positions[0][weights == 1.0], positions[weights == 1.0])
    assert last.positions[0][:, 2].min() < -0.2
    system = ParticleSystem(core.Scene([held]))
    assert system.carried[:len(positions)].sum() > 4.0 * system.mass[:len(positions)].sum()


# ---------------------------------------------------------------------- messy meshes


def test_two_balls_that_grow_into_each_other_are_one_body():
    positions, triangles = ball(0.2, 2)
    both = np.concatenate([positions - [0.1, 0.0, 0.0], positions + [0.1, 0.0123, 0.0071]])
    cloth = jelly(both + [0.0, 0.0, 1.0], np.concatenate([triangles, triangles + len(positions)]), "tetrahedra")
    system = ParticleSystem(core.Scene([cloth]))
    assert system.body.max() == 0
    lens = 4.0 / 3.0 * np.pi * 0.2 ** 3 * (1.0 + 0.5 * 1.5 - 0.5 ** 3 / 2.0)      # union, half a radius apart each
    assert system.mass.sum() == pytest.approx(1000.0 * lens, rel=0.05)
    *_, last = core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), core.Solver(), range(1, 7))
    assert last.certificate.crossings > 0                           # and contact does not separate them
    np.testing.assert_allclose(last.positions[0], cloth.positions, atol=1e-3)


def test_a_sheet_is_refused_with_a_way_out():
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    sheet = core.Cloth(core.ClothMesh(x, [[0, 1, 2], [0, 2, 3]], name="Sheet"), FABRIC, model="jelly")
    with pytest.raises(core.MeshError, match="Sheet: is open: edge .* Solidify"):
        next(core.simulate(core.Scene([sheet])))

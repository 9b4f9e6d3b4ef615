# SPDX-License-Identifier: GPL-3.0-or-later
"""Elements at the turned start of a step: stress, matrix and damping turn with them; rigid rotation is not damped."""

import numpy as np
import pytest

import core
from core.kernels import current, using
from core.kernels.backend import why_not
from core.model.field_forces import Step
from core.model.particle_system import ParticleSystem
from core.model.turned_start import TurnedStart
from tests.cases import cases
from tests.core.shapes import grid

BACKENDS = ["numpy", pytest.param("numba", marks=pytest.mark.skipif(bool(why_not("numba")), reason="no Numba"))]
FABRIC = core.Material(areal_density=0.2, stretch=(300.0, 200.0), shear=60.0, bend=1e-3, damping=0.02)
ANGLE = np.array([0.5, -0.3, 0.4])


def crumpled(model, **options):
    """A system of a sheet that is stretched and bent, and its positions."""
    x, triangles = grid(4, 4)
    system = ParticleSystem(core.Scene([core.Cloth(core.ClothMesh(x, triangles), FABRIC, model=model)],
                                       gravity=(0.0, 0.0, 0.0)), **options)
    return system, x + 0.08 * np.random.default_rng(2).normal(size=x.shape)


def rotation():
    """Return the matrix of the rotation by ANGLE."""
    angle, k = np.linalg.norm(ANGLE), ANGLE / np.linalg.norm(ANGLE)
    S = np.array([[0, -k[2], k[1]], [k[2], 0, -k[0]], [-k[1], k[0], 0]])
    return np.eye(3) + np.sin(angle) * S + (1 - np.cos(angle)) * S @ S


@pytest.mark.parametrize("backend", BACKENDS)
@cases("model", ["baraff_witkin", "mass_spring", "projective"])
@cases("assembled", [True, False])
def test_a_turned_start_is_linearised_as_the_turned_sheet_is(backend, model, assembled):
    with using(backend):
        system, x = crumpled(model, assembled=assembled)
        R, elastic = rotation(), system.elastic(0.0)
        there = x @ R.T + [0.3, 0.0, 1.0]
        start = TurnedStart(x, 0.1, np.tile(ANGLE, (len(x), 1)))
        A, force = elastic.linearised(start, there, 0.01)
        B = elastic.stiffness(there, 0.01)
        wanted, u = elastic.force(there), np.random.default_rng(3).normal(size=x.shape)
        np.testing.assert_allclose(force, wanted, atol=1e-9 * np.abs(wanted).max())
        np.testing.assert_allclose(A.multiply(u), B.multiply(u), atol=1e-9 * np.abs(B.multiply(u)).max())


@pytest.mark.parametrize("backend", BACKENDS)
@cases("model", ["baraff_witkin", "mass_spring"])
def test_the_linear_force_is_that_at_the_start_less_stiffness_times_the_way(backend, model):
    with using(backend):
        system, x = crumpled(model)
        elastic = system.elastic(0.0)
        way = 0.01 * np.random.default_rng(4).normal(size=x.shape)
        _, force = elastic.linearised(TurnedStart(x, 0.1), x + way, 0.01)
        K = elastic.stiffness(x, 1.0)
        wanted = elastic.force(x) - K.multiply(way)
        np.testing.assert_allclose(force, wanted, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("backend", BACKENDS)
@cases("model", ["baraff_witkin", "mass_spring"])
def test_a_rigid_step_is_not_damped_and_another_one_is(backend, model):
    with using(backend):
        system, x = crumpled(model)
        h = 0.1
        v = np.zeros_like(x)
        start = TurnedStart(x, h, np.tile(ANGLE, (len(x), 1)))
        rate = system.rate_force(x, v, 0.0, Step(h, x, v, start))
        end = x @ rotation().T + [0.2, 0.1, 0.0]
        u = (end - x) / h
        rigid = np.abs(rate.push - rate.product(u)).max()
        plain = system.rate_force(x, v, 0.0, Step(h, x, v, TurnedStart(x, h, np.zeros_like(x))))
        assert rigid < 1e-9 * np.abs(plain.push - plain.product(u)).max()
        stretched = x + 0.1 * x
        f = rate.push - rate.product((end - x + (stretched - x) @ rotation().T) / h)
        assert np.sum(f * ((stretched - x) @ rotation().T)) < 0.0
        np.testing.assert_allclose(rate.damping(u), 0.0, atol=1e-9 * np.abs(plain.push).max() + 1e-12)


def spin_left(size, rate, **material):
    """Return the ratio of the angular momentum after one second of spin to that at the start [-].

    The sheet has size^2 vertices; the step is that of the panel.
    """
    x, triangles = grid(size - 1, size - 1)
    x = 0.3 * x
    mesh, middle = core.ClothMesh(x, triangles), x.mean(axis=0)
    fabric = core.Material(areal_density=0.15, stretch=(4000.0, 6300.0), shear=270.0, bend=1e-5, **material)
    cloth = core.Cloth(mesh, fabric, velocities=np.cross([0.0, 0.0, rate], x - middle))
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=0.01, self_collision=False)
    m = fabric.areal_density * mesh.vertex_areas

    def momentum(frame):
        at = frame.positions[0] - np.average(frame.positions[0], axis=0, weights=m)
        return np.linalg.norm(m @ np.cross(at, frame.velocities[0]))

    first, *_, last = core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), solver, range(25))
    return momentum(last) / momentum(first)


@cases("size", [6, 13])
@cases("damping", [0.0, 0.01])
def test_a_spinning_sheet_keeps_its_angular_momentum(size, damping):
    assert spin_left(size, 5.0, damping=damping) == pytest.approx(1.0, abs=0.05)
    assert spin_left(size, 9.0, damping=damping) == pytest.approx(1.0, abs=0.12)


def test_a_turn_of_kernels_is_the_rotation_matrix():
    for backend in ("numpy",) if why_not("numba") else ("numpy", "numba"):
        with using(backend):
            system, x = crumpled("baraff_witkin")
            family = system.elastic(0.0)._changing[0]
            turn = TurnedStart(x, 0.1, np.tile(ANGLE, (len(x), 1))).turn(family)
            F = current().element_families.columns(family[0].stencil, x, turn)
            G = current().element_families.columns(family[0].stencil, x, None)
            np.testing.assert_allclose(F, G @ rotation().T, atol=1e-12)

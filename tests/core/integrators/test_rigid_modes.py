# SPDX-License-Identifier: GPL-3.0-or-later
"""Solves that end early move and turn free bodies by their impulses and moments, sewn pieces as one body."""

import numpy as np
import pytest

import core
from core.description.topology import merged
from core.integrators.rigid_modes import RigidModes
from core.linear.constraint_filter import ConstraintFilter
from core.linear.products import Assembled
from core.model.particle_system import ParticleSystem
from demo.systems.garment import skirt

pytestmark = pytest.mark.usefixtures("backend")
GRAVITY = 9.81


def panels():
    """Two free panels whose seams close."""
    mesh, _ = skirt(8, 8, waist=0.18, hem=0.56, length=0.48, apart=0.3, height=0.2)
    fabric = core.Material.preset("cotton", air_drag=0.0, damping=0.02)
    return core.Cloth(mesh, fabric, sewing=True, sewing_time=0.4)


def test_a_correction_leaves_bodies_without_impulse_or_moment():
    system = ParticleSystem(core.Scene([panels()]))
    x, rng = system.initial_state().x, np.random.default_rng(3)
    A = system.elastic(0.1).stiffness(x, 1e-3)
    A.add_diagonal(system.mass)
    assert system.sewn.max() == 0 < system.body.max()
    rhs, w = rng.normal(size=(2, *x.shape))
    found = RigidModes(system.sewn, Assembled(A), x).balanced(rhs, w, ConstraintFilter(len(x)))
    left = rhs - A.multiply(found)
    scale = np.abs(A.multiply(found)).sum()
    assert np.abs(left.sum(axis=0)).max() < 1e-10 * scale
    assert np.abs(np.cross(x - x.mean(axis=0), left).sum(axis=0)).max() < 1e-10 * scale


@pytest.mark.parametrize("assembled", [True, False])
def test_what_a_matrix_makes_of_translations_is_its_product_with_them(assembled):
    class Beside:
        def add_product(self, x, total):
            total += 0.01 * x

    system = ParticleSystem(core.Scene([panels()]), assembled=assembled)
    x = system.initial_state().x
    A = system.elastic(0.1).stiffness(x + 0.01 * np.sin(40.0 * x), 1e-3)
    A.add_diagonal(system.mass)
    A.add_diagonal(np.random.default_rng(3).normal(size=(len(x), 3, 3)))
    A.beside = Beside()
    for axis, found in enumerate(A.translations()):
        np.testing.assert_array_equal(found, A.multiply(np.tile(np.eye(3)[axis], (len(x), 1))))


def test_panels_that_are_sewn_together_fall_as_one():
    cloth = panels()
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2, frame_rate=24, self_collision=False)
    *_, last = core.simulate(core.Scene([cloth]), solver, range(7))
    mass = cloth.material.areal_density * cloth.mesh.vertex_areas[:, None]
    mean = (mass * last.velocities[0]).sum(axis=0) / mass.sum()
    np.testing.assert_allclose(mean, [0.0, 0.0, -GRAVITY * last.time], atol=1e-6)


def test_pieces_are_merged_where_two_numberings_connect_them():
    first, second = np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3])
    assert merged(first, second).tolist() == [0, 0, 0, 1, 2]
    assert merged(first, first).tolist() == first.tolist()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles in whole simulations: parabolas, floors, balls, and two particles on a spring."""

import numpy as np
import pytest

import core
from core.contact.friction_modes import ELASTIC
from core.kernels import backend as kernels
from tests.cases import cases
from tests.core.shapes import ball

FABRIC = core.Material(areal_density=0.2, stretch=1e3, shear=1e2, friction=0.5)
G = np.array([0.0, 0.0, -9.81])
FLOOR = (np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [9.0, 9.0, 0.0], [-9.0, 9.0, 0.0]]),
         np.array([[0, 1, 2], [0, 2, 3]]))


def dust(x, v, **options):
    return core.Cloth(core.ClothMesh(x, points=True), FABRIC, model="particles", velocities=v, **options)


def available(backend):
    if kernels.why_not(backend):
        pytest.skip(kernels.why_not(backend))
    return backend


@cases("kind", core.emitters())
def test_free_particles_fly_on_parabolas(kind):
    x, v = core.emit(kind, 200)
    for frame in core.simulate(core.Scene([dust(x, v)]), core.Solver(integrator="bdf2"), range(1, 25)):
        t = frame.time
        np.testing.assert_allclose(frame.positions[0], x + t * v + 0.5 * t * t * G, atol=1e-11)
        np.testing.assert_allclose(frame.velocities[0], v + t * G, atol=1e-11)
    assert frame.certificate.stretch_max == 1.0


def test_a_particle_waits_until_it_is_emitted_and_then_flies_on_its_parabola():
    x, v = core.emit("fountain", 49)
    births = np.arange(49) / 48.0                                    # one per step
    scene = core.Scene([dust(x, v, births=births)])
    for frame in core.simulate(scene, core.Solver(integrator="bdf2"), range(1, 25)):
        t = np.maximum(frame.time - births, 0.0)[:, None]
        np.testing.assert_allclose(frame.positions[0], x + t * v + 0.5 * t * t * G, atol=1e-11)
        waits = births > frame.time + 1e-9
        assert not frame.velocities[0][waits].any()
        np.testing.assert_array_equal(frame.positions[0][waits], x[waits])


@cases("integrator", core.integrators())
def test_particles_are_emitted_with_every_integrator(integrator):
    x, v = np.zeros((2, 3)), np.tile([0.0, 0.0, 5.0], (2, 1))
    scene = core.Scene([dust(x, v, births=[0.0, 0.5])])
    frames = list(core.simulate(scene, core.Solver(integrator=integrator, steps_per_frame=4), range(1, 37)))
    early, late = (np.array([f.positions[0][k, 2] for f in frames]) for k in (0, 1))
    assert not late[:13].any()
    np.testing.assert_allclose(late[12:], early[:24], atol=1e-9)
    np.testing.assert_allclose(early[12], 2.5 + 0.125 * G[2], atol=0.06)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("kind", core.emitters())
@cases("solid_contact", ["constraints", "springs"])
def test_particles_land_on_a_floor_and_stay_above_it(kind, backend, solid_contact):
    """Not much below their thickness in an impact, and at rest as near to it as contact gives."""
    x, v = core.emit(kind, 100, speed=None if kind == "waterfall" else 3.0, origin=(0.0, 0.0, 0.3),
                     size=1.0 if kind == "waterfall" else None)
    cloth = dust(x, v)
    solver = core.Solver(integrator="bdf2", backend=available(backend), solid_contact=solid_contact)
    for frame in core.simulate(core.Scene([cloth], [core.Collider(*FLOOR, friction=0.5)]), solver, range(1, 49)):
        assert frame.positions[0][:, 2].min() >= 0.5 * cloth.thickness
    assert frame.positions[0][:, 2] == pytest.approx(cloth.thickness, rel=2.0 * ELASTIC)
    assert np.abs(frame.velocities[0][:, 2]).max() < 1e-5
    assert frame.certificate.deepest_penetration == 0.0 and frame.certificate.crossings == 0


def test_particles_slide_off_a_ball_and_never_enter_it():
    positions, triangles = ball(0.5, 3)
    x = np.random.default_rng(0).uniform(-0.3, 0.3, (150, 3)) * [1.0, 1.0, 0.1] + [0.0, 0.0, 0.8]
    scene = core.Scene([dust(x, 0.0 * x)], [core.Collider(positions, triangles)])
    for frame in core.simulate(scene, core.Solver(integrator="bdf2"), range(1, 25)):
        assert frame.certificate.deepest_penetration == 0.0
        assert np.linalg.norm(frame.positions[0], axis=1).min() > 0.49


@cases("solid_contact", ["constraints", "springs"])
def test_particles_beside_a_cloth_land_with_every_kind_of_contact(solid_contact):
    x, v = core.emit("semi_sphere", 50, size=0.1, origin=(0.0, 0.0, 0.2), speed=1.0)
    sheet = np.array([[3.0, 0.0, 0.1], [4.0, 0.0, 0.1], [3.0, 1.0, 0.1]])
    cloth = core.Cloth(core.ClothMesh(sheet, [[0, 1, 2]]), FABRIC)
    solver = core.Solver(integrator="bdf2", solid_contact=solid_contact)
    *_, last = core.simulate(core.Scene([cloth, dust(x, v)], [core.Collider(*FLOOR)]), solver, range(1, 25))
    assert last.positions[1][:, 2].min() > 0.0
    assert last.positions[0][:, 2].min() > 0.0


def test_a_particle_inside_a_solid_shows_in_the_certificate():
    positions, triangles = ball(0.5, 3)
    scene = core.Scene([dust(np.zeros((1, 3)), np.zeros((1, 3)))], [core.Collider(positions, triangles)])
    frame = next(core.simulate(scene, core.Solver(resolve_start=False)))
    assert frame.certificate.deepest_penetration == pytest.approx(0.5, rel=0.02)
    assert next(core.simulate(scene)).certificate.deepest_penetration == 0.0


@cases("damping", [0.0, 0.05])
def test_two_particles_on_a_spring_swing_at_its_frequency_and_keep_their_momentum(damping):
    """m/2 d'' + k_d d' + k d = 0: the reduced mass is half of one mass, and damping acts along the spring only."""
    m, k = 0.1, 20.0
    x = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
    v = np.array([[-0.1, 0.3, 0.0], [0.1, 0.3, 0.0]])
    cloth = dust(x, v, mass=m, nearest=1, spring_stiffness=k, spring_damping=damping)
    solver = core.Solver(integrator="bdf2", steps_per_frame=40, newton_iterations=2)
    decay, omega = damping / m, np.sqrt(2.0 * k / m - (damping / m) ** 2)
    for frame in core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), solver, range(1, 13)):
        t = frame.time
        (a, b), speeds = frame.positions[0], frame.velocities[0]
        np.testing.assert_allclose(speeds.sum(axis=0), [0.0, 0.6, 0.0], atol=1e-12)
        wanted = 0.2 / omega * np.exp(-decay * t) * np.sin(omega * t)
        assert b[0] - a[0] - 0.5 == pytest.approx(wanted, abs=2e-3 * 0.2 / omega)
        energy = 0.5 * m * np.sum(speeds ** 2) + 0.5 * k * (np.linalg.norm(b - a) - 0.5) ** 2 - m * 0.09
        assert energy == pytest.approx(m * 0.01, rel=0.01) if damping == 0.0 else energy <= 1.01 * m * 0.01

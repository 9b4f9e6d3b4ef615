# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is blown up: stable at one step a frame, in free fall as any body, and the same after an interruption."""

import numpy as np
import pytest

import core
from core.model.particle_system import ParticleSystem
from tests.core.shapes import ball, pillow

FABRIC = core.Material(areal_density=0.15, stretch=(4000.0, 6000.0), shear=300.0, bend=1e-5, damping=0.005)
FLOOR = core.Collider([[-5.0, -5, 0], [5, -5, 0], [5, 5, 0], [-5, 5, 0]], [[0, 1, 2], [0, 2, 3]])
BOTH = pytest.mark.parametrize("integrator", ["implicit_euler", "bdf2"])


def solver(**settings):
    """Return a solver of one step a frame."""
    return core.Solver(**{"frame_rate": 24.0, "steps_per_frame": 1, **settings})


def balloon(radius=0.3, height=0.8, level=2, **pressure):
    positions, triangles = ball(radius, level)
    mesh = core.ClothMesh(positions + [0.0, 0.0, height], triangles)
    return core.Cloth(mesh, FABRIC, pressure=core.Pressure(**pressure))


@BOTH
def test_a_pillow_is_blown_up_without_rejected_steps_after_the_first_frames(integrator):
    x, faces = pillow(16)
    scene = core.Scene([core.Cloth(core.ClothMesh(x, faces=faces), FABRIC, pressure=core.Pressure(300.0))])
    frames = list(core.simulate(scene, solver(integrator=integrator), range(16)))
    assert sum(frame.certificate.rejected for frame in frames[6:]) == 0
    assert all(frame.certificate.crossings == 0 for frame in frames)
    assert frames[-1].certificate.stretch_max < 1.2
    assert np.ptp(frames[-1].positions[0][:, 2]) > 0.3                # half of its width


@BOTH
def test_a_solution_that_an_indefinite_matrix_gives_rejects_no_step(integrator):
    """In a flat pillow without tension, the change of the pressure's direction makes the matrix indefinite. Without
    that part, the first step has a solution."""
    x, faces = pillow(16)
    pressure = core.Pressure(300.0, 300.0, target_volume=0.2)
    scene = core.Scene([core.Cloth(core.ClothMesh(x, faces=faces), FABRIC, pressure=pressure)])
    _, first = core.simulate(scene, solver(integrator=integrator), range(2))
    assert (first.certificate.steps, first.certificate.rejected) == (1, 0)


@BOTH
def test_a_balloon_falls_as_any_body_whatever_is_inside(integrator):
    """Gas has no weight; a fluid is heavy, and falls with the cloth."""
    end = {}
    for name, inside in (("none", {}), ("gas", {"uniform": 200.0, "gas": 1e5}),
                         ("water", {"fluid_density": 1000.0, "gas": 1e5})):
        scene = core.Scene([balloon(**inside)])
        *_, last = core.simulate(scene, solver(integrator=integrator), range(13))
        end[name] = last.positions[0].mean(axis=0)
    for name in ("gas", "water"):
        assert end[name] == pytest.approx(end["none"], abs=1e-3), name


def test_a_balloon_keeps_its_spin_as_without_pressure():
    """Without the change of the pressure's direction in the matrix, it would hardly turn."""
    positions, triangles = ball(0.3, 2)
    velocities = np.cross([0.0, 0.0, 2.0], positions)
    spin = []
    for pressure in (None, core.Pressure(500.0, 1000.0)):
        cloth = core.Cloth(core.ClothMesh(positions, triangles), FABRIC, velocities=velocities, pressure=pressure)
        scene = core.Scene([cloth], gravity=(0.0, 0.0, 0.0))
        *_, last = core.simulate(scene, solver(newton_iterations="converge", tolerance=1e-6), range(13))
        mass = ParticleSystem(scene).mass
        spin.append(np.sum(mass * np.cross(last.positions[0], last.velocities[0])[:, 2]))
    assert spin[1] == pytest.approx(spin[0], rel=0.25)


def test_gas_keeps_the_volume_of_a_balloon_on_the_floor():
    scene = core.Scene([balloon(height=0.32, gas=101325.0)], [FLOOR])
    surface = ParticleSystem(scene).pressure.surface
    volumes = []
    for frame in core.simulate(scene, solver(), range(25)):
        a, b, c = (frame.positions[0][corner] for corner in surface.triangles.T)
        volumes.append(float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0))
    assert min(volumes) > 0.99 * volumes[0]


def test_a_resumed_simulation_gives_the_same_bytes():
    scene = core.Scene([balloon(uniform=lambda time: 1000.0 * time, gas=1000.0, fluid_density=100.0)], [FLOOR])
    whole = list(core.simulate(scene, solver(integrator="bdf2"), range(1, 9)))
    start = whole[3].checkpoint()
    rest = list(core.simulate(scene, solver(integrator="bdf2"), range(5, 9), start=start))
    for one, two in zip(whole[4:], rest, strict=True):
        assert one.positions[0].tobytes() == two.positions[0].tobytes()


@pytest.mark.parametrize("integrator", ["projective_dynamics", "verlet"])
def test_other_integrators_blow_up_a_balloon_to_the_same_size(integrator):
    size = []
    for name, steps in (("implicit_euler", 1), (integrator, 1 if integrator == "projective_dynamics" else 32)):
        soft = core.Material(areal_density=0.3, stretch=200.0, shear=50.0, damping=0.01, viscous_drag=2.0)
        positions, triangles = ball(0.3, 1)
        cloth = core.Cloth(core.ClothMesh(positions, triangles), soft, pressure=core.Pressure(50.0, 200.0))
        scene = core.Scene([cloth], gravity=(0.0, 0.0, 0.0))
        *_, last = core.simulate(scene, solver(integrator=name, steps_per_frame=steps), range(25))
        size.append(np.linalg.norm(last.positions[0], axis=1).mean())
    assert size[0] > 0.305
    assert size[1] == pytest.approx(size[0], rel=5e-3)

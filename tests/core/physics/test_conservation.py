# SPDX-License-Identifier: GPL-3.0-or-later
"""Conservation: momentum without external forces is constant, and under implicit Euler energy never increases."""

import numpy as np

import core
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, elastic_energy, masses, rope, rope_fabric, run, sheet

FABRIC = core.Material(areal_density=0.2, stretch=2e3, shear=300.0, bend=1e-4, damping=0.002)
SOLVERS = {
    "default": core.Solver(),
    "one loose solve": core.Solver(tolerance=0.1, adaptive=False),
    "three newton steps": core.Solver(newton_iterations=3),
    "converged": core.Solver(newton_iterations="converge"),
    "converged tightly": core.Solver(newton_iterations="converge", tolerance=1e-8),
}


def shaken(mesh, speed, seed, fabric=FABRIC, **cloth):
    v = speed * np.random.default_rng(seed).normal(size=mesh.positions.shape)
    return core.Cloth(mesh, fabric, velocities=v, **cloth)


def momentum(cloth, velocities):
    return masses(cloth) @ velocities


@cases("solver", SOLVERS)
def test_momentum_does_not_drift_at_any_tolerance_of_the_solves(solver):
    cloth = shaken(sheet((5, 4), (0.5, 0.4)), 1.0, 3)
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), SOLVERS[solver], 12)
    size = masses(cloth) @ np.linalg.norm(cloth.velocities, axis=1)
    start = momentum(cloth, cloth.velocities)
    assert np.abs(frames[-1].velocities[0] - frames[0].velocities[0]).max() > 0.1       # it vibrates
    for frame in frames:
        assert np.abs(momentum(cloth, frame.velocities[0]) - start).max() < 1e-10 * size


@cases("solver", ["default", "converged"])
def test_each_of_several_bodies_keeps_its_own_momentum_and_falls_as_a_whole(solver):
    flat = sheet((4, 4), (0.4, 0.4), shift=(0.0, 0.0, 1.0))
    free = shaken(flat, 0.5, 4)
    thread = shaken(rope(np.linspace((0.0, 1.0, 0.0), (1.0, 1.0, 0.3), 9)), 0.5, 5, rope_fabric(0.01, 100.0))
    held = shaken(sheet((3, 3), (0.3, 0.3), shift=(2.0, 0.0, 0.0)), 0.5, 6, pins={0: None})
    solver = SOLVERS[solver]
    frames = run(core.Scene([free, thread, held]), solver, 8)
    for n, frame in enumerate(frames):
        fall = np.array([0.0, 0.0, -GRAVITY * n / solver.frame_rate])
        for cloth, v in zip((free, thread), frame.velocities, strict=False):
            size = masses(cloth) @ np.linalg.norm(cloth.velocities, axis=1)
            wanted = momentum(cloth, cloth.velocities) + masses(cloth).sum() * fall
            assert np.abs(momentum(cloth, v) - wanted).max() < 1e-10 * size


@cases(("damping", "seed", "frame_rate"), [(0.0, 0, 24.0), (0.0, 1, 120.0), (0.005, 2, 48.0)])
def test_energy_never_rises_in_a_pinned_scene_that_nothing_drives(damping, seed, frame_rate):
    fabric = core.Material(areal_density=0.2, stretch=2e3, shear=300.0, bend=1e-4, damping=damping)
    cloth = shaken(sheet((4, 4), (0.4, 0.4)), 1.5, seed, fabric, pins={0: None, 4: None})
    m = masses(cloth)
    solver = core.Solver(newton_iterations="converge", tolerance=1e-6, frame_rate=frame_rate, steps_per_frame=1,
                         adaptive=False, max_newton_iterations=500)
    frames = run(core.Scene([cloth]), solver, 25)
    assert all(frame.certificate.converged for frame in frames)
    energy = np.array([elastic_energy(cloth, f.positions[0]) + GRAVITY * m @ f.positions[0][:, 2]
                       + 0.5 * m @ (f.velocities[0] ** 2).sum(axis=1) for f in frames])
    span = energy.max() - energy.min()
    assert span > 0.1 * m.sum() * GRAVITY * 0.4                                    # it swings
    assert np.diff(energy).max() <= 1e-9 * span


def test_a_hanging_sheet_comes_to_rest_in_a_viscous_medium():
    mesh = sheet((4, 4), (0.3, 0.3))
    fabric = core.Material(areal_density=0.2, stretch=1e3, shear=200.0, bend=1e-4, viscous_drag=1.0)
    cloth = shaken(mesh, 0.3, 9, fabric, pins=dict.fromkeys(range(5)))
    last = run(core.Scene([cloth]), core.Solver(), 120)[-1]
    assert np.linalg.norm(last.velocities[0], axis=1).max() < 1e-3

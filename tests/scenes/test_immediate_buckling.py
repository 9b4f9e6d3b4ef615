# SPDX-License-Identifier: GPL-3.0-or-later
"""The immediate buckling model (002): a compressed strip bends into an arc at once and keeps its length."""

import numpy as np
import pytest

import core
from core.kernels.backend import why_not
from tests.core.physics.scenes import fixed_steps, run
from tests.core.shapes import ball, grid, quads

LENGTH, CELLS = 0.4, 16
FABRIC = core.Material(areal_density=0.2, stretch=500.0, shear=50.0, bend=(1e-3, 1e-3))


def between_its_ends(shortened, kind):
    """Return the centre line (CELLS + 1, 3), at rest, of a strip whose ends are nearer by `shortened` of its length."""
    x, triangles = grid(CELLS, 2, (LENGTH, 2.0 * LENGTH / CELLS))
    mesh = core.ClothMesh(x, triangles) if kind == "triangles" else core.ClothMesh(x, faces=quads(CELLS, 2))
    u = x[:, 0] / LENGTH
    start = x * (1.0 - shortened, 1.0, 1.0) + np.outer(0.2 * LENGTH * np.sin(np.pi * u) ** 2, (0.0, 0.0, 1.0))
    pins = dict.fromkeys([0, 1, 2, *range(3 * CELLS, 3 * CELLS + 3)])
    cloth = core.Cloth(mesh, FABRIC, model="immediate_buckling", pins=pins, positions=start)
    solver = core.Solver(newton_iterations=8, backend="numpy", frame_rate=20.0, steps_per_frame=1)
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), solver, 24)
    return frames[-1].positions[0].reshape(CELLS + 1, 3, 3).mean(axis=1)


@pytest.mark.parametrize("kind", ["quads", "triangles"])
def test_a_strip_whose_ends_are_too_near_bends_into_an_arc_of_its_own_length(kind):
    shortened = 0.2
    x = between_its_ends(shortened, kind)
    lengths = np.linalg.norm(np.diff(x, axis=0), axis=1)
    assert lengths.sum() == pytest.approx(LENGTH, rel=0.02)
    half = 1.0                                                     # sin(s) / s = 0.8, the arc through both ends
    for _ in range(50):
        half -= (np.sin(half) / half - (1.0 - shortened)) / ((half * np.cos(half) - np.sin(half)) / half ** 2)
    rise = 0.5 * LENGTH / half * (1.0 - np.cos(half))
    assert np.abs(x[:, 2]).max() == pytest.approx(rise, rel=0.1)
    np.testing.assert_allclose(x[:, 2], x[::-1, 2], atol=0.03 * LENGTH)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("kind", ["quads", "triangles"])
def test_cloth_drapes_over_a_ball_and_crosses_nothing(kind, backend):
    if why_not(backend):
        pytest.skip(why_not(backend))
    x, triangles = grid(12, 12)
    x = x + [-0.5, -0.5, 0.32]
    mesh = core.ClothMesh(x, triangles) if kind == "triangles" else core.ClothMesh(x, faces=quads(12, 12))
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), model="immediate_buckling")
    solver = core.Solver(backend=backend, newton_iterations=2)
    frames = run(core.Scene([cloth], [core.Collider(*ball(0.3, 2))]), solver, 14)
    assert all(f.certificate.crossings == 0 for f in frames)
    assert frames[-1].certificate.stretch_p99 < 1.1
    assert np.ptp(frames[-1].positions[0][:, 2]) > 0.3


def test_two_vertices_that_are_let_go_when_buckled_part_with_the_energy_of_the_arc():
    """A strip of two cells is pushed together and released: the energy of the arcs becomes kinetic energy, and no more.
    """
    x, _ = grid(2, 1, (0.2, 0.1))
    cloth = core.Cloth(core.ClothMesh(x, faces=quads(2, 1)), core.Material(areal_density=0.2, stretch=500.0, shear=0.0,
                       bend=(1e-3, 1e-3)), model="immediate_buckling",
                       positions=x * (0.7, 1.0, 1.0) + np.outer(np.isclose(x[:, 0], 0.1), (0, 0, 0.06)))
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)),
                 fixed_steps(1e-3, measure_energy=True, backend="numpy", tolerance=1e-6), 20)
    energies = np.array([f.certificate.energy.total for f in frames])
    assert (np.diff(energies) <= 1e-9 * abs(energies[0])).all()
    apart = [np.ptp(f.positions[0][:, 0]) for f in frames]
    assert apart[-1] > apart[0]


def irregular(cells):
    """Return a square of quads with moved inner corners, cut along alternating diagonals."""
    x, _ = grid(cells, cells)
    inside = ((x[:, :2] > 0.0) & (x[:, :2] < 1.0)).all(axis=1)
    x[inside, :2] += 0.3 / cells * np.random.default_rng(0).uniform(-1.0, 1.0, (inside.sum(), 2))
    a, b, c, d = quads(cells, cells).T
    turn = np.random.default_rng(1).random(len(a)) < 0.5
    first = np.where(turn[:, None], np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    return core.ClothMesh(x, np.concatenate([first, np.where(turn[:, None], np.stack([b, c, d], axis=1),
                                                             np.stack([a, c, d], axis=1))]))


@pytest.mark.parametrize("mesh", [core.ClothMesh(grid(10, 10)[0], faces=quads(10, 10)), irregular(10)],
                         ids=["quads", "irregular triangles"])
def test_with_the_panels_settings_cotton_hangs_without_trembling(mesh):
    """Slack springs have no stiffness, and with one linearisation per step they stretch by a third and never come to
    rest. Linear drag stops the swing meanwhile.
    """
    cotton = core.Material.preset("cotton", air_drag=0.7)
    cloth = core.Cloth(mesh, cotton, model="immediate_buckling", pins={0: None, 10: None})
    frames = run(core.Scene([cloth]), core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2), 48)
    assert max(f.certificate.stretch_max for f in frames) < 1.1
    assert np.sqrt((frames[-1].velocities[0] ** 2).sum(axis=1).mean()) < 0.1

# SPDX-License-Identifier: GPL-3.0-or-later
"""Threads in contact with a bar thinner than their edges, with cloth, and with each other, at high speeds too."""

import numpy as np
import pytest

import core
from core.kernels import backend
from tests.cases import cases

COUNT = 25
COTTON = core.Material.preset("cotton")
FRAMES = range(1, 31)


def thread(start, end, name, **options):
    x = np.linspace(start, end, COUNT)
    edges = np.stack([np.arange(COUNT - 1), np.arange(1, COUNT)], axis=1)
    return core.Cloth(core.ClothMesh(x, edges=edges, name=name), COTTON, **options)


def falling(speed):
    """Return a thread of 1.2 m along x, 0.2 m above the origin."""
    velocities = np.tile([0.0, 0.0, -speed], (COUNT, 1))
    return thread([-0.61, 0.013, 0.2], [0.59, 0.013, 0.2], "thread", velocities=velocities)


def bar():
    """Return a bar 8 mm wide, a sixth of an edge, between two vertices of the thread."""
    corners = np.array([[x, y, z] for x in (-0.004, 0.004) for y in (-1.0, 1.0) for z in (-0.01, 0.01)])
    triangles = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                 [0, 6, 4], [1, 5, 7], [1, 7, 3]]
    return core.Collider(corners + [0.016, 0.0, 0.0], triangles, friction=0.8, name="bar")


def sheet():
    n = 9
    u, v = np.meshgrid(np.linspace(-0.4, 0.4, n), np.linspace(-0.4, 0.4, n), indexing="ij")
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    quads = np.stack([corner, corner + n, corner + n + 1, corner + 1], axis=1)
    mesh = core.ClothMesh(np.stack([u, v, 0.0 * u], axis=-1).reshape(-1, 3), faces=quads, name="sheet")
    return core.Cloth(mesh, COTTON, pins={0: None, n - 1: None, n * (n - 1): None, n * n - 1: None})


def frames(cloths, colliders, integrator, name="numpy"):
    if backend.why_not(name):
        pytest.skip(backend.why_not(name))
    solver = core.Solver(integrator=integrator, steps_per_frame=1, tolerance=1e-2, backend=name)
    return list(core.simulate(core.Scene(cloths, colliders), solver, FRAMES))


@pytest.mark.parametrize("name", backend.BACKENDS)
@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler"])
@pytest.mark.parametrize("speed", [0.0, 8.0])
def test_a_thread_hangs_over_a_bar_that_none_of_its_vertices_meets(speed, integrator, name):
    seen = frames([falling(speed)], [bar()], integrator, name)
    for frame in seen[:6]:                                            # its ends swing under the bar, where it is folded
        x, z = frame.positions[0][:, 0], frame.positions[0][:, 2]
        over = (x[:-1] - 0.016) * (x[1:] - 0.016) <= 0.0
        assert np.maximum(z[:-1], z[1:])[over].max() > 0.0
    last = seen[-1].positions[0]
    near = np.linalg.norm(last - [0.016, 0.013, 0.01], axis=1).min()
    assert near < 0.08 and last[[0, -1], 2].max() < -0.2
    assert max(frame.certificate.crossings for frame in seen) == 0
    assert seen[-1].certificate.stretch_max < 1.02


@pytest.mark.parametrize("name", backend.BACKENDS)
@pytest.mark.parametrize("speed", [0.0, 8.0])
def test_a_thread_lies_on_a_sheet(speed, name):
    seen = frames([falling(speed), sheet()], [], "bdf2", name)
    assert max(frame.certificate.crossings for frame in seen) == 0
    thread_z, sheet_z = (seen[-1].positions[k][:, 2] for k in range(2))
    inside = np.abs(seen[-1].positions[0][:, 0]) < 0.2
    assert thread_z[inside].min() > sheet_z.min()
    assert thread_z[inside].min() > -0.2


@cases("speed", [0.0, 8.0])
def test_a_thread_hangs_over_a_thread(speed):
    other = thread([0.016, -0.6, 0.0], [0.016, 0.6, 0.0], "line", pins={0: None, COUNT - 1: None})
    seen = frames([falling(speed), other], [], "bdf2")
    upper, lower = (frame[:, 2] for frame in seen[-1].positions)
    assert upper.max() > lower.min() - 0.02 and upper.max() > -0.3
    assert upper[[0, -1]].max() < upper.max() - 0.1


def test_a_thread_through_a_sheet_is_a_crossing_that_the_certificate_counts():
    upright = thread([0.02, 0.01, -0.5], [0.02, 0.01, 0.5], "needle")
    seen = next(core.simulate(core.Scene([upright, sheet()]), core.Solver(backend="numpy"), range(1, 3)))
    assert seen.certificate.crossings == 1
    (pair,) = seen.certificate.crossing_pairs
    assert {pair.first, pair.second} == {"needle", "sheet"}


@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler"])
def test_a_thread_that_starts_through_a_sheet_stays_finite(integrator):
    upright = thread([0.02, 0.01, -0.5], [0.02, 0.01, 0.5], "needle")
    seen = frames([upright, sheet()], [], integrator)
    assert all(np.isfinite(frame.positions[0]).all() for frame in seen)
    assert max(frame.certificate.stretch_max for frame in seen) < 1.5


@pytest.mark.parametrize("name", backend.BACKENDS)
@pytest.mark.parametrize("speed", [0.0, 8.0])
def test_particles_land_on_a_sheet(speed, name):
    x = np.random.default_rng(5).uniform([-0.3, -0.3, 0.1], [0.3, 0.3, 0.3], (40, 3))
    velocities = np.tile([0.0, 0.0, -speed], (len(x), 1))
    hail = core.Cloth(core.ClothMesh(x, points=True, name="hail"), COTTON, model="particles", mass=1e-4,
                      velocities=velocities)
    seen = frames([hail, sheet()], [], "bdf2", name)
    for frame in seen:
        points, cloth = frame.positions
        above = points[np.abs(points[:, :2]).max(axis=1) < 0.3]
        grid = cloth.reshape(9, 9, 3)
        for point in above:                                          # higher than the lowest corner of its cell
            i, j = (np.clip(((point[:2] + 0.4) / 0.1).astype(int), 0, 7))
            assert point[2] > grid[max(i - 1, 0):i + 3, max(j - 1, 0):j + 3, 2].min() - 1e-3
    assert len(above) > 20

# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet that falls on a ball: it stays outside, carries its weight to the ball, and keeps its symmetry."""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import fixed_steps, grid, run
from tests.core.shapes import ball

RADIUS = 0.15


def on_a_ball(mu, count, solver=None, **cloth):
    n = 12
    flat, triangles = grid((n, n), (0.6, 0.6), "alternating", (-0.3, -0.3, RADIUS + 0.015))
    fabric = core.Material(areal_density=0.2, stretch=1e3, shear=100.0, bend=1e-5, damping=0.002, friction=mu,
                           viscous_drag=0.3)
    cloth = core.Cloth(core.ClothMesh(flat, triangles), fabric, **cloth)
    return run(core.Scene([cloth], [core.Collider(*ball(RADIUS), friction=mu)]), solver or core.Solver(), count)


@cases("mu", [0.0, 0.5])
def test_a_sheet_never_enters_the_ball_it_drapes_over(mu):
    frames = on_a_ball(mu, 36)
    for frame in frames:
        x = frame.positions[0]
        assert np.linalg.norm(x, axis=1).min() > RADIUS
        assert frame.certificate.deepest_penetration == 0.0
        assert frame.certificate.stretch_max < 1.1
    assert frames[-1].positions[0][:, 2].min() < 0.0                              # its corners hang


def test_a_sheet_draped_over_a_ball_with_friction_stays_there_and_lies_symmetrically():
    frames = on_a_ball(0.5, 60)
    x = frames[-1].positions[0].reshape(13, 13, 3)
    assert np.linalg.norm(x[6, 6, :2]) < 0.01                                     # the middle stays on top
    assert x[6, 6, 2] == pytest.approx(RADIUS + 0.2 * 0.0564, abs=0.006)           # by the cloth's thickness
    corners = x[[0, 0, 12, 12], [0, 12, 0, 12]]
    assert np.ptp(corners[:, 2]) < 0.03
    assert np.linalg.norm(frames[-1].velocities[0], axis=1).mean() < 0.02


def test_a_ball_that_carries_a_sheet_upwards_is_followed():
    speed = 0.5
    points, triangles = ball(RADIUS)
    flat, faces = grid((10, 10), (0.4, 0.4), "alternating", (-0.2, -0.2, RADIUS + 0.01))
    fabric = core.Material(areal_density=0.2, stretch=1e3, shear=100.0, bend=1e-5, damping=0.002, friction=0.5)
    cloth = core.Cloth(core.ClothMesh(flat, faces), fabric)
    rising = core.Collider(lambda t: points + [0.0, 0.0, speed * t], triangles, friction=0.5)
    frames = run(core.Scene([cloth], [rising]), fixed_steps(1 / 96, newton_iterations=1, tolerance=1e-3), 72)
    for frame in frames:
        assert np.linalg.norm(frame.positions[0] - [0.0, 0.0, speed * frame.time], axis=1).min() > RADIUS
    middle = frames[-1].positions[0].reshape(11, 11, 3)[5, 5]
    assert middle[2] == pytest.approx(RADIUS + speed * 0.75, abs=0.015)
    assert frames[-1].velocities[0].reshape(11, 11, 3)[5, 5, 2] == pytest.approx(speed, abs=0.05)

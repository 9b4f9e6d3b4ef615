# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of BDF2 in which rotations change their speed are solved again at the rotations that they had."""

from dataclasses import replace

import numpy as np

import core
from core.integrators import newton
from tests.cases import cases
from tests.core.physics.scenes import grid


def angles(length, **settings):
    """Return the angles [rad] below the horizontal at each of 8 frames of a strip of `length` [m] that is held at one
    end and falls from the horizontal."""
    points, triangles = grid((8, 2), (length, 0.05))
    fabric = replace(core.Material.preset("denim"), air_drag=0.0, damping=0.0)
    held = np.flatnonzero(points[:, 0] <= points[:, 0].min())
    cloth = core.Cloth(core.ClothMesh(points, triangles), fabric, pins=dict.fromkeys(held.tolist()))
    solver = core.Solver(frame_rate=24.0, integrator="bdf2", tolerance=1e-6, self_collision=False, **settings)
    tip = np.array([frame.positions[0][points[:, 0] >= points[:, 0].max()].mean(axis=0) - points[held].mean(axis=0)
                    for frame in core.simulate(core.Scene([cloth]), solver, range(9))])
    return np.arctan2(-tip[:, 2], tip[:, 0])


@cases("length", [0.2, 0.3])
def test_a_strip_that_falls_quickly_is_nearer_to_its_converged_motion(length):
    """It gains 0.06 rad of rotation in a step. A rotation predicted from the velocities lacks that, feigns a stretch
    across the strip and holds it back."""
    converged = angles(length, steps_per_frame=32)
    once = np.abs(angles(length, steps_per_frame=1, newton_iterations=1) - converged)[1:].max()
    again = np.abs(angles(length, steps_per_frame=1) - converged)[1:].max()
    assert again < 0.75 * once


def test_a_slow_swing_is_solved_once_a_step(monkeypatch):
    solves, solve = [], newton.NewtonStep._solve_near
    monkeypatch.setattr(newton.NewtonStep, "_solve_near", lambda self, u: solves.append(0) or solve(self, u))
    points, triangles = grid((8, 2), (0.8, 0.1))
    a = np.radians(10.0)
    swung = np.column_stack([points[:, 0] * np.sin(a), points[:, 1], -points[:, 0] * np.cos(a)])
    held = np.flatnonzero(points[:, 0] <= points[:, 0].min())
    cloth = core.Cloth(core.ClothMesh(swung, triangles), core.Material.preset("cotton"),
                       pins=dict.fromkeys(held.tolist()))
    solver = core.Solver(frame_rate=24.0, integrator="bdf2", steps_per_frame=1, tolerance=0.01)
    list(core.simulate(core.Scene([cloth]), solver, range(25)))
    assert len(solves) <= 24 + 2                                      # and the trial step of the start

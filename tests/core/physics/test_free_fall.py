# SPDX-License-Identifier: GPL-3.0-or-later
"""Free fall is exact to the integrator's order at every tolerance of the solves.

Implicit Euler from rest: z_n = -g h^2 n (n + 1) / 2.
"""

import numpy as np

import core
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, reference, rope, rope_fabric, run, sheet

FABRIC = core.Material(areal_density=0.2, stretch=5e3, shear=1e3, bend=1e-5, damping=0.01)
RATES = [(24.0, 2), (60.0, 1), (240.0, 1), (24.0, 1), (30.0, 3)]


def fallen(h, n):
    return -GRAVITY * h * h * n * (n + 1) / 2


@cases(("frame_rate", "steps"), RATES)
@cases("newton_iterations", [1, "converge"])
def test_a_sheet_falls_by_the_integrators_exact_distance_with_default_tolerances(frame_rate, steps, newton_iterations):
    mesh = sheet((6, 4), (0.6, 0.4))
    solver = core.Solver(frame_rate=frame_rate, steps_per_frame=steps, newton_iterations=newton_iterations)
    frames = run(core.Scene([core.Cloth(mesh, FABRIC)]), solver, 24)
    h = 1.0 / (frame_rate * steps)
    for n, frame in enumerate(frames):
        moved = frame.positions[0] - mesh.positions
        assert np.abs(moved[:, 2] - fallen(h, n * steps)).max() < 1e-10
        assert np.abs(moved[:, :2]).max() < 1e-10


@cases("row", reference("pendulum_integrators")["free_fall"], ids=lambda r: f"h={r['h']:.4f}")
def test_a_second_of_fall_has_the_reference_value(row):
    mesh = sheet((2, 2), (1.0, 1.0))
    solver = core.Solver(frame_rate=round(1.0 / row["h"]), steps_per_frame=1)
    last = run(core.Scene([core.Cloth(mesh, FABRIC)], gravity=(0, 0, -row["gravity"])), solver, row["steps"])[-1]
    assert np.abs(last.positions[0][:, 2] - row["z"]["implicit_euler"]).max() < 1e-10


def test_sheets_and_ropes_of_every_weight_fall_alike_and_in_any_direction_of_gravity():
    points = np.linspace((0.0, 0.0, 3.0), (0.3, 0.1, 3.0), 7)
    thick = core.Material(areal_density=3.0, stretch=1e5, shear=1e4)
    heavy = core.Cloth(sheet((3, 3), (0.2, 0.2), "alternating"), thick)
    light = core.Cloth(rope(points), rope_fabric(0.002, 10.0))
    gravity = np.array([1.0, -2.0, -3.0])
    last = run(core.Scene([heavy, light], gravity=gravity), core.Solver(), 12)[-1]
    h, n = 1.0 / 48.0, 24
    for cloth, x, v in zip((heavy, light), last.positions, last.velocities, strict=True):
        assert np.abs(x - cloth.positions - gravity * h * h * n * (n + 1) / 2).max() < 1e-10
        assert np.abs(v - gravity * h * n).max() < 1e-10


def test_a_thrown_sheet_keeps_its_horizontal_velocity():
    mesh = sheet((4, 4), (0.5, 0.5))
    thrown = np.tile([3.0, -1.0, 5.0], (len(mesh.positions), 1))
    last = run(core.Scene([core.Cloth(mesh, FABRIC, velocities=thrown)]), core.Solver(), 24)[-1]
    h, n = 1.0 / 48.0, 48
    wanted = mesh.positions + [3.0, -1.0, 5.0 + fallen(h, n)]
    assert np.abs(last.positions[0] - wanted).max() < 1e-10

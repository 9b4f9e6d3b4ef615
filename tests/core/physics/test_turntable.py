# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet on a turning table moves with it as if attached, for every stiffness and step."""

import numpy as np
import pytest

import core
from core.contact.friction_modes import ELASTIC
from tests.cases import cases
from tests.core.physics.scenes import sheet


def turned(x, angle):
    c, s = np.cos(angle), np.sin(angle)
    return x @ np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def away_from_table(stretch, damping, thickness=0.01, omega=2.0, frames=13, **solver):
    """Return how far each frame of a sheet on a table that turns at `omega` [rad/s] is from a turned sheet [m]."""
    radius, flat = 0.3, sheet((5, 5), (0.3, 0.3))
    start = flat.positions - flat.positions.mean(axis=0) + (radius, 0.0, thickness)
    mesh = core.ClothMesh(start, flat.triangles)
    fabric = core.Material(areal_density=0.2, stretch=(stretch, stretch), shear=stretch / 5, bend=1e-5,
                           damping=damping, friction=0.8)
    cloth = core.Cloth(mesh, fabric, velocities=np.cross((0.0, 0.0, omega), start), thickness=thickness)
    square = np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    table = core.Collider(lambda t: turned(square, omega * t), [[0, 1, 2], [0, 2, 3]], friction=0.8)
    return [np.abs(frame.positions[0] - turned(start, omega * frame.time)).max()
            for frame in core.simulate(core.Scene([cloth], [table]), core.Solver(**solver), range(frames))]


@cases("steps", [1, 2])
@cases(("stretch", "damping"), [(5e3, 0.0), (5e3, 0.005), (4e5, 0.005)])
def test_friction_carries_a_sheet_round_with_a_turntable(stretch, damping, steps):
    """Constraints hold it exactly."""
    away = away_from_table(stretch, damping, steps_per_frame=steps, solid_contact="constraints")
    assert max(away) < 1e-6


@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler"])
@cases("steps", [1, 2])
@cases(("stretch", "damping"), [(5e3, 0.0), (4e5, 0.005)])
def test_springs_carry_a_sheet_round_and_it_does_not_creep(stretch, damping, steps, integrator):
    """They give by a thousandth of the thickness until friction holds, and no further, however long the table turns."""
    away = away_from_table(stretch, damping, frames=37, integrator=integrator, steps_per_frame=steps,
                           solid_contact="springs")
    give = ELASTIC * 0.01
    assert max(away) < 0.4 * give
    assert max(away) - max(away[:6]) < 0.1 * give                   # in 30 frames, what creeps would go many times that

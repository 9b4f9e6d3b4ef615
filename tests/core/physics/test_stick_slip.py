# SPDX-License-Identifier: GPL-3.0-or-later
"""A clamped strip that is pressed onto a floor slips when the tangential force at its tip reaches mu times the normal
one.
"""

import numpy as np
import pytest

import core
from tests.core.physics.scenes import grid, reference

TABLE = reference("stick_slip")
CELLS, ACROSS, LENGTH, BEND = 40, 4, 0.1, 0.02                            # [-], [-], [m], [N m]
SECONDS, RATE, DEPTH = 6.0, 60.0, 0.34                                    # how long, [1/s], how far over the length
SLIPPED = 0.005
"""Travel of the tip over the length that counts as a slip [-]."""
FLOOR = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]), [[0, 1, 2], [0, 2, 3]]


def slips_at(mu):
    """Return the descent of the clamp over the length at which the tip slips [-]; infinity if it does not slip.

    The first cell is clamped; half of it counts as free length.
    """
    d = LENGTH / (CELLS + 0.5)
    flat, triangles = grid((CELLS + 1, ACROSS), ((CELLS + 1) * d, ACROSS * d))
    along = np.clip(flat[:, 0] - d, 0.0, None) / (CELLS * d)
    x = np.column_stack([0.5e-4 * LENGTH * (1.0 - np.cos(np.pi * along)), flat[:, 1], -flat[:, 0]])
    clamped, tip = np.flatnonzero(flat[:, 0] < 1.5 * d), flat[:, 0] > (CELLS + 0.5) * d

    def lowered(start):
        return lambda t: start - np.array([0.0, 0.0, DEPTH * LENGTH * t / SECONDS])

    fabric = core.Material(areal_density=0.2, stretch=1e5, shear=4e4, bend=BEND, friction=mu)
    cloth = core.Cloth(core.ClothMesh(x, triangles), fabric, pins={int(v): lowered(x[v].copy()) for v in clamped},
                       thickness=0.2 * d)
    floor = core.Collider(FLOOR[0] + [0.0, 0.0, x[:, 2].min() - cloth.thickness], FLOOR[1], friction=mu)
    solver = core.Solver(frame_rate=RATE, tolerance=1e-4, self_collision=False)
    scene = core.Scene([cloth], [floor], gravity=(0.0, 0.0, -0.1))           # sigma g L^3 / B = 0.001
    for number, frame in enumerate(core.simulate(scene, solver, range(int(SECONDS * RATE) + 1))):
        if abs((frame.positions[0] - x)[tip, 0].mean()) > SLIPPED * LENGTH:
            return DEPTH * number / (SECONDS * RATE)
    return np.inf


@pytest.mark.parametrize("row", [pytest.param(row, marks=[] if row["eps"] < 0.1 else pytest.mark.slow)
                                 for row in TABLE["rows"][3::3]], ids=lambda row: f"mu={row['T_over_N']:.3f}")
def test_the_tip_slips_where_friction_gives_way(row):
    assert slips_at(row["T_over_N"]) == pytest.approx(row["eps"], abs=TABLE["tolerance"]["eps_slip_abs"]["40 segments"])

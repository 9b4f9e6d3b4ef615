# SPDX-License-Identifier: GPL-3.0-or-later
"""A ruck in a rug: the height of a sheet on a floor whose ends are pushed together."""

import numpy as np
import pytest

import core
from tests.core.physics.scenes import GRAVITY, grid, reference

TABLE = reference("ruck")
HEAVY, SCALE, ACROSS, LONG = 0.2, 0.05, 4, 12          # [kg/m^2], l_g [m], cells across, length over l_g
FLOOR = np.array([[-1.0, -1, 0], [2, -1, 0], [2, 1, 0], [-1, 1, 0]]), [[0, 1, 2], [0, 2, 3]]
SECONDS = 4.0


def bump(along, length, shorter):
    """Return coordinates (V,), (V,) [m] of points at `along` (V,) [m] from the middle of a sheet with one arch.

    The arch has the arc length `length` [m] and a sinusoidal slope; the ends of the sheet are `shorter` [m] nearer to
    each other.
    """
    s = np.linspace(along.min(), along.max(), 20_001)
    wave = np.where(np.abs(s) < 0.5 * length, -np.sin(2.0 * np.pi * s / length), 0.0)
    low, high = 0.0, 1.0
    for _ in range(60):                                                         # sine of the steepest slope
        steep = 0.5 * (low + high)
        level = np.sqrt(1.0 - (steep * wave) ** 2)
        low, high = (steep, high) if float(np.sum(1.0 - level)) * (s[1] - s[0]) < shorter else (low, steep)
    ds = s[1] - s[0]
    x, z = (np.concatenate([[0.0], np.cumsum(0.5 * ds * (f[1:] + f[:-1]))]) for f in (level, steep * wave))
    return np.interp(along, s, x), np.interp(along, s, z)


def height(row, cells):
    """Return the height of the ruck over l_g, on a sheet with edges of l_g / `cells`."""
    d = SCALE / cells
    flat, triangles = grid((LONG * cells, ACROSS), (LONG * SCALE, ACROSS * d))
    x, z = bump(flat[:, 0] - 0.5 * LONG * SCALE, row["ell"] * SCALE, row["dL"] * SCALE)
    # stiff in compression, else the flat parts would shorten instead of the ruck
    fabric = core.Material(areal_density=HEAVY, stretch=4e4 * cells, shear=800.0, bend=HEAVY * GRAVITY * SCALE ** 3,
                           friction=0.0)
    ends = np.flatnonzero((flat[:, 0] < 0.5 * d) | (flat[:, 0] > (LONG * cells - 0.5) * d))
    cloth = core.Cloth(core.ClothMesh(flat, triangles), fabric, pins={int(v): None for v in ends}, thickness=0.2 * d,
                       positions=np.column_stack([x, flat[:, 1], z + 0.2 * d]))
    solver = core.Solver(frame_rate=24.0, steps_per_frame=1, tolerance=1e-4, self_collision=False)
    scene = core.Scene([cloth], [core.Collider(*FLOOR, friction=0.0)])
    *_, last = core.simulate(scene, solver, range(int(24 * SECONDS)))
    return (last.positions[0][:, 2].max() - cloth.thickness) / SCALE


@pytest.mark.parametrize(("cells", "tolerance"), [(5, TABLE["tolerance"]["H_rel"]["l_g/5 edges"]),
                                                  pytest.param(10, TABLE["tolerance"]["H_rel"]["l_g/10"],
                                                               marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", TABLE["rows"][1:], ids=lambda row: f"ell={row['ell']:.2f}")
def test_a_ruck_is_as_high_as_its_elastica(row, cells, tolerance):
    assert height(row, cells) == pytest.approx(row["H"], rel=tolerance)

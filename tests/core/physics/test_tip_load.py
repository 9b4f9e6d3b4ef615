# SPDX-License-Identifier: GPL-3.0-or-later
"""A strip clamped at one end with a load at the other: EI theta'' = -P cos theta (Sze, Liu, Lo 2004 for plates).

The load hangs from the tip on threads, and has WEIGHS times the weight of the strip.
"""

import numpy as np
import pytest

import core
from tests.core.physics.scenes import GRAVITY, grid, reference, settle

TABLE = reference("cantilever_tip_load")
TOLERANCE = {int(cells.split()[0]): value for cells, value in TABLE["tolerance"]["H_abs_with_half_cell_rule"].items()}
WEIGHS = 1e4


def loaded(alpha, cells, length, diagonals="right"):
    """Return reach and drop of the tip over the effective length [-] of a strip with P L^2 / (B b) = alpha.

    The strip is two cells wide. The effective length L is the free length plus half a cell.
    """
    d, sigma = length / cells, 0.1
    flat, triangles = grid((cells + 1, 2), (length + d, 2.0 * d), diagonals, (-d, 0.0, 0.0))
    counts, b = length + 0.5 * d, 2.0 * d
    tip = len(flat) - 3 + np.arange(3)
    below = flat[tip] - np.outer([0.5, 1.0, 0.5], [0.0, 0.0, length])              # a corner has half
    load = WEIGHS * sigma * GRAVITY * b * length                                    # [N]
    fabric = core.Material(areal_density=sigma, stretch=1e4 * load / b, shear=2e3 * load / b,
                           bend=load * counts ** 2 / (alpha * b), thread_width=0.5 * WEIGHS * b)
    mesh = core.ClothMesh(np.concatenate([flat, below]), triangles, np.stack([tip, tip + 3], axis=1))
    cloth = core.Cloth(mesh, fabric, pins=dict.fromkeys(range(6)))
    x = settle(core.Scene([cloth]), 20.0 * np.sqrt(length), 8, self_collision=False).positions[0][tip].mean(axis=0)
    return (x[0] + 0.5 * d) / counts, -x[2] / counts


@pytest.mark.parametrize("row", TABLE["rows"], ids=lambda row: f"alpha={row['alpha']}")
@pytest.mark.parametrize(("cells", "length", "diagonals"), [(16, 0.2, "alternating"), (32, 1.5, "right")])
def test_a_strip_loaded_at_its_tip_bends_as_the_plate_of_the_table(row, cells, length, diagonals):
    reach, drop = loaded(row["alpha"], cells, length, diagonals)
    assert drop == pytest.approx(row["H"], abs=TOLERANCE[cells])
    assert reach == pytest.approx(row["W"], abs=TOLERANCE[cells])


def test_the_table_is_that_of_sze():
    found = {row["alpha"]: row["H"] for row in TABLE["rows"]}
    published = TABLE["sze2004_abaqus_s4r"]
    common = [(found[alpha], drop) for alpha, drop in zip(published["alpha"], published["H"], strict=True)
              if alpha in found]
    assert len(common) >= 4
    assert max(abs(a - b) for a, b in common) < 5e-4

# SPDX-License-Identifier: GPL-3.0-or-later
"""Whole sheets in a tensile test: the force at the grips is that of the fabric, on every mesh."""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import elastic_force, reference, settle, sheet

TABLE = reference("stretch_shear_energies")
X, Y, Z = np.eye(3)


@cases("stretch", [r["stretch"] for r in TABLE["uniaxial"] if r["stretch"] > 1.0])
@cases("diagonals", ["right", "alternating"])
@cases("warp", [True, False])
def test_a_sheet_in_clamped_grips_pulls_with_its_own_stiffness(stretch, diagonals, warp):
    """No transverse contraction: force = width k (stretch - 1)."""
    length, width, k = 0.3, 0.1, 800.0
    mesh = sheet((9, 3), (length, width), diagonals, grain=X if warp else Y)
    fabric = core.Material(areal_density=0.2, stretch=(k, 5 * k) if warp else (5 * k, k), shear=50.0, bend=1e-5)
    left, right = np.flatnonzero(mesh.positions[:, 0] < 1e-9), np.flatnonzero(mesh.positions[:, 0] > length - 1e-9)
    start = mesh.positions.copy()
    start[right, 0] *= stretch
    cloth = core.Cloth(mesh, fabric, pins=dict.fromkeys(np.append(left, right).tolist()), positions=start)
    x = settle(core.Scene([cloth], gravity=(0, 0, 0)), 1.0, 3).positions[0]
    wanted = next(r for r in TABLE["uniaxial"] if r["stretch"] == stretch)["baraff_witkin_k1"]
    force = elastic_force(cloth, x)
    assert force[left, 0].sum() == pytest.approx(width * k * wanted["force_per_width"], rel=0.01)
    assert force[right, 0].sum() == pytest.approx(-width * k * wanted["force_per_width"], rel=0.01)
    assert np.ptp(x[:, 1]) == pytest.approx(width, rel=1e-6)


def bias(cells, k_stretch, k_shear, lam):
    """Return force per width [N/m] and width over rest width of a sheet cut at 45 degrees and stretched to `lam`."""
    length, width = 0.2, 0.1
    mesh = sheet(cells, (length, width), "alternating", grain=(1, 1, 0))
    start = mesh.positions * [lam, 1.0, 1.0]
    ends = np.flatnonzero((mesh.positions[:, 0] < 1e-9) | (mesh.positions[:, 0] > length - 1e-9))
    fabric = core.Material(areal_density=0.2, stretch=k_stretch, shear=k_shear)
    # the grips hold along the pull and allow sliding across it; one vertex fixes the position
    cloth = core.Cloth(mesh, fabric, positions=start,
                       attachments=[core.Attachment(int(v), [X, Z] if v else [X, Y, Z]) for v in ends])
    x = settle(core.Scene([cloth], gravity=(0, 0, 0)), 1.0, 3).positions[0]
    pull = elastic_force(cloth, x)[ends[mesh.positions[ends, 0] < 1e-9], 0].sum() / width
    return pull, np.ptp(x[:, 1]) / width


BIAS = [(table["k_stretch"], table["k_shear"], row) for table in TABLE["bias_extension"] for row in table["curve"]]


@cases(("k_stretch", "k_shear", "row"), BIAS,
       ids=[f"k={k} ks={s} stretch {r['lam']}" for k, s, r in BIAS])
def test_bias_extension_pulls_and_contracts_as_the_homogeneous_sheet(k_stretch, k_shear, row):
    pull, transverse = bias((6, 3), k_stretch, k_shear, row["lam"])
    assert pull == pytest.approx(row["force_per_width"], rel=0.01)
    assert transverse == pytest.approx(row["transverse"], rel=0.01)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and shear against closed forms: uniaxial, simple shear, picture frame, bias pull, and Kim's eigenvalues."""

import json
from pathlib import Path

import numpy as np
import pytest

from core.stencils.membranes.stretch_shear import Shear, Stretch
from tests.cases import cases

REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "stretch_shear_energies.json").read_text())
ENERGY, FORCE = REFERENCE["tolerance"]["energy_rel"], REFERENCE["tolerance"]["force_rel"]
EIGENVALUE = REFERENCE["tolerance"]["hessian_eig_abs"]
DIGITS = 2e-12
"""Relative precision of the reference file, which gives 12 digits."""


def columns(F):
    """Return (w_u, w_v) of one element from F (3, 2)."""
    F = np.asarray(F, dtype=float)
    return tuple(tuple(np.array([F[i, c]]) for i in range(3)) for c in range(2))


def law_with(name, ku=1.0, kv=1.0):
    one = np.ones(1)
    return (Stretch(), (ku * one, kv * one, one, one)) if name == "bw_stretch" else (Shear(), (ku * one,))


def energy(name, F, k=1.0):
    law, p = law_with(name, k, k)
    return law.energy(columns(F), p)[0]


def stress(name, F, k=1.0):
    """Return P (3, 2)."""
    law, p = law_with(name, k, k)
    return np.array(law.stress(columns(F), p))[:, :, 0].T


def eigenvalues(name, F, projected):
    law, p = law_with(name)
    H = np.array((law.projected_tangent if projected else law.tangent)(columns(F), p))[..., 0]
    return np.linalg.eigvalsh(H.transpose(0, 2, 1, 3).reshape(6, 6))


def in_plane(a, b, c, d):
    return [[a, b], [c, d], [0.0, 0.0]]


@cases("case", REFERENCE["uniaxial"], ids=lambda c: f"stretch {c['stretch']}")
def test_a_sheet_pulled_along_the_warp(case):
    wanted = case["baraff_witkin_k1"]
    F = in_plane(case["stretch"], 0.0, 0.0, wanted["transverse"])
    assert energy("bw_stretch", F) == pytest.approx(wanted["energy"], rel=ENERGY + DIGITS)
    P = stress("bw_stretch", F)
    assert P[0, 0] == pytest.approx(wanted["force_per_width"], rel=FORCE)
    assert np.abs(P[:, 1]).max() <= 1e-15, "no force across: the width it wants is its own"


@cases("case", REFERENCE["shear"], ids=lambda c: f"gamma {c['gamma']}")
def test_simple_shear(case):
    wanted, F = case["simple_shear"], in_plane(1.0, case["gamma"], 0.0, 1.0)
    cancelling = 2.0 ** -52 / (np.hypot(1.0, case["gamma"]) - 1.0) * 4.0              # of |w_v| - 1 in double precision
    assert energy("bw_stretch", F) == pytest.approx(wanted["bw_stretch_energy_k1"], rel=ENERGY + DIGITS + cancelling)
    assert energy("bw_shear", F) == pytest.approx(wanted["bw_shear_energy_k1"], rel=ENERGY + DIGITS)
    assert stress("bw_stretch", F)[0, 1] == pytest.approx(wanted["bw_stretch_P12"], rel=FORCE)
    assert stress("bw_shear", F)[0, 1] == pytest.approx(wanted["bw_shear_P12"], rel=FORCE)


@cases("case", REFERENCE["shear"], ids=lambda c: f"gamma {c['gamma']}")
def test_a_picture_frame_shears_without_stretching(case):
    angle = np.arcsin(case["gamma"])
    F = in_plane(1.0, np.sin(angle), 0.0, np.cos(angle))
    assert energy("bw_stretch", F) <= 1e-30
    assert energy("bw_shear", F) == pytest.approx(case["picture_frame"]["bw_shear_energy_k1"], rel=ENERGY + DIGITS)


@cases("fabric", REFERENCE["bias_extension"], ids=lambda c: f"shear {c['k_shear']}")
def test_a_sheet_pulled_on_the_bias_contracts_and_resists_as_computed(fabric):
    turn = np.sqrt(0.5) * np.array([[1.0, -1.0], [1.0, 1.0]])          # warp and weft at 45 degrees to the pull
    for point in fabric["curve"]:
        F = np.vstack([np.diag([point["lam"], point["transverse"]]) @ turn, np.zeros(2)])
        P = stress("bw_stretch", F, fabric["k_stretch"]) + stress("bw_shear", F, fabric["k_shear"])
        resistance = P @ turn.T
        assert resistance[0, 0] == pytest.approx(point["force_per_width"], rel=1e-6)
        assert abs(resistance[1, 1]) <= 1e-8 * fabric["k_stretch"], "free edges carry no force"


@cases("law", ["bw_stretch", "bw_shear"])
@cases("case", REFERENCE["eigen"], ids=range(len(REFERENCE["eigen"])))
def test_energy_stress_and_eigenvalues_at_random_deformations(case, law):
    wanted = case[law]
    assert energy(law, case["F"]) == pytest.approx(wanted["psi"], rel=1e-10)          # F itself has 12 digits
    np.testing.assert_allclose(stress(law, case["F"]), wanted["P"], rtol=0.0, atol=FORCE * np.abs(wanted["P"]).max())
    np.testing.assert_allclose(eigenvalues(law, case["F"], False), wanted["hessian_eigs"], rtol=0.0, atol=EIGENVALUE)
    np.testing.assert_allclose(eigenvalues(law, case["F"], True), np.maximum(0.0, wanted["hessian_eigs"]), rtol=0.0,
                               atol=EIGENVALUE)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and shear against closed forms: energies, stresses, the spectra of their tangents, and the hinge's gradient.

The laws are evaluated per unit of rest area (a k = k), so that their energies are those of the table.
"""

import numpy as np
import pytest

from core.stencils.bending.hinge import Hinge, angle
from core.stencils.membranes.stretch_shear import Shear, Stretch
from tests.cases import cases
from tests.core.physics.scenes import reference

TABLE = reference("stretch_shear_energies")
RANDOM = np.random.default_rng(20)
ONE = np.ones(1)
STRETCH, SHEAR = (Stretch(), (ONE, ONE, ONE, ONE)), (Shear(), (ONE,))
LAWS = {"bw_stretch": STRETCH, "bw_shear": SHEAR}
SPECIAL = {
    "rest": [[1, 0], [0, 1], [0, 0]],
    "one column at rest": [[1, 0.3], [0, 1.2], [0, 0]],
    "rank one": [[1, 2], [0, 0], [0, 0]],
    "rank one, opposed": [[1, -0.5], [1, -0.5], [0.2, -0.1]],
    "crushed": [[0.1, 0], [0, 0.05], [0.02, 0]],
    "right angle": [[2, 0], [0, 0.5], [0, 0]],
}


def columns(F):
    """Return a 3x2 matrix as the columns of one element."""
    return tuple(tuple(np.array([F[i][c]], dtype=float) for i in range(3)) for c in range(len(F[0])))


def matrix(tangent):
    """Return H_cd as one symmetric matrix."""
    return np.block([[np.array([[float(np.ravel(block[i][j])[0]) for j in range(3)] for i in range(3)])
                      for block in row] for row in tangent])


def stress_matrix(law, F):
    P = law[0].stress(columns(F), law[1])
    return np.array([[P[c][i][0] for c in range(2)] for i in range(3)])


def energy(law, F):
    return law[0].energy(columns(F), law[1])[0]


def rotated(F):
    """Return F with a random rotation: the shapes of the table are in the x-y plane, and the law must not depend on
    that.
    """
    Q, _ = np.linalg.qr(RANDOM.normal(size=(3, 3)))
    return Q @ np.asarray(F, dtype=float)


@cases("row", TABLE["uniaxial"], ids=lambda r: f"stretch {r['stretch']}")
def test_uniaxial_stretch_has_the_energy_and_force_of_a_spring_and_no_transverse_contraction(row):
    F = [[row["stretch"], 0], [0, row["baraff_witkin_k1"]["transverse"]], [0, 0]]
    assert energy(STRETCH, rotated(F)) == pytest.approx(row["baraff_witkin_k1"]["energy"], rel=1e-12, abs=1e-15)
    assert energy(SHEAR, rotated(F)) == pytest.approx(0.0, abs=1e-15)
    P = stress_matrix(STRETCH, F)
    assert P[0, 0] == pytest.approx(row["baraff_witkin_k1"]["force_per_width"], rel=1e-10)
    assert abs(P[1, 1]) < 1e-15


@cases("row", TABLE["shear"], ids=lambda r: f"gamma {r['gamma']}")
def test_simple_shear_and_the_picture_frame_have_their_closed_forms(row):
    gamma, simple, frame = row["gamma"], row["simple_shear"], row["picture_frame"]
    F = [[1, gamma], [0, 1], [0, 0]]
    # the table has 12 digits
    assert energy(STRETCH, rotated(F)) == pytest.approx(simple["bw_stretch_energy_k1"], rel=2e-11)
    assert energy(STRETCH, F) == pytest.approx(0.5 * (np.hypot(gamma, 1.0) - 1.0) ** 2, rel=1e-12)
    assert energy(SHEAR, rotated(F)) == pytest.approx(simple["bw_shear_energy_k1"], rel=1e-12)
    assert stress_matrix(STRETCH, F)[0, 1] == pytest.approx(simple["bw_stretch_P12"], rel=1e-10)
    assert stress_matrix(SHEAR, F)[0, 1] == pytest.approx(simple["bw_shear_P12"], rel=1e-10)
    lean = np.arcsin(gamma)
    F = [[1, np.sin(lean)], [0, np.cos(lean)], [0, 0]]
    assert energy(SHEAR, rotated(F)) == pytest.approx(frame["bw_shear_energy_k1"], rel=1e-12)
    assert energy(STRETCH, rotated(F)) == pytest.approx(0.0, abs=1e-30)


@cases("sample", TABLE["eigen"], ids=range(len(TABLE["eigen"])))
@cases("name", LAWS)
def test_energy_stress_and_spectrum_at_random_deformations_are_kims(sample, name):
    law, wanted = LAWS[name], sample[name]
    F = np.array(sample["F"])
    # the samples have 12 digits, which limits the comparison
    assert energy(law, F) == pytest.approx(wanted["psi"], rel=1e-10, abs=1e-12)
    assert np.abs(stress_matrix(law, F) - wanted["P"]).max() < 1e-10
    spectrum = np.linalg.eigvalsh(matrix(law[0].tangent(columns(F), law[1])))
    assert np.abs(spectrum - np.sort(wanted["hessian_eigs"])).max() < 1e-8


def special_and_random():
    yield from ((name, np.array(F, dtype=float)) for name, F in SPECIAL.items())
    generator = np.random.default_rng(21)
    yield from ((f"random {i}", generator.normal(size=(3, 2))) for i in range(6))


@cases(("case", "F"), special_and_random(), ids=[n for n, _ in special_and_random()])
@cases("name", LAWS)
def test_the_clamped_tangent_is_the_tangent_without_its_negative_eigenvalues(case, F, name):
    law = LAWS[name]
    values, vectors = np.linalg.eigh(matrix(law[0].tangent(columns(F), law[1])))
    clamped = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
    assert np.abs(matrix(law[0].projected_tangent(columns(F), law[1])) - clamped).max() < 1e-8


@cases(("case", "F"), special_and_random(), ids=[n for n, _ in special_and_random()])
@cases("name", LAWS)
def test_the_eigenvalues_of_the_tangents_are_the_closed_forms_of_kim(case, F, name):
    """Stretch: 1 along each column, 1 - 1/|f| twice across it. Shear: (I2 +- sqrt(I2^2 + 12 I6^2)) / 2, +-I6 twice."""
    u, v = F[:, 0], F[:, 1]
    if name == "bw_stretch":
        wanted = [1.0, 1.0, *(2 * [1.0 - 1.0 / np.linalg.norm(u)]), *(2 * [1.0 - 1.0 / np.linalg.norm(v)])]
    else:
        i2, i6 = u @ u + v @ v, u @ v
        root = np.sqrt(i2 * i2 + 12.0 * i6 * i6)
        wanted = [(i2 + root) / 2, (i2 - root) / 2, i6, i6, -i6, -i6]
    law = LAWS[name]
    spectrum = np.linalg.eigvalsh(matrix(law[0].tangent(columns(F), law[1])))
    assert np.abs(spectrum - np.sort(wanted)).max() < 1e-8


@cases("sample", TABLE["dihedral"], ids=range(len(TABLE["dihedral"])))
def test_the_hinge_has_the_reference_angle_and_gradient(sample):
    x = np.array(sample["x"])
    F = tuple(tuple(np.array([d]) for d in x[i] - x[0]) for i in (1, 2, 3))
    theta = angle(F)[0]
    assert abs(theta) == pytest.approx(sample["abs_theta"], abs=1e-9)
    P = np.array(Hinge().stress(F, (ONE, angle(F) - 1.0)))[:, :, 0]          # moment 1: the gradient itself
    gradient = np.stack([-P.sum(axis=0), *P])
    sign = np.sign(theta) if theta else np.sign(gradient[0] @ sample["grad"][0])
    assert np.abs(sign * gradient - sample["grad"]).max() < 1e-8


@cases("degrees", [170.0, 179.0, 179.9])
def test_a_nearly_closed_hinge_stays_finite(degrees):
    fold = np.radians(180.0 - degrees)
    e, a = np.array([1.0, 0.0, 0.0]), np.array([0.5, 1.0, 0.0])
    b = np.array([0.5, np.cos(fold), np.sin(fold)])
    F = tuple(tuple(np.array([d]) for d in column) for column in (e, a, b))
    assert abs(np.degrees(angle(F)[0])) == pytest.approx(degrees, abs=1e-9)
    p = (ONE, 0.0 * ONE)
    assert np.abs(np.array(Hinge().stress(F, p))).max() < 20.0
    assert np.isfinite(matrix(Hinge().tangent(F, p))).all()
    assert np.linalg.eigvalsh(matrix(Hinge().projected_tangent(F, p))).min() > -1e-12

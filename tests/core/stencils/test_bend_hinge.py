# SPDX-License-Identifier: GPL-3.0-or-later
"""The hinge against closed forms: angles, derivatives, a nearly closed hinge, and its known dependence on the mesh."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.static_sheet import SILK, flat_mesh
from core.description.mesh import ClothMesh
from core.stencils.bending.bend_forces import bend_forces
from core.stencils.bending.hinge import Hinge, angle, hinge_parameters, hinge_stencil
from core.stencils.stencil import Stencil
from tests.cases import cases

SAMPLES = json.loads((Path(__file__).parents[1] / "reference" / "stretch_shear_energies.json").read_text())["dihedral"]
ONE_HINGE = np.array([[0, 1, 2, 3]])
UNIT = (np.ones(1), np.zeros(1))


def stencil():
    weights = np.zeros((1, 4, 3))
    weights[:, 0] = -1.0
    weights[:, [1, 2, 3], [0, 1, 2]] = 1.0
    return Stencil(ONE_HINGE, weights)


def folded(degrees):
    """Return two right triangles that share the edge (0, 0, 0)-(1, 0, 0), folded by `degrees`."""
    a = np.radians(degrees)
    return np.array([[0.0, 0, 0], [1.0, 0, 0], [0.3, 1.0, 0], [0.6, -np.cos(a), np.sin(a)]])


@cases("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_angle_and_gradient_are_those_of_the_reference(sample):
    F = stencil().gather(np.array(sample["x"]))
    theta = angle(F)[0]
    assert abs(theta) == pytest.approx(sample["abs_theta"], abs=1e-11)
    ((_, g),) = Hinge().conditions(F, UNIT)
    gradient = stencil().scatter(g, 4)
    sign = np.sign(theta) if abs(theta) > 1e-9 else np.sign(gradient[0, 2] * sample["grad"][0][2])
    np.testing.assert_allclose(sign * gradient, sample["grad"], atol=1e-10)


@cases("sample", SAMPLES, ids=range(len(SAMPLES)))
def test_eigenvalues_of_the_exact_tangent_are_those_of_the_reference(sample):
    F = stencil().gather(np.array(sample["x"]))
    K = stencil().blocks(Hinge().tangent(F, UNIT))[0].transpose(0, 2, 1, 3).reshape(12, 12)
    wanted = sorted(sample["theta_squared_half_hessian_eigs"])
    np.testing.assert_allclose(np.linalg.eigvalsh(K), wanted, atol=1e-8)


@cases("degrees", [0.0, 60.0, -120.0, 179.0, 179.99])
def test_a_hinge_folded_up_to_closing_is_finite_and_pushes_it_open(degrees):
    x = folded(degrees)
    F = stencil().gather(x)
    assert np.degrees(angle(F)[0]) == pytest.approx(degrees, abs=1e-6) or \
        np.degrees(angle(F)[0]) == pytest.approx(-degrees, abs=1e-6)
    forces = -stencil().scatter(Hinge().stress(F, UNIT), 4)
    for H in (Hinge().tangent(F, UNIT), Hinge().projected_tangent(F, UNIT)):
        assert np.isfinite(np.array(H)).all()
    opening = np.radians(degrees) * np.array([0.0, -np.sin(np.radians(degrees)), -np.cos(np.radians(degrees))])
    assert forces[3] @ opening >= 0.0
    np.testing.assert_allclose(forces[3], opening, atol=1e-9)                  # moment theta, lever arm 1 m


def interior_ratio(kind, degrees):
    """Return the hinges' energy per area in the middle of a sheet on a cylinder, over 1/2 B kappa^2."""
    mesh, kappa = flat_mesh(kind, 40, 40), 0.2
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    u = mesh.positions[:, 0] * c + mesh.positions[:, 1] * s
    v = mesh.positions[:, 1] * c - mesh.positions[:, 0] * s
    x = np.stack([np.sin(u * kappa) / kappa, v, np.cos(u * kappa) / kappa], axis=1)
    energies = Hinge().energy(hinge_stencil(mesh).gather(x), hinge_parameters(mesh, SILK.bend))
    middle = mesh.positions[mesh.hinges[:, :2]].mean(axis=1)
    side = 2.0 / np.sqrt(3.0) / 40 if kind == "equilateral" else 1.0 / 40
    lo, hi = np.array([0.25, 8 * side]) - 1e-9, np.array([0.75, 24 * side]) - 1e-9
    inside = ((middle[:, :2] >= lo) & (middle[:, :2] < hi)).all(axis=1)
    return energies[inside].sum() / (0.5 * kappa ** 2 * np.prod(hi - lo))


@cases(("kind", "ratios"), [
    ("right", {0: 1.0, 15: 1.75, 30: 2.616, 45: 3.0, 60: 2.616, 90: 1.0, 135: 1.0}),
    ("alternating", {0: 1.0, 15: 1.125, 30: 1.375, 45: 1.5, 60: 1.375, 90: 1.0, 135: 1.5}),
    ("crossed", {0: 1.5, 15: 1.375, 30: 1.125, 45: 1.0, 60: 1.125, 90: 1.5, 135: 1.0}),
    ("equilateral", {0: 1.0, 15: 1.0, 30: 1.0, 45: 1.0, 60: 1.0, 90: 1.0, 135: 1.0}),
])
def test_on_prescribed_cylinders_the_hinge_is_as_stiff_as_its_mesh_makes_it(kind, ratios):
    for degrees, ratio in ratios.items():
        assert interior_ratio(kind, degrees) == pytest.approx(ratio, abs=0.02), degrees


def test_a_fold_across_the_warp_costs_the_stiffness_of_the_warp():
    positions = np.array([[0.0, 0, 0], [0, 1.0, 0], [-1.0, 0.5, 0], [1.0, 0.5, 0]])   # the shared edge is a weft
    mesh = ClothMesh(positions, [[0, 1, 2], [1, 0, 3]])
    (k, _) = hinge_parameters(mesh, (7.0, 3.0))
    assert k[0] == pytest.approx(7.0)
    (k, _) = hinge_parameters(ClothMesh(positions, [[0, 1, 2], [1, 0, 3]], grain=(0, 1, 0)), (7.0, 3.0))
    assert k[0] == pytest.approx(3.0)


def test_quadratic_bending_is_the_hinge_at_small_angles():
    mesh = flat_mesh("jittered", 6, 4)
    x = mesh.positions + 1e-4 * np.random.default_rng(0).normal(size=mesh.positions.shape) * (0, 0, 1)
    (hinge,), (quadratic,) = (bend_forces(mesh, SILK, law) for law in ("hinge", "quadratic"))
    assert quadratic.energy(x) == pytest.approx(hinge.energy(x), rel=1e-5)

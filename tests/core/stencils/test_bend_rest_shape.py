# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh that is modelled curved or creased is at rest as it is modelled, unless it is told to want to be flat."""

import numpy as np
import pytest

from benchmarks.static_sheet import SILK, flat_mesh
from benchmarks.triangulations import TRIANGULATIONS
from core.mesh import ClothMesh
from core.stencils.bending import bend_forces
from core.stencils.patch_bend import CurvedPatch
from core.stencils.patch_geometry import PatchGeometry
from core.stencils.stencil import ElementForce
from tests.core.shapes import random_rotation

BOX = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
BOX_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def rolled(mesh, curvature):
    """The sheet on a cylinder about the weft."""
    u = mesh.positions[:, 0] * curvature
    return np.stack([np.sin(u) / curvature, mesh.positions[:, 1], np.cos(u) / curvature], axis=1)


def sphere(rows=9, around=14):
    """A ball cut off at both ends."""
    a, b = np.meshgrid(np.linspace(0.3, np.pi - 0.3, rows), np.linspace(0, 2 * np.pi, around, endpoint=False),
                       indexing="ij")
    x = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1).reshape(-1, 3)
    faces = [[r * around + k, r * around + (k + 1) % around, (r + 1) * around + (k + 1) % around, (r + 1) * around + k]
             for r in range(rows - 1) for k in range(around)]
    return ClothMesh(x, faces=faces)


def cylinder():
    flat = flat_mesh("jittered", 8, 6)
    return ClothMesh(rolled(flat, 1.5), flat.triangles)


SHAPES = {"cylinder": cylinder, "ball": sphere, "box": lambda: ClothMesh(BOX, faces=BOX_FACES)}
shapes = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
laws = pytest.mark.parametrize("law", ["patch", "hinge"])


@laws
@shapes
def test_a_modelled_shape_is_at_rest_wherever_it_is_moved(shape, law):
    mesh = shape()
    rng = np.random.default_rng(2)
    (force,) = bend_forces(mesh, SILK, law)
    y = mesh.positions @ random_rotation(rng).T + rng.normal(size=3)
    size = np.abs(force.force(y * (1.0, 1.0, 0.5), 0.0 * y)).max()
    assert size > 0.0
    assert np.abs(force.force(y, 0.0 * y)).max() <= 1e-9 * size


@laws
@shapes
def test_any_other_shape_costs_energy(shape, law):
    mesh = shape()
    (force,) = bend_forces(mesh, SILK, law)
    rng = np.random.default_rng(3)
    rest = force.energy(mesh.positions)
    for _ in range(5):
        x = mesh.positions + 0.05 * mesh.mean_edge * rng.normal(size=mesh.positions.shape)
        assert force.energy(x) > rest + 1e-6


@pytest.mark.parametrize("kind", TRIANGULATIONS)
def test_unrolling_a_modelled_cylinder_costs_what_rolling_up_a_flat_sheet_costs(kind):
    flat, curvature = flat_mesh(kind, 20, 10), 1.5
    curved = ClothMesh(rolled(flat, curvature), flat.triangles)
    (roll,), (unroll,) = bend_forces(flat, SILK), bend_forces(curved, SILK)
    assert unroll.energy(flat.positions) == pytest.approx(roll.energy(curved.positions), rel=0.01)
    assert unroll.energy(flat.positions) == pytest.approx(0.5 * curvature ** 2 * flat.areas.sum(), rel=0.06)


@laws
def test_a_curved_sheet_bent_further_costs_the_square_of_the_change(law):
    flat = flat_mesh("right", 20, 10)
    mesh = ClothMesh(rolled(flat, 1.0), flat.triangles)
    (force,) = bend_forces(mesh, SILK, law)
    for curvature in (0.5, 1.5, 2.5, -1.0):
        wanted = 0.5 * (curvature - 1.0) ** 2 * flat.areas.sum()
        x = rolled(flat, curvature) * (1.0, 1.0, 1.0)
        assert force.energy(x) == pytest.approx(wanted, rel=0.06), curvature


@laws
def test_a_sheet_told_to_be_flat_is_at_rest_when_flat(law):
    flat = flat_mesh("right", 8, 6)
    mesh = ClothMesh(rolled(flat, 1.5), flat.triangles)
    (force,) = bend_forces(mesh, SILK, law, flat=True)
    assert force.energy(flat.positions) <= 1e-3 * force.energy(mesh.positions)
    assert force.energy(mesh.positions) == pytest.approx(0.5 * 1.5 ** 2 * flat.areas.sum(), rel=0.12)


def test_the_closed_form_of_a_curved_rest_shape_is_the_flat_one_where_the_rest_is_flat():
    mesh = flat_mesh("jittered", 6, 6)
    patch = PatchGeometry(mesh, SILK.bend)
    (flat,) = bend_forces(mesh, SILK)
    curved = ElementForce(patch.stencil, CurvedPatch(), (patch.stiffness, *patch.rest.T))
    x = mesh.positions + 0.1 * np.random.default_rng(4).normal(size=mesh.positions.shape)
    assert curved.energy(x) == pytest.approx(flat.energy(x), rel=1e-9)
    np.testing.assert_allclose(curved.force(x, 0.0 * x), flat.force(x, 0.0 * x), rtol=1e-6, atol=1e-9)

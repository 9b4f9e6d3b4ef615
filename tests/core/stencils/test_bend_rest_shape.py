# SPDX-License-Identifier: GPL-3.0-or-later
"""A mesh that is modelled curved or creased is at rest in that shape, unless `flat` is given."""

import numpy as np
import pytest

import core
from benchmarks.static_sheet import SILK, flat_mesh
from benchmarks.triangulations import TRIANGULATIONS
from core.description.mesh import ClothMesh
from core.description.paint_maps import PaintMaps
from core.kernels import using
from core.kernels.backend import BACKENDS, why_not
from core.model.cloth_forces import with_painted_stiffness
from core.model.particle_system import ParticleSystem
from core.stencils.bending.bend_forces import bend_forces
from core.stencils.bending.patch_geometry import PatchGeometry
from tests.cases import cases
from tests.core.shapes import random_rotation

BOX = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
BOX_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def rolled(mesh, curvature):
    """Return the sheet on a cylinder about the weft."""
    u = mesh.positions[:, 0] * curvature
    return np.stack([np.sin(u) / curvature, mesh.positions[:, 1], np.cos(u) / curvature], axis=1)


def sphere(rows=9, around=14):
    """Return a ball cut off at both ends."""
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
shapes = cases("shape", SHAPES.values(), ids=SHAPES)
laws = cases("law", ["patch", "hinge"])


class Bending:
    """All bending forces of a mesh."""

    def __init__(self, *given, **more):
        self.forces = bend_forces(*given, **more)

    def energy(self, x):
        return sum(force.energy(x) for force in self.forces)

    def force(self, x, v):
        return sum(force.force(x, v) for force in self.forces)


@laws
@shapes
def test_a_modelled_shape_is_at_rest_wherever_it_is_moved(shape, law):
    mesh = shape()
    rng = np.random.default_rng(2)
    force = Bending(mesh, SILK, law)
    y = mesh.positions @ random_rotation(rng).T + rng.normal(size=3)
    size = np.abs(force.force(y * (1.0, 1.0, 0.5), 0.0 * y)).max()
    assert size > 0.0
    assert np.abs(force.force(y, 0.0 * y)).max() <= 1e-9 * size


@laws
@shapes
def test_any_other_shape_costs_energy(shape, law):
    mesh = shape()
    force = Bending(mesh, SILK, law)
    rng = np.random.default_rng(3)
    rest = force.energy(mesh.positions)
    for _ in range(5):
        x = mesh.positions + 0.05 * mesh.mean_edge * rng.normal(size=mesh.positions.shape)
        assert force.energy(x) > rest + 1e-6


@cases("kind", TRIANGULATIONS)
def test_unrolling_a_modelled_cylinder_costs_what_rolling_up_a_flat_sheet_costs(kind):
    flat, curvature = flat_mesh(kind, 20, 10), 1.5
    curved = ClothMesh(rolled(flat, curvature), flat.triangles)
    roll, unroll = Bending(flat, SILK), Bending(curved, SILK)
    assert unroll.energy(flat.positions) == pytest.approx(roll.energy(curved.positions), rel=0.01)
    assert unroll.energy(flat.positions) == pytest.approx(0.5 * curvature ** 2 * flat.areas.sum(), rel=0.06)


@laws
def test_a_curved_sheet_bent_further_costs_the_square_of_the_change(law):
    flat = flat_mesh("right", 20, 10)
    mesh = ClothMesh(rolled(flat, 1.0), flat.triangles)
    force = Bending(mesh, SILK, law)
    for curvature in (0.5, 1.5, 2.5, -1.0):
        wanted = 0.5 * (curvature - 1.0) ** 2 * flat.areas.sum()
        x = rolled(flat, curvature) * (1.0, 1.0, 1.0)
        assert force.energy(x) == pytest.approx(wanted, rel=0.06), curvature


@laws
def test_a_sheet_told_to_be_flat_is_at_rest_when_flat(law):
    flat = flat_mesh("right", 8, 6)
    mesh = ClothMesh(rolled(flat, 1.5), flat.triangles)
    force = Bending(mesh, SILK, law, flat=True)
    assert force.energy(flat.positions) <= 1e-3 * force.energy(mesh.positions)
    assert force.energy(mesh.positions) == pytest.approx(0.5 * 1.5 ** 2 * flat.areas.sum(), rel=0.12)


@shapes
def test_the_energy_is_that_of_columns_less_those_of_the_rest_shape_along_the_present_normal(shape):
    mesh = shape()
    patch, force = PatchGeometry(mesh, SILK.bend), Bending(mesh, SILK)
    x = mesh.positions + 0.1 * mesh.mean_edge * np.random.default_rng(4).normal(size=mesh.positions.shape)
    F = np.array(patch.stencil.gather(x)).transpose(2, 0, 1)                             # (T, column, axis)
    n = np.cross(F[:, 3], F[:, 4])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    off = F[:, :3] - patch.rest[:, :, None] * n[:, None]
    assert force.energy(x) == pytest.approx(0.5 * float(patch.stiffness @ (off**2).sum(axis=(1, 2))), rel=1e-12)


def test_only_triangles_that_are_modelled_curved_have_a_changing_matrix():
    """In a sheet with a crease, only the triangles beside the crease have more than a flat patch with a constant
    matrix.
    """
    sheet = flat_mesh("right", 12, 6)
    u, v, _ = sheet.positions.T
    fold = np.median(u)
    creased = ClothMesh(np.stack([np.minimum(u, fold), v, np.maximum(u - fold, 0.0)], axis=1), sheet.triangles)
    flat, curved = bend_forces(creased, SILK)
    assert flat.law.constant_tangent and len(flat.stencil.vertices) == 3 * len(creased.triangles)
    assert 0 < len(curved.stencil.vertices) <= 4 * 12
    assert len(bend_forces(flat_mesh("jittered", 6, 6), SILK)) == 1


def test_painted_stiffness_leaves_a_modelled_shape_at_rest():
    """Every part of a triangle's energy is scaled by the stiffness painted on the triangle."""
    mesh = sphere()
    painted = PaintMaps(mesh, bend=np.random.default_rng(5).uniform(0.1, 5.0, len(mesh.positions)))
    forces = with_painted_stiffness(bend_forces(mesh, SILK), painted)
    x, shrunk = mesh.positions, mesh.positions * (1.0, 1.0, 0.5)
    size = np.abs(sum(force.force(shrunk, 0.0 * x) for force in forces)).max()
    assert np.abs(sum(force.force(x, 0.0 * x) for force in forces)).max() <= 1e-9 * size


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_matrix_of_a_modelled_shape_is_the_derivative_of_its_force_with_half_the_blocks(backend):
    """The coupling between the outer vertices of a patch is constant and in the scalar part of the matrix."""
    if why_not(backend):
        pytest.skip(why_not(backend))
    mesh = sphere(15, 24)
    rng = np.random.default_rng(6)
    x = mesh.positions + 0.03 * mesh.mean_edge * rng.normal(size=mesh.positions.shape)
    d = rng.normal(size=x.shape)
    with using(backend):
        system = ParticleSystem(core.Scene([core.Cloth(mesh, SILK)]))
        elastic, step = system.elastic(0.0), 1e-6 * mesh.mean_edge
        change = (elastic.force(x - step * d) - elastic.force(x + step * d)) / (2.0 * step)
        found = elastic.stiffness(x, 1.0, exact=True).multiply(d)
        blocks = elastic.stiffness(x, 1.0).diagonal_blocks()
    assert np.abs(found - change).max() <= 1e-6 * np.abs(change).max()
    assert np.linalg.eigvalsh(blocks).min() > 0.0
    pattern = elastic.stiffness(x, 1.0).pattern
    assert len(pattern.rows) < 0.6 * len(pattern.scalar.rows)

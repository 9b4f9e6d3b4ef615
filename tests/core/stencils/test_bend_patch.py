# SPDX-License-Identifier: GPL-3.0-or-later
"""The patch is a plate on every triangulation: exact curvature, equilibrium of constant moments, free edges."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.static_sheet import SILK, cylinder_ratio, flat_mesh, small_tip_ratio
from benchmarks.triangulations import TRIANGULATIONS
from core.description.mesh import ClothMesh
from core.errors import ClothError
from core.stencils.bending.bend_forces import LAWS, bend_forces
from core.stencils.bending.edge_slopes import edge_slopes
from core.stencils.bending.hinge_geometry import HingeGeometry
from core.stencils.bending.patch_geometry import PatchGeometry, flat_stencil
from tests.cases import cases

each_kind = cases("kind", TRIANGULATIONS)
QUADRATICS = {"uu": (0.5, 0.0, 0.0), "uv": (0.0, 1.0, 0.0), "vv": (0.0, 0.0, 0.5), "all": (0.7, -1.3, 0.4)}


def raised(mesh, quadratic):
    """Return the sheet with z a quadratic of u and v, and its second derivatives."""
    a, b, c = quadratic
    x = mesh.positions.copy()
    x[:, 2] = a * x[:, 0] ** 2 + b * x[:, 0] * x[:, 1] + c * x[:, 1] ** 2
    return x, np.array([2 * a, b, 2 * c])


def free_triangles(mesh):
    """Return the triangles with an edge that belongs to no other triangle."""
    sides = {tuple(sorted(edge)) for edge in mesh.hinges[:, :2].tolist()}
    return [t for t, (a, b, c) in enumerate(mesh.triangles.tolist())
            if not all(tuple(sorted(e)) in sides for e in ((a, b), (b, c), (c, a)))]


@each_kind
@cases("quadratic", QUADRATICS.values(), ids=QUADRATICS)
def test_constant_curvature_and_twist_are_exact_in_every_triangle_without_a_free_edge(kind, quadratic):
    mesh = flat_mesh(kind, 8, 8)
    x, wanted = raised(mesh, quadratic)
    patch = PatchGeometry(mesh, (1.0, 1.0))
    F = np.array(flat_stencil(patch).gather(x))[0, 2].reshape(-1, 3).T                 # (3, T)
    root = np.sqrt(mesh.areas * np.array([[1.0], [2.0], [1.0]]))
    inner = np.setdiff1d(np.arange(len(mesh.triangles)), free_triangles(mesh))
    np.testing.assert_allclose((F / root)[:, inner], np.tile(wanted[:, None], len(inner)), atol=1e-9)


@each_kind
@cases("quadratic", QUADRATICS.values(), ids=QUADRATICS)
def test_constant_moments_leave_no_force_on_vertices_away_from_the_rim(kind, quadratic):
    mesh = flat_mesh(kind, 10, 9)
    x, _ = raised(mesh, quadratic)
    (force,) = bend_forces(mesh, SILK)
    f = force.force(x, 0.0 * x)
    u, v, d = x[:, 0], x[:, 1], 0.1
    inner = (u > 2.6 * d) & (u < 1.0 - 3.6 * d) & (v > 3.6 * d) & (v < v.max() - 3.6 * d)
    assert inner.any()
    assert np.abs(f[inner]).max() <= 1e-10 * np.abs(f).max()


@each_kind
def test_cylinders_of_every_direction_cost_what_the_plate_costs(kind):
    """Except for triangles at free edges, whose free slope does not resist curvature across the edge."""
    mesh = flat_mesh(kind, 20, 20)
    for degrees in range(0, 180, 15):
        assert 0.949 <= cylinder_ratio(mesh, "patch", degrees) <= 1.0, degrees


@each_kind
def test_a_cantilevers_tip_comes_down_as_far_as_the_plates(kind):
    for across in (20, 10, 3):
        assert small_tip_ratio(kind, 20, across, "patch") == pytest.approx(1.0, abs=0.02), across


@cases("kind", ["right", "alternating", "jittered"])
def test_a_strip_one_cell_wide_bends_like_a_wide_one(kind):
    assert small_tip_ratio(kind, 20, 1, "patch") == pytest.approx(1.0, abs=0.02)


@each_kind
def test_only_flat_shapes_are_free_of_bending_energy(kind):
    mesh = flat_mesh(kind, 4, 4)
    (force,) = bend_forces(mesh, SILK)
    x = mesh.positions
    k = force.stencil.blocks(force.law.tangent(force.stencil.gather(x), force.parameters))[..., 2, 2]
    K = np.zeros((len(x), len(x)))
    for vertices, block in zip(force.stencil.vertices, k, strict=True):
        np.add.at(K, np.ix_(vertices, vertices), block)
    values = np.linalg.eigvalsh(K)
    assert np.abs(values[:3]).max() <= 1e-9 * values[-1]
    assert values[3] >= 1e-4 * values[-1]


@cases("bend", [(1.0, 5.0), (5.0, 1.0), (1.0, 0.0)])
def test_warp_and_weft_resist_with_their_own_stiffness(bend):
    mesh = flat_mesh("jittered", 20, 20)
    (force,) = bend_forces(mesh, replace(SILK, bend=bend))
    for quadratic, wanted in (((0.5, 0, 0), bend[0]), ((0, 0, 0.5), bend[1]), ((0, 0.5, 0), 0.25 * sum(bend))):
        x, _ = raised(mesh, quadratic)
        assert force.energy(x) / (0.5 * mesh.areas.sum()) == pytest.approx(wanted, rel=0.06, abs=1e-4)


def test_uv_drawn_in_pieces_any_way_round_gives_the_same_stiffness():
    mesh = flat_mesh("jittered", 8, 6)
    rng = np.random.default_rng(5)
    turns, uv = rng.uniform(0, 2 * np.pi, len(mesh.triangles)), mesh.uv.copy()
    c, s = np.cos(turns)[:, None], np.sin(turns)[:, None]
    uv = np.stack([c * uv[..., 0] - s * uv[..., 1], s * uv[..., 0] + c * uv[..., 1]], axis=-1) + rng.normal(
        size=(len(turns), 1, 2))
    flipped = rng.random(len(turns)) < 0.5
    triangles = np.where(flipped[:, None], mesh.triangles[:, [0, 2, 1]], mesh.triangles)
    uv = np.where(flipped[:, None, None], uv[:, [0, 2, 1]], uv)
    pieces = ClothMesh(mesh.positions, triangles, uv=uv)
    x = mesh.positions + 0.02 * rng.normal(size=mesh.positions.shape)
    (whole,), (cut,) = bend_forces(mesh, SILK), bend_forces(pieces, SILK)
    assert cut.energy(x) == pytest.approx(whole.energy(x), rel=1e-9)


@cases("scale", [1e-3, 1e3])
def test_a_sheet_of_another_size_bends_alike(scale):
    mesh = flat_mesh("jittered", 8, 6)
    larger = ClothMesh(scale * mesh.positions, mesh.triangles)
    x = mesh.positions + 0.02 * np.random.default_rng(1).normal(size=mesh.positions.shape)
    (one,), (other,) = bend_forces(mesh, SILK), bend_forces(larger, SILK)
    assert other.energy(scale * x) == pytest.approx(one.energy(x), rel=1e-9)           # B has the unit of an energy


def test_two_triangles_of_unequal_height_have_the_slope_of_a_parabola_across_their_edge():
    mesh = ClothMesh([[0.0, 0, 0], [2, 0, 0], [0.7, 1.0, 0], [1.2, -0.4, 0]], [[0, 1, 2], [1, 0, 3]])
    vertices, weights = edge_slopes(mesh, HingeGeometry(mesh))
    u, v, _ = mesh.positions.T
    assert (weights * (2.0 * u + 3.0 * v + 5.0 * v ** 2)[vertices]).sum() == pytest.approx(3.0)


def test_stencils_are_as_small_as_the_mesh_allows():
    assert bend_forces(flat_mesh("right", 8, 8), SILK)[0].stencil.vertices.shape[1] == 4
    assert bend_forces(flat_mesh("jittered", 8, 8), SILK)[0].stencil.vertices.shape[1] <= 12


@each_kind
@cases("flat", [True, False])
def test_patches_made_piece_by_piece_are_those_made_at_once(kind, flat, monkeypatch):
    mesh = flat_mesh(kind, 9, 7)
    mesh = ClothMesh(mesh.positions + 0.02 * np.random.default_rng(3).normal(size=mesh.positions.shape), mesh.triangles)
    whole = PatchGeometry(mesh, (1.0, 2.0), flat=flat)
    monkeypatch.setattr("core.stencils.bending.patch_geometry.ELEMENTS_PER_BATCH", 11)
    cut = PatchGeometry(mesh, (1.0, 2.0), flat=flat)
    x = mesh.positions + 0.02 * np.random.default_rng(4).normal(size=mesh.positions.shape)
    F = np.array(whole.stencil.gather(x))
    np.testing.assert_allclose(np.array(cut.stencil.gather(x)), F, atol=1e-12 * np.abs(F).max())
    np.testing.assert_allclose(cut.rest, whole.rest, atol=1e-12)
    F = np.array(flat_stencil(whole).gather(x))
    np.testing.assert_allclose(np.array(flat_stencil(cut).gather(x)), F, atol=1e-12 * np.abs(F).max())


def test_vertices_without_weight_add_nothing_to_the_matrix():
    stencil = flat_stencil(PatchGeometry(flat_mesh("jittered", 8, 6), (1.0, 0.0)))
    unused = (stencil.weights == 0.0).all(axis=2)
    assert unused.any() and (stencil.vertices == stencil.vertices[:, :1])[unused].all()


@cases("law", LAWS)
def test_small_meshes_and_limp_fabrics_have_no_bending_or_a_finite_one(law):
    corner = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0.0]])
    assert bend_forces(ClothMesh(corner[:3], [[0, 1, 2]]), SILK, law) == []
    assert bend_forces(ClothMesh(corner, [[0, 1, 2], [1, 3, 2]]), replace(SILK, bend=(0.0, 0.0)), law) == []
    (force,) = bend_forces(ClothMesh(corner, [[0, 1, 2], [1, 3, 2]]), SILK, law)
    assert force.energy(corner + [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0.5]]) > 0.0
    assert force.energy(corner) == pytest.approx(0.0, abs=1e-20)


def test_three_sheets_along_a_seam_resist_closing():
    x = np.array([[0.0, 0, 0], [0, 1, 0], [1, 0, 0], [-1, 0, 0.5], [-1, 0, -0.5]])
    mesh = ClothMesh(x, [[0, 1, 2], [0, 1, 3], [0, 1, 4]])
    forces = bend_forces(mesh, SILK)
    assert sum(force.energy(x) for force in forces) == pytest.approx(0.0, abs=1e-20)
    x[2, 2] = 0.5
    assert sum(force.energy(x) for force in forces) > 0.01


def test_an_unknown_law_is_named_with_those_there_are():
    with pytest.raises(ClothError, match="no bending law 'plate'; there are: patch, hinge, quadratic"):
        bend_forces(flat_mesh("right", 2, 2), SILK, "plate")

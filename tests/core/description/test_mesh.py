# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh: edges, hinges, rest shape and masses, on any surface and at any resolution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import core
from core.description.mesh import lay_flat
from core.model.particle_system import ParticleSystem
from tests.cases import cases
from tests.core.shapes import grid, quads, random_rotation

SCALES = [1e-3, 1.0, 1e3]
seeds = st.integers(0, 2 ** 32 - 1)


def random_sheet(seed):
    """An uneven, wavy sheet with vertices and triangles in random order and random winding."""
    rng = np.random.default_rng(seed)
    positions, triangles = grid(*rng.integers(1, 6, size=2), rng.uniform(0.5, 2.0, size=2))
    spacing = np.linalg.norm(positions[triangles[0, 1]] - positions[triangles[0, 0]])
    positions += 0.1 * spacing * rng.normal(size=positions.shape)
    order = rng.permutation(len(positions))
    triangles = np.argsort(order)[triangles][rng.permutation(len(triangles))]
    flip = rng.uniform(size=len(triangles)) < 0.3
    triangles[flip] = triangles[flip][:, ::-1]
    return rng, positions[order], triangles


# ---------------------------------------------------------------------- connectivity


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_every_edge_is_there_once_and_every_inner_edge_has_one_hinge(seed):
    _, positions, triangles = random_sheet(seed)
    mesh = core.ClothMesh(positions, triangles)
    sides = {}
    for t in triangles.tolist():
        for i in range(3):
            sides.setdefault(frozenset((t[i], t[i - 1])), []).append(t[i - 2])
    assert {frozenset(e) for e in mesh.edges.tolist()} == set(sides)
    assert len(mesh.edges) == len(sides)
    found = {frozenset(h[:2]): sorted(h[2:]) for h in mesh.hinges.tolist()}
    assert found == {edge: sorted(apexes) for edge, apexes in sides.items() if len(apexes) == 2}
    assert len(found) == len(mesh.hinges)
    V, E, T = len(positions), len(mesh.edges), len(triangles)
    assert V - E + T == 1, "a disk, by Euler"


def test_a_hinge_follows_the_winding_of_its_first_triangle():
    positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    mesh = core.ClothMesh(positions, [[2, 1, 3], [0, 1, 2]])
    assert mesh.hinges.tolist() == [[2, 1, 3, 0]]


def test_an_edge_of_three_triangles_gives_two_hinges():
    positions = [[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, -1, 0], [0.5, 0, 1]]
    mesh = core.ClothMesh(positions, [[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    assert len(mesh.edges) == 7
    assert mesh.hinges.tolist() == [[0, 1, 2, 3], [1, 0, 3, 4]]
    assert mesh.hinge_branches.all()


@cases("seed", range(3))
def test_a_hinges_corners_are_where_its_opposite_vertices_sit(seed):
    _, positions, triangles = random_sheet(seed)
    mesh = core.ClothMesh(positions, triangles)
    triangle, corner = np.divmod(mesh.hinge_corners, 3)
    assert (mesh.triangles[triangle, corner] == mesh.hinges[:, 2:]).all()
    for i in (0, 1):
        assert (mesh.triangles[triangle] == mesh.hinges[:, i, None, None]).any(axis=2).all()
        assert (mesh.triangles[triangle, corner] != mesh.hinges[:, i, None]).all()
    assert not mesh.hinge_branches.any()


def test_loose_edges_join_the_edges_once_and_edges_of_triangles_are_not_loose():
    positions = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 0]]
    mesh = core.ClothMesh(positions, [[0, 1, 2]], edges=[[3, 2], [0, 2], [4, 3], [2, 3], [3, 4]])
    assert mesh.loose_edges.tolist() == [[2, 3], [3, 4]]
    assert mesh.edges.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]]
    np.testing.assert_allclose(mesh.rest_lengths, [1.0, 1.0, np.sqrt(2.0), 1.0, 1.0])
    np.testing.assert_allclose(mesh.loose_lengths, [1.0, 1.0])


def test_a_rope_has_edges_and_no_triangles():
    mesh = core.ClothMesh([[0, 0, 0], [0, 0, 1], [0, 0, 3]], edges=[[0, 1], [1, 2]])
    assert len(mesh.triangles) == len(mesh.hinges) == 0
    np.testing.assert_allclose(mesh.vertex_lengths, [0.5, 1.5, 1.0])
    assert mesh.mean_edge == pytest.approx(1.5)


# ---------------------------------------------------------------------- rest shape


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from(SCALES))
def test_laying_flat_keeps_every_length_area_and_angle(seed, scale):
    rng, positions, triangles = random_sheet(seed)
    positions = scale * positions @ random_rotation(rng).T
    flat = lay_flat(positions, triangles, rng.normal(size=3))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        wanted = np.linalg.norm(positions[triangles[:, i]] - positions[triangles[:, j]], axis=1)
        np.testing.assert_allclose(np.linalg.norm(flat[:, i] - flat[:, j], axis=1), wanted, rtol=1e-11)
    d1, d2 = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
    assert (d1[:, 0] * d2[:, 1] > d1[:, 1] * d2[:, 0]).all(), "and is not mirrored"


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_the_warp_runs_along_the_projected_grain(seed):
    rng, positions, triangles = random_sheet(seed)
    grain = rng.normal(size=3)
    flat = lay_flat(positions, triangles, grain)
    a, b, c = (positions[triangles[:, i]] for i in range(3))
    d1, d2 = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
    det = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    u = ((b - a) * d2[:, 1:] - (c - a) * d1[:, 1:]) / det[:, None]       # world direction of the warp
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    wanted = grain - (normal @ grain)[:, None] * normal
    steep = np.linalg.norm(wanted, axis=1) < 2e-3 * np.linalg.norm(grain)
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(u[~steep], wanted[~steep], atol=1e-9)


def test_a_triangle_across_the_grain_still_has_a_warp():
    flat = lay_flat(np.array([[0.0, 0, 0], [0, 2, 0], [0, 0, 1]]), np.array([[0, 1, 2]]), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_allclose(np.linalg.norm(np.roll(flat, -1, axis=1) - flat, axis=2), [[2.0, np.sqrt(5.0), 1.0]])


@settings(max_examples=20, deadline=None)
@given(seeds, st.sampled_from(SCALES))
def test_areas_and_lengths_are_those_of_the_model_whatever_its_units(seed, scale):
    _, positions, triangles = random_sheet(seed)
    mesh = core.ClothMesh(scale * positions, triangles)
    a, b, c = (scale * positions[triangles[:, i]] for i in range(3))
    np.testing.assert_allclose(mesh.areas, 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1), rtol=1e-10)
    wanted = np.linalg.norm(mesh.positions[mesh.edges[:, 1]] - mesh.positions[mesh.edges[:, 0]], axis=1)
    np.testing.assert_allclose(mesh.rest_lengths, wanted, rtol=1e-10)
    assert mesh.vertex_areas.sum() == pytest.approx(mesh.areas.sum())


def test_uv_per_vertex_is_the_rest_shape():
    positions, triangles = grid(2, 2)
    uv = positions[:, :2] * (2.0, 0.5)
    mesh = core.ClothMesh(positions, triangles, uv=uv)
    np.testing.assert_array_equal(mesh.uv, uv[triangles])
    assert mesh.areas.sum() == pytest.approx(1.0)
    horizontal = np.isclose(mesh.positions[mesh.edges[:, 0], 1], mesh.positions[mesh.edges[:, 1], 1])
    np.testing.assert_allclose(mesh.rest_lengths[horizontal], 1.0)


def test_an_edge_on_a_seam_is_as_long_as_its_two_sides_on_average():
    positions = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
    uv = [[[0, 0], [1, 0], [1, 1]], [[5, 5], [5 + 2.0, 5 + 2.0], [5, 7]]]              # the second twice as large
    mesh = core.ClothMesh(positions, [[0, 1, 2], [0, 2, 3]], uv=uv)
    at = mesh.edges.tolist().index([0, 2])
    assert mesh.rest_lengths[at] == pytest.approx(0.5 * (np.sqrt(2.0) + 2.0 * np.sqrt(2.0)))
    np.testing.assert_allclose(mesh.areas, [0.5, 2.0])


def test_a_mirrored_uv_island_is_the_same_fabric_from_behind():
    positions, triangles = grid(3, 2)
    uv = positions[:, :2][triangles]
    mirrored = uv.copy()
    mirrored[::2, :, 0] = 7.0 - mirrored[::2, :, 0]
    plain, turned = (core.ClothMesh(positions, triangles, uv=c) for c in (uv, mirrored))
    np.testing.assert_allclose(turned.areas, plain.areas)
    d1, d2 = turned.uv[:, 1] - turned.uv[:, 0], turned.uv[:, 2] - turned.uv[:, 0]
    assert (d1[:, 0] * d2[:, 1] > d1[:, 1] * d2[:, 0]).all(), "all laid out the same way round"
    np.testing.assert_allclose(turned.rest_lengths, plain.rest_lengths)
    fabric = core.Material(areal_density=0.1, stretch=(100.0, 50.0), shear=10.0, bend=(1e-3, 1e-4))
    x = plain.positions + 0.1 * np.random.default_rng(0).normal(size=plain.positions.shape)
    build = core.stencils.registry.find("baraff_witkin")
    energies = [sum(f.energy(x) for f in build(mesh, fabric) if f.law.name in ("stretch", "shear"))
                for mesh in (plain, turned)]
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)


def test_the_caller_keeps_arrays_of_its_own():
    positions, triangles = grid(1, 1)
    uv = positions[:, :2][triangles] * (-1.0, 1.0)
    before = uv.copy()
    mesh = core.ClothMesh(positions, triangles, uv=uv)
    positions += 1.0
    np.testing.assert_array_equal(uv, before)
    assert mesh.positions.max() == 1.0


# ---------------------------------------------------------------------- masses


@cases("cells", [1, 5, 40])
def test_a_sheet_weighs_its_area_times_its_density_at_any_resolution(cells):
    mesh = core.ClothMesh(*grid(cells, cells, (2.0, 1.5)))
    fabric = core.Material(areal_density=0.3, stretch=1.0, shear=1.0)
    assert ParticleSystem(core.Scene([core.Cloth(mesh, fabric)])).mass.sum() == pytest.approx(0.9, rel=1e-12)


@cases("cells", [1, 5, 40])
def test_a_rope_weighs_its_length_times_its_strip_at_any_resolution(cells):
    line = np.column_stack([np.zeros(cells + 1), np.zeros(cells + 1), np.linspace(0.0, 3.0, cells + 1)])
    mesh = core.ClothMesh(line, edges=np.column_stack([np.arange(cells), np.arange(1, cells + 1)]))
    fabric = core.Material(areal_density=0.3, stretch=1.0, shear=1.0, thread_width=0.01)
    assert ParticleSystem(core.Scene([core.Cloth(mesh, fabric)])).mass.sum() == pytest.approx(0.009, rel=1e-12)


# ---------------------------------------------------------------------- faces


def test_a_quad_is_cut_along_its_shorter_diagonal():
    kite = np.array([[0.0, 0, 0], [2.0, 0.1, 0], [2.1, 2, 0], [0.0, 1.0, 0]])
    for turn in range(4):
        face = np.roll([0, 1, 2, 3], turn).tolist()
        mesh = core.ClothMesh(kite, faces=[face])
        assert [1, 3] in mesh.edges.tolist() and [0, 2] not in mesh.edges.tolist()


def test_of_two_equal_diagonals_the_one_from_the_first_corner_is_cut():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    for turn in range(4):
        face = np.roll([0, 1, 2, 3], turn).tolist()
        for corner in range(4):
            positions = square.copy()
            positions[corner] += 1e-7 * (0.5 - square[corner])               # still a tie, to one part in a million
            mesh = core.ClothMesh(positions, faces=[face])
            assert sorted((face[0], face[2])) in mesh.edges.tolist()


def test_a_regular_grid_gets_the_same_diagonal_everywhere_at_any_scale_and_place():
    positions, triangles = grid(7, 5)
    wanted = {tuple(sorted(t)) for t in triangles.tolist()}
    for scale in SCALES:
        for shift in (0.0, 300.0):
            mesh = core.ClothMesh(scale * (positions + shift), faces=quads(7, 5))
            assert {tuple(sorted(t)) for t in mesh.triangles.tolist()} == wanted


@settings(max_examples=40, deadline=None)
@given(st.integers(3, 12), seeds, st.sampled_from(SCALES))
def test_any_star_shaped_polygon_is_covered_exactly_once(corners, seed, scale):
    rng = np.random.default_rng(seed)
    angle = 2.0 * np.pi * (np.arange(corners) + rng.uniform(-0.2, 0.2, size=corners)) / corners
    radius = scale * rng.uniform(0.3, 1.0, size=corners)
    flat = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), np.zeros(corners)])
    x, y = flat[:, 0], flat[:, 1]
    area = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    mesh = core.ClothMesh(flat @ random_rotation(rng).T, faces=[range(corners)])
    assert len(mesh.triangles) == corners - 2
    assert mesh.areas.sum() == pytest.approx(area, rel=1e-9)
    a, b, c = (flat[mesh.triangles[:, i]] for i in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0.0).all(), "wound like the face"


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 6), seeds, st.sampled_from(SCALES))
def test_a_polygon_with_corners_in_line_is_cut_into_triangles_that_all_have_an_area(sides, seed, scale):
    rng = np.random.default_rng(seed)
    angle = 2.0 * np.pi * (np.arange(sides) + rng.uniform(-0.2, 0.2, size=sides)) / sides
    corners = np.column_stack([3.0 * np.cos(angle), np.sin(angle), 0.0 * angle])
    points = []
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        points += [start + t * (end - start) for t in [0.0, *np.sort(rng.uniform(0.1, 0.9, size=rng.integers(0, 3)))]]
    mesh = core.ClothMesh(scale * np.array(points) @ random_rotation(rng).T, faces=[range(len(points))])
    area = 0.5 * np.linalg.norm(np.cross(corners, np.roll(corners, -1, axis=0)).sum(axis=0))
    assert mesh.areas.sum() == pytest.approx(scale ** 2 * area, rel=1e-9)


def test_a_comb_is_cut_inside_itself():
    comb = np.array([[0, 0], [6, 0], [6, 3], [5, 3], [5, 1], [4, 1], [4, 3], [3, 3], [3, 1], [2, 1], [2, 3], [0, 3.0]])
    mesh = core.ClothMesh(np.column_stack([comb, np.zeros(12)]), faces=[range(12)])
    assert mesh.areas.sum() == pytest.approx(6 * 1 + 1 * 2 + 1 * 2 + 2 * 2)


def test_a_concave_quad_is_cut_inside_itself():
    dart = np.array([[0.0, 0, 0], [4, -1, 0], [1, 0, 0], [4, 1, 0]])           # vertex 2 points inwards; 0-2 is inside
    for turn in range(4):
        for long_way in (1.0, 0.2):
            positions = dart * (1.0, long_way, 1.0)                           # then 1-3, outside, is the shorter one
            mesh = core.ClothMesh(positions, faces=[np.roll([0, 1, 2, 3], turn).tolist()])
            assert mesh.areas.sum() == pytest.approx(long_way)


def test_a_quad_with_three_corners_in_line_is_cut_from_the_middle_one():
    positions = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [1, 0.1, 0]])
    for turn in range(4):
        mesh = core.ClothMesh(positions, faces=[np.roll([0, 1, 2, 3], turn).tolist()])
        assert [1, 3] in mesh.edges.tolist()


def test_a_folded_quad_keeps_its_shorter_diagonal():
    fold = np.radians(70.0)
    folded = np.array([[0.0, 0, 0], [1.2, -0.9, 0], [2.4, 0, 0], [1.2, 0.9 * np.cos(2 * fold), 0.9 * np.sin(2 * fold)]])
    assert [1, 3] in core.ClothMesh(folded, faces=[[0, 1, 2, 3]]).edges.tolist()


FOLDED = np.array([(-0.5, 0.0, 0.0), (0.0, -0.2, 0.0), (0.5, 0.0, 0.0), (0.0, 1.0, 1.0), (0.0, 1.5, 0.0)])
"""Two quads around vertex 1 share 0, 1 and 2; the line from 0 to 2 is the shorter diagonal of both."""


@cases("turned", range(4))
def test_quads_that_share_three_vertices_are_cut_so_that_no_triangle_is_there_twice(turned):
    quads = [np.roll(quad, turned).tolist() for quad in ((0, 1, 2, 4), (2, 1, 0, 3))]
    mesh = core.ClothMesh(FOLDED, faces=[*quads, [0, 3, 4]])
    assert sorted(map(sorted, mesh.triangles.tolist())) == [[0, 1, 3], [0, 1, 4], [0, 3, 4], [1, 2, 3], [1, 2, 4]]
    np.testing.assert_array_equal(np.concatenate([*quads, [0, 3, 4]])[mesh.corners], mesh.triangles)
    for quad, pair in zip(quads, mesh.triangles[:4].reshape(2, 2, 3), strict=True):
        assert all(np.dot(normal(*FOLDED[triangle]), normal(*FOLDED[quad[:3]])) > 0.0 for triangle in pair)
    with pytest.raises(core.MeshError, match="is there 2 times"):
        core.ClothMesh(FOLDED, faces=[quads[0], quads[0], [1, 2, 3]])


def normal(a, b, c):
    return np.cross(b - a, c - a)


def test_faces_of_all_sizes_keep_their_order_and_say_where_their_corners_come_from():
    positions, _ = grid(3, 1)
    faces = [[0, 2, 3, 1], [2, 4, 3], [4, 6, 7, 5, 3]]
    mesh = core.ClothMesh(positions, faces=faces)
    assert len(mesh.triangles) == 2 + 1 + 3
    flat = np.concatenate(faces)
    np.testing.assert_array_equal(flat[mesh.corners], mesh.triangles)
    owner = np.repeat([0, 1, 2], [2, 1, 3])
    starts = np.array([0, 4, 7, 12])
    assert ((mesh.corners >= starts[owner][:, None]) & (mesh.corners < starts[owner + 1][:, None])).all()
    uv = positions[flat][:, :2]
    again = core.ClothMesh(positions, mesh.triangles, uv=uv[mesh.corners])
    assert again.areas.sum() == pytest.approx(1.0)

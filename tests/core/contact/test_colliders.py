# SPDX-License-Identifier: GPL-3.0-or-later
"""A surface knows which of its parts are closed, which way is out, and what lies inside."""

import numpy as np
import pytest

from core.contact.colliders import SurfaceShape
from core.contact.containment import inside, nearest
from core.contact.distance import point_triangle
from core.stepping.audit import Auditor
from tests.cases import cases
from tests.core.contact.shapes import ball, box, bumpy_ball, rotation, sheet, winding


def mixed(positions, triangles, seed=0):
    """The triangles in another order, a random half of them wound the other way."""
    rng = np.random.default_rng(seed)
    turn = rng.random(len(triangles)) < 0.5
    return positions, rng.permutation(np.where(turn[:, None], triangles[:, ::-1], triangles))


def together(*shapes):
    """Several surfaces as one."""
    first = np.cumsum([0, *[len(p) for p, _ in shapes]])
    triangles = [t + n for (_, t), n in zip(shapes, first, strict=False)]
    return np.concatenate([p for p, _ in shapes]), np.concatenate(triangles)


def is_inside(points, positions, triangles):
    shape = SurfaceShape.build(positions, triangles)
    return inside(points, positions, shape.triangles, shape.closed, shape.tree)


@cases("shape", [ball(12, 6), bumpy_ball(12, 8), box([1, 2, 3])], ids=["ball", "bumpy", "box"])
def test_a_closed_surface_points_out_however_it_was_wound(shape):
    for positions, triangles in (shape, (shape[0], shape[1][:, ::-1]), mixed(*shape)):
        built = SurfaceShape.build(positions, triangles)
        assert built.closed.all()
        a, b, c = (positions[built.triangles[:, k]] for k in range(3))
        assert np.einsum("ti,ti->", a, np.cross(b, c)) > 0.0
        directed = np.stack([built.triangles, np.roll(built.triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
        assert len(np.unique(directed, axis=0)) == len(directed)           # every edge once in each direction


@cases("shape", [ball(12, 6), bumpy_ball(12, 8)], ids=["ball", "bumpy"])
def test_features_are_numbered_by_the_corners_they_lie_between(shape):
    positions, triangles = mixed(*shape)
    built = SurfaceShape.build(positions, triangles)
    seen = {}
    for row, (a, b, c) in zip(built.features.tolist(), built.triangles.tolist(), strict=True):
        for number, what in zip(row, [(a, b, c), {a, b}, {b, c}, {c, a}, a, b, c], strict=True):
            assert seen.setdefault(number, what) == what
    assert sorted(seen) == list(range(len(built.degree)))
    np.testing.assert_array_equal(np.bincount(built.features.ravel()), built.degree)


def test_a_hole_a_moebius_band_and_a_doubled_sheet_are_open():
    positions, triangles = ball(12, 6)
    assert not SurfaceShape.build(positions, triangles[1:]).closed.any()
    flat, faces = sheet(4, 4)
    assert not SurfaceShape.build(*together((flat, faces), (flat, faces[:, ::-1]))).closed.any()
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    half = np.stack([np.cos(angle / 2) * np.cos(angle), np.cos(angle / 2) * np.sin(angle), np.sin(angle / 2)], axis=1)
    middle = 3 * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    band = np.concatenate([middle - half, middle + half])
    i, j = np.arange(12), (np.arange(12) + 1) % 12
    strips = [(i[k], j[k], j[k] + 12, i[k] + 12) if k < 11 else (i[k], j[k] + 12, j[k], i[k] + 12) for k in range(12)]
    triangles = np.array([t for a, b, c, d in strips for t in ((a, b, c), (a, c, d))])
    assert not SurfaceShape.build(band, triangles).closed.any()


def test_parts_are_judged_each_for_itself():
    positions, triangles = together(ball(12, 6), (ball(12, 6)[0] + 5, ball(12, 6)[1][:, ::-1]), sheet(3, 3))
    built = SurfaceShape.build(positions, triangles)
    count = len(ball(12, 6)[1])
    assert built.closed[: 2 * count].all() and not built.closed[2 * count :].any()
    points = np.array([[0, 0, 0.0], [5, 5, 5], [2, 2, 2], [0, 0, 0.6]])
    assert is_inside(points, positions, triangles).tolist() == [True, True, False, False]


def test_a_mesh_cut_along_seams_is_closed_all_the_same():
    positions, triangles = ball(12, 6)
    built = SurfaceShape.build(positions[triangles].reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))
    assert built.closed.all()


@cases("scale", [1e-6, 1.0, 1e6])
@cases("shape", [ball(16, 8), bumpy_ball(24, 12), box([1, 1, 1])], ids=["ball", "bumpy", "box"])
def test_inside_is_where_the_winding_number_is_one(shape, scale):
    positions, triangles = mixed(*shape)
    points = np.random.default_rng(1).uniform(-0.7, 0.7, size=(400, 3))
    points[:150] = np.round(points[:150], 1)                              # rays through edges and vertices
    points[150:200, :2] = positions[np.arange(50) % len(positions), :2]
    built = SurfaceShape.build(positions, triangles)
    turns = winding(points, positions, built.triangles)
    clear = nearest(points, positions, built.triangles, built.tree)[1].distance > 1e-9
    assert clear.sum() > 300
    found = is_inside(scale * points, scale * positions, triangles)
    np.testing.assert_array_equal(found[clear], turns[clear] > 0.5)


def test_the_sign_of_the_pseudo_normal_of_the_nearest_feature_tells_inside_from_outside():
    positions, triangles = bumpy_ball(24, 12, depth=0.25)
    built = SurfaceShape.build(positions, triangles)
    points = np.random.default_rng(2).uniform(-0.7, 0.7, size=(500, 3))
    triangle, at = nearest(points, positions, built.triangles, built.tree)
    normal = built.normals(positions)[built.features[triangle, at.feature]]
    sign = np.einsum("ni,ni->n", points - at.point, normal) < 0.0
    np.testing.assert_array_equal(sign, winding(points, positions, built.triangles) > 0.5)


@pytest.mark.usefixtures("backend")
@cases("shape", [lambda: bumpy_ball(16, 8), lambda: box([1, 1, 1])])
def test_the_nearest_triangle_is_the_first_of_the_nearest(shape):
    positions, triangles = shape()
    built = SurfaceShape.build(positions, triangles)
    grid = np.stack(np.meshgrid(*3 * [np.linspace(-1.5, 1.5, 7)]), axis=-1).reshape(-1, 3)             # with ties
    points = np.concatenate([np.random.default_rng(3).normal(size=(200, 3)), grid, positions[:20], np.zeros((1, 3))])
    triangle, at = nearest(points, positions, built.triangles, built.tree)
    repeated = np.repeat(points, len(triangles), axis=0)
    corner = [np.tile(positions[built.triangles[:, k]], (len(points), 1)) for k in range(3)]
    every = point_triangle(repeated, *corner).distance.reshape(len(points), -1)
    np.testing.assert_array_equal(at.distance, every.min(axis=1))
    np.testing.assert_array_equal(triangle, every.argmin(axis=1))


def test_normals_turn_with_the_surface_and_lean_to_neither_side_of_a_finer_face():
    positions, triangles = box([1, 1, 1])                        # corners have 4 to 6 triangles: weights must be angles
    built = SurfaceShape.build(positions, triangles)
    normals = built.normals(positions)
    corners = np.unique(built.features[:, 4:])
    for number in corners:
        row, code = np.argwhere(built.features == number)[0]
        at = positions[built.triangles[row, code - 4]]
        np.testing.assert_allclose(normals[number], np.sign(at) / np.sqrt(3), atol=1e-14)
    turn = rotation([1, 2, 3], 1.0)
    np.testing.assert_allclose(built.normals(positions @ turn.T), normals @ turn.T, atol=1e-14)


def outward(x, shape, normals):
    """Whether the normals of all faces point away from the origin."""
    faces = normals[:len(shape.triangles)]
    return (np.einsum("ti,ti->t", faces, x[shape.triangles].mean(axis=1)) > 0.0).all()


def test_a_mirrored_solid_has_its_normals_out_before_and_after():
    x, triangles = mixed(*ball(12, 6))
    y, centre = x * [1.0, -0.8, 1.0], np.zeros((1, 3))
    built = SurfaceShape.build(x, triangles)
    for before, after, mirrored in ((x, y, True), (y, x, True), (y, 0.9 * y, False), (x, 0.9 * x, False)):
        surface = built.moving(before, after)
        assert outward(before, surface.shape, surface.normals_t0) and outward(after, surface.shape, surface.normals_t1)
        assert (surface.mirrored == mirrored).all() and surface.shape.closed.all()
        for at, shape in ((before, surface.shape_t0), (after, surface.shape)):
            tree = shape.tree.around(shape.triangles, at)
            assert inside(centre, at, shape.triangles, shape.closed, tree).all()
    assert built.between(x, x)[0] is built


def test_only_the_part_that_is_mirrored_is_turned_round():
    first, second = ball(12, 6), ball(8, 4)
    x, triangles = together((first[0] + [2.0, 0.0, 0.0], first[1]), second)
    y = x.copy()
    y[len(first[0]):] *= -1.0
    built = SurfaceShape.build(x, triangles)
    surface = built.moving(x, y)
    of_second = (triangles >= len(first[0])).all(axis=1)
    np.testing.assert_array_equal(surface.mirrored, of_second)
    np.testing.assert_array_equal((surface.shape.triangles != built.triangles).any(axis=1), of_second)


def test_a_solid_is_open_for_as_long_as_it_is_flat():
    x, triangles = ball(12, 6)
    flat, built = x * [1.0, 1.0, 0.0], SurfaceShape.build(x, triangles)
    assert not built.moving(x, flat).shape.closed.any() and not built.moving(flat, -x).shape.closed.any()
    assert built.moving(-x, -x).shape.closed.all()


def test_what_is_in_a_mirrored_solid_is_in_it_to_the_certificate():
    x, triangles = ball(16, 8, 0.5)
    sheet_ = 0.02 * sheet(3, 3)[0], sheet(3, 3)[1]
    auditor = Auditor([sheet_], [(x, triangles)])
    for at in (x, -x, x * [1.0, 1.0, -1.0]):
        assert auditor.look([sheet_[0]], [at]).deepest_penetration > 0.4

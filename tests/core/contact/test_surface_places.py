# SPDX-License-Identifier: GPL-3.0-or-later
"""Places that are followed along a surface come to the nearest one of their sheet, compiled or not."""

import numpy as np
import pytest

from core.contact.colliders import SurfaceShape
from core.contact.distance import point_triangle
from core.contact.surface_places import SurfacePlaces
from core.kernels import using
from core.kernels.backend import BACKENDS, why_not
from tests.core.contact.shapes import ball, box


def followed(backend, points, triangle, shapes):
    """The places of points from triangles on resting shapes: `(shape, positions)` of each."""
    with using(backend):
        moving = [shape.moving(x, x) for shape, x in shapes]
        return SurfacePlaces([shape for shape, _ in shapes]).follow(points, triangle, moving, end=False)


def of(mesh):
    return SurfaceShape.build(*mesh), mesh[0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_place_goes_to_the_nearest_one_around_a_quarter_of_a_ball(backend):
    if why_not(backend):
        pytest.skip(why_not(backend))
    shapes = [of(box([0.1, 0.1, 0.1])), of(ball(24, 12, 1.0))]
    shape, x = shapes[1]
    rng, (a, b, c) = np.random.default_rng(2), (x[shape.triangles[:, k]] for k in range(3))
    middle = (a + b + c) / 3.0
    start = rng.integers(len(middle), size=60)
    points = middle[start] + 0.5 * rng.normal(size=(60, 3))
    points *= 1.1 / np.linalg.norm(points, axis=1, keepdims=True)
    near = (np.einsum("ni,ni->n", points, middle[start]) > 0.6) & (np.abs(points[:, 2]) < 0.9)
    assert np.count_nonzero(near) > 20
    found = followed(backend, points[near], start[near] + len(shapes[0][0].triangles), shapes)
    nearest = [point_triangle(np.tile(p, (len(a), 1)), a, b, c).distance.min() for p in points[near]]
    np.testing.assert_allclose(np.linalg.norm(points[near] - found.point, axis=1), nearest, rtol=1e-12)
    assert found.front.all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_place_stays_on_its_side_of_a_plate(backend):
    """The point is far behind the plate, and nearer to its other side."""
    if why_not(backend):
        pytest.skip(why_not(backend))
    shape, x = of(box([1.0, 1.0, 0.05]))
    normals = np.cross(*(x[shape.triangles[:, k]] - x[shape.triangles[:, 0]] for k in (1, 2)))
    above = np.flatnonzero(normals[:, 2] > 0.0)
    found = followed(backend, np.tile([0.1, 0.2, -0.4], (len(above), 1)), above, [(shape, x)])
    assert (found.normal[:, 2] == 1.0).all() and not found.front.any()


def test_both_backends_follow_alike():
    if why_not("numba"):
        pytest.skip(why_not("numba"))
    shape, x = of(ball(24, 12, 1.0))
    rng = np.random.default_rng(4)
    points, start = 1.5 * rng.normal(size=(300, 3)), rng.integers(len(shape.triangles), size=300)
    one, other = (followed(name, points, start, [(shape, x)]) for name in BACKENDS)
    np.testing.assert_array_equal(one.triangle, other.triangle)
    np.testing.assert_array_equal(one.front, other.front)
    for name in ("weights", "point", "normal"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-12)

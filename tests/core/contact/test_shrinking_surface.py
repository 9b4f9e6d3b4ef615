# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces of colliders that move inwards."""

import numpy as np
import pytest

from core.contact.bvh import BVH, element_boxes
from core.contact.containment import inside
from core.contact.initial_state.shrinking_surface import ShrinkingSurface
from core.contact.initial_state.wrong_sides import mean_size
from tests.core.contact.shapes import ball
from tests.scenes.solids import capsule


def shrunk(x, triangles, there, steps):
    width = 0.5 * mean_size(x, np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]))
    surface, result = ShrinkingSurface(x, triangles, width), x
    for _ in range(steps):
        result = surface.further_in(result, there)
    return result


def volume(x, triangles):
    return float(np.einsum("ti,ti->", x[triangles[:, 0]], np.cross(x[triangles[:, 1]], x[triangles[:, 2]]))) / 6.0


@pytest.mark.parametrize("shape", [ball(24, 12, 0.1), capsule(0.04, 0.5)])
def test_a_solid_stays_within_itself_and_is_not_turned_inside_out(shape):
    x, triangles = shape
    everywhere, tree = np.ones(len(x), dtype=bool), BVH.build(*element_boxes(triangles, x))
    before = volume(x, triangles)
    for steps in (1, 3, 10):
        small = shrunk(x, triangles, everywhere, steps)
        assert inside(small, x, triangles, np.ones(len(triangles), dtype=bool), tree).all()
        assert 0.0 < volume(small, triangles) < before
        before = volume(small, triangles)


def test_what_is_not_asked_for_stays():
    x, triangles = capsule(0.04, 0.5)
    small = shrunk(x, triangles, x[:, 2] < -0.4, 5)
    moved = np.linalg.norm(small - x, axis=1)
    assert moved[x[:, 2] < -0.4].min() > 0.005
    assert moved[x[:, 2] > -0.2].max() < 1e-3 * moved.max()


def test_a_hollow_moves_inwards_too():
    """The waist of an hourglass: the mean curvature alone would move it outwards where it is wide and short."""
    x, triangles = ball(32, 24, 0.1)
    x = x * (1.0 - 0.3 * np.exp(-(x[:, 2:] / 0.02) ** 2))
    waist = np.abs(x[:, 2]) < 0.01
    small = shrunk(x, triangles, np.ones(len(x), dtype=bool), 3)
    assert (np.linalg.norm(small[waist, :2], axis=1) < np.linalg.norm(x[waist, :2], axis=1)).all()


@pytest.mark.parametrize("scale", [1e-6, 1e4])
def test_sizes_do_not_matter(scale):
    x, triangles = ball(16, 8, 0.1)
    there = x[:, 0] > 0.0
    np.testing.assert_allclose(shrunk(scale * x, triangles, there, 4), scale * shrunk(x, triangles, there, 4),
                               rtol=1e-9, atol=1e-12 * scale)


def test_a_triangle_without_area_is_no_matter():
    x, triangles = ball(16, 8, 0.1)
    x = x.copy()
    a, b, c = triangles[40]
    x[c] = 0.5 * (x[a] + x[b])
    assert np.isfinite(shrunk(x, triangles, np.ones(len(x), dtype=bool), 3)).all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Points inside a surface: against the equation of balls, and for meshes with every kind of defect."""

import numpy as np
import pytest

import core
from core.stencils.solids.inside_points import Grid, check_closed, inside_points, is_oriented, surface_volume
from tests.cases import cases
from tests.core.shapes import ball, block

GRID = Grid(np.full(3, -1.1), np.full(3, 2.2 / 40), (40, 40, 40))
POINTS = np.stack(np.meshgrid(*[-1.1 + 2.2 / 40 * (np.arange(40) + 0.5)] * 3, indexing="ij"), axis=-1)


def away(centre, radius):
    """Return the height of the grid's points above the surface of a ball [m]."""
    return np.linalg.norm(POINTS - centre, axis=-1) - radius


def wrong(found, height, band=0.02):
    """Return the points on the wrong side of a faceted ball, except for those too near to its surface."""
    return int(((found != (height < 0.0)) & (np.abs(height) > band)).sum())


def test_points_of_a_ball_are_those_inside():
    assert wrong(inside_points(*ball(1.0), GRID), away(0.0, 1.0)) == 0


def test_normals_that_all_point_inwards_change_nothing():
    x, t = ball(1.0)
    np.testing.assert_array_equal(inside_points(x, t[:, ::-1], GRID), inside_points(x, t, GRID))


def test_parts_that_overlap_are_inside_once():
    x, t = ball(0.5)
    centre = np.array([0.3, 0.0, 0.0])
    found = inside_points(np.concatenate([x - centre, x + centre]), np.concatenate([t, t + len(x)]), GRID)
    assert wrong(found, np.minimum(away(-centre, 0.5), away(centre, 0.5))) == 0


def test_a_hollow_is_outside():
    x, t = ball(1.0)
    found = inside_points(np.concatenate([x, 0.5 * x]), np.concatenate([t, t[:, ::-1] + len(x)]), GRID)
    assert wrong(found, np.maximum(away(0.0, 1.0), -away(0.0, 0.5))) == 0


@cases("gone", [1, 10])
def test_small_holes_do_not_leak(gone):
    x, t = ball(1.0)
    t = np.delete(t, np.arange(0, 40 * gone, 40), axis=0)
    check_closed(x, t, "ball")
    assert wrong(inside_points(x, t, GRID), away(0.0, 1.0), 0.06) == 0


def test_crossings_of_inverted_faces_are_counted_as_even_or_odd():
    x, t = ball(1.0)
    t[::7] = t[::7, ::-1]
    assert not is_oriented(t)
    assert wrong(inside_points(x, t, GRID), away(0.0, 1.0)) == 0


def test_the_volume_is_that_of_the_faces_for_a_clean_surface_and_of_the_points_otherwise():
    x, f = block((1.0, 0.5, 0.25), (2, 2, 1))
    t = np.concatenate([f[:, [0, 1, 2]], f[:, [0, 2, 3]]])
    assert surface_volume(x, t, 0.127, 0.0) == pytest.approx(0.125, rel=1e-14)
    assert surface_volume(np.concatenate([x, x + 0.1]), np.concatenate([t, t + len(x)]), 0.17, 0.0) == 0.17


def test_an_open_mesh_is_refused_by_one_of_its_open_edges():
    x, t = ball(1.0)
    half = t[x[t].mean(axis=1)[:, 2] > 0.0]
    with pytest.raises(core.MeshError, match=r"^Cap: is open: edge \[\d+, \d+\] belongs to one face only .* fill them"):
        check_closed(x, half, "Cap")
    with pytest.raises(core.MeshError, match="Rope: has no faces"):
        check_closed(x, t[:0], "Rope")

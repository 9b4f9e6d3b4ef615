# SPDX-License-Identifier: GPL-3.0-or-later
"""What stands on an open wall starts a hair beside it, on the side of its neighbours."""

import numpy as np

from core.contact.colliders import SurfaceShape
from core.contact.standing import beside_walls
from core.contact.triangle_surface import TriangleSurface
from tests.cases import cases
from tests.core.contact.shapes import box, rotation, sheet

HAIR, WITHIN = 1e-5, 2.5e-6
X, TRIANGLES = sheet(5, 6, 0.4, 0.5)
UPRIGHT = np.stack([X[:, 0], 0.3 * X[:, 1], X[:, 1] - X[:, 1].min()], axis=1)           # leans, and stands on z = 0
LOWEST = UPRIGHT[:, 2] < 1e-9
TURN = rotation([1.0, 2.0, 0.5], 0.8)


def moved(x, *walls, held=()):
    """How far vertices are moved (V, 3) [hairs] by walls, all of it turned in space."""
    surface = TriangleSurface.build(x @ TURN.T, TRIANGLES)
    solids = [(p @ TURN.T, SurfaceShape.build(p @ TURN.T, t)) for p, t in walls]
    pinned = np.isin(np.arange(len(x)), held)
    return (beside_walls(surface.positions, surface.vertices, surface.edges, pinned, HAIR, WITHIN, solids)
            - surface.positions) @ TURN / HAIR


def floor(cells=1):
    return sheet(cells + 1, cells + 1, 3.0, 3.0)


@cases("cells", [1, 7, 60])
@cases("noise", [0.0, 1e-9, 1e-6])
@cases("side", [1.0, -1.0])
def test_a_row_in_the_floor_is_put_where_the_rest_of_the_sheet_is(cells, noise, side):
    rough = noise * np.sin(1e3 * X[:, :1]) * [0.0, 0.0, 1.0]
    found = moved(side * UPRIGHT + rough, floor(cells))
    np.testing.assert_allclose(found, side * LOWEST[:, None] * [0.0, 0.0, 1.0], atol=1e-5)


def test_the_rim_of_a_corner_of_two_walls_is_put_between_them():
    wall = floor()[0][:, [0, 2, 1]] + [0.0, UPRIGHT[0, 1], 0.0], floor()[1]
    found = moved(UPRIGHT, floor(), wall)
    assert (found[LOWEST, 1:] > 0.4).all() and not found[~LOWEST].any()


def test_what_passes_through_a_wall_lies_in_it_is_held_or_is_on_a_solid_stays():
    through = UPRIGHT - [0.0, 0.0, UPRIGHT[12, 2]]
    assert (np.abs(through[:, 2]) < 1e-12).any() and not moved(through, floor()).any()
    assert not moved(X, floor()).any()
    assert not moved(UPRIGHT, (box(2.0)[0] - [0.0, 0.0, 1.0], box(2.0)[1])).any()
    held = np.flatnonzero(LOWEST)[:2]
    found = moved(UPRIGHT, floor(), held=held)
    assert not found[held].any() and np.count_nonzero(found.any(axis=1)) == LOWEST.sum() - 2

# SPDX-License-Identifier: GPL-3.0-or-later
"""On which side of a collider cloth belongs is a matter of each piece of cloth, whatever other pieces there are."""

import numpy as np

from core.contact.colliders import SurfaceShape
from core.contact.crossings import crossing_pairs
from core.contact.initial_state.collider_surface import ColliderSurface
from core.contact.initial_state.wrong_sides import wrong_sides
from core.contact.triangle_surface import TriangleSurface
from tests.core.contact.shapes import box, sheet


def sides(pieces):
    """Return the vertices of the first piece of cloth, of pieces (positions, triangles), that are to go through a box
    of 0.4 x 0.4 x 0.1 m."""
    x, triangles, count = [], [], 0
    for positions, faces in pieces:
        x.append(positions)
        triangles.append(faces + count)
        count += len(positions)
    solid, faces = box((0.4, 0.4, 0.1))
    shape = SurfaceShape.build(solid, faces)
    cloth, surface = (TriangleSurface.build(*mesh)
                      for mesh in ((np.concatenate(x), np.concatenate(triangles)), (solid, shape.triangles)))
    collider = ColliderSurface(solid, shape, surface, 0.0)
    up = np.tile([0.0, 0.0, 1.0], (count, 1))
    found = wrong_sides(collider, cloth.positions, cloth.edges, crossing_pairs(cloth, surface), up,
                        np.zeros(count, dtype=np.bool_))
    return np.flatnonzero(found.through[:len(pieces[0][0])])


def crossing(height, corner):
    """Return a sheet at a height [m] of which one corner is at another height [m], inside of the box's outline."""
    x, triangles = sheet(8, 8, 0.3, 0.3)
    x = x - x.mean(axis=0)
    x[:, 2] = height
    x[0, 2] = corner
    return x, triangles


def test_the_largest_part_of_each_piece_stays_on_its_side():
    """The outer side of the sheet is its upper one. Of a sheet above the box the corner below is to come back; of one
    below it, the corner above might as well have gone there, and the sheet as a whole stays. Other pieces change
    nothing."""
    x, triangles = sheet(20, 20, 2.0, 2.0)
    larger = (x + [5.0, 0.0, 0.0], triangles)
    for height, wanted in ((0.08, [0]), (-0.08, [])):
        piece = crossing(height, -height)
        assert list(sides([piece])) == wanted
        assert list(sides([piece, larger])) == wanted
        assert list(sides([piece, crossing(-height, height), larger])) == wanted

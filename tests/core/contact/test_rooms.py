# SPDX-License-Identifier: GPL-3.0-or-later
"""Which closed parts are rooms: those that face whole pieces of cloth in them."""

import numpy as np
import pytest

from core.contact.colliders import SurfaceShape
from core.contact.rooms import shapes_of
from core.contact.triangle_surface import TriangleSurface
from core.description.topology import bodies
from core.stepping.audit import audit
from tests.cases import cases
from tests.core.contact.shapes import ball, box, inside_out, rotation, sheet, together

SCALES = [1e-3, 1.0, 1e3]


def at(place, size=0.2):
    """A small sheet there."""
    x, triangles = sheet(4, 4, size, size)
    return x + place, triangles


def closed(collider, *cloths, scale=1.0):
    """Which triangles of the collider are of solids, beside these cloths."""
    turn = rotation([1, 2, 3], 0.7).T
    x, triangles = together(*cloths)
    surface = TriangleSurface.build(scale * x @ turn, triangles)
    shape, = shapes_of([(scale * collider[0] @ turn, collider[1])], surface.positions,
                       bodies(surface.edges, len(x)), surface)
    return shape.closed


@cases("scale", SCALES)
def test_a_closed_part_is_a_room_if_it_points_in_and_has_a_whole_piece_of_cloth_in_it(scale):
    solid, room = box((1, 1, 1)), inside_out(box((1, 1, 1)))
    middle, outside, across = at([0, 0, 0.1]), at([0, 0, 0.8]), at([0, 0.5, 0.1])
    assert not closed(room, middle, scale=scale).any()
    assert not closed(room, outside, across, middle, scale=scale).any()
    for shape, *cloths in ((solid, middle), (room, outside), (room, across), (room, outside, across)):
        assert closed(shape, *cloths, scale=scale).all()


@cases("scale", SCALES)
def test_cloth_that_reaches_to_the_wall_is_in_and_what_crosses_it_between_its_vertices_is_not(scale):
    room, (x, triangles) = inside_out(box((1, 1, 1))), at([0, 0, 0.1])
    assert not closed(room, (x + [0, 0, 0.4], triangles), scale=scale).any()                # under the very ceiling
    wedge, spike = room[0].copy(), room[0].mean(axis=0)
    needle = together(room, ([[0.02, 0.03, 0.5], [0.03, 0.02, 0.5], [0.02, 0.02, -0.4]], [[0, 1, 2]]))
    assert not closed(needle, (x, triangles), scale=scale)[:12].any()                      # another part crosses it
    wedge[np.argmax((wedge - spike) @ [1, 1, 1])] = [-0.03, -0.02, 0.0]                     # a corner pushed in
    assert closed((wedge, room[1]), (x - [0, 0, 0.12], triangles), scale=scale).all()


def test_only_cloth_that_collides_with_a_room_makes_it_one():
    room, (x, triangles) = inside_out(box((1, 1, 1))), together(at([0, 0, 0.1]), at([0, 0, 0.8]))
    surface = TriangleSurface.build(x, triangles)
    for one, other in ((True, True), (True, False), (False, True), (False, False)):
        allowed = np.repeat([[one, other]], 16, axis=1)
        shape, = shapes_of([room], x, bodies(surface.edges, len(x)), surface, allowed)
        assert (shape.closed == (not one)).all()


def test_a_room_is_the_open_surface_that_its_mesh_is():
    x, triangles = inside_out(box((1, 1, 1)))
    shape = SurfaceShape.build(x, triangles)
    assert shape.inward.all() and not SurfaceShape.build(x, triangles[:, ::-1]).inward.any()
    room = shape.opened(shape.inward)
    assert not room.closed.any() and not room.inward.any()
    np.testing.assert_array_equal(room.triangles, triangles)
    np.testing.assert_allclose(room.normals(x), -shape.normals(x), atol=1e-15)


def test_a_mesh_whose_faces_disagree_is_a_solid():
    x, triangles = inside_out(ball(12, 6))
    triangles[5] = triangles[5, ::-1]
    assert closed((x, triangles), at([0, 0, 0])).all()


def test_the_smallest_part_around_a_piece_decides_and_all_around_it_are_open():
    wall, cavity, stone = box((2, 2, 2)), inside_out(box((1.6, 1.6, 1.6))), ball(12, 6, 0.3)
    far = (ball(12, 6, 0.3)[0] + 5, inside_out(ball(12, 6, 0.3))[1])
    house, beside, within = together(wall, cavity, stone, far), at([0.6, 0, 0.2]), at([0, 0, 0])
    parts = np.cumsum([12, 12, len(stone[1])])
    assert [p.all() for p in np.split(closed(house, beside), parts)] == [False, False, True, True]
    assert not closed(house, beside)[:parts[1]].any()
    assert closed(house, within).all() and closed(house, at([0, 0, 3])).all()


@cases("scale", SCALES)
def test_what_lies_on_a_table_in_a_room_is_in_the_room_and_what_lies_in_the_table_is_not(scale):
    table, room = box((0.6, 0.6, 0.6)), inside_out(box((2, 2, 2)))
    both, parts = together(table, room), [12]
    assert [p.all() for p in np.split(closed(both, at([0, 0, 0.3]), scale=scale), parts)] == [True, False]
    assert closed(both, at([0, 0, 0]), scale=scale).all()


def test_nobody_in_a_room_is_said_to_be_in_a_solid():
    cloth = at([0, 0, 0.1])
    assert audit([cloth], [box((1, 1, 1))]).deepest_penetration == pytest.approx(0.4)
    assert audit([cloth], [inside_out(box((1, 1, 1)))]).deepest_penetration == 0.0
    assert audit([cloth], [inside_out(box((1, 1, 1))), box((0.4, 0.4, 0.4))]).deepest_penetration == pytest.approx(0.1)

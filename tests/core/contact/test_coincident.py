# SPDX-License-Identifier: GPL-3.0-or-later
"""What starts in one another starts a hair apart; all else starts where it is."""

import numpy as np

from core.contact.coincident import parted
from core.contact.colliders import SurfaceShape
from core.contact.crossings import crossing_pairs
from core.contact.self_contact import COINCIDENCE, HAIR
from core.contact.triangle_surface import TriangleSurface
from tests.cases import cases
from tests.core.contact.shapes import ball, box, inside_out, rotation, sheet, together

EDGE = 0.05
SHEET = sheet(9, 9, 8 * EDGE, 8 * EDGE)
TURN = rotation([1.0, 2.0, 0.5], 0.8)
NORMAL = TURN[:, 2]


def apart(*shapes, held=()):
    """How far the vertices of each of the shapes are moved (V, 3) [hairs], and the surface they are then."""
    positions, triangles = together(*shapes)
    positions = positions @ TURN.T + [1.0, -2.0, 3.0]
    surface = TriangleSurface.build(positions, triangles)
    moved = parted(surface, np.isin(np.arange(len(positions)), held), HAIR * EDGE, COINCIDENCE * HAIR * EDGE)
    ends = np.cumsum([len(x) for x, _ in shapes])[:-1]
    return np.split((moved - positions) / (HAIR * EDGE), ends), TriangleSurface.build(moved, triangles)


def beside(shape, *way):
    return shape[0] + way, shape[1]


@cases("second", [SHEET, inside_out(SHEET), beside(SHEET, 0.3 * EDGE, 0.7 * EDGE, 0.0),
                  sheet(2, 2, EDGE, EDGE), sheet(5, 5, 20 * EDGE, 20 * EDGE)],
       ids=["same", "flipped", "shifted", "in_it", "around_it"])
def test_a_duplicate_is_a_hair_in_front(second):
    (first, other), surface = apart(SHEET, second)
    assert not first.any()
    np.testing.assert_allclose(other, np.tile(NORMAL, (len(other), 1)), atol=1e-6)
    assert len(crossing_pairs(surface, surface)) == 0


def test_each_of_many_duplicates_is_a_hair_further():
    moved, surface = apart(SHEET, SHEET, inside_out(SHEET), SHEET, beside(SHEET, 0.0, 0.0, 1.0))
    heights = [m @ NORMAL for m in moved]
    assert [np.unique(np.round(h, 5)).tolist() for h in heights] == [[0.0], [1.0], [2.0], [3.0], [0.0]]
    assert len(crossing_pairs(surface, surface)) == 0


def test_what_is_on_a_side_stays_there():
    (_, below, above), _ = apart(SHEET, beside(SHEET, 0.0, 0.0, -0.5 * COINCIDENCE * HAIR * EDGE),
                                 beside(SHEET, 0.0, 0.0, 0.5 * COINCIDENCE * HAIR * EDGE))
    assert np.allclose(below, -NORMAL, atol=1e-6) and np.allclose(above, NORMAL, atol=1e-6)


def test_what_is_held_stays_and_the_other_is_moved():
    count = len(SHEET[0])
    (first, second), _ = apart(SHEET, SHEET, held=range(count, 2 * count))
    assert not second.any() and np.allclose(first, NORMAL, atol=1e-6)
    (_, second), _ = apart(SHEET, SHEET, held=range(count, count + 9))
    assert not second[:9].any() and np.allclose(second[9:], NORMAL, atol=1e-6)


def test_a_ball_is_put_around_its_duplicate_and_boxes_stay_beside_each_other():
    skin = ball(16, 8, 4 * EDGE)
    (_, second), surface = apart(skin, skin)
    assert ((second * ((skin[0] @ TURN.T) / (4 * EDGE))).sum(axis=1) > 0.9).all()
    assert len(crossing_pairs(surface, surface)) == 0
    block = box(2 * EDGE)
    (first, second), surface = apart(block, beside(block, 2 * EDGE, 0.0, 0.0))
    wall = block[0][:, 0] < 0.0
    assert not first.any() and (second[wall] @ TURN[:, 0] > 0.1).all()
    assert len(crossing_pairs(surface, surface)) == 0


@cases("second", [
    beside(SHEET, 0.0, 0.0, 1.1 * COINCIDENCE * HAIR * EDGE), (SHEET[0] @ rotation([1.0, 0.0, 0.0], 1.2).T, SHEET[1]),
    beside((SHEET[0][:, [0, 2, 1]], SHEET[1]), 0.0, 0.0, 4 * EDGE)], ids=["near", "through", "upright"])
def test_what_is_not_in_one_another_stays(second):
    for moved in apart(SHEET, second)[0]:
        assert not moved.any()


def to_and_fro(columns, panels):
    """A strip of so many quads a panel, folded flat after each."""
    x, triangles = sheet(panels * columns + 1, 4, panels * columns * EDGE, 3 * EDGE)
    along = x[:, 0] - x[:, 0].min()
    back = np.abs((along + columns * EDGE) % (2 * columns * EDGE) - columns * EDGE)
    return np.stack([back, x[:, 1], 0.0 * back], axis=1), triangles


def pillow():
    """Two sheets, one facing up and one down, with a common rim."""
    x, triangles = SHEET
    rim = np.flatnonzero((np.abs(np.abs(x[:, :2]) - 4 * EDGE) < 1e-9).any(axis=1))
    below = np.arange(len(x)) + len(x)
    below[rim] = rim
    used, number = np.unique(np.concatenate([triangles, below[triangles[:, ::-1]]]), return_inverse=True)
    return np.concatenate([x, x])[used], number.reshape(-1, 3)


@cases("shape", [to_and_fro(8, 2), to_and_fro(3, 5), to_and_fro(1, 6), pillow()],
       ids=["half", "five", "narrow", "pillow"])
@cases("seed", [None, 0, 1])
def test_what_is_folded_flat_is_unfolded_by_hairs(shape, seed):
    x, triangles = shape
    if seed is not None:
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(x))
        x, triangles = x[order], rng.permutation(np.argsort(order)[triangles])
    (moved,), surface = apart((x, triangles))
    assert np.unique(np.round(moved @ NORMAL)).size >= 2 and np.allclose(np.cross(moved, NORMAL), 0.0, atol=1e-6)
    assert len(crossing_pairs(surface, surface)) == 0
    heights = moved @ NORMAL                                           # of what is in one place
    places = np.round(x / EDGE).astype(int)
    for place in np.unique(places, axis=0):
        here = np.sort(heights[(places == place).all(axis=1)])
        assert (np.diff(here) > 0.9).all()


def off(shape, *solids, held=()):
    """How far the vertices of a shape are moved (V, 3) [hairs] that lies in solids."""
    surface = TriangleSurface.build(*shape)
    moved = parted(surface, np.isin(np.arange(len(shape[0])), held), HAIR * EDGE, COINCIDENCE * HAIR * EDGE,
                   [(x, SurfaceShape.build(x, t)) for x, t in solids])
    return (moved - shape[0]) / (HAIR * EDGE)


@cases("solid", [box(8 * EDGE), inside_out(box(8 * EDGE))], ids=["box", "inside_out"])
@cases("lift", [0.0, 1e-9, -1e-9])
def test_what_lies_in_the_face_of_a_solid_is_a_hair_in_front(solid, lift):
    for shape in (SHEET, inside_out(SHEET), sheet(11, 11, 10 * EDGE, 10 * EDGE)):
        top = beside(shape, 0.0, 0.0, 4 * EDGE + lift)
        assert np.allclose(off(top, solid), [0.0, 0.0, 1.0], atol=1e-6)
        below = beside(shape, 0.0, 0.0, -4 * EDGE + lift)
        assert np.allclose(off(below, solid), [0.0, 0.0, -1.0], atol=1e-6)


def test_what_touches_a_solid_stays_and_so_does_what_lies_between_two():
    solid = box(8 * EDGE)
    upright = beside((SHEET[0][:, [0, 2, 1]], SHEET[1]), 0.0, 0.0, 8 * EDGE)
    top = beside(SHEET, 0.0, 0.0, 4 * EDGE)
    assert not off(upright, solid).any() and not off(top, solid, beside(solid, 0.0, 0.0, 8 * EDGE)).any()


def test_a_duplicate_of_a_solid_is_put_around_it_even_where_it_touches_another():
    skin, floor = ball(16, 8, 4 * EDGE), sheet(2, 2, 9.0, 9.0)
    for cloth in (skin, inside_out(skin)):
        moved = off(cloth, skin, beside(floor, 0.0, 0.0, -4 * EDGE))
        assert ((moved * skin[0] / (4 * EDGE)).sum(axis=1) > 0.9).all()


def test_a_sheet_on_an_open_wall_belongs_to_the_side_that_most_of_it_is_on():
    wall, hair = sheet(2, 2, 9.0, 9.0), HAIR * EDGE
    rough = 0.1 * COINCIDENCE * hair * np.sin(1e3 * SHEET[0][:, :1]) * [0.0, 0.0, 1.0]
    for side in (1.0, -1.0):
        moved = off((SHEET[0] + rough + [0.0, 0.0, 0.2 * side * COINCIDENCE * hair], SHEET[1]), wall)
        assert (side * moved[:, 2] > 0.9).all()

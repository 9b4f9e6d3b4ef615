# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices meet moving surfaces: what is found, on which side, and that nothing slips through."""

import numpy as np

from core.contact import pairs
from core.contact.colliders import SurfaceShape
from core.contact.distance import point_triangle
from core.contact.pairs import find_contacts
from core.contact.planes import SAME_SIDE, find_planes
from core.contact.surfaces import SurfaceSet
from core.description.collider import Collider
from tests.cases import cases
from tests.core.contact.shapes import ball, box, bumpy_ball, pierces, rotation, sheet, winding


def surface(shape, x_t0=None, x_t1=None, **options):
    positions, triangles = shape
    x_t0 = positions if x_t0 is None else x_t0
    return SurfaceShape.build(positions, triangles).moving(x_t0, x_t0 if x_t1 is None else x_t1, **options)


def contacts(x_t0, x_t1, surfaces, thickness, **options):
    return find_contacts(x_t0, x_t1, surfaces, np.full(len(x_t0), thickness), **options)


def held(x_t1, found, rounds=60):
    """x_t1 with every vertex moved out along the normals of its contacts until all gaps are closed."""
    x, worst = x_t1.copy(), -1.0
    for _ in range(rounds):
        for row in range(len(found)):
            v = found.vertex[row]
            rise = np.dot(x[v] - x_t1[v], found.normal[row])
            x[v] += max(0.0, -(found.gap_t1[row] + rise)) * found.normal[row]
        worst = min((found.gap_t1 + np.einsum("ci,ci->c", x[found.vertex] - x_t1[found.vertex], found.normal)).tolist())
        if worst > -1e-12:
            break
    return x


def brute_distance(points, positions, triangles):
    corner = [np.tile(positions[triangles[:, k]], (len(points), 1)) for k in range(3)]
    repeated = np.repeat(points, len(triangles), axis=0)
    return point_triangle(repeated, *corner).distance.reshape(len(points), -1).min(axis=1)


def shell(count, low, high, seed=0):
    """Points at distances low..high from the origin."""
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=(count, 3))
    return direction / np.linalg.norm(direction, axis=1)[:, None] * rng.uniform(low, high, size=(count, 1))


def test_a_still_ball_gives_one_contact_with_the_true_distance():
    shape = ball(32, 16)
    x = shell(800, 0.47, 0.54)
    found = contacts(x, x, [surface(shape)], 0.01)
    distance = brute_distance(x, *shape) * np.where(winding(x, *shape) > 0.5, -1.0, 1.0)
    assert found.vertex.tolist() == np.flatnonzero(distance <= 0.015).tolist()
    np.testing.assert_allclose(found.gap_t1, distance[found.vertex] - 0.01, atol=1e-12)
    outwards = np.einsum("ci,ci->c", found.normal, x[found.vertex]) / np.linalg.norm(x[found.vertex], axis=1)
    assert outwards.min() > 0.99
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-14)


@cases("shape", [ball(24, 12), bumpy_ball(24, 12)], ids=["ball", "bumpy"])
def test_vertices_carried_along_rigidly_keep_their_gap(shape):
    x = shell(1000, 0.4, 0.56)
    turn, shift = rotation([1, 2, 3], 0.7), np.array([3.0, -1.0, 2.0])
    still = contacts(x, x, [surface(shape)], 0.02)
    moved = contacts(x, x @ turn.T + shift, [surface(shape, shape[0], shape[0] @ turn.T + shift)], 0.02)
    assert moved.vertex.tolist() == still.vertex.tolist() and len(still) > 100
    np.testing.assert_allclose(moved.gap_t1, still.gap_t1, atol=1e-12)
    np.testing.assert_allclose(moved.gap_t0, moved.gap_t1, atol=1e-12)
    np.testing.assert_allclose(moved.normal, still.normal @ turn.T, atol=1e-9)


def test_the_point_of_a_contact_is_the_same_material_at_both_times():
    positions, triangles = ball(24, 12)
    later = positions @ rotation([0, 0, 1], 0.3).T + [0.1, 0, 0]
    x = shell(300, 0.5, 0.52)
    found = contacts(x, x + [0.1, 0, 0], [surface((positions, triangles), positions, later)], 0.02)
    corners = SurfaceShape.build(positions, triangles).triangles[found.triangle]
    for place, whole in ((found.point_t0, positions), (found.point_t1, later)):
        np.testing.assert_allclose(place, np.einsum("ck,cki->ci", found.barycentric, whole[corners]), atol=1e-15)


@cases("scale", [1e-3, 1.0, 1e3])
def test_size_does_not_matter(scale):
    shape = bumpy_ball(24, 12)
    x = shell(1000, 0.4, 0.58)
    x_t1 = x + np.random.default_rng(1).normal(size=x.shape) * 0.05
    later = shape[0] @ rotation([0, 1, 0], 0.2).T
    one = contacts(x, x_t1, [surface(shape, shape[0], later)], 0.02)
    scaled_shape = (scale * shape[0], shape[1])
    other = contacts(scale * x, scale * x_t1, [surface(scaled_shape, scale * shape[0], scale * later)], scale * 0.02)
    assert other.vertex.tolist() == one.vertex.tolist()
    np.testing.assert_allclose(other.point_t1, scale * one.point_t1, atol=1e-11 * scale)
    np.testing.assert_allclose(other.gap_t1, scale * one.gap_t1, atol=1e-11 * scale)


@cases("scale", [1e-3, 1.0, 1e3])
@cases("depth", [0.0, 0.002, 0.02, 1.0, 50.0])
def test_a_ground_of_two_triangles_holds_from_above_and_below(scale, depth):
    ground = (scale * sheet(2, 2, 20.0, 20.0)[0], sheet(2, 2)[1])
    rng = np.random.default_rng(0)
    x = scale * np.column_stack([rng.uniform(-5, 5, size=(200, 2)), rng.choice([0.02, -0.02], size=200)])
    side = np.sign(x[:, 2])
    x_t1 = x - scale * depth * side[:, None] * [0.1, 0.0, 1.0]
    found = contacts(x, x_t1, [surface(ground)], scale * 0.02)
    assert found.vertex.tolist() == list(range(200))
    np.testing.assert_allclose(found.normal, side[:, None] * [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(found.gap_t1, -scale * depth, atol=1e-12 * scale)
    np.testing.assert_allclose(found.gap_t0, 0.0, atol=1e-12 * scale)


@cases("columns", [2, 9])
@cases("closed", [False, True])
@cases("speed", [0.5, 3.0, 40.0, -40.0])
def test_a_thin_plate_at_many_thicknesses_per_step_sweeps_up_what_it_meets(columns, closed, speed):
    plate = box([2.0, 2.0, 0.002]) if closed else sheet(columns, columns)
    thickness, shift = 0.01, np.array([0.0, 0.0, 0.01 * speed])
    rng = np.random.default_rng(2)
    x = np.column_stack([rng.uniform(-0.9, 0.9, size=(300, 2)), 0.012 + rng.uniform(0, 0.3, size=300)])
    x[:, 2] *= np.sign(speed)
    found = contacts(x, x, [surface(plate, plate[0], plate[0] + shift)], thickness)
    met = np.abs(x[:, 2]) < np.abs(shift[2]) - 1e-9
    assert set(np.flatnonzero(met)) <= set(found.vertex)
    np.testing.assert_allclose(found.normal, np.tile([0, 0, np.sign(speed)], (len(found), 1)), atol=1e-9)
    top = shift[2] + (np.sign(speed) * 0.001 if closed else 0.0)
    np.testing.assert_allclose(found.gap_t1, np.abs(x[found.vertex, 2]) - abs(top) - thickness, atol=1e-9)


def test_a_fast_turning_blade_pushes_what_it_passes():
    blade = sheet(3, 9, 0.2, 1.0)
    blade = (blade[0] @ rotation([0, 1, 0], np.pi / 2).T, blade[1])            # in the plane x = 0, along y
    turn = rotation([0, 0, 1], np.radians(50))
    angle = np.radians(np.linspace(3, 40, 30))
    x = 0.4 * np.column_stack([-np.sin(angle), np.cos(angle), 0 * angle])
    found = contacts(x, x, [surface(blade, blade[0], blade[0] @ turn.T)], 0.005)
    assert found.vertex.tolist() == list(range(30))
    assert (found.gap_t1 < 0).all()
    ahead = turn @ np.array([-1.0, 0.0, 0.0])
    np.testing.assert_allclose(found.normal, np.tile(ahead, (30, 1)), atol=1e-9)


def test_a_fast_vertex_stops_at_the_side_of_a_thin_box_it_came_from():
    plate = box([2.0, 2.0, 0.01])
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.uniform(-0.9, 0.9, size=(100, 2)), np.full(100, 0.05)])
    for fall in (0.046, 0.049, 0.054, 0.06, 0.1, 3.0):
        found = contacts(x, x - [0, 0, fall], [surface(plate)], 0.02)
        assert found.vertex.tolist() == list(range(100))
        np.testing.assert_allclose(found.normal, np.tile([0.0, 0, 1], (100, 1)), atol=1e-12)
        np.testing.assert_allclose(found.gap_t1, 0.05 - fall - 0.005 - 0.02, atol=1e-12)


def test_a_vertex_that_rounding_left_just_inside_still_belongs_to_that_side():
    plate = box([2.0, 2.0, 0.01])
    x = np.array([[0.1, 0.2, 0.005 - 1e-9], [0.1, 0.2, -0.005 + 1e-9]])
    found = contacts(x, x * [1, 1, -9], [surface(plate)], 0.02)
    np.testing.assert_allclose(found.normal, [[0, 0, 1], [0, 0, -1]], atol=1e-12)
    np.testing.assert_allclose(found.gap_t1, -0.045 - 0.005 - 0.02, atol=1e-7)


@cases("winding_sign", [1, -1])
def test_vertices_inside_a_closed_surface_are_pushed_to_the_nearest_place(winding_sign):
    positions, triangles = ball(32, 16)
    shape = (positions, triangles[:, ::winding_sign])
    x = shell(300, 0.05, 0.49)
    found = contacts(x, x, [surface(shape)], 0.01)
    assert found.vertex.tolist() == list(range(300))
    np.testing.assert_allclose(found.gap_t1, -brute_distance(x, *shape) - 0.01, atol=1e-12)
    np.testing.assert_allclose(found.point_t1 + (found.gap_t1 + 0.01)[:, None] * found.normal, x, atol=1e-9)


def test_a_vertex_that_leaves_a_closed_surface_is_not_held_back():
    x = shell(200, 0.2, 0.4)
    found = contacts(x, 2.6 * x, [surface(ball(24, 12))], 0.01)          # some end near the surface, most beyond
    assert (np.einsum("ci,ci->c", found.normal, x[found.vertex]) > 0).all()
    assert (found.gap_t1 >= -0.011).all()
    assert len(contacts(x, 4.0 * x, [surface(ball(24, 12))], 0.01)) == 0
    almost = x * 0.48 / np.linalg.norm(x, axis=1)[:, None]
    assert (contacts(x, almost, [surface(ball(24, 12))], 0.03).gap_t0 < -0.1).all()


def wedge():
    """Floor and wall of one open mesh, meeting at x = 0: the corner opens towards -x and +z."""
    floor, triangles = sheet(5, 5)
    wall = floor @ rotation([0, 1, 0], np.pi / 2).T
    return np.concatenate([floor - [1, 0, 0], wall + [0, 0, 1]]), np.concatenate([triangles, triangles + len(floor)])


@cases(
    "target", [(-0.01, 0.013), (0.005, 0.004), (-0.005, -0.3), (0.4, 0.005), (0.3, -0.5), (0.7, -0.6)]
)
def test_a_wedge_holds_with_both_walls(target):
    rng = np.random.default_rng(4)
    y = rng.uniform(-0.9, 0.9, size=50)
    x = np.column_stack([np.full(50, -0.05), y, np.full(50, 0.04)])
    x_t1 = np.column_stack([np.full(50, target[0]), y, np.full(50, target[1])])
    found = contacts(x, x_t1, [surface(wedge())], 0.01)
    kept = held(x_t1, found)
    assert (kept[:, 0] <= -0.01 + 1e-9).all() and (kept[:, 2] >= 0.01 - 1e-9).all()
    assert len(found) <= 100
    assert np.abs(kept[:, 0] - min(target[0], -0.01)).max() < 1e-9         # pushed no further than needed
    assert np.abs(kept[:, 2] - max(target[1], 0.01)).max() < 1e-9


@cases("turn", [0.0, 0.6])
@cases(("start", "end", "held_at"), [
    ((0.5001, 0.01), (0.5002, -0.012), 0.0),           # lies on the edge and would slide down beside it: stays on it
    ((0.5001, 0.03), (0.5002, -0.012), 0.0),           # falls onto it
    ((0.47, 0.01), (0.502, -0.012), 0.0),              # slides over it, no less down than above the face
    ((0.505, 0.0087), (0.506, -0.012), 30.0),          # hangs around it
    ((0.512, -0.1), (0.505, -0.12), 90.0),             # comes from beside it: held by the side
])
def test_what_comes_to_a_face_around_its_edge_is_held_where_it_comes_from(start, end, held_at, turn):
    """The distance kept is 0.01 from a box whose edge runs along (0.5, y, 0); degrees from the face above to the one
    beside. The box stands still, or turns and the vertex with it."""
    still, triangles = box((1.0, 1.0, 1.0))
    still = still - [0.0, 0.0, 0.5]
    axis = np.array([1.0, 2.0, 0.5])
    x0, x1 = (np.array([[p[0], 0.13, p[1]]]) for p in (start, end))
    R = rotation(axis, turn)
    found = contacts(x0, x1 @ R.T, [surface((still, triangles), still, still @ R.T)], 0.01)
    angle = np.radians(held_at)
    pushed = held(x1 @ R.T, found) - x1 @ R.T
    deep = found.normal[found.gap_t1 < 0.0] @ R
    tolerance = np.radians(12.0 if turn else 1.0)
    assert len(deep) and np.arccos(np.clip(deep @ [np.sin(angle), 0.0, np.cos(angle)], -1.0, 1.0)).max() < tolerance
    assert np.linalg.norm(pushed) > 0.004


@cases("fall", [0.03, 0.1, 0.4, 3.0])
def test_what_falls_past_an_edge_is_held_by_its_rim_however_far_it_falls(fall):
    still, triangles = box((1.0, 1.0, 1.0))
    start = np.array([[0.507, 0.13, 0.5 + 0.3 * fall]])
    found = contacts(start, start - [0.0, 0.0, 0.3 * fall + 0.02], [surface((still, triangles), still, still)], 0.01)
    assert len(found) == 1 and found.normal[0, 0] > 0.3 and found.normal[0, 2] > 0.3


def test_a_vertex_outside_at_the_start_is_not_called_inside_however_far_it_slides():
    positions, triangles = ball(32, 16)
    x = shell(400, 0.502, 0.512)
    found = contacts(x, x, [surface((positions, triangles), positions, positions @ rotation([0, 0, 1], 0.3).T)], 0.01)
    assert len(found) > 100
    distance = brute_distance(x[found.vertex], positions, triangles)
    np.testing.assert_allclose(found.gap_t0, np.minimum(distance, 0.015) - 0.01, atol=1e-12)


def test_two_surfaces_are_both_met_and_no_vertex_has_more_than_three():
    floor = sheet(3, 3)
    axes = [1, 0, 0], [0, 1, 0], [1, 1, 0]
    shapes = [floor] + [(floor[0] @ rotation(axis, np.pi / 2).T, floor[1]) for axis in axes]
    x = np.full((1, 3), 0.05)
    found = contacts(x, np.full((1, 3), 0.004), [surface(s) for s in shapes[:2]], 0.01)
    assert found.collider.tolist() == [0, 1] or found.collider.tolist() == [1, 0]
    found = contacts(x + [[0.01, 0, 0.02]], np.array([[0.001, -0.002, 0.003]]), [surface(s) for s in shapes], 0.01)
    assert len(found) == 3 and (np.diff(found.gap_t1) >= 0).all()


@cases("shape", [ball(24, 12), bumpy_ball(32, 16), sheet(12, 12, 1.0, 1.0), wedge()],
       ids=["ball", "bumpy", "sheet", "wedge"])
@cases("length", [0.1, 1.0])
def test_no_path_held_by_its_contacts_passes_through(shape, length):
    positions, triangles = shape
    rng = np.random.default_rng(5)
    x = rng.uniform(-0.8, 0.8, size=(600, 3))
    clear = brute_distance(x, *shape) > 0.01
    if SurfaceShape.build(*shape).closed.all():
        clear &= np.abs(winding(x, *shape)) < 0.5
    x = x[clear]
    x_t1 = x + length * rng.normal(size=x.shape)
    through = pierces(x, x_t1, *shape).any(axis=1)
    assert through.sum() >= 5
    found = contacts(x, x_t1, [surface(shape)], 0.01)
    assert set(np.flatnonzero(through)) <= set(found.vertex)
    same = found.vertex[1:] == found.vertex[:-1]
    assert np.einsum("ci,ci->c", found.normal[1:], found.normal[:-1])[same].max(initial=-1.0) <= SAME_SIDE
    end = held(x_t1, found)
    if not SurfaceShape.build(*shape).closed.all():
        assert not pierces(x, end, *shape).any()
    else:                         # a step of a radius between hills may end in the next one, and is pushed out after
        assert (np.abs(winding(end, *shape)) > 0.5).sum() <= (0.04 if length > 0.2 else 0.0) * through.sum()


@cases("angle", [0.05, 0.5, 1.5])
def test_a_turning_bumpy_mesh_leaves_no_vertex_inside_without_a_contact(angle):
    positions, triangles = bumpy_ball(32, 16)
    turn = rotation([1, 1, 0], angle)
    x = shell(800, 0.5, 0.6, seed=6)
    x = x[np.abs(winding(x, positions, triangles)) < 0.5]
    later = positions @ turn.T
    found = contacts(x, x, [surface((positions, triangles), positions, later)], 0.005)
    inside = np.abs(winding(x, later, triangles)) > 0.5
    assert inside.sum() > 5
    assert set(np.flatnonzero(inside)) <= set(found.vertex[found.gap_t1 < -0.005])


def test_a_deforming_sheet_at_speed_lets_nothing_through():
    positions, triangles = sheet(16, 16)
    rng = np.random.default_rng(7)
    wave = 0.05 * np.sin(5 * positions[:, :1]) * np.cos(4 * positions[:, 1:2]) * [[0, 0, 1]]
    later = positions - wave + [0, 0, 0.5]
    x = np.column_stack([rng.uniform(-0.95, 0.95, size=(3000, 2)), rng.uniform(0.1, 0.4, size=3000)])
    found = contacts(x, x, [surface((positions, triangles), positions + wave, later)], 0.002)
    assert np.unique(found.vertex).tolist() == list(range(3000))
    assert (found.normal[:, 2] > 0).all() and (found.gap_t1 < 0).all()


def test_nothing_near_gives_nothing_and_nothing_moves_gives_the_same_twice():
    shape = ball(24, 12)
    x = shell(500, 0.5, 0.52)
    assert len(contacts(x + 5.0, x + 5.0, [surface(shape)], 0.01)) == 0
    assert len(contacts(x, x, [], 0.01)) == 0
    assert len(contacts(x[:0], x[:0], [surface(shape)], 0.01)) == 0
    one, two = (contacts(x, x - 0.01, [surface(shape)], 0.01) for _ in range(2))
    assert one.normal.tobytes() == two.normal.tobytes() and one.gap_t1.tobytes() == two.gap_t1.tobytes()


def test_thickness_of_cloth_and_collider_add_up():
    x = np.array([[0.0, 0.0, 0.03]])
    found = contacts(x, x, [surface(sheet(3, 3), thickness=0.01)], 0.015)
    np.testing.assert_allclose(found.gap_t1, 0.005)
    assert len(contacts(x, x, [surface(sheet(3, 3), thickness=0.01)], 0.005)) == 0


def test_a_surface_out_of_reach_is_not_searched(monkeypatch):
    positions, triangles = ball(16, 8)
    shape = SurfaceShape.build(positions, triangles)
    surface = shape.moving(positions, positions + [0.0, 0.0, 0.5], thickness=0.001)
    searched = []

    def search(*given, **how):
        searched.append(given)
        return find_planes(*given, **how)

    monkeypatch.setattr(pairs, "find_planes", search)
    for height, near in ((1.6, False), (0.98, True)):                  # the ball's pole comes to 1.0
        x = np.array([[0.0, 0.0, height]])
        assert bool(len(find_contacts(x, x, [surface], np.full(1, 0.01)))) == bool(searched) == near


def test_a_collider_that_rests_is_looked_at_once():
    positions, triangles = ball(16, 8)
    set_ = SurfaceSet([Collider(lambda t: positions + [0.0, 0.0, min(t, 1.0)], triangles)], np.zeros(1), np.zeros(1))
    moving = [set_.between(0.5 * step, 0.5 * (step + 1)).moving[0] for step in range(4)]
    assert moving[0].x_t0 is not moving[0].x_t1
    assert moving[2].x_t0 is moving[2].x_t1 and moving[3] is moving[2]


def test_what_lies_on_a_solid_that_is_mirrored_is_not_carried_through_it():
    positions, triangles = ball(16, 8)
    solid = Collider(lambda t: positions * [1.0 - 2.0 * min(t, 1.0), 1.0, 1.0], triangles)
    set_ = SurfaceSet([solid], np.full(1, 0.01), np.zeros(1)).between(0.0, 1.0)
    x = 1.01 * positions[:1]
    np.testing.assert_allclose(set_.find(x, x).carried, x, atol=1e-3)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What contacts do with the forces that a solution needs of them."""

import numpy as np
import pytest

from core.contact.friction import SLIP
from core.contact.pairs import Contacts
from core.contact.response import SETTLED_FRICTION, ContactResponse
from core.contact.surfaces import Touching
from core.linear.constraint_filter import ConstraintFilter
from core.state import Touch
from tests.cases import cases

UP = np.array([0.0, 0.0, 1.0])


def touching(contacts, mu, distance, carried):
    """Return contacts with surfaces that rest."""
    return Touching(contacts, mu, distance, carried, np.zeros_like(carried))


def step(x, v, touch, body=None):
    """A step's contacts, before any are known; all of one piece of cloth if not told otherwise."""
    count = len(x)
    return ContactResponse(x, v, touch, 0.02, np.full(count, 0.01), np.ones(count), ConstraintFilter(count),
                           np.tile(-9.81 * UP, (count, 1)), np.zeros(count, dtype=np.int64) if body is None else body)


def lying(count, mu, body=None):
    """Vertices at rest on a floor, a thickness of 1 cm above it, and where they touch."""
    x = np.column_stack([np.arange(count), np.zeros(count), np.full(count, 0.01)]).astype(float)
    response = step(x, np.zeros_like(x), Touch.none(count), body)
    below, none = x * [1.0, 1.0, 0.0], np.zeros(count, dtype=np.int64)
    contacts = Contacts(np.arange(count), none, none, np.zeros((count, 3)), below, below, np.tile(UP, (count, 1)),
                        np.zeros(count), np.zeros(count))
    found = touching(contacts, np.full(count, mu), np.full(count, 0.01), x)
    response.predict(found)
    assert response.held.all()
    return response, found


@cases(("speed", "slips"), [(2.0, True), (0.1, False)])
def test_what_touches_first_slips_if_that_is_quick_held_by_mu_times_what_stops_it(speed, slips):
    """A vertex of 1 kg that comes down at 1 m/s, and falls on for a step of 20 ms; with mu 0.5."""
    x, v, none = np.array([[0.0, 0.0, 0.01]]), np.array([[speed, 0.0, -1.0]]), np.zeros(1, dtype=np.int64)
    response, below = step(x, v, Touch.none(1)), np.zeros((1, 3))
    response.predict(touching(Contacts(none, none, none, below, below, below, UP[None], np.zeros(1), np.full(1, -0.02)),
                              np.full(1, 0.5), np.full(1, 0.01), x))
    stops = (1.0 + 0.02 * 9.81) / 0.02
    np.testing.assert_allclose(response.friction_force(v), [[-0.5 * stops * slips, 0.0, 0.0]])


@cases(("pull", "again"), [(0.1, False), (10.0, True)])
def test_what_pulls_is_released_and_the_step_solved_again_if_it_pulls_hard(pull, again):
    response, _ = lying(50, 0.5)
    force = np.outer(np.where(np.arange(50) == 7, -pull, 1.0), UP)
    assert response.judge(np.zeros((50, 3)), force) is again
    assert list(np.flatnonzero(~response.held)) == [7]


@cases(("sliding", "again"), [(1, True), (0, False)])
def test_the_step_is_solved_again_where_more_holds_than_friction_can_however_little_more(sliding, again):
    response, _ = lying(20, 0.5)
    force = np.tile([0.0, 0.0, 1.0], (20, 1))
    force[:sliding, 0] = 0.501
    assert not response.judge(np.zeros((20, 3)), force)
    assert (response.friction.wrong > SETTLED_FRICTION) is again and response.friction.spreads is again


@cases(("through", "again"), [(1, False), (10, True)])
def test_a_few_that_went_through_are_left_to_the_next_step_unless_this_one_is_solved_anyway(through, again):
    response, found = lying(100, 0.5)
    response.judge(np.zeros((100, 3)), np.outer(np.where(np.arange(100) < through, -1.0, 1.0), UP))
    found.contacts.gap_t1[:through] = -0.005
    assert response.add(found, False) is again
    assert response.add(found, True) is not again                          # taken in already, or now
    assert response.held.all()


def test_what_is_taken_in_or_released_between_two_solves_is_held_or_free_in_the_second():
    response, found = lying(50, 0.5)
    pins, rest = ConstraintFilter(50), np.zeros((50, 3))

    def held():
        return set(response.constrain(pins, rest).rows.tolist())

    assert held() == set(range(50))
    response.judge(rest, np.outer(np.where(np.arange(50) == 7, -1.0, 1.0), UP))
    assert held() == set(range(50)) - {7}
    found.contacts.gap_t1[7] = -0.005
    assert response.add(found, True)
    assert held() == set(range(50))


def test_what_begins_to_slip_between_two_solves_is_held_along_its_normal_alone_in_the_second():
    response, _ = lying(50, 0.5)
    pins, rest = ConstraintFilter(50), np.zeros((50, 3))
    assert not response.constrain(pins, rest).degrees_of_freedom(np.arange(50)).any()
    force = np.tile(UP, (50, 1))
    force[7, 0] = 10.0
    response.judge(rest, force)
    np.testing.assert_array_equal(response.constrain(pins, rest).degrees_of_freedom(np.arange(50)),
                                  np.where(np.arange(50) == 7, 2, 0))


@cases("rounding", [-1e-16, 0.0, 1e-16])
def test_what_pulled_is_free_in_the_next_step_on_whichever_side_rounding_left_it(rounding):
    response, found = lying(50, 0.5)
    assert not response.judge(np.zeros((50, 3)), np.outer(np.where(np.arange(50) == 7, -0.1, 1.0), UP))
    found.contacts.gap_t0[:] = found.contacts.gap_t1[:] = rounding
    after = step(found.carried, np.zeros((50, 3)), response.touch())
    after.predict(found)
    assert sorted(after.vertex) == [i for i in range(50) if i != 7]


@cases("rounding", [-1e-16, 0.0, 1e-16])
def test_what_begins_to_slip_is_held_back_the_way_it_was_whatever_direction_rounding_moves_it_in(rounding):
    response, found = lying(20, 0.5)
    response.judge(np.zeros((20, 3)), np.where(np.arange(20)[:, None] == 3, [0.6, 0.0, 1.0], UP))
    v = np.zeros((20, 3))
    v[3] = rounding, rounding, 0.0
    after = step(found.carried, v, response.touch())
    after.predict(found)
    np.testing.assert_allclose(after.friction.push[3], [0.5, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(after.friction.push[:3], 0.0)


@cases("tilt", [0.0, 1e-3, 0.05, 0.2])
def test_what_two_surfaces_squeeze_is_not_thrown_out_between_them(tilt):
    """A lid 4 mm too low, tilted a little: to obey both, a vertex would have to leave by 4 mm / tilt."""
    x = np.array([[0.0, 0.0, 0.01]])
    response = step(x, np.zeros_like(x), Touch.none(1))
    normals = np.array([UP, [np.sin(tilt), 0.0, -np.cos(tilt)]])
    both, none = np.zeros(2, dtype=np.int64), np.zeros((2, 3))
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.016]])
    gap = np.einsum("nj,nj->n", normals, x - points) - 0.01
    gap[1] = min(gap[1], 0.0)
    contacts = Contacts(both, both, both, none, points, points, normals, np.zeros(2), gap)
    response.predict(touching(contacts, np.zeros(2), np.full(2, 0.01), x[both]))
    assert len(response) == 2
    z = response.constrain(ConstraintFilter(1), np.zeros((1, 3))).z
    assert np.linalg.norm(z) * 0.02 < 0.005


def between_walls(low, high, gap_t0=-0.002):
    """A vertex that ends at these heights [m] over two walls 2 mm apart, and is put back from them; whether it is then
    known to be between them."""
    x = np.array([[0.0, 0.0, low]])
    response = step(x, np.zeros_like(x), Touch.none(1))
    both, normals = np.zeros(2, dtype=np.int64), np.array([UP, -UP])
    gaps = np.array([low, high]) - 0.01
    points = x - np.array([low, high])[:, None] * normals
    found = touching(Contacts(both, both, both, np.zeros((2, 3)), points, points, normals, np.full(2, gap_t0), gaps),
                     np.zeros(2), np.full(2, 0.01), x[both])
    return not response.unsure(found, x, response.move_out(found, x))[0]


def test_what_one_surface_is_put_back_from_into_another_is_not_taken_for_kept_off_both():
    """Nor what was beyond one: nobody looks for the other from there. What starts inside is to come out."""
    assert between_walls(0.02, 0.03)
    assert not between_walls(-0.001, 0.003)
    assert not between_walls(0.003, -0.001)
    assert not between_walls(-0.001, 0.05)
    assert not between_walls(0.001, 0.05)
    assert between_walls(-0.001, 0.003, gap_t0=-0.011)


def wedged(v, mu):
    """A vertex with velocity v (3,) [m/s] where a floor and an overhanging wall meet, 1 cm from both."""
    x, normals = np.array([[0.0, 0.0, 0.01]]), np.array([UP, [-0.8, 0.0, -0.6]])
    response = step(x, np.array([v]), Touch.none(1))
    both, none = np.zeros(2, dtype=np.int64), np.zeros(2)
    points = x - 0.01 * normals
    response.predict(touching(Contacts(both, both, both, np.zeros((2, 3)), points, points, normals, none, none),
                              np.full(2, mu), np.full(2, 0.01), x[both]))
    assert len(response) == 2
    return response, normals


@cases(("along", "slips"), [(0.0, False), (1.4, False), (1.6, True)])
def test_what_one_wall_of_a_wedge_does_is_no_friction_to_the_other(along, slips):
    """Only what holds it along the wedge has to be friction: here by at most half of the floor's 3 N."""
    response, normals = wedged([0.0, 0.0, 0.0], 0.5)
    force = np.array([3.0, 5.0]) @ normals + [0.0, along, 0.0]
    response.judge(np.zeros((1, 3)), force[None])
    np.testing.assert_allclose(response.pressing, [3.0, 5.0], atol=0.2)
    held_back = response.friction_force(np.zeros((1, 3)))[0]
    np.testing.assert_allclose(held_back, [0.0, 1.5 * slips, 0.0], atol=0.1 * slips)


def test_a_third_surface_shares_a_force_with_the_first_when_the_second_has_let_go():
    """Between a floor and a wall that leans over it; the wall across them pulls first."""
    x, normals = np.array([[0.0, 0.0, 0.01]]), np.array([UP, [0.0, 1.0, 0.0], [-0.8, 0.0, -0.6]])
    response, all_, none = step(x, np.zeros_like(x), Touch.none(1)), np.zeros(3, dtype=np.int64), np.zeros(3)
    points = x - 0.01 * normals
    response.predict(touching(Contacts(all_, all_, all_, np.zeros((3, 3)), points, points, normals, none, none),
                              np.zeros(3), np.full(3, 0.01), x[all_]))
    response.judge(np.zeros((1, 3)), np.array([[3.0, -1.0, 5.0]]) @ normals)
    assert response.held.tolist() == [True, False, True]
    response.judge(np.zeros((1, 3)), np.array([[3.0, 0.0, 5.0]]) @ normals)
    np.testing.assert_allclose(response.pressing[[0, 2]], [3.0, 5.0], atol=0.2)


def test_friction_acts_once_on_a_vertex_that_two_surfaces_touch():
    response, normals = wedged([1.0, 3.0, -0.5], 0.5)
    slide = np.array([[0.0, 0.4, 0.0]])
    response.judge(slide, np.array([[3.0, 5.0]]) @ normals)
    force = response.friction_force(slide)[0]
    assert force[1] == pytest.approx(-0.5 * response.pressing[0], rel=2e-3) and abs(force[0]) < 0.03 * abs(force[1])


@cases(("held", "overloaded"), [(0.99, False), (1.02, True)])
def test_a_piece_of_cloth_that_is_held_by_more_than_all_of_it_can_hold_is_solved_for_again(held, overloaded):
    """One contact in twenty sticks, and bears what the others lack; a heavier piece beside it rests."""
    count, body = 20, np.repeat([0, 1], [20, 40])
    response, _ = lying(60, 0.5, body)
    response.friction.mode[1:count] = SLIP
    response.friction.push[1:count, 0] = 0.5
    response.friction.along[1:count, 0] = 1.0
    response.friction.drag[:] = 0.0
    force = np.outer(np.where(body == 0, 1.0, 10.0), UP)
    force[0, 0] = 0.5 * (count * held - (count - 1))
    slides = np.outer(np.where((np.arange(60) > 0) & (body == 0), -1e-3, 0.0), [1.0, 0.0, 0.0])
    assert response.judge(slides, force) is overloaded
    assert response.friction.overloaded is overloaded and response.friction.spreads is overloaded


def test_how_wrong_friction_is_counts_piece_by_piece():
    """One in ten of a light piece begins to slip, and nothing of a heavy one."""
    response, _ = lying(60, 0.5, np.repeat([0, 1], [20, 40]))
    force = np.outer(np.repeat([1.0, 50.0], [20, 40]), UP)
    force[:2, 0] = 0.6
    response.judge(np.zeros((60, 3)), force)
    assert response.friction.wrong == pytest.approx(0.1)

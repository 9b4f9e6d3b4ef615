# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pairs of one surface are contacts, and how fine meshes and thick cloth live with it."""

import numpy as np
import pytest

from core.contact.contact_trial import ContactTrial
from core.contact.continuous import NEVER, near_pairs
from core.contact.crossings import crossing_pairs
from core.contact.nearness import Features
from core.contact.self_contact import SelfContact
from core.contact.surroundings import LEAST_GAP
from core.contact.triangle_surface import TriangleSurface
from core.description.seam_pairs import Links
from core.description.topology import bodies
from core.linear.constraint_filter import ConstraintFilter
from tests.cases import cases
from tests.core.contact.shapes import rotation, sheet

H = 0.02


def owner_of(x, triangles, thickness, body=None, rest=None):
    count = len(x)
    body = np.zeros(count, dtype=int) if body is None else body
    return ContactTrial(SelfContact(np.full(count, thickness), np.full(count, 0.3), np.ones(count), body,
                                    x if rest is None else rest, TriangleSurface.build(x, triangles)))


def begin(owner, x, v):
    return owner.begin(x, v, v, x, H, ConstraintFilter(len(x)))


def two_layers(gap, side=7, shift=(0.03, 0.05)):
    """A sheet above another, moved along it, in two bodies."""
    x, triangles = sheet(side, side, 1.0, 1.0)
    both = np.concatenate([x, x + [*shift, gap]])
    return both, np.concatenate([triangles, triangles + len(x)]), np.repeat([0, 1], len(x))


@cases("thickness", [0.02, 0.2, 2.0])
def test_a_sheet_does_not_touch_itself_however_thick_it_is(thickness):
    """Neither flat nor bent, nor squeezed together by a third."""
    x, triangles = sheet(9, 7, 1.0, 1.0)
    x[:, :2] += 0.03 * np.random.default_rng(0).normal(size=(len(x), 2))
    owner = owner_of(x, triangles, thickness)
    bent = np.stack([np.sin(2 * x[:, 0]) / 2, x[:, 1], np.cos(2 * x[:, 0]) / 2], axis=1)
    for y in (x, bent, x * [0.7, 1.0, 1.0]):
        step = begin(owner, y, np.zeros_like(y))
        assert not step.touching
        assert len(owner.look(y, y).pairs) > 0


@cases("thickness", [0.002, 0.2, 2.0])
def test_pairs_of_one_body_keep_less_than_their_distance_at_rest_and_others_what_is_given(thickness):
    x, triangles, body = two_layers(0.3)
    fixed = owner_of(x, triangles, thickness, body).fixed
    near = near_pairs(fixed.surface, x, x, 1.0, np.zeros(len(x)))
    kept, same = fixed.thickness_of(near), body[near.vertices[:, 0]] == body[near.vertices[:, 3]]
    assert same.any() and not same.all() and (kept[same] < near.distance[same]).all()
    np.testing.assert_array_equal(kept[~same], fixed.apart(near)[~same])
    wide = near.distance > 4.0 * thickness                               # places of one sheet that may meet in a fold
    np.testing.assert_array_equal(kept[wide], fixed.apart(near)[wide])


def test_layers_press_on_each_other_along_their_normal_only():
    x, triangles, body = two_layers(0.05)
    step = begin(owner_of(x, triangles, 0.04, body), x, np.zeros_like(x))
    c = step.repulsion.contacts
    # every vertex over the other sheet's inside has one triangle, and those beside it reach to its border
    over = (np.abs(x[:, :2] - np.where(body[:, None] == 0, [0.03, 0.05], 0.0)) < 0.5).all(axis=1)
    assert np.bincount(c.vertices[:, 0], minlength=len(x))[over].tolist() == [1] * int(over.sum())
    inside = over[c.vertices[:, 0]]
    np.testing.assert_allclose(np.abs(c.normal[inside]), np.tile([0.0, 0.0, 1.0], (inside.sum(), 1)), atol=1e-12)
    assert c.touches[inside].all()
    impulse = step.impulse(np.zeros_like(x))
    assert (impulse[body == 1, 2] >= 0.0).all() and (impulse[body == 0, 2] <= 0.0).all()


@cases(("speed", "meets"), [(5.0, False), (20.0, True)])
def test_layers_that_are_expected_to_meet_press_in_the_first_solve(speed, meets):
    """However far apart they start, so that nobody has to solve again for that."""
    x, triangles, body = two_layers(0.3)
    v = np.where((body == 1)[:, None], [0.0, 0.0, -speed], 0.0)
    step = begin(owner_of(x, triangles, 0.01, body), x, v)
    assert (step.touching > 0) == meets
    assert step.join(v) == 0 and (step.touching > 0) == meets


def test_ridges_that_cross_are_contacts_of_their_edges():
    """Two tents, one upside down and turned by a right angle."""
    tent = np.array([[-1, 0, 0], [1, 0, 0], [-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]], dtype=float)
    faces = np.array([[0, 3, 1], [0, 2, 3], [0, 1, 5], [0, 5, 4]])
    other = tent * [1, 1, -1] @ rotation([0, 0, 1], np.pi / 2).T + [0.03, 0.02, 0.1]
    x, triangles = np.concatenate([tent, other]), np.concatenate([faces, faces + 6])
    body = np.repeat([0, 1], 6)
    c = begin(owner_of(x, triangles, 0.1, body), x, np.zeros_like(x)).repulsion.contacts
    assert len(c) == 1
    np.testing.assert_allclose(np.abs(c.normal), [[0.0, 0.0, 1.0]], atol=1e-12)
    np.testing.assert_array_equal(np.sort(c.vertices[0]), [0, 1, 6, 7])


def test_a_minimum_is_found_where_a_search_along_the_surface_finds_one():
    """Vertices over a bumpy sheet: the nearest place is among the contacts of each that is over the sheet."""
    rng = np.random.default_rng(1)
    x, triangles = sheet(12, 12, 1.0, 1.0)
    lower = x + np.stack([0 * x[:, 0], 0 * x[:, 0], 0.03 * rng.normal(size=len(x))], axis=1)
    upper = 0.6 * x + [0.01, 0.02, 0.15]
    both, faces = np.concatenate([lower, upper]), np.concatenate([triangles, triangles + len(x)])
    surface = TriangleSurface.build(both, faces)
    pairs = near_pairs(surface, both, both, 0.4, np.zeros(len(both)))
    meaning = pairs[Features(surface, len(both)).minima(pairs, both)]
    for vertex in range(len(x), 2 * len(x)):
        all_, mine = (p.distance[:p.faces][(p.vertices[:p.faces, 0] == vertex) & (p.vertices[:p.faces, 1] < len(x))]
                      for p in (pairs, meaning))
        assert mine.min() == pytest.approx(all_.min())
        assert len(mine) < 0.3 * len(all_)


@cases("finer", [False, True])
def test_the_neighbours_of_a_finer_part_are_no_pairs_all_the_time(finer):
    """They are within a radius that is the same everywhere."""
    x, triangles = sheet(14, 14, 1.0, 1.0)
    x = x * np.where(finer & (x[:, :1] < 0.0), [[0.2, 0.2, 1.0]], 1.0)
    owner = owner_of(x, triangles, 0.2 / 13)
    owner.history.own.missed[:] = 0.0                                              # ends are known
    assert owner.fixed.crowded is finer
    near = near_pairs(owner.fixed.surface, x, x, owner.history.own.radius, np.zeros(len(x)))
    found = owner.look(x, x + [0.0, 0.0, 0.01]).pairs
    assert len(found) < 0.2 * len(near) if finer else len(near) == 0


def test_what_flies_at_another_joins_when_the_solution_makes_it_meet():
    x, triangles, body = two_layers(0.5)
    owner = owner_of(x, triangles, 0.02, body)
    step = begin(owner, x, np.zeros_like(x))
    assert not step.touching
    u = np.where((body == 1)[:, None], [0.0, 0.0, -1.0 / H], 0.0)
    assert step.join(u) and step.touching
    assert step.impulse(u)[body == 1, 2].sum() > 0.0
    end = step.truncate(x + H * u, lambda: ConstraintFilter(len(x)))
    assert (owner.look(x, end).pairs.meeting_times(x, end) == NEVER).all()
    at = owner.fixed.surface.at(end)
    assert len(crossing_pairs(at, at)) == 0 and (end[body == 1, 2] > end[body == 0, 2]).all()


def test_what_is_pushed_without_end_is_left_a_gap():
    """The cut leaves a pair a part of its distance. A part of a part, step by step, would be nothing in the end."""
    x, triangles, body = two_layers(0.05)
    owner, pins = owner_of(x, triangles, 0.02, body), ConstraintFilter(len(x))
    held = np.flatnonzero(body == 0)
    pins.fix(held, np.zeros((len(held), 3)))
    down = np.where((body == 1)[:, None], [0.0, 0.0, -0.05], 0.0)
    for _ in range(40):
        x = owner.begin(x, 0.0 * x, 0.0 * x, x, H, pins).truncate(x + down, lambda: pins)
    assert (x[body == 1, 2] > 0.0).all()
    assert owner.look(x, x).pairs.distance.min() > 0.3 * LEAST_GAP * owner.history.own.scale


def test_pieces_that_touch_count_as_one():
    for gap, pieces in ((0.05, 1), (0.5, 2)):
        x, triangles, body = two_layers(gap)
        step = begin(owner_of(x, triangles, 0.04, body), x, np.zeros_like(x))
        assert len(np.unique(step.bodies())) == pieces


def test_an_integrator_that_looks_back_learns_of_what_is_near():
    x, triangles, body = two_layers(0.5)
    owner = owner_of(x, triangles, 0.02, body)
    down = x - np.where((body == 1)[:, None], [0.0, 0.0, 1.0], 0.0)
    assert not owner.look(x, x + 0.3).touches(x + 0.3)
    assert owner.look(x, down).touches(down)


def test_forces_of_the_step_before_are_known_by_their_pairs():
    x, triangles, body = two_layers(0.05)
    owner = owner_of(x, triangles, 0.04, body)
    first = begin(owner, x, np.zeros_like(x))
    down = np.where((body == 1)[:, None], [0.0, 0.0, -0.1], 0.0)
    first.judge(down, ConstraintFilter(len(x)), None, 0.0 * down)
    first.remember(down)
    pressing = first.repulsion.pressing(down)
    second = begin(owner, x.copy(), down)
    gained = second.repulsion.contacts.least - first.repulsion.contacts.least
    assert pressing.min() >= 0.0 and pressing.max() > 0.0
    assert (gained[pressing > 0.0] != 0.0).all()


def test_cloth_without_thickness_is_held_apart_all_the_same():
    x, triangles, body = two_layers(0.5)
    owner = owner_of(x, triangles, 0.0, body)
    u = np.where((body == 1)[:, None], [0.0, 0.0, -1.0 / H], 0.0)
    step = begin(owner, x, u)
    step.join(u)
    step.judge(u, ConstraintFilter(len(x)), None, 0.0 * u)
    at = owner.fixed.surface.at(step.truncate(x + H * u, lambda: ConstraintFilter(len(x))))
    assert len(crossing_pairs(at, at)) == 0


@cases("drift", [0.0, 3.0])
@cases("strays", [1, 12, 80])
def test_what_some_may_meet_where_nobody_expected_them_is_found(strays, drift):
    """Looked for again is what strays, twice; what all have in common of the motion is no straying."""
    x, triangles, body = two_layers(0.1, side=12)
    rng = np.random.default_rng(strays)
    owner = owner_of(x, triangles, 0.02, body)
    expected = x + 0.01 * rng.normal(size=x.shape)
    around = owner.look(x, expected)
    owner.history.tangled = False
    for _ in range(2):
        end = expected + drift * rng.normal(size=3) + 0.002 * rng.normal(size=x.shape)
        end[rng.choice(len(x), strays, replace=False)] += 0.4 * rng.normal(size=(strays, 3))
        found = {tuple(p) for p in around.meeting(end)[0].vertices.tolist()}
        fresh = owner_of(x, triangles, 0.02, body)
        wanted = {tuple(p) for p in fresh.look(x, end).meeting(end)[0].vertices.tolist()}
        assert found == wanted and (strays == 1 or len(wanted) > strays)
        assert around.covers(end)


def test_what_lies_in_a_triangle_is_still_known_after_others_have_strayed():
    x, triangles, body = two_layers(0.0)
    owner = owner_of(x, triangles, 0.02, body)
    owner.history.tangled = False
    around = owner.look(x, x)
    level = {tuple(row) for row in around.level.tolist()}
    end = x.copy()
    end[[0, 48]] += [0.0, 0.0, 0.5]                                   # a corner of each sheet
    assert owner.look(x, end) is around and around.covers(end)
    assert len(level) > 20 and {tuple(row) for row in around.level.tolist()} == level


def test_cloth_beside_a_seam_that_has_yet_to_close_is_cloth_like_any_other():
    square = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.1, 0.1, 0.0]])
    x = np.concatenate([square, square + [0.0, 0.0, 0.018]])
    triangles = np.array([[0, 1, 3], [0, 3, 2], [4, 5, 7], [4, 7, 6]])
    thin = np.full(8, 0.005)
    seams = Links(*(np.array([[0, 4], [1, 5]]),) * 2, np.array([[1.0, -1.0], [1.0, -1.0]]))
    surface = TriangleSurface.build(x, triangles, bodies(seams.ends, 8))
    own = ContactTrial(SelfContact(thin, np.zeros(8), np.ones(8), np.repeat([0, 1], 4), x, surface, seams=seams))
    nearly = x.copy()
    nearly[4, 2] = 0.011                                             # of one seam, the other is as open as it was
    for place, sewn in ((x, []), (nearly, [(0, 4)])):
        groups = own.fixed.sewn_at(place).sewn
        assert [(i, j) for i in range(8) for j in range(i + 1, 8) if groups[i] == groups[j]] == sewn
        found = own.look(place, place).pairs.vertices
        assert ((found == 0).any(axis=1) & (found == 4).any(axis=1)).any() == (not sewn)
        assert ((found == 1).any(axis=1) & (found == 5).any(axis=1)).any()


def test_what_presses_on_cloth_is_told():
    x, triangles, body = two_layers(0.05)
    owner = owner_of(x, triangles, 0.04, body)
    step, u = begin(owner, x, np.zeros_like(x)), np.zeros_like(x)
    step.remember(u)
    touching = step.repulsion.contacts.touches
    assert step.presses and len(step.pressing) == np.count_nonzero(touching)
    assert step.pressing.force.sum() == step.repulsion.pressing(u)[touching].sum() > 0.0
    assert (body[step.pressing.vertices] == [0, 1]).all(axis=1).any()


@cases("aside", [0.002, 0.006])
def test_what_is_expected_to_come_round_a_rim_to_the_other_side_is_held_on_its_own(aside):
    """It was pressed up on the far side of the rim before it was there, by springs that got stiffer, against those of
    its neighbours that pressed it down: a sheet of three that fell onto the floor was flung off at 2 m/s."""
    x, triangles, body = two_layers(0.01, shift=(0.0, -aside))
    v = np.where(body[:, None] == 0, [0.0, 0.0, 0.02 / H], 0.0)                  # the lower one comes up beside the rim
    c = begin(owner_of(x, triangles, 0.04, body), x, v).repulsion.contacts
    upper = (body[c.vertices[:, -1]] == 1) & (body[c.vertices[:, 0]] == 0)
    assert upper.sum() > 30 and (c.normal[upper, 2] <= 1e-12).all()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Enclosures: closed colliders with inward normals enclose cloth that starts inside, and are solids for all other
cloth.
"""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.contact.shapes import ball, box, inside_out, rotation, sheet, together
from tests.scenes.staging import AS_IN_BLENDER, COTTON, Staged, cloth, perform, turned

pytest.importorskip("ipctk")

TILT = rotation([1.0, 2.0, 0.5], 0.4)


def watched(staged, **solver):
    """Return all frames, after checking that nothing intersects, that no vertex is inside a solid or outside an
    enclosure, and that the certificate agrees.
    """
    kept = []
    for frame, found in perform(staged, **solver):
        assert found.finite and not found.total and not found.inside, f"frame {frame.index}: {found}"
        assert frame.certificate.crossings == 0 and frame.certificate.deepest_penetration == 0.0
        kept.append(frame)
    return kept


@cases("on_solids", ["constraints", "springs"])
@cases("tilt", [np.eye(3), TILT], ids=["level", "tilted"])
def test_cloth_falls_onto_the_floor_of_a_room_and_stays_in(tilt, on_solids):
    walls, faces = inside_out(box((1.0, 1.0, 0.6)))
    staged = Staged(core.Scene([cloth(14, 14, 0.6, 0.6, lambda x: x - [0.0, 0.0, 0.1])],
                               [core.Collider(walls @ tilt.T, faces, name="room")]), 24, enclosures=(0,))
    last = watched(staged, solid_contact=on_solids)[-1]
    height = (last.positions[0] @ tilt)[:, 2] + 0.3                  # height above the floor
    assert height.min() < 0.05 and last.certificate.stretch_max < 1.1


@cases("one_mesh", [True, False])
def test_cloth_meets_a_ball_that_stands_in_a_room(one_mesh):
    room, solid = inside_out(box((1.2, 1.2, 1.0))), ball(20, 10, 0.15)
    solids = [core.Collider(*m) for m in ([together(room, solid)] if one_mesh else [room, solid])]
    staged = Staged(core.Scene([cloth(16, 16, 0.7, 0.7, lambda x: x + [0.013, 0.007, 0.2])], solids), 16,
                    enclosures=(0,))
    last = watched(staged)[-1].positions[0]
    assert np.linalg.norm(last, axis=1).min() < 0.18                 # it rests on the ball
    assert last[:, 2].min() < 0.0 < last[:, 2].max()                 # and hangs over it


def test_a_room_that_moves_and_turns_moves_the_cloth_in_it():
    walls, faces = inside_out(box((0.8, 0.8, 0.8)))

    def at(t):
        return walls @ rotation([0.0, 1.0, 0.2], 3.0 * t).T + [2.0 * t, 0.0, 0.0]

    staged = Staged(core.Scene([cloth(12, 12, 0.4, 0.4)], [core.Collider(at, faces, name="drum")]), 24, enclosures=(0,))
    last = watched(staged)[-1]
    assert abs(last.positions[0][:, 0].mean() - 2.0 * last.time) < 0.5


def test_cloth_in_a_house_with_walls_of_two_shells_and_cloth_outside_of_it_stay_where_they_are():
    shells = together(box((1.2, 1.2, 1.0)), inside_out(box((1.0, 1.0, 0.8))))
    staged = core.Scene([cloth(12, 12, 0.5, 0.5, lambda x: x - [0.0, 0.0, 0.3], name="carpet"),
                         cloth(12, 12, 0.5, 0.5, lambda x: x + [0.0, 0.0, 0.55], name="roof")],
                        [core.Collider(*shells, name="house")])
    for frame in core.simulate(staged, core.Solver(**AS_IN_BLENDER), range(1, 17)):
        within, above = frame.positions
        assert frame.certificate.crossings == 0 and frame.certificate.deepest_penetration == 0.0
        assert within[:, 2].min() > -0.4 and within[:, 2].max() < -0.2 and above[:, 2].min() > 0.5


def test_a_curtain_pinned_in_the_plane_of_the_ceiling_stays_in_the_room():
    x = sheet(10, 10, 0.4, 0.4)[0]
    hung = turned(x, np.pi / 2, axis=0) + [0.0, 0.0, 0.5 - 0.2]
    hung[hung[:, 2] > 0.4999, 2] = 0.5
    pins = dict.fromkeys(np.flatnonzero(hung[:, 2] == 0.5).tolist())
    room = core.Collider(*inside_out(box((1.0, 1.0, 1.0))), name="room")
    staged = core.Scene([cloth(10, 10, 0.4, 0.4, lambda x: hung, pins=pins)], [room], wind=(0.0, 2.0, 0.0))
    for frame in core.simulate(staged, core.Solver(**AS_IN_BLENDER), range(1, 13)):
        assert np.abs(frame.positions[0]).max() <= 0.5 and frame.certificate.deepest_penetration == 0.0
        assert frame.certificate.stretch_max < 1.1


def test_a_ball_inside_out_is_a_solid_to_cloth_that_falls_onto_it():
    staged = Staged(core.Scene([cloth(16, 16, 0.6, 0.6, lambda x: x + [0.013, 0.007, 0.2])],
                               [core.Collider(*inside_out(ball(20, 10, 0.15)))]), 16)
    assert np.linalg.norm(watched(staged)[-1].positions[0], axis=1).min() > 0.14


def test_a_rug_in_the_plane_of_the_floor_lies_on_it():
    staged = core.Scene([cloth(10, 10, 0.4, 0.4, lambda x: x - [0.0, 0.0, 0.5])],
                        [core.Collider(*inside_out(box((1.0, 1.0, 1.0))), name="room")])
    for frame in core.simulate(staged, core.Solver(**AS_IN_BLENDER), range(1, 13)):
        assert frame.positions[0][:, 2].min() > -0.5 - 1e-9 and frame.certificate.deepest_penetration == 0.0
    assert frame.positions[0][:, 2].max() < -0.4


@cases("shape, stays", [(box((1.0, 1.0, 1.0)), False), (inside_out(box((1.0, 1.0, 1.0))), True)],
       ids=["solid", "room"])
def test_particles_are_put_out_of_a_solid_and_stay_in_a_room(shape, stays):
    points = core.Cloth(core.ClothMesh([[0.0, 0.0, 0.1], [0.1, 0.05, 0.0]], points=True), COTTON, model="particles")
    scene = core.Scene([points], [core.Collider(*shape)])
    *_, last = core.simulate(scene, core.Solver(**AS_IN_BLENDER), range(1, 17))
    assert (np.abs(last.positions[0]).max(axis=1) <= 0.5).all() == stays
    assert last.certificate.deepest_penetration == 0.0

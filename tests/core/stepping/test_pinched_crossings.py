# SPDX-License-Identifier: GPL-3.0-or-later
"""A certificate counts every crossing: those where colliders leave no room for cloth, and all others, by their places
alone."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import core
from core.contact.contact_history import ContactHistory
from core.contact.narrow_places import narrow
from core.model.particle_system import ParticleSystem
from core.state import Homes
from core.stepping.pinched_crossings import without_pinched
from core.stepping.resolve_start import look, make_auditor
from tests.cases import cases
from tests.core.contact.shapes import ball, box, pierces, rotation, sheet, together

CHARACTERS = Path(__file__).resolve().parents[4] / "shared" / "characters"
"""A real body with clothes, where there is one."""
RADIUS, HALF = 0.1, 0.085
"""Radius of two balls that overlap, and half the distance of their centres on the x axis [m]."""
RIM = (RADIUS**2 - HALF**2) ** 0.5
"""Radius of the circle in which they cross, in the plane x = 0 [m]."""


def balls(*, as_one):
    """An armpit: two balls that overlap, as one collider that crosses itself or as two."""
    x, triangles = ball(24, 12, RADIUS)
    x = x @ rotation([0.3, 1.0, 0.2], 0.7).T
    left = x - [HALF, 0.0, 0.0], triangles
    right = x @ rotation([1.0, 0.2, 0.1], 0.4).T + [HALF, 0.0, 0.0], triangles
    return [core.Collider(*mesh, name="body") for mesh in ([together(left, right)] if as_one else [left, right])]


def placed(turn, shift, size=15):
    """A sheet of 0.6 m, turned out of the plane z = 0 about the axis (0, 1, 0) and shifted, not quite along axes."""
    x, triangles = sheet(size, size, 0.6, 0.6)
    at = x @ rotation([0.02, 1.0, 0.03], turn).T + shift
    return core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), positions=at, thickness=0.003)


def crossing_places(cloth, colliders):
    """Where edges of the cloth pierce triangles of colliders, and edges of these its triangles (N, 3) [m], by brute
    force."""
    found = []
    x, own = cloth.positions, cloth.mesh.triangles
    for collider in colliders:
        y, other = collider.at(0.0), collider.triangles
        for (p, of_edges), (q, triangles) in (((x, own), (y, other)), ((y, other), (x, own))):
            sides = np.concatenate([of_edges[:, [0, 1]], of_edges[:, [1, 2]], of_edges[:, [2, 0]]])
            edges = np.unique(np.sort(sides, axis=1), axis=0)
            start, end = p[edges[:, 0]], p[edges[:, 1]]
            edge, triangle = np.nonzero(pierces(start, end, q, triangles))
            a, b, c = (q[triangles[triangle, k]] for k in range(3))
            normal = np.cross(b - a, c - a)
            share = ((a - start[edge]) * normal).sum(axis=1) / ((end - start)[edge] * normal).sum(axis=1)
            found.append(start[edge] + share[:, None] * (end - start)[edge])
    return np.concatenate(found)


def certificate_of(cloth, colliders):
    scene = core.Scene([cloth], colliders)
    return next(core.simulate(scene, core.Solver(resolve_start=False), [1])).certificate


@cases("as_one", [True, False])
def test_both_counts_of_a_certificate_add_up_to_every_crossing_there_is(as_one):
    bodies, both = balls(as_one=as_one), np.zeros(2, dtype=int)
    for turn, shift in ((0.0, [0.001, 0.002, 0.003]), (1.57, [0.004, 0.0, 0.001]), (0.8, [0.0, 0.01, 0.0]),
                        (0.4, [0.02, -0.03, 0.05])):
        cloth = placed(turn, shift)
        found = certificate_of(cloth, bodies)
        assert found.crossings + found.crossings_pinched == len(crossing_places(cloth, bodies)) > 0
        both += [found.crossings, found.crossings_pinched]
    assert both.min() > 0                                                    # there were some of either kind


@cases("as_one", [True, False])
def test_a_contour_that_begins_where_there_is_no_room_counts_as_crossings_where_there_is(as_one):
    """The sheet cuts both balls in the middle. Its contour goes once around both, through their overlap."""
    cloth, bodies = placed(0.0, [0.001, 0.002, 0.003]), balls(as_one=as_one)
    edge = 0.6 / 14.0 * 2.0**0.5
    found, places = certificate_of(cloth, bodies), crossing_places(cloth, bodies)
    away = np.hypot(places[:, 0], np.linalg.norm(places[:, 1:], axis=1) - RIM)    # from the circle of the overlap
    covered = np.linalg.norm(places + np.where(places[:, :1] > 0.0, HALF, -HALF) * [1.0, 0.0, 0.0], axis=1) < RADIUS
    assert found.crossings_pinched >= covered.sum() > 0
    assert found.crossings >= ((away > 2.5 * edge) & ~covered).sum() > 20


def test_what_the_cloth_is_excluded_from_takes_no_room():
    """A ball in a box: the sheet that crosses the ball has no contact with the box."""
    solids = [core.Collider(*ball(24, 12, RADIUS), name="ball"), core.Collider(*box((2.0, 2.0, 2.0)), name="box")]
    sheet = placed(0.0, [0.001, 0.002, 0.003])
    own = core.Cloth(sheet.mesh, sheet.material, positions=sheet.positions, thickness=0.003,
                     contact=core.ClothContact(colliders=["ball"]))
    alone, within = certificate_of(sheet, solids[:1]), certificate_of(own, solids)
    assert within.crossings == alone.crossings > 0
    assert within.crossings_pinched == alone.crossings_pinched == 0
    assert certificate_of(sheet, solids).crossings == 0                      # the box leaves no room in front


@cases("gap", [-0.01, 0.002, 0.02])
def test_places_between_two_surfaces_are_narrow_if_these_overlap_or_are_closer_than_cloth_is_thick(gap):
    x, triangles = ball(40, 20, RADIUS)
    solids = [core.Collider(x + [0.0, 0.0, height], triangles) for height in (RADIUS + gap, -RADIUS)]
    system = ParticleSystem(core.Scene([placed(0.0, [0.0, 0.0, 1.0])], solids))
    surfaces = [(c.at(0.0), s, s.tree) for c, s in zip(solids, system.shapes, strict=True)]
    points = np.array([[0.001, 0.0, 0.5 * gap], [0.0, 0.0, -2.0 * RADIUS], [0.5, 0.0, 0.0]])
    assert narrow(points, surfaces, 0.006).tolist() == [gap < 0.006, False, False]


def test_places_at_the_rim_of_an_overlap_are_narrow_and_others_beside_it_are_not():
    post, plate = box([0.02, 0.02, 0.2]), box([0.3, 0.3, 0.02])
    solids = [core.Collider(*post), core.Collider(*plate)]
    system = ParticleSystem(core.Scene([placed(0.0, [0.0, 0.0, 1.0])], solids))
    surfaces = [(c.at(0.0), s, s.tree) for c, s in zip(solids, system.shapes, strict=True)]
    heights = np.array([0.0, 0.013, 0.017, 0.05])                            # the plate ends at 0.01
    points = np.column_stack([np.full(4, 0.01), np.full(4, 0.003), heights])
    assert narrow(points, surfaces, 0.006).tolist() == [True, True, False, False]


def test_a_sheet_with_two_sides_leaves_no_room_either():
    solid, plate = ball(40, 20, RADIUS), sheet(3, 3, 1.0, 1.0)
    meshes = [core.Collider(solid[0] - [0.0, 0.0, RADIUS], solid[1]),
              core.Collider(plate[0] + [0.0, 0.0, 0.004], plate[1])]
    system = ParticleSystem(core.Scene([placed(0.0, [0.0, 0.0, 1.0])], meshes))
    surfaces = [(c.at(0.0), s, s.tree) for c, s in zip(meshes, system.shapes, strict=True)]
    points = np.array([[0.001, 0.002, 0.0], [0.001, 0.002, 0.0041], [0.2, 0.1, 0.004]])
    assert narrow(points, surfaces, 0.006).tolist() == [True, False, False]


def test_what_the_solver_took_for_pinched_is_no_reason_to_count_crossings_apart():
    cloth, solid = placed(0.0, [0.0, 0.0, 0.0]), core.Collider(*ball(40, 20, RADIUS))
    system = ParticleSystem(core.Scene([cloth], [solid]))
    auditor, state = make_auditor(system), system.initial_state()
    found = look(auditor, system, state)
    count = len(cloth.positions)
    everywhere = np.ones(count, dtype=np.bool_)
    astray = Homes(np.ones(count, dtype=np.int64), np.full((count, 3), 1.0 / 3.0), everywhere, ~everywhere)
    bounds = system.self_contact.own_bounds, system.self_contact.solid_bounds
    claimed = replace(state, contact=replace(
        ContactHistory.at_start(*bounds), homes=astray, through=everywhere))
    counted, apart = without_pinched(found, auditor, system, claimed)
    assert (counted.crossings, apart) == (found.crossings, 0) and found.crossings > 0


@pytest.mark.skipif(not (CHARACTERS / "mannequin.py").exists(), reason="there is no character here")
@cases("frame", [20, 45])
def test_of_a_character_whose_armpits_close_every_crossing_is_counted(frame, monkeypatch):
    pytest.importorskip("ipctk")
    from tests.scenes.overlap_audit import OverlapAudit

    monkeypatch.syspath_prepend(str(CHARACTERS))
    import mannequin

    matrices = mannequin.Motion("arms_down").matrices[frame]
    body, worn = mannequin.Body(), mannequin.Garment("blouse_1810")
    skin, at = body.posed(matrices), worn.posed(matrices)
    cloth = core.Cloth(core.ClothMesh(worn.positions, faces=worn.faces), core.Material.preset("cotton"), positions=at)
    found = certificate_of(cloth, [core.Collider(skin, body.triangles, name="body")])
    count = OverlapAudit(cloth.mesh.triangles, body.triangles, 2.0 * cloth.thickness).total(at, skin)
    sys.modules.pop("mannequin", None)
    assert found.crossings + found.crossings_pinched == count and found.crossings_pinched > 0

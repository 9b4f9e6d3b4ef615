# SPDX-License-Identifier: GPL-3.0-or-later
"""What the audit says of scenes whose answer is known."""

import importlib

import numpy as np
import pytest

from core.contact.distance import edge_edge, point_triangle
from core.description.topology import Topology
from core.errors import SceneError
from core.kernels import using
from core.kernels.backend import why_not
from core.stepping.audit import Auditor, audit
from tests.cases import cases
from tests.core.contact.shapes import ball, box, bumpy_ball, rotation, sheet

auditing = importlib.import_module("core.stepping.audit")

SCALES = [1e-3, 1.0, 1e3]


def scaled(mesh, factor):
    return factor * mesh[0], mesh[1]


def moved(mesh, shift):
    return mesh[0] + shift, mesh[1]


@cases("scale", SCALES)
def test_a_sheet_over_a_ball_is_clean_and_its_gap_is_the_height_over_the_pole(scale):
    found = audit([scaled(moved(sheet(31, 31), [0, 0, 0.51]), scale)], [scaled(ball(), scale)])
    assert found.crossings == 0 and found.deepest_penetration == 0.0
    assert found.smallest_gap == pytest.approx(0.01 * scale, rel=1e-9)


@cases("scale", SCALES)
def test_a_sheet_through_a_ball_crosses_it_and_its_centre_is_a_radius_deep(scale):
    found = audit([scaled(sheet(31, 31), scale)], [scaled(moved(ball(64, 31), [1e-3, 2e-3, 0]), scale)])
    assert found.crossings > 30 and found.smallest_gap == 0.0
    assert found.deepest_penetration == pytest.approx(0.5 * scale, rel=0.02)


def test_far_apart_there_is_no_gap_to_speak_of():
    assert audit([sheet(5, 5)], [moved(ball(), [0, 0, 9])]).smallest_gap is None
    assert audit([sheet(5, 5)]).smallest_gap is None
    nothing = audit([])
    assert (nothing.crossings, nothing.smallest_gap, nothing.deepest_penetration) == (0, None, 0.0)


def test_crossings_are_named_by_object_and_by_the_objects_own_numbers():
    lower, upper, solid = sheet(3, 3), moved(sheet(3, 3), [0.05, 0.06, 5]), box([0.2, 0.2, 8])
    solid = moved(solid, [0.3, 0.4, 0])
    found = audit([lower, upper], [moved(box([1, 1, 1]), [9, 9, 9]), solid])
    assert found.crossings == len(found.edges) == len(found.triangles) > 0
    objects = set(zip(found.edge_object.tolist(), found.triangle_object.tolist(), strict=True))
    assert objects == {(3, 0), (0, 3)}                        # its upright edges through cloth 0, and the other way
    upright = solid[0][found.edges[found.edge_object == 3]]
    assert (upright[:, 0, 2] * upright[:, 1, 2] < 0).all()
    assert found.triangles[found.edge_object == 3].max() < len(lower[1])
    assert found.edges[found.edge_object == 0].max() < len(lower[0])
    assert found.triangles[found.edge_object == 0].max() < len(solid[1])


def test_what_crosses_what_is_counted_whosever_the_edges_are():
    lower, upper = sheet(3, 3), moved(sheet(3, 3), [0.05, 0.06, 5])
    found = audit([lower, upper], [moved(box([0.2, 0.2, 8]), [0.3, 0.4, 0]), moved(ball(12, 6), [0.01, 0.02, 5])])
    pairs = found.by_objects()
    assert {(a, b) for a, b, _ in pairs} == {(0, 2), (1, 3)}
    assert {(a, b): n for a, b, n in pairs} == {
        (a, b): int(((found.edge_object == a) & (found.triangle_object == b)).sum()
                    + ((found.edge_object == b) & (found.triangle_object == a)).sum()) for a, b, _ in pairs}
    assert pairs == sorted(pairs, key=lambda pair: -pair[2]) and audit([upper]).by_objects() == []


def test_colliders_may_cross_each_other():
    found = audit([moved(sheet(3, 3), [0, 0, 9])], [ball(12, 6), moved(ball(12, 6), [0.3, 0.1, 0.2])])
    assert found.crossings == 0


def test_the_gap_between_layers_and_between_folds_is_found():
    layers = audit([sheet(11, 11), moved(sheet(11, 11), [0.03, 0.05, 0.02])])
    assert layers.crossings == 0 and layers.smallest_gap == pytest.approx(0.02)
    positions, triangles = sheet(41, 5)
    across = positions[:, 0] * 4
    fold = np.stack([np.abs(across) / 4, positions[:, 1], np.where(across > 0, 0.01, 0.0)], axis=1)
    found = audit([(fold, triangles)])
    assert found.smallest_gap == pytest.approx(0.01) or found.smallest_gap < 0.01


def test_a_flat_sheet_has_no_gap_however_its_neighbours_lie():
    for columns, rows in ((20, 20), (20, 5)):
        assert audit([sheet(columns, rows)]).smallest_gap is None


def test_the_gap_is_that_of_all_pairs():
    rng = np.random.default_rng(0)
    solid = bumpy_ball(12, 8)
    cloth = sheet(9, 9)
    for _ in range(5):
        turned = cloth[0] @ rotation(rng.normal(size=3), 2.0).T + [0, 0, 0.0]
        place = turned + (0.62 + 0.05 * rng.random()) * np.cross(turned[1] - turned[0], turned[9] - turned[0]) * 16
        found = audit([(place, cloth[1])], [solid])
        best = np.inf
        for one, other in (((place, cloth[1]), solid), (solid, (place, cloth[1]))):
            i, t = (k.ravel() for k in np.meshgrid(np.arange(len(one[0])), np.arange(len(other[1]))))
            corner = [other[0][other[1][t, k]] for k in range(3)]
            best = min(best, point_triangle(one[0][i], *corner).distance.min())
        ends_a, ends_b = place[Topology(cloth[1]).edges], solid[0][Topology(solid[1]).edges]
        i, j = (k.ravel() for k in np.meshgrid(np.arange(len(ends_a)), np.arange(len(ends_b))))
        best = min(best, edge_edge(ends_a[i, 0], ends_a[i, 1], ends_b[j, 0], ends_b[j, 1]).distance.min())
        if found.crossings == 0:
            assert found.smallest_gap == (pytest.approx(best, rel=1e-12) if best < 0.5 * 0.285 else None)


def test_the_gap_of_two_crossed_ridges_is_that_of_their_edges():
    roof = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0, 0.5, -0.5], [0, -0.5, -0.5]]), np.array([[0, 1, 2], [1, 0, 3]])
    other = roof[0] @ rotation([1, 0, 0], np.pi).T @ rotation([0, 0, 1], 1.5).T + [0, 0, 0.03]
    assert audit([roof], [(other, roof[1])]).smallest_gap == pytest.approx(0.03)
    assert audit([roof, (other, roof[1])]).smallest_gap == pytest.approx(0.03)


def test_the_depth_is_measured_in_the_collider_that_is_deepest_and_not_in_open_ones():
    point = moved(scaled(sheet(2, 2), 1e-3), [0, 0, 0.3])
    shallow, deep, plane = moved(box([1, 1, 1]), [0, 0, 0.75]), box([1, 1, 1]), sheet(2, 2)
    assert audit([point], [shallow]).deepest_penetration == pytest.approx(0.05)
    assert audit([point], [shallow, deep]).deepest_penetration == pytest.approx(0.2)
    assert audit([point], [plane]).deepest_penetration == 0.0


def test_an_auditor_sees_a_gap_that_grew_since_it_looked_last():
    cloth, solid = sheet(21, 21), ball(24, 12)
    look = Auditor([cloth], [solid])
    gaps = [look.look([cloth[0] + [0, 0, 0.5 + gap]], [solid[0]]).smallest_gap for gap in (0.002, 0.03, 0.9, 0.01)]
    assert gaps == [pytest.approx(0.002), pytest.approx(0.03), None, pytest.approx(0.01)]


def test_an_auditor_follows_meshes_that_move():
    cloth, solid = sheet(21, 21), ball(24, 12)
    look = Auditor([cloth], [solid])
    for height in (0.7, 0.51, 0.3, 0.2, 0.51, 0.3, 0.7):
        fresh = audit([moved(cloth, [0, 0, height])], [moved(solid, [0.1, 0, 0])])
        again = look.look([cloth[0] + [0, 0, height]], [solid[0] + [0.1, 0, 0]])
        assert again.crossings == fresh.crossings
        assert again.smallest_gap == fresh.smallest_gap
        assert again.deepest_penetration == fresh.deepest_penetration
    assert look.look([cloth[0] + [0, 0, 0.51]], [solid[0]], gap=False).smallest_gap is None
    with pytest.raises(SceneError, match="441"):
        look.look([cloth[0][:-1]], [solid[0]])


def test_a_frame_that_is_not_made_of_numbers_is_not_called_clean():
    positions = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, np.nan, 0.0]])
    with pytest.raises(SceneError, match="vertex 2 of mesh 0"):
        audit([(positions, np.array([[0, 1, 2]]))])


@cases("backend", ["numpy", "numba"])
@cases("far", [1e39, 1e112])
def test_a_frame_that_has_run_away_is_audited_all_the_same(backend, far):
    """Farther than single precision counts, with a number of triangles that does not fill the tree's leaves."""
    if why_not(backend):
        pytest.skip(why_not(backend))
    x, triangles = sheet(8, 8, 1.0, 1.0)
    random = np.random.default_rng(2)
    rows = random.choice(len(x), 21)
    x[rows] += far * random.normal(size=(len(rows), 3))
    with using(backend), np.errstate(all="ignore"):
        assert audit([(x, triangles)]).crossings > 0


PLACES, CORNERS = np.eye(3), np.array([[0, 1, 2]])


@cases(("cloths", "colliders", "wanted"), [
    ([(PLACES[:, :2], CORNERS)], [], "cloth 0: .*shape"),
    ([(PLACES, CORNERS[:, :2])], [], "cloth 0: .*shape"),
    ([(PLACES, CORNERS), (PLACES, CORNERS + 1)], [], "cloth 1: triangle 0 .*in 0..2"),
    ([(PLACES, CORNERS - 1)], [], "cloth 0: triangle 0 .*in 0..2"),
    ([(PLACES, CORNERS)], [(PLACES, CORNERS + 7)], "collider 0: triangle 0 .*in 0..2"),
    ([(PLACES, 1.0 * CORNERS)], [], "cloth 0: .*integers"),
    ([("ab", CORNERS)], [], "cloth 0: .*'ab'"),
    ((PLACES, CORNERS), [], "cloth 0: must be a pair"),
    (None, [], "cloths is None"),
    ([], "ball", "colliders is 'ball'"),
])
def test_what_is_no_mesh_is_named(cloths, colliders, wanted):
    with pytest.raises(SceneError, match=wanted):
        audit(cloths, colliders)


def test_where_nothing_crosses_a_vertex_of_each_piece_says_whether_it_is_inside(monkeypatch):
    """All vertices of cloth are asked only where it crosses a collider."""
    asked, really = [], auditing.inside
    monkeypatch.setattr(auditing, "inside", lambda points, *more: asked.append(len(points)) or really(points, *more))
    over, within = moved(sheet(9, 9), [0, 0, 2.0]), scaled(sheet(9, 9), 0.2)
    both = np.concatenate([over[0], within[0]]), np.concatenate([over[1], within[1] + len(over[0])])
    solid = box([1, 1, 1])
    assert audit([over], [solid]).deepest_penetration == 0.0 and asked == [1]
    asked.clear()
    depth = audit([both], [solid]).deepest_penetration
    assert depth == pytest.approx(0.5) and asked == [2, 162]
    asked.clear()
    assert audit([sheet(9, 9)], [scaled(solid, 0.3)]).deepest_penetration > 0.1 and asked == [81]

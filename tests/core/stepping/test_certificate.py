# SPDX-License-Identifier: GPL-3.0-or-later
"""What a frame's certificate says: crossings by name, stretch, steps, and solves that were cut short."""

import json

import numpy as np
import pytest

import core
from core.stepping.certificate import MAX_LISTED_PAIRS, CrossingPair, crossing_pairs, stretch_of
from tests.cases import cases
from tests.core.simple_scenes import FABRIC, floor, hanging, sheet

FIELDS = {"stretch_max", "stretch_p99", "crossings", "crossing_pairs", "smallest_gap", "deepest_penetration", "steps",
          "iterations", "residual", "converged", "step_min", "step_max", "backend", "seconds"}


def test_the_certificate_has_its_fields_and_becomes_json():
    for frame in core.simulate(core.Scene([hanging()], [floor()]), frames=range(1, 5)):
        table = frame.certificate.as_dict()
        assert set(table) >= FIELDS
        assert json.loads(json.dumps(table, allow_nan=False)) == table
        assert table.pop("backend") in ("numpy", "numba")
        assert all(isinstance(v, (bool, int, float, list, dict, type(None))) for v in table.values())


def test_the_certificate_names_what_crosses_what():
    upright = core.ClothMesh(sheet().positions[:, [0, 2, 1]] + (0.02, 0.53, -0.47), sheet().triangles, name="Curtain")
    scene = core.Scene([hanging(), core.Cloth(upright, FABRIC)], [floor(-0.05)])
    (frame,) = core.simulate(scene, core.Solver(resolve_start=False), frames=[1])
    table = frame.certificate.as_dict()
    names = {(pair["first"], pair["second"]) for pair in table["crossing_pairs"]}
    assert names == {("sheet", "Curtain"), ("Curtain", "collider")}
    counts = [pair["crossings"] for pair in table["crossing_pairs"]]
    assert sum(counts) == table["crossings"] and counts == sorted(counts, reverse=True)


def test_a_certificate_lists_so_many_pairs_and_not_more():
    found = [(0, other, 100 - other) for other in range(50)]
    listed = crossing_pairs(found, [f"Shirt {i}" for i in range(50)])
    assert len(listed) == MAX_LISTED_PAIRS and listed[1] == CrossingPair("Shirt 0", "Shirt 1", 99)


def test_the_certificate_counts_what_was_done():
    frames = list(core.simulate(core.Scene([hanging()]), core.Solver(steps_per_frame=3, adaptive=False), range(1, 6)))
    for frame in frames[1:]:
        c = frame.certificate
        assert (c.steps, c.rejected, c.converged) == (3, 0, True)
        assert c.step_min == pytest.approx(1.0 / 72.0) == c.step_max
        assert c.iterations >= 1 and 0.0 <= c.residual <= 1e-3
        assert all(value >= 0.0 for value in c.seconds.values()) and sum(c.seconds.values()) > 0.0


def test_the_certificate_measures_stretch_on_every_edge():
    mesh = sheet(3)
    stretched = mesh.positions * (1.5, 0.9, 1.0) + 0.02 * np.random.default_rng(0).normal(size=(16, 3))
    first = next(core.simulate(core.Scene([core.Cloth(mesh, FABRIC, positions=stretched)]), frames=[1]))
    ratio = np.linalg.norm(stretched[mesh.edges[:, 1]] - stretched[mesh.edges[:, 0]], axis=1) / mesh.rest_lengths
    assert first.certificate.stretch_max == pytest.approx(ratio.max())
    assert first.certificate.stretch_p99 == pytest.approx(np.percentile(ratio, 99))


@cases("count", [1, 2, 3, 101, 500])
def test_the_stretch_given_is_the_99th_percentile(count):
    lengths, rest = np.random.default_rng(count).uniform(1.0, 2.0, size=(2, count))
    assert stretch_of(lengths / rest) == pytest.approx((max(lengths / rest), np.percentile(lengths / rest, 99.0)))


def test_a_solve_that_was_cut_short_is_visible():
    solver = core.Solver(max_linear_iterations=1, tolerance=1e-8)
    frames = list(core.simulate(core.Scene([hanging()]), solver, range(1, 6)))
    assert not frames[-1].certificate.converged
    assert frames[-1].certificate.residual > 1e-8


@cases("ring", ([0, 1, 2, 3], [1, 2, 3, 0]))
def test_shear_of_quads_is_no_stretch_whichever_diagonal_they_are_cut_by(ring):
    square = np.array([(0.0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)])
    sheared = np.array([(0.0, 0, 0), (1, 0, 0), (1.5, np.sqrt(0.75), 0), (0.5, np.sqrt(0.75), 0)])
    for mesh, stretch in ((core.ClothMesh(square, faces=[ring]), 1.0),
                          (core.ClothMesh(square, [[0, 1, 2], [0, 2, 3]]), np.sqrt(1.5))):
        cloth = core.Cloth(mesh, FABRIC, positions=sheared, pins=dict.fromkeys(range(4)))
        (frame,) = core.simulate(core.Scene([cloth]), frames=[1])
        assert frame.certificate.stretch_max == pytest.approx(stretch, abs=1e-12)
        assert frame.certificate.stretch_pinned == frame.certificate.stretch_max
    loose = core.ClothMesh(square, faces=[ring[:3]], edges=[[0, 3]])
    assert not loose.is_diagonal.any() and core.ClothMesh(square, faces=[ring]).is_diagonal.sum() == 1


def test_stretch_between_pinned_vertices_is_told_apart():
    grid = sheet(4)
    stretched = grid.positions * (1.2, 1.0, 1.0)
    for held, wanted in ((range(len(stretched)), 1.2), ([0], 1.0), ([], 1.0)):
        cloth = core.Cloth(grid, FABRIC, positions=stretched, pins=dict.fromkeys(held))
        (frame,) = core.simulate(core.Scene([cloth]), frames=[1])
        assert frame.certificate.stretch_pinned == pytest.approx(wanted)
        assert frame.certificate.stretch_max == pytest.approx(1.2)
        at = frame.certificate.stretch_at
        assert (at is None) == (len(held) == len(stretched))
        if at is not None:
            one, other = at.vertices
            assert at.cloth == grid.name and abs(stretched[other] - stretched[one])[0] > 0.1

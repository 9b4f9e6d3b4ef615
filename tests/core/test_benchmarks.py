# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison with Blender, as far as it can be checked without Blender; test_blender_units.py is the rest."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import core
from benchmarks import peers
from benchmarks.against_blender import arguments
from benchmarks.chart import draw
from benchmarks.contact_scenes import DRAPE
from benchmarks.muslin_cloth import muslin_frames
from benchmarks.published import RUNS
from benchmarks.report import compare, markdown
from benchmarks.scenes import RADIUS, SCENES, lengths, scene_layout
from benchmarks.stored_results import ResultStore, TurnStore
from benchmarks.stretch_search import AIMED_FRACTION, LEAST_FRACTION, MAX_TRIES, stiffness_factor, substeps
from benchmarks.systems import SYSTEMS, reference_row, select_systems
from benchmarks.worker import Job, Run
from tests.cases import cases


@cases("name", SCENES)
def test_every_scene_simulates_and_its_stretch_is_measured_on_the_quads_sides(name):
    layout = scene_layout(name, 6)
    frames = list(muslin_frames(layout, core.Material.preset("cotton"), core.Solver(backend="numpy"), 3))
    job = Job("muslin", name, 6, 3, {}, {})
    run = Run(job, np.array([f["x"] for f in frames]), np.array([f["ms"] for f in frames]), np.zeros(3), {})
    p99, most = run.stretch()
    assert len(layout.edges) == 2 * 6 * 5
    assert abs(p99[0]) < 1e-6 and (p99 <= most).all() and most[-1] < 0.1
    assert run.distance(run.x.astype(float)) == 0.0


def test_the_scenes_have_the_sizes_they_are_named_for():
    hang, flag = scene_layout("hang", 11), scene_layout("flag", 11)
    assert hang.vertex_area * len(hang.positions) == pytest.approx(4.0)
    assert flag.vertex_area * len(flag.positions) == pytest.approx(2.4)
    assert hang.edge_length == pytest.approx(0.2) and len(flag.held) == 11
    assert np.linalg.norm(flag.wind) == pytest.approx(8.0)
    assert np.allclose(lengths(hang.positions, hang.edges), 0.2)


def test_the_ball_is_closed_and_its_faces_look_outwards():
    points, faces = scene_layout("sphere", 3).ball
    assert len(points) == 64 * 31 + 2
    volume = sum(np.dot(points[f[0]], np.cross(points[f[i]], points[f[i + 1]]))
                 for f in faces for i in range(1, len(f) - 1)) / 6.0
    assert volume == pytest.approx(4.0 / 3.0 * np.pi * RADIUS ** 3, rel=0.01)


def row(system, ms=(100.0, 120.0), **values):
    turns = {"ms_median": list(ms), "ms_worst": list(ms), "cpu_ms": list(ms), "others": [0.0] * len(ms)}
    return {"system": system, "scene": "hang", "size": 50, "p99_worst": 0.02, "p99_settled": 0.02, "stretch_max": 0.1,
            "ms_median": ms[0], "ms_worst": ms[0], "cpu_ms": ms[0], "iterations": 1.0, "memory_mb": 1.0,
            "growth_mb": 0.0, "fabric": {"areal_density": 0.3, "stretch": [1e3, 1e3]}, "options": {}, "distance": 0.1,
            "reference_error": None, "turns": turns, **values}


MACHINE = {"system": "here", "cores": "2", "python": "3", "numpy": "2"}


def test_a_ratio_counts_only_where_stretch_and_distance_are_at_most_blenders():
    ours, theirs = row("muslin-tuned", (10.0, 10.0)), row("modifier-tuned")
    pair = compare([theirs, ours])[0]
    assert pair["ratio"] == pytest.approx(11.0) and pair["stretch_at_most"] and pair["distance_at_most"]
    worse = compare([theirs, {**ours, "distance": 0.2}])
    assert not worse[0]["distance_at_most"]
    text = markdown([], worse, MACHINE, 16)
    assert "(11.00)" in text and "**no**: 200 mm to 100 mm" in text


def test_a_ratio_whose_error_is_not_known_yet_does_not_count():
    pairs = compare([row("modifier-tuned"), row("muslin-tuned", (10.0,), distance=None)])
    assert pairs[0]["ratio"] == pytest.approx(10.0)                      # of the turn that both have
    text = markdown([row("muslin-tuned", distance=None)], pairs, MACHINE, 16)
    assert "(10.00)" in text and "not known | **no**" in text


def test_times_taken_beside_other_programs_are_marked():
    theirs, ours = row("modifier-tuned"), row("muslin-tuned", (10.0, 10.0))
    ours["turns"]["others"][1] = 0.6
    text = markdown([theirs, ours], compare([theirs, ours]), MACHINE, 16)
    assert "| 10.0* |" in text and "| 100.0 |" in text and "| 11.00* |" in text


def test_the_chart_has_a_mark_for_every_row_whose_error_is_known(tmp_path):
    rows = [row("modifier-tuned"), row("muslin-tuned", distance=0.03), row("node", distance=None)]
    draw(rows, tmp_path / "chart.svg")
    chart = ElementTree.parse(tmp_path / "chart.svg").getroot()
    texts = [t.text for t in chart.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("50\u00b2 2.0%") == 2 and "muslin-tuned" in texts and "node" not in texts
    draw([], tmp_path / "empty.svg")


@cases("power", [0.3, 0.7, 1.2])
@cases("excess", [1.05, 2.0, 5.0])
def test_the_fabric_is_made_stiffer_until_it_stretches_no_more_and_by_little_more_than_that(power, excess):
    def p99_of(factor):
        return 0.05 * excess * factor ** -power

    found = stiffness_factor(p99_of, 0.05, coarse=lambda factor: 1.3 * p99_of(factor ** 0.8))
    assert found.enough and found.tries <= MAX_TRIES
    assert LEAST_FRACTION * 0.05 <= p99_of(found.value) <= 0.05


def test_a_fabric_that_stretches_no_more_is_kept_after_one_run():
    asked = []

    def p99_of(factor):
        asked.append(factor)
        return 0.01

    assert stiffness_factor(p99_of, 0.05).value == 1.0 and asked == [1.0]
    assert stiffness_factor(p99_of, 0.05, 3.0).value == 3.0 and asked == [1.0, 3.0]


def test_a_search_that_finds_nothing_says_so():
    for p99 in (0.1, 0.05 * (1.0 + 1e-9)):
        found = stiffness_factor(lambda factor, p99=p99: p99, 0.05)
        assert not found.enough and found.tries == 3                     # neither stiffer nor softer helps
    found = stiffness_factor(lambda factor: 0.1 * factor ** -0.01, 0.05, coarse=lambda factor: 1.0 / factor)
    assert not found.enough and found.tries <= 2 * MAX_TRIES


def test_where_stiffer_cloth_stretches_more_the_search_goes_to_softer():
    def p99_of(factor):
        return 0.08 * factor ** 0.4

    found = stiffness_factor(p99_of, 0.05, coarse=lambda factor: 0.1 / factor)
    assert found.enough and found.value < 1.0 and LEAST_FRACTION * 0.05 <= found.p99 <= 0.05


@cases("least", [4, 9, 13, 30, 77])
def test_the_node_gets_few_more_substeps_than_it_needs(least):
    found = substeps(lambda count: 0.05 * AIMED_FRACTION * (least / count), 0.05 * AIMED_FRACTION)
    assert found.enough and least <= found.value <= max(5, 1.5 * least)


def test_a_system_is_never_run_without_the_one_it_is_held_against():
    for asked in ([name] for name in SYSTEMS):
        for scene in SCENES:
            there = select_systems(asked, scene, 50)
            assert all(reference_row(s) is None or there.index(reference_row(s)) < there.index(s) for s in there)
    assert not {"node", "muslin-node"} & set(select_systems(None, "flag", 50))
    assert "numpy-tuned" not in select_systems(None, "hang", 200)


def test_the_drape_s_speed_is_taken_at_both_sizes_against_both_settings():
    given = arguments(DRAPE)
    assert (given.scenes, given.sizes) == (["drape"], [100, 129])
    assert {"modifier-factory", "modifier-tuned", "muslin-factory", "muslin-tuned"} <= set(given.systems)


class Counted:
    """Stands for a job's run in a process of its own."""

    def __init__(self, monkeypatch):
        self.runs = 0
        monkeypatch.setattr(Job, "run", self.run)

    def run(self):
        self.runs += 1
        return Run(JOB, np.zeros((2, 4, 3), np.float32), np.ones(2), np.ones(2), {"converged": True, "turn": self.runs})


JOB = Job("muslin", "hang", 2, 2, {"stretch": (1.0, 1.0)}, {})


def test_a_peer_runs_as_in_its_example_and_then_until_it_stretches_no_more(monkeypatch):
    monkeypatch.setattr(peers, "muslin", lambda layout, frames: (2.0, 0.05))
    monkeypatch.setattr(peers, "newton_cloth", lambda layout, solver, count, frames: (4.0 * count, 1.0 / count))
    table = list(peers.rows("hang", 6, 3, ["style3d", "vbd"], 160))
    assert [row.split("|")[2].strip() for row in table] == [
        "Muslin, 1 step", "style3d, 5 substeps", "style3d, 10 substeps", "style3d, 14 substeps", "style3d, 20 substeps",
        "vbd, 25 substeps"]
    assert table[1] == "| hang, 6^2 | style3d, 5 substeps | 20.0 | 20.00 % | 10.0 |"


def test_a_comparison_that_was_stopped_goes_on_from_the_runs_it_has(tmp_path, monkeypatch):
    counted = Counted(monkeypatch)
    TurnStore(tmp_path, resume=False).run("muslin-tuned", 0, JOB)
    assert TurnStore(tmp_path, resume=True).run("muslin-tuned", 0, JOB).notes["turn"] == 1 and counted.runs == 1
    TurnStore(tmp_path, resume=True).run("muslin-tuned", 1, JOB)
    TurnStore(tmp_path, resume=True).run("muslin-tuned", 0, replace(JOB, frames=3))      # another job
    TurnStore(tmp_path, resume=False).run("muslin-tuned", 0, JOB)
    assert counted.runs == 4


def test_a_run_of_other_sources_does_not_count(tmp_path, monkeypatch):
    counted = Counted(monkeypatch)
    TurnStore(tmp_path, resume=False).run("muslin-tuned", 0, JOB)
    monkeypatch.setattr("benchmarks.stored_results.sources", lambda *folders: "changed")
    TurnStore(tmp_path, resume=True).run("muslin-tuned", 0, JOB)
    assert counted.runs == 2


def test_a_setting_is_kept_for_the_next_comparison_and_not_for_a_fresh_one(tmp_path):
    ResultStore(tmp_path).keep("stiffness", JOB, 1.5)
    assert ResultStore(tmp_path).stored_value("stiffness", JOB) == 1.5
    assert ResultStore(tmp_path).stored_value("stiffness", replace(JOB, size=3)) is None
    assert ResultStore(tmp_path, fresh=True).stored_value("stiffness", JOB) is None


@pytest.mark.parametrize("name", RUNS)
def test_a_published_run_has_its_size_starts_clean_and_moves(name):
    run = RUNS[name]
    scene = run.make()
    assert abs(len(scene.cloths[0].positions) - run.vertices) <= 0.005 * run.vertices
    if run.solid:
        assert abs(sum(len(c.at(0.0)) for c in scene.colliders) - run.solid) <= 0.005 * run.solid
    start = next(core.simulate(scene, core.Solver(backend="numpy"), range(1, 3))).certificate
    assert start.crossings == 0 and start.deepest_penetration == 0.0 and start.stretch_max < 1.0001

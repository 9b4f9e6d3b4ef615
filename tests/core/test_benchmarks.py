# SPDX-License-Identifier: GPL-3.0-or-later
"""The comparison with Blender, as far as it can be checked without Blender."""

from __future__ import annotations

import numpy as np
import pytest

import core
from benchmarks.blender_units import FACTORY, TAU, factory_fabric, tuned_settings, wind_field
from benchmarks.muslin_cloth import muslin_frames
from benchmarks.published import RUNS
from benchmarks.report import compare, markdown
from benchmarks.scenes import RADIUS, SCENES, lengths, setting
from benchmarks.worker import Job, Run


@pytest.mark.parametrize("name", SCENES)
def test_every_scene_simulates_and_its_stretch_is_measured_on_the_quads_sides(name):
    place = setting(name, 6)
    frames = list(muslin_frames(place, core.Material.preset("cotton"), core.Solver(backend="numpy"), 3))
    job = Job("muslin", name, 6, 3, {}, {})
    run = Run(job, np.array([f["x"] for f in frames]), np.array([f["ms"] for f in frames]), np.zeros(3), {})
    p99, most = run.stretch()
    assert len(place.edges) == 2 * 6 * 5
    assert abs(p99[0]) < 1e-6 and (p99 <= most).all() and most[-1] < 0.1
    assert run.distance(run.x.astype(float)) == 0.0


def test_the_scenes_have_the_sizes_they_are_named_for():
    hang, flag = setting("hang", 11), setting("flag", 11)
    assert hang.vertex_area * len(hang.positions) == pytest.approx(4.0)
    assert flag.vertex_area * len(flag.positions) == pytest.approx(2.4)
    assert hang.edge_length == pytest.approx(0.2) and len(flag.held) == 11
    assert np.linalg.norm(flag.wind) == pytest.approx(8.0)
    assert np.allclose(lengths(hang.positions, hang.edges), 0.2)


def test_the_ball_is_closed_and_its_faces_look_outwards():
    points, faces = setting("sphere", 3).ball
    assert len(points) == 64 * 31 + 2
    volume = sum(np.dot(points[f[0]], np.cross(points[f[i]], points[f[i + 1]]))
                 for f in faces for i in range(1, len(f) - 1)) / 6.0
    assert volume == pytest.approx(4.0 / 3.0 * np.pi * RADIUS ** 3, rel=0.01)


def test_the_fabric_of_the_factory_settings_gives_the_factory_settings_back():
    place = setting("hang", 20)
    got = tuned_settings(place, factory_fabric(place, 0.0))["settings"]
    assert got["mass"] == pytest.approx(FACTORY["mass"])
    assert got["tension_stiffness"] == pytest.approx(FACTORY["tension"])
    assert got["shear_stiffness"] == pytest.approx(FACTORY["shear"])
    assert got["bending_stiffness"] == pytest.approx(FACTORY["bending"])
    assert got["tension_damping"] == pytest.approx(FACTORY["damping"])
    assert got["air_damping"] == pytest.approx(FACTORY["air"])
    assert 0.001 * (24.0 * got["time_scale"]) ** 2 == pytest.approx(1.0)      # gravity is 0.001 g in the modifier


def test_the_wind_field_presses_as_the_fabrics_drag_does_and_not_when_the_sheet_moves_along():
    field = wind_field(core.Material.preset("cotton"), 8.0)
    assert 20.0 * field["strength"] == pytest.approx(0.7 * 8.0)
    assert field["strength"] == pytest.approx(field["flow"] * TAU * 8.0)


def test_a_ratio_counts_only_where_stretch_and_distance_are_at_most_blenders():
    base = {"scene": "hang", "size": 50, "ms_turns": [100.0, 120.0], "p99_worst": 0.02, "distance": 0.1}
    ours = {**base, "system": "muslin-tuned", "ms_turns": [10.0, 10.0]}
    theirs = {**base, "system": "modifier-tuned"}
    pair = compare([theirs, ours])[0]
    assert pair["ratio"] == pytest.approx(11.0) and pair["stretch_at_most"] and pair["distance_at_most"]
    worse = compare([theirs, {**ours, "distance": 0.2}])
    assert not worse[0]["distance_at_most"]
    text = markdown([], worse, {"system": "here", "cores": "2", "python": "3", "numpy": "2"}, 16)
    assert "(11.00)" in text and "**no**: 200 mm to 100 mm" in text


@pytest.mark.parametrize("name", RUNS)
def test_a_published_run_has_its_size_starts_clean_and_moves(name):
    run = RUNS[name]
    scene = run.make()
    assert abs(len(scene.cloths[0].positions) - run.vertices) <= 0.005 * run.vertices
    if run.solid:
        assert abs(sum(len(c.at(0.0)) for c in scene.colliders) - run.solid) <= 0.005 * run.solid
    start = next(core.simulate(scene, core.Solver(backend="numpy"), range(1, 3))).certificate
    assert start.crossings == 0 and start.deepest_penetration == 0.0 and start.stretch_max < 1.0001

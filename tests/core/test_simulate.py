# SPDX-License-Identifier: GPL-3.0-or-later
"""The generator of frames: what it yields, when it refuses, how it adapts its steps, and that it repeats itself."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import core
from core.certificate import PAIRS, CrossingPair, crossing_pairs, stretch_of
from core.integrators.registry import INTEGRATORS
from core.kernels.backend import why_not
from tests.core.shapes import ball, grid

BACKENDS = ["numpy", pytest.param("numba", marks=pytest.mark.skipif(bool(why_not("numba")), reason="no Numba"))]
ROOT = Path(__file__).resolve().parents[2]
FABRIC = core.Material(areal_density=0.2, stretch=(500.0, 300.0), shear=60.0, bend=(1e-4, 1e-4), damping=0.005,
                       air_drag=0.3)


def sheet(cells=5, shift=0.0, name="sheet"):
    positions, triangles = grid(cells, cells)
    return core.ClothMesh(positions + shift, triangles, name=name)


def hanging(cells=5, shift=0.0, **options):
    return core.Cloth(sheet(cells, shift), FABRIC, pins={0: None, cells: None}, **options)


def floor(height=-0.3):
    corners = np.array([[-5.0, -5, height], [5, -5, height], [5, 5, height], [-5, 5, height]])
    return core.Collider(corners, [[0, 1, 2], [0, 2, 3]])


# ---------------------------------------------------------------------- frames


def test_the_first_frame_is_the_initial_state():
    mesh = sheet()
    start, velocities = mesh.positions + [0.0, 0.0, 3.0], np.tile([1.0, 2.0, 3.0], (36, 1))
    cloth = core.Cloth(mesh, FABRIC, positions=start, velocities=velocities)
    first = next(core.simulate(core.Scene([cloth]), frames=range(7, 9)))
    assert (first.index, first.time) == (7, 0.0)
    np.testing.assert_array_equal(first.positions[0], start)
    np.testing.assert_array_equal(first.velocities[0], velocities)
    assert first.certificate.steps == first.certificate.iterations == 0
    assert first.certificate.stretch_max == pytest.approx(1.0)


@pytest.mark.parametrize("rate", [24.0, 25.0, 29.97])
@pytest.mark.parametrize("first", [-3, 0, 1, 1001])
def test_frame_n_is_at_n_minus_first_over_the_frame_rate(first, rate):
    frames = list(core.simulate(core.Scene([hanging(1)]), core.Solver(frame_rate=rate), range(first, first + 6)))
    assert [f.index for f in frames] == list(range(first, first + 6))
    np.testing.assert_allclose([f.time for f in frames], np.arange(6) / rate, rtol=1e-14)


@pytest.mark.parametrize("frames", [
    range(1, 1), range(10, 1), [], [1, 3], [1, 2, 4], [3, 2, 1], [1, 1], range(1, 20, 2), [2, 1], [1.0, 2.5],
])
def test_a_range_that_is_not_consecutive_is_refused_before_anything_is_computed(frames):
    def unwanted(time):
        raise AssertionError("asked for a position")

    ball = core.Collider(unwanted, [[0, 1, 2]])
    cloth = core.Cloth(sheet(), FABRIC, pins={0: unwanted})
    with pytest.raises(core.SceneError, match="frame"):
        core.simulate(core.Scene([cloth], [ball]), frames=frames)      # the call itself, no frame is asked for


def test_one_frame_is_a_range():
    assert len(list(core.simulate(core.Scene([hanging(1)]), frames=[5]))) == 1


def test_any_iterable_of_whole_numbers_will_do():
    for frames in (range(1, 4), [1, 2, 3], (1, 2, 3), np.arange(1, 4), iter([1, 2, 3])):
        assert [f.index for f in core.simulate(core.Scene([hanging(1)]), frames=frames)] == [1, 2, 3]


def test_nothing_is_computed_before_the_next_frame_is_asked_for():
    asked = []

    def path(time):
        asked.append(time)
        return np.zeros(3)

    frames = core.simulate(core.Scene([core.Cloth(sheet(), FABRIC, pins={0: path})]), frames=range(1, 4))
    next(frames)
    assert all(time == 0.0 for time in asked)
    next(frames)
    assert max(asked) <= 1.0 / 24.0 + 1e-12


def test_closing_early_is_clean():
    frames = core.simulate(core.Scene([hanging()], [floor()]), frames=range(1, 100))
    next(frames), next(frames)
    frames.close()
    assert list(frames) == []


def test_a_frame_is_the_callers_own():
    scene = core.Scene([hanging()])
    spoiled, kept = [], []
    for frame in core.simulate(scene, frames=range(1, 6)):
        spoiled.append(frame.positions[0].copy())
        frame.positions[0][:] = np.nan
        frame.velocities[0][:] = np.nan
    kept.extend(frame.positions[0] for frame in core.simulate(scene, frames=range(1, 6)))
    np.testing.assert_array_equal(spoiled, kept)


def test_the_scene_is_left_as_it_was():
    cloth = hanging()
    before = cloth.positions.copy(), cloth.velocities.copy(), cloth.mesh.positions.copy()
    list(core.simulate(core.Scene([cloth]), frames=range(1, 6)))
    for now, then in zip((cloth.positions, cloth.velocities, cloth.mesh.positions), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_an_error_on_the_way_leaves_the_frames_before_it():
    ball = core.Collider(lambda t: floor().at(0.0) if t < 0.1 else np.zeros((3, 3)), [[0, 1, 2]], name="Ball")
    seen = []
    with pytest.raises(core.ColliderError, match="Ball"):
        seen.extend(frame.index for frame in core.simulate(core.Scene([hanging()], [ball]), frames=range(1, 10)))
    assert seen == [1, 2, 3]


# ---------------------------------------------------------------------- certificate


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
    (frame,) = core.simulate(scene, frames=[1])
    table = frame.certificate.as_dict()
    names = {(pair["first"], pair["second"]) for pair in table["crossing_pairs"]}
    assert names == {("sheet", "Curtain"), ("Curtain", "collider")}
    counts = [pair["crossings"] for pair in table["crossing_pairs"]]
    assert sum(counts) == table["crossings"] and counts == sorted(counts, reverse=True)


def test_a_certificate_lists_so_many_pairs_and_not_more():
    found = [(0, other, 100 - other) for other in range(50)]
    listed = crossing_pairs(found, [f"Shirt {i}" for i in range(50)])
    assert len(listed) == PAIRS and listed[1] == CrossingPair("Shirt 0", "Shirt 1", 99)


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


@pytest.mark.parametrize("count", [1, 2, 3, 101, 500])
def test_the_stretch_given_is_the_99th_percentile(count):
    lengths, rest = np.random.default_rng(count).uniform(1.0, 2.0, size=(2, count))
    assert stretch_of(lengths, rest) == pytest.approx((max(lengths / rest), np.percentile(lengths / rest, 99.0)))


def test_a_solve_that_was_cut_short_is_visible():
    solver = core.Solver(max_linear_iterations=1, tolerance=1e-8)
    frames = list(core.simulate(core.Scene([hanging()]), solver, range(1, 6)))
    assert not frames[-1].certificate.converged
    assert frames[-1].certificate.residual > 1e-8


# ---------------------------------------------------------------------- repeatable, and one by one


def everything(scene, solver, frames):
    return b"".join(np.concatenate(f.positions + f.velocities).tobytes() for f in core.simulate(scene, solver, frames))


@pytest.mark.parametrize("iterations", [1, "converge"])
def test_two_runs_give_the_same_bytes(iterations):
    def scene():
        return core.Scene([hanging(6), hanging(3, 0.4)], [floor()], wind=(1.0, 0.0, 0.0))

    solver = core.Solver(newton_iterations=iterations)
    assert everything(scene(), solver, range(1, 13)) == everything(scene(), solver, range(1, 13))


SCRIPT = """
import hashlib, numpy as np, core
from tests.core.shapes import ball, grid
fabric = core.Material(areal_density=0.2, stretch=500.0, shear=60.0, bend=1e-4, damping=0.005, air_drag=0.3)
cloth = core.Cloth(core.ClothMesh(*grid(24, 24)), fabric, pins={0: None})
floor = core.Collider([[-5, -5, -0.1], [5, -5, -0.1], [5, 5, -0.1]], [[0, 1, 2]])
frames = list(core.simulate(core.Scene([cloth], [floor]), frames=range(1, 7)))
print(hashlib.sha256(frames[-1].positions[0].tobytes()).hexdigest())
"""


def test_one_thread_or_several_give_the_same_bytes():
    digests = set()
    for threads in ("1", "2", "4"):
        variables = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
        environment = os.environ | dict.fromkeys(variables, threads)
        run = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, env=environment, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        digests.add(run.stdout)
    assert len(digests) == 1


def test_a_scene_can_be_simulated_twice():
    scene = core.Scene([hanging()], [floor()])
    assert everything(scene, core.Solver(), range(1, 7)) == everything(scene, core.Solver(), range(101, 107))


def test_cloths_that_do_not_meet_move_as_if_alone():
    other = core.Material(areal_density=0.5, stretch=(80.0, 80.0), shear=10.0, viscous_drag=0.2)
    cloths = [hanging(5), core.Cloth(sheet(3, 4.0), other, pins=np.linspace(0.0, 0.9, 16)),
              core.Cloth(core.ClothMesh([[9, 0, 0], [9, 0, 1.0], [9, 1, 1.5]], edges=[[0, 1], [1, 2]]), other,
                         pins={2: None})]
    solver = core.Solver(tolerance=1e-10, adaptive=False)
    together = list(core.simulate(core.Scene(cloths), solver, range(1, 9)))
    for i, cloth in enumerate(cloths):
        for alone, frame in zip(core.simulate(core.Scene([cloth]), solver, range(1, 9)), together, strict=True):
            np.testing.assert_allclose(frame.positions[i], alone.positions[0], atol=1e-8)
            np.testing.assert_allclose(frame.velocities[i], alone.velocities[0], atol=1e-6)


def slope():
    positions = floor().at(0.0).copy()
    positions[:, 2] += positions[:, :2] @ [0.15, 0.1]
    return positions


TRIANGLES = [[0, 1, 2], [0, 2, 3]]
SOLIDS = {"floor": (floor().at(0.0), TRIANGLES, {0: None}), "slope": (slope(), TRIANGLES, {}),
          "ball": (*ball(0.25, 2, (0.3, 0.3, -0.35)), {0: None})}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("solid", SOLIDS)
def test_the_same_cloth_in_other_units_takes_the_same_shape(solid, backend):
    """Lengths times s, times and masses kept: gravity and wind times s, N/m kept, N m times s^2, densities over s^2.

    But for rounding, which has to decide nothing.
    """
    positions, triangles, pins = SOLIDS[solid]

    def run(s):
        mesh = core.ClothMesh(*(lambda p, t: (s * p, t))(*grid(5, 5)))
        fabric = core.Material(areal_density=0.2 / s ** 2, stretch=(500.0, 300.0), shear=60.0,
                               bend=(1e-3 * s ** 2, 1e-3 * s ** 2), damping=0.005, air_drag=0.3 / s ** 2)
        scene = core.Scene([core.Cloth(mesh, fabric, pins=pins)], [core.Collider(s * positions, triangles)],
                           gravity=(0.0, 0.0, -9.81 * s), wind=(0.0, s, 0.0))
        return [f.positions[0] / s for f in core.simulate(scene, core.Solver(backend=backend), range(1, 25))]

    one = run(1.0)
    for scale in (1e-3, 1.0 / 3.0, 7.0, 1e3):
        np.testing.assert_allclose(run(scale), one, atol=1e-6)


# ---------------------------------------------------------------------- adaptive steps


def jerked(when=0.10, pull=2.5):
    """A strip whose pinned end is pulled away quickly for a moment."""
    mesh = core.ClothMesh(*grid(8, 1, (1.0, 0.125)))

    def path(y):
        return lambda t: np.array([-pull * np.clip(t - when, 0.0, 0.08) / 0.08 * 0.4, y, 0.0])

    soft = core.Material(areal_density=0.2, stretch=(60.0, 60.0), shear=20.0, damping=0.02, viscous_drag=2.0)
    return core.Cloth(mesh, soft, pins={0: path(0.0), 1: path(0.125)})


def test_steps_halve_where_the_cloth_is_jerked_and_double_again_after():
    scene = core.Scene([jerked()], gravity=(0.0, 0.0, 0.0))
    solver = core.Solver(steps_per_frame=1, max_strain_change=0.05)
    frames = [f.certificate for f in core.simulate(scene, solver, range(1, 25))]
    whole = 1.0 / 24.0
    assert frames[1].steps == 1 and frames[1].step_min == frames[1].step_max == pytest.approx(whole)
    halved = [c for c in frames[1:] if c.rejected]
    assert halved and min(c.step_min for c in halved) < 0.3 * whole
    last = frames[-1]
    assert (last.steps, last.rejected) == (1, 0) and last.step_max == pytest.approx(whole)
    for c in frames[1:]:
        assert c.step_min <= c.step_max <= whole * (1 + 1e-12)
        sizes = np.log2(whole / np.array([c.step_min, c.step_max]))
        np.testing.assert_allclose(sizes, np.round(sizes), atol=1e-9)
        assert c.steps >= 1 and c.steps * c.step_max >= whole * (1 - 1e-12) >= c.steps * c.step_min * (1 - 1e-9)


def test_a_step_that_is_kept_adds_no_more_strain_than_asked_or_is_the_smallest(monkeypatch):
    tried = []

    def watched(system, state, h, *rest):
        result = INTEGRATORS["implicit_euler"](system, state, h, *rest)
        tried.append((state.x, result.state.x, h))
        return result

    monkeypatch.setitem(INTEGRATORS, "watched", watched)
    cloth, limit = jerked(), 0.05
    solver = core.Solver("watched", steps_per_frame=1, max_strain_change=limit, max_halvings=3)
    rejected = sum(f.certificate.rejected for f in
                   core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), solver, range(1, 25)))
    edges, rest = cloth.mesh.edges, cloth.mesh.rest_lengths

    def stretch(x):
        return np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) / rest

    begins = [before.tobytes() for before, _, _ in tried] + [tried[-1][1].tobytes()]
    kept = [after.tobytes() == begins[i + 1] for i, (_, after, _) in enumerate(tried)]
    assert kept.count(False) == rejected > 0
    for (before, after, h), keep in zip(tried, kept, strict=True):
        added = np.max(stretch(after) - stretch(before))
        assert keep == (added <= limit or h < 1.0 / 24.0 / 7.5)


def test_without_adaptive_steps_nothing_is_halved():
    scene = core.Scene([jerked()], gravity=(0.0, 0.0, 0.0))
    solver = core.Solver(steps_per_frame=1, max_strain_change=0.05, adaptive=False)
    records = [frame.certificate for frame in core.simulate(scene, solver, range(1, 10))]
    assert all(record.rejected == 0 and record.steps <= 1 for record in records)


@pytest.mark.parametrize(("rate", "adaptive", "most"), [(24.0, True, 48.0), (60.0, True, 60.0), (12.0, True, 48.0),
                                                        (24.0, False, 24.0)])
def test_cloth_presses_on_cloth_in_short_steps_and_falls_in_long_ones(rate, adaptive, most):
    x, triangles = grid(5, 5, (0.5, 0.5))
    sheets = [core.Cloth(core.ClothMesh(x + [0.0, 0.0, 0.1 * k], triangles), core.Material.preset("cotton"),
                         pins=dict.fromkeys(range(len(x))) if k == 0 else {}) for k in range(2)]
    solver = core.Solver(steps_per_frame=1, frame_rate=rate, adaptive=adaptive)
    records = [f.certificate for f in core.simulate(core.Scene(sheets), solver, range(1, int(rate)))]
    assert records[1].steps == 1                                     # it falls still
    assert records[-1].step_max == pytest.approx(1.0 / most) and records[-1].rejected == 0


@pytest.mark.parametrize(("adaptive", "halvings"), [(True, 6), (True, 0), (False, 6)])
def test_a_step_that_no_size_can_solve_is_an_error_that_keeps_the_frames_before(adaptive, halvings):
    """A pin that jumps by more than numbers can square: the stretch is infinite whatever the step."""
    mesh = sheet(2)
    cloth = core.Cloth(mesh, FABRIC, pins={0: lambda t: mesh.positions[0] + (1e200 if t > 0.1 else 0.0)})
    solver = core.Solver(adaptive=adaptive, max_halvings=halvings)
    seen = []
    with np.errstate(all="ignore"), pytest.raises(core.SolverError) as caught:
        seen.extend(core.simulate(core.Scene([cloth]), solver, range(1, 10)))
    assert [f.index for f in seen] == [1, 2, 3]
    assert all(np.isfinite(f.positions[0]).all() for f in seen)
    smallest = 1.0 / 48.0 / (2 ** halvings if adaptive else 1)
    assert f"{smallest:.2e} s" in str(caught.value)
    assert "frame" in str(caught.value)


@pytest.mark.parametrize("adaptive", [True, False])
def test_a_solution_that_runs_away_is_halved_and_in_the_end_an_error(monkeypatch, adaptive):
    """However small the step: a corner is thrown ten thousand edges away, and everything is a number."""
    tried = []

    def thrown(system, state, h, *rest):
        result = INTEGRATORS["implicit_euler"](system, state, h, *rest)
        tried.append(h)
        if state.time > 0.1:
            result.state.x[0] += 1e4
        return result

    monkeypatch.setitem(INTEGRATORS, "thrown", thrown)
    scene, seen = core.Scene([core.Cloth(sheet(2), FABRIC)]), []
    with pytest.raises(core.SolverError, match="runs away"):
        seen.extend(core.simulate(scene, core.Solver("thrown", adaptive=adaptive, max_halvings=3), range(1, 10)))
    assert seen and all(np.abs(f.positions[0]).max() < 10.0 for f in seen)
    assert min(tried) == pytest.approx(max(tried) / (8 if adaptive else 1))

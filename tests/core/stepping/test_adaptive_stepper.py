# SPDX-License-Identifier: GPL-3.0-or-later
"""How steps are halved and doubled, and what happens where no size of step will do."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.contact.effort import LAST_EFFORT, MOST_EFFORT
from core.integrators import implicit_euler
from core.integrators.registry import STEP_FUNCTIONS
from core.number_text import number_text
from tests.cases import cases
from tests.core.remedies import says_what_to_do
from tests.core.shapes import grid
from tests.core.simple_scenes import FABRIC, sheet


def jerked(when=0.10, pull=2.5, across=1):
    """A strip whose pinned end is pulled away quickly for a moment, so many quads across."""
    mesh = core.ClothMesh(*grid(8 * across, across, (1.0, 0.125)))

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
        result = implicit_euler.step(system, state, h, *rest)
        tried.append((state.x, result.state.x, h))
        return result

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", watched)
    cloth, limit = jerked(), 0.05
    solver = core.Solver(steps_per_frame=1, max_strain_change=limit, max_halvings=3)
    rejected = sum(f.certificate.rejected for f in
                   core.simulate(core.Scene([cloth], gravity=(0.0, 0.0, 0.0)), solver, range(1, 25)))
    edges, rest = cloth.mesh.edges, cloth.mesh.rest_lengths

    def stretch(x):
        return np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) / rest

    begins = [before.tobytes() for before, _, _ in tried] + [tried[-1][1].tobytes()]
    kept = [after.tobytes() == begins[i + 1] for i, (_, after, _) in enumerate(tried)]
    assert kept.count(False) == rejected > 0
    for (before, after, h), keep in zip(tried, kept, strict=True):
        added = np.max(stretch(after) - np.maximum(stretch(before), 1.0))
        assert keep == (added <= limit or h < 1.0 / 24.0 / 7.5)


def test_how_much_a_step_may_stretch_a_cloth_does_not_hang_on_what_else_is_in_the_scene():
    """A strip of few edges, alone and far from a sheet of thousands that rests."""
    strip = jerked()
    mesh = core.ClothMesh(*grid(40, 40, (1.0, 1.0)))
    far = core.Cloth(mesh, FABRIC, positions=mesh.positions + [0.0, 50.0, 0.0])
    solver = core.Solver(steps_per_frame=1, max_strain_change=0.1)
    alone, beside = ([(f.certificate.steps, f.certificate.rejected) for f in core.simulate(
        core.Scene(cloths, gravity=(0.0, 0.0, 0.0)), solver, range(1, 12))] for cloths in ([strip], [strip, far]))
    assert len(strip.mesh.edges) < 1000 < len(mesh.edges)
    assert alone == beside and sum(rejected for _, rejected in alone) > 0


@cases(("made", "halved"), [(0.0, 0), (1e3, 1)])
def test_a_step_that_makes_many_times_the_energy_of_its_motion_is_halved(monkeypatch, made, halved):
    def making(system, state, h, *rest):
        return replace(implicit_euler.step(system, state, h, *rest), made=made if h > 1.0 / 25.0 else 0.0)

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", making)
    scene, solver = core.Scene([core.Cloth(sheet(), FABRIC)]), core.Solver(steps_per_frame=1)
    assert list(core.simulate(scene, solver, range(1, 3)))[-1].certificate.rejected == halved


def test_an_edge_that_folds_had_made_shorter_may_go_back_to_its_rest_length_in_one_step():
    x, triangles = grid(3, 3, (0.3, 0.3))
    pressed = core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), positions=0.3 * x)
    scene, solver = core.Scene([pressed], gravity=(0.0, 0.0, 0.0)), core.Solver(steps_per_frame=1)
    first = list(core.simulate(scene, solver, range(1, 3)))[-1]
    assert np.ptp(first.positions[0], axis=0).max() > 0.9 * 0.3                          # three times as long as it was
    assert (first.certificate.steps, first.certificate.rejected) == (1, 0)


def test_without_adaptive_steps_nothing_is_halved():
    scene = core.Scene([jerked()], gravity=(0.0, 0.0, 0.0))
    solver = core.Solver(steps_per_frame=1, max_strain_change=0.05, adaptive=False)
    records = [frame.certificate for frame in core.simulate(scene, solver, range(1, 10))]
    assert all(record.rejected == 0 and record.steps <= 1 for record in records)


@cases(("side", "most"), [(0.5, 24.0), (0.1, 24.0), (0.02, 48.0), (0.005, 96.0)])
def test_small_cloth_touches_solids_in_steps_in_which_weight_takes_it_a_few_edges(side, most):
    x, triangles = grid(5, 5, (side, side))
    cloth = core.Cloth(core.ClothMesh(x + [0.0, 0.0, 0.1 * side], triangles), core.Material.preset("cotton"))
    floor = core.Collider([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]], [[0, 1, 2]])
    records = [f.certificate for f in core.simulate(core.Scene([cloth], [floor]), core.Solver(steps_per_frame=1),
                                                    range(1, 12))]
    assert records[-1].step_max == pytest.approx(1.0 / most) and records[-1].rejected == 0


@cases(("adaptive", "halvings"), [(True, 6), (True, 0), (False, 6)])
def test_a_step_that_no_size_can_solve_is_an_error_that_keeps_the_frames_before(monkeypatch, adaptive, halvings):
    def stopped(system, state, h, *rest):
        result = implicit_euler.step(system, state, h, *rest)
        return replace(result, finite=state.time + h <= 0.1)

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", stopped)
    cloth = core.Cloth(sheet(2), FABRIC)
    solver = core.Solver(adaptive=adaptive, max_halvings=halvings)
    seen = []
    with np.errstate(all="ignore"), pytest.raises(core.SolverError) as caught:
        seen.extend(core.simulate(core.Scene([cloth]), solver, range(1, 10)))
    assert [f.index for f in seen] == [1, 2, 3]
    assert all(np.isfinite(f.positions[0]).all() for f in seen)
    smallest = 1.0 / 48.0 / (2 ** halvings if adaptive else 1)
    halved = f", {halvings} times halved" if adaptive and halvings else ""
    assert f"even at {number_text(smallest, 3)} s{halved}; check" in str(caught.value)
    assert "frame" in str(caught.value)


@cases("adaptive", [True, False])
def test_a_solution_that_runs_away_is_halved_and_in_the_end_an_error(monkeypatch, adaptive):
    """However small the step: a corner is thrown ten thousand edges away, and everything is a number."""
    tried = []

    def thrown(system, state, h, *rest):
        result = implicit_euler.step(system, state, h, *rest)
        tried.append(h)
        if state.time > 0.1:
            x = result.state.x.copy()
            x[0] += 1e4
            result = replace(result, state=replace(result.state, x=x), lengths=system.edge_lengths(x))
        return result

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", thrown)
    scene, seen = core.Scene([core.Cloth(sheet(2), FABRIC)]), []
    with pytest.raises(core.SolverError, match="runs away"):
        seen.extend(core.simulate(scene, core.Solver(adaptive=adaptive, max_halvings=3), range(1, 10)))
    assert seen and all(np.abs(f.positions[0]).max() < 10.0 for f in seen)
    assert min(tried) == pytest.approx(max(tried) / (8 if adaptive else 1))


def test_an_edge_that_pins_drive_to_one_point_is_named_where_the_step_runs_away():
    mesh = core.ClothMesh(*grid(3, 3), name="Skirt")
    at = mesh.positions

    def meets(vertex):
        return lambda t: at[vertex] if t == 0.0 else np.array([0.5, 0.5, 0.0])

    cloth = core.Cloth(mesh, FABRIC, pins={v: meets(v) for v in (0, 1, 4)})
    solver = core.Solver("symplectic_euler", steps_per_frame=8)
    with pytest.raises(core.SolverError, match="Skirt: .*edge .* grows by .*edge .* of Skirt has shrunk to 0 m, and "
                                               "pins hold both its ends: move their targets apart"):
        list(core.simulate(core.Scene([cloth]), solver, range(1, 4)))


def test_a_frame_without_a_way_out_ends_after_a_bounded_effort(monkeypatch):
    def hopeless(system, state, h, context):
        context.effort.spent += MOST_EFFORT / 10.0
        return replace(implicit_euler.step(system, state, h, context), failed=True)

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", hopeless)
    solver = core.Solver(steps_per_frame=1)
    found = [f.certificate for f in core.simulate(core.Scene([core.Cloth(sheet(2), FABRIC)]), solver, range(1, 4))]
    assert 2 ** solver.max_halvings > 40
    for c in found[1:]:
        assert c.steps + c.rejected < 20 and not c.converged
        assert c.step_max >= c.step_min > 0.0


@cases("lack", [{"finite": False}, {"hopeless": True}, {"lengths": np.full(16, 1e6)}])
def test_a_step_that_cannot_be_used_is_shortened_after_any_effort(monkeypatch, lack):
    tried = []

    def unusable(system, state, h, context):
        tried.append(h)
        context.effort.spent = max(context.effort.spent, 2.0 * MOST_EFFORT)
        assert len(tried) < 100, "the same step is tried again and again"
        failed = {} if h < 0.2 / 24.0 else dict(lack, failed=True)
        return replace(implicit_euler.step(system, state, h, context), **failed)

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", unusable)
    scene = core.Scene([core.Cloth(sheet(2), FABRIC)])
    found = list(core.simulate(scene, core.Solver(steps_per_frame=1), range(1, 3)))
    assert found[-1].certificate.step_max < 0.2 / 24.0 and np.isfinite(found[-1].positions[0]).all()


def test_a_frame_that_no_longer_steps_can_end_is_refused(monkeypatch):
    def dear(system, state, h, context):
        context.effort.spent += LAST_EFFORT * MOST_EFFORT / 10.0
        return implicit_euler.step(system, state, h, context)

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", dear)
    scene = core.Scene([core.Cloth(sheet(2), FABRIC)])
    assert len(list(core.simulate(scene, core.Solver(steps_per_frame=8), range(1, 3)))) == 2
    with pytest.raises(core.SolverError, match="frame 2 takes more than 10 steps.*of work.*raise steps_per_frame") as e:
        list(core.simulate(scene, core.Solver(steps_per_frame=20), range(1, 4)))
    assert says_what_to_do(str(e.value))
    assert len(list(core.simulate(scene, core.Solver(steps_per_frame=1000), range(1, 2)))) == 1


@cases("cause", ["thickness", "collider", "edge", "pin"])
def test_a_step_without_a_solution_names_what_is_out_of_proportion(monkeypatch, cause):
    def hopeless(system, state, h, *rest):
        return replace(implicit_euler.step(system, state, h, *rest), finite=False)

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", hopeless)
    positions, triangles = grid(3, 3)
    if cause == "edge":
        positions[5] = positions[6] + [0.0, -1e-6, 0.0]
    options = {"thickness": {"thickness": 1e4}, "collider": {}, "edge": {},
               "pin": {"pins": {3: lambda t: positions[3] + [100.0 * (t > 0.0), 0.0, 0.0]}}}[cause]
    walls = [core.Collider(positions - [0.0, 0.0, 1.0], triangles, thickness=3e5, name="Wall")]
    scene = core.Scene([core.Cloth(core.ClothMesh(positions, faces=triangles), FABRIC, **options)],
                       walls if cause == "collider" else [])
    wanted = {"thickness": "lower the thickness", "collider": "the thickness of Wall of 300000 m",
              "edge": "Merge by Distance", "pin": "the pin of vertex 3 has moved"}
    with pytest.raises(core.SolverError, match=wanted[cause]):
        list(core.simulate(scene, core.Solver(), range(1, 3)))

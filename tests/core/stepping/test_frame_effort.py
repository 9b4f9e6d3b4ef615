# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of a frame is bounded whatever happens in it, by what `core.contact.effort` counts."""

import numpy as np
import pytest

import core
from core.contact import effort
from core.stepping.adaptive_stepper import Stepper
from tests.cases import cases
from tests.core.shapes import grid, quads

LITTLE, LITTLE_GRACE = 30.0, 10.0
"""The largest effort of a frame and its grace here [-], so that the test is short."""
LEAST = 35.0
"""Largest effort of what cannot be left out of a step here, on average [-]: two solves, a search for pairs, a look at
what meets, a short cut."""


def thrown(n=10, speed=100.0, seed=5):
    """Return a crumpled sheet whose vertices are thrown across each other."""
    rng = np.random.default_rng(seed)
    x, y = np.meshgrid(np.linspace(0.0, 0.2, n + 1), np.linspace(0.0, 0.2, n + 1))
    flat = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1)
    mesh = core.ClothMesh(flat + 0.01 * rng.normal(size=flat.shape), faces=quads(n, n))
    return core.Cloth(mesh, core.Material.preset("cotton"), velocities=speed * rng.normal(size=flat.shape))


@pytest.mark.once
@cases("integrator", ["implicit_euler", "bdf2", "projective_dynamics"])
@cases("newton_iterations", [None, "converge"])
def test_a_frame_ends_near_its_largest_effort_and_says_that_it_did_not_converge(monkeypatch, integrator,
                                                                                newton_iterations):
    found, take = [], Stepper.take_record

    def taken(stepper):
        found.append(take(stepper))
        return found[-1]

    monkeypatch.setattr(Stepper, "take_record", taken)
    solver = core.Solver(integrator, steps_per_frame=2, newton_iterations=newton_iterations)

    def efforts():
        found.clear()
        frames = list(core.simulate(core.Scene([thrown(14, seed=1)]), solver, range(1, 3)))
        return max(found, key=lambda record: record.effort.spent), frames

    free, _ = efforts()
    with monkeypatch.context() as patch:
        patch.setattr(effort, "MOST_EFFORT", LITTLE)
        patch.setattr(effort, "GRACE", LITTLE_GRACE)
        patch.setattr(effort, "LAST_STEP_EFFORT", 1e3)                    # nothing is refused
        bounded, frames = efforts()
    assert free.effort.spent > 2.0 * (LITTLE + LITTLE_GRACE)
    steps = bounded.steps + bounded.rejected
    assert LITTLE < bounded.effort.spent < min(LITTLE + LITTLE_GRACE + LEAST * steps, 0.6 * free.effort.spent)
    assert not bounded.converged and not all(frame.certificate.converged for frame in frames)
    assert all(np.isfinite(frame.positions[0]).all() for frame in frames)


def test_what_meets_in_a_step_out_of_effort_is_held_and_does_not_tear_the_cloth(monkeypatch):
    """Left to the cut of motions alone, it would become velocity: these sheets were 2.4 to 4.8 times as long."""
    monkeypatch.setattr(effort, "MOST_EFFORT", LITTLE)
    monkeypatch.setattr(effort, "GRACE", LITTLE_GRACE)
    monkeypatch.setattr(effort, "LAST_STEP_EFFORT", 1e3)
    longest = [list(core.simulate(core.Scene([thrown(6, seed=seed)]), core.Solver("bdf2"), range(1, 3)))[-1]
               .certificate.stretch_max for seed in (0, 2, 5)]
    assert np.mean(longest) < 2.2


def test_frames_of_the_usual_effort_leave_the_next_ones_all_they_may_take():
    last = 0.0
    for spent in (100.0, effort.USUAL_EFFORT, 0.5 * effort.USUAL_EFFORT):
        last = effort.Effort(spent=spent).overspent(last)
        assert last == 0.0 and effort.Effort.of_frame(last).allowed == effort.MOST_EFFORT


def test_a_row_of_hard_frames_may_take_the_usual_effort_each_and_easy_ones_give_it_back():
    allowed, last = [], 0.0
    for _ in range(8):
        frame = effort.Effort.of_frame(last)
        allowed.append(frame.allowed)
        frame.spent = frame.allowed
        last = frame.overspent(last)
    assert (np.diff(allowed) <= 0.0).all() and allowed[0] == effort.MOST_EFFORT
    assert allowed[-1] == effort.USUAL_EFFORT
    assert sum(allowed) <= len(allowed) * effort.USUAL_EFFORT + effort.MOST_OVERSPENT
    for _ in range(8):
        last = effort.Effort().overspent(last)
    assert effort.Effort.of_frame(last).allowed == effort.MOST_EFFORT


def test_a_row_of_frames_that_are_refused_last_is_bounded_unless_its_steps_are_asked_for():
    """Explicit integrators have no longer steps, so that a frame may take more than what is allowed."""
    spent, last = [], 0.0
    for _ in range(8):
        frame = effort.Effort.of_frame(last)
        frame.spent = frame.last(1, 1.0)
        spent.append(frame.spent)
        last = frame.overspent(last)
    assert (np.diff(spent) <= 0.0).all() and spent[-1] < 0.5 * spent[0]
    hard = effort.Effort.of_frame(last)
    assert hard.last(1000, 1.0) > spent[0] and hard.last(1, 1000.0) > 3.0 * 1000


@pytest.mark.once
def test_a_row_of_frames_of_many_stable_steps_in_free_motion_is_not_refused():
    stiff = core.Material(areal_density=0.2, stretch=8e3, shear=1e3, damping=0.0)
    positions, triangles = grid(4, 1)
    cloth = core.Cloth(core.ClothMesh(0.1 * positions, faces=triangles), stiff, pins={0: None, 5: None})
    solver = core.Solver("symplectic_euler", steps_per_frame=10, self_collision=True)
    frames = list(core.simulate(core.Scene([cloth]), solver, range(1, 5)))
    steps = [frame.certificate.steps for frame in frames[1:]]
    assert min(steps) > effort.LAST_EFFORT * effort.USUAL_EFFORT / 3.0


@cases("resolve", [True, False])
def test_what_a_row_of_frames_took_is_known_in_the_next_one_and_after_a_resume(monkeypatch, resolve):
    """A start counts as a frame; a simulation that goes on from a checkpoint knows it, too."""
    for name, value in (("USUAL_EFFORT", 2.0), ("MOST_OVERSPENT", 40.0)):
        monkeypatch.setattr(effort, name, value)
    rng = np.random.default_rng(1)
    x, y = np.meshgrid(np.linspace(0.0, 0.2, 6), np.linspace(0.0, 0.2, 6))
    flat = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1)
    mesh = core.ClothMesh(flat, faces=quads(5, 5))
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), positions=flat + 0.04 * rng.normal(size=flat.shape))
    scene, solver = core.Scene([cloth]), core.Solver(resolve_start=resolve)
    frames = list(core.simulate(scene, solver, range(1, 5)))
    overspent = [frame.checkpoint().state.overspent for frame in frames]
    assert (overspent[0] > 0.0) == resolve and 0.0 < overspent[1] <= 40.0
    again = list(core.simulate(scene, solver, range(3, 5), start=frames[1].checkpoint()))
    assert [f.checkpoint().state.overspent for f in again] == overspent[2:]
    for one, other in zip(again, frames[2:], strict=True):
        assert one.positions[0].tobytes() == other.positions[0].tobytes()

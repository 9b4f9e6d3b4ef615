# SPDX-License-Identifier: GPL-3.0-or-later
"""The work of a frame is bounded whatever happens in it, by what `core.contact.effort` counts."""

import numpy as np

import core
from core.contact import effort
from core.stepping.adaptive_stepper import Stepper
from tests.cases import cases
from tests.core.shapes import quads

LITTLE, LITTLE_GRACE = 30.0, 10.0
"""The largest effort of a frame and its grace here [-], so that the test is short."""
LEAST = 20.0
"""Largest effort of what cannot be left out of a step here, on average [-]: a solve, a search for pairs, a short cut.
"""


def thrown(n=10, speed=100.0):
    """Return a crumpled sheet whose vertices are thrown across each other."""
    rng = np.random.default_rng(5)
    x, y = np.meshgrid(np.linspace(0.0, 0.2, n + 1), np.linspace(0.0, 0.2, n + 1))
    flat = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1)
    mesh = core.ClothMesh(flat + 0.01 * rng.normal(size=flat.shape), faces=quads(n, n))
    return core.Cloth(mesh, core.Material.preset("cotton"), velocities=speed * rng.normal(size=flat.shape))


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
        frames = list(core.simulate(core.Scene([thrown()]), solver, range(1, 3)))
        return max(found, key=lambda record: record.effort.spent), frames

    free, _ = efforts()
    with monkeypatch.context() as patch:
        patch.setattr(effort, "MOST_EFFORT", LITTLE)
        patch.setattr(effort, "GRACE", LITTLE_GRACE)
        bounded, frames = efforts()
    assert free.effort.spent > 2.0 * (LITTLE + LITTLE_GRACE)
    steps = bounded.steps + bounded.rejected
    assert LITTLE < bounded.effort.spent < min(LITTLE + LITTLE_GRACE + LEAST * steps, 0.6 * free.effort.spent)
    assert not bounded.converged and not all(frame.certificate.converged for frame in frames)
    assert all(np.isfinite(frame.positions[0]).all() for frame in frames)

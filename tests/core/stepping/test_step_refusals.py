# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that is too far from the origin for its edges, or whose edges have grown without bound, is refused."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.integrators.post_step import StepResult
from core.model.particle_system import ParticleSystem
from core.stepping.step_halving import StepHalving
from core.stepping.step_refusals import StepRefusals
from tests.cases import cases
from tests.core.shapes import ball, quads

SIZE = 1e-3
"""Side of the sheet [m]."""


def falling(gravity):
    """Return a scene of a small sheet that falls freely in x with `gravity` [m/s^2]."""
    x, y = np.meshgrid(np.linspace(0.0, SIZE, 4), np.linspace(0.0, SIZE, 4))
    flat = np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1)
    cloth = core.Cloth(core.ClothMesh(flat, faces=quads(3, 3), name="Dust"), core.Material.preset("cotton"))
    return core.Scene([cloth], gravity=(gravity, 0.0, 0.0))


def test_cloth_that_is_too_far_away_for_the_rounding_of_its_edges_is_refused_by_name():
    seen = []
    with pytest.raises(core.SolverError, match=r"edge \[\d+, \d+\] of Dust is .* m from the origin, where numbers are "
                                               ".* m apart.*: keep the cloth nearer"):
        seen.extend(core.simulate(falling(1e13), core.Solver(), range(1, 4)))
    assert [frame.index for frame in seen] == [1]


@cases("sizes", [1e3, 1e6])
def test_cloth_a_million_sizes_away_keeps_its_shape(sizes):
    """The air holds it back on some of the way."""
    time = 3.0 / 24.0
    frames = list(core.simulate(falling(20.0 * sizes * SIZE / time ** 2), core.Solver(frame_rate=24.0), range(1, 5)))
    x = frames[-1].positions[0]
    assert x[:, 0].min() > 0.9 * sizes * SIZE
    assert np.ptp(x, axis=0)[:2] == pytest.approx([SIZE, SIZE], rel=1e-6)


def thread(pins, end=None):
    """Return the scene of a thread of two edges of 1 mm that hardly resists, and hangs from its `pins`."""
    mesh = core.ClothMesh(np.array([[0.0, 0.0, 0.0], [1e-3, 0.0, 0.0], [2e-3, 0.0, 0.0]]), np.zeros((0, 3), dtype=int),
                          edges=np.array([[0, 1], [1, 2]]), name="Thread")
    targets = dict.fromkeys(pins)
    if end is not None:
        targets[2] = lambda t: mesh.positions[2] + t * np.asarray(end)
    fabric = core.Material(areal_density=0.3, stretch=1e-6, shear=0.0, bend=0.0)
    return core.Scene([core.Cloth(mesh, fabric, pins=targets)])


def test_an_edge_that_grows_without_end_in_small_parts_is_refused():
    """It falls freely but for one pin: 1 m in 0.45 s, which no step adds at once."""
    seen = []
    with pytest.raises(core.SolverError, match=r"Thread: .* runs away .* edge \[0, 1\] has grown by 1\d\d\d.* times"):
        seen.extend(core.simulate(thread([0]), core.Solver(), range(1, 30)))
    assert 5 < len(seen) < 20
    assert all(frame.certificate.stretch_max <= 1001.0 for frame in seen)


def test_an_edge_between_two_pins_may_be_as_long_as_they_are_apart():
    frames = list(core.simulate(thread([1], end=(10.0, 0.0, 0.0)), core.Solver(), range(1, 12)))
    x = frames[-1].positions[0]
    assert np.linalg.norm(x[2] - x[1]) > 3.0


def refusal(width, lost=None, names=("Dust",)):
    """Return the error of a step without a finite solution of sheets of a `width` [m] above a ball of 1 m.

    lost: number of the sheet whose positions the step has lost; None for a solve that has only lost its residual.
    """
    x, y = np.meshgrid(np.linspace(0.0, width, 4), np.linspace(0.0, width, 4))
    flat = np.stack([x.ravel(), y.ravel(), np.ones(x.size)], axis=1)
    cloths = [core.Cloth(core.ClothMesh(flat + [10.0 * i, 0.0, 0.0], faces=quads(3, 3), name=name),
                         core.Material.preset("cotton")) for i, name in enumerate(names)]
    system = ParticleSystem(core.Scene(cloths, [core.Collider(*ball(0.5, level=1), name="Ball")]))
    state = system.initial_state()
    moved = state.x.copy()
    if lost is not None:
        moved[system.slices[lost]] = np.nan
    solver = core.Solver()
    refusals = StepRefusals(system, solver, StepHalving(system, solver, 1), 1)
    result = StepResult(replace(state, x=moved), 1, np.nan, False, False, False)
    with pytest.raises(core.SolverError, match="no finite solution.*check this first: ") as caught:
        refusals.check(state, result, 0.0, 1.0 / 24.0, 1, 2)
    return caught.value


def test_a_step_without_a_solution_names_its_cloth():
    two = ("Dust", "Fluff")
    assert refusal(0.1).object_name == "Dust"
    assert [refusal(0.1, lost, two).object_name for lost in (None, 0, 1)] == [None, "Dust", "Fluff"]


@pytest.mark.parametrize("names", [("Dust",), ("Dust", "Fluff")])
def test_a_step_without_a_solution_names_a_collider_that_is_far_larger_than_its_cloth(names):
    text = "check this first: Dust is 2e-6 m wide and Ball 1 m: check the unit scale and the scale of both objects"
    assert text in str(refusal(2e-6, 0, names))
    assert " wide and " not in str(refusal(0.1, 0, names))

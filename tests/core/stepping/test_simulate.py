# SPDX-License-Identifier: GPL-3.0-or-later
"""The generator of frames: what it yields, when it refuses, and that it leaves to the caller what is the caller's."""

from unittest import mock

import numpy as np
import pytest

import core
from core.linear.preconditioners import select
from tests.cases import cases
from tests.core.simple_scenes import FABRIC, floor, hanging, sheet


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


@cases("rate", [24.0, 25.0, 29.97])
@cases("first", [-3, 0, 1, 1001])
def test_frame_n_is_at_n_minus_first_over_the_frame_rate(first, rate):
    frames = list(core.simulate(core.Scene([hanging(1)]), core.Solver(frame_rate=rate), range(first, first + 6)))
    assert [f.index for f in frames] == list(range(first, first + 6))
    np.testing.assert_allclose([f.time for f in frames], np.arange(6) / rate, rtol=1e-14)


@cases("frames", [
    range(1, 1), range(10, 1), [], [1, 3], [1, 2, 4], [3, 2, 1], [1, 1], range(1, 20, 2), [2, 1], [1.0, 2.5],
])
def test_a_range_that_is_not_consecutive_is_refused_before_anything_is_computed(frames):
    def unwanted(time):
        raise AssertionError("asked for a position")

    ball = core.Collider(unwanted, [[0, 1, 2]])
    cloth = core.Cloth(sheet(), FABRIC, pins={0: unwanted})
    with pytest.raises(core.SceneError, match="frame"):
        core.simulate(core.Scene([cloth], [ball]), frames=frames)      # the call itself, no frame is asked for


@pytest.mark.parametrize(("integrator", "kind"), [("implicit_euler", select.AggregationMultigrid),
                                                  ("bdf2", select.NeighbourCholesky)])
def test_groups_and_orders_of_elimination_are_made_before_the_first_frame(monkeypatch, integrator, kind):
    """They take as long as some frames, and would make a single frame that much longer."""
    def refuses(*_, **__):
        raise AssertionError("a frame waits for this")

    scene = core.Scene([core.Cloth(sheet(12), FABRIC)])
    frames = core.simulate(scene, core.Solver(integrator=integrator), range(4))
    next(frames)
    for made in (select.AggregationMultigrid, select.NeighbourCholesky):
        monkeypatch.setattr(made, "__init__", refuses)
    with mock.patch.object(kind, "at", autospec=True, side_effect=kind.at) as used:
        list(frames)
    assert used.called


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

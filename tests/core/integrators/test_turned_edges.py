# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges that a linear step turns keep the length that it takes them to have, and nothing else is changed."""

import numpy as np
import pytest

import core
from core.integrators.length_limits import LengthLimits
from core.integrators.post_step import LENGTH_PASSES
from core.integrators.turned_edges import RINGS, TURNED_GROWTH, TurnedEdges
from core.model.particle_system import ParticleSystem
from tests.cases import cases
from tests.core.shapes import grid
from tests.scenes.staging import AS_IN_BLENDER, floor

CELLS = 16
SIDE = CELLS + 1
MIDDLE = SIDE * (SIDE // 2) + SIDE // 2
NOTHING_HELD = np.zeros(0, dtype=np.int64)


def sheet(**options):
    return core.Cloth(core.ClothMesh(*grid(CELLS, CELLS)), core.Material.preset("cotton"), **options)


def lifted(system, by):
    """The sheet of `system`, and where a step takes it that lifts its middle by this many edges."""
    x = system.initial_state().x
    end = x.copy()
    end[MIDDLE, 2] += by * system.rest_lengths.min()
    return x, end


def edges_at(system, x):
    """Return a function that gives the edges (E, 3) at x (V, 3); None if that is None."""
    return None if x is None else lambda: x[system.edges[:, 1]] - x[system.edges[:, 0]]


def turned_edges(system, start, linearised, end):
    return TurnedEdges(system, system.edge_lengths(start), edges_at(system, linearised), end)


def length_limits(system, start, linearised, end):
    return LengthLimits.of_step(system, system.strain_limit(0.0), system.edge_lengths(start),
                                edges_at(system, linearised), end,
                                system.edge_lengths(end))


def brought_back(limit, x, held=NOTHING_HELD):
    """x as a step has it in the end, which asks several times."""
    for _ in range(LENGTH_PASSES):
        x = limit.relaxed(x, held)
    return x


@cases("by", [0.5, 1.0, 2.0])
def test_turned_edges_come_back_with_those_around_them_and_momentum_is_kept(by, backend):
    system = ParticleSystem(core.Scene([sheet()]))
    x, end = lifted(system, by)
    turned = turned_edges(system, x, x, end)
    assert not turned.holds(end) and turned.excess(end) > 0.0
    back = brought_back(turned, end)
    longer = system.edge_lengths(back) / system.rest_lengths - 1.0
    assert longer.max() < TURNED_GROWTH and turned.holds(back) and turned.excess(back) == -1.0
    np.testing.assert_allclose(system.mass @ back, system.mass @ end, atol=1e-12)
    moved = (turned.relaxed(end, NOTHING_HELD) != end).any(axis=1)
    away = np.abs(np.stack(np.divmod(np.arange(len(x)), SIDE)) - SIDE // 2).max(axis=0)
    assert moved[MIDDLE] and not moved[away > RINGS + 1].any()


def test_what_is_held_stays_and_its_neighbours_come(backend):
    system = ParticleSystem(core.Scene([sheet()]))
    x, end = lifted(system, 0.6)
    turned, held = turned_edges(system, x, x, end), np.array([MIDDLE])
    back = brought_back(turned, end, held)
    np.testing.assert_array_equal(back[MIDDLE], end[MIDDLE])
    assert turned.holds(back)


def test_what_is_stretched_along_itself_was_seen_by_the_solve_and_stays():
    system = ParticleSystem(core.Scene([sheet()]))
    x = system.initial_state().x
    end = x * (1.4, 1.2, 1.0)
    turned = turned_edges(system, x, x, end)
    assert turned.holds(end) and turned.relaxed(end, NOTHING_HELD) is end and turned.excess(end) < 0.0


def test_what_was_long_may_stay_so_while_it_turns():
    system = ParticleSystem(core.Scene([sheet()]))
    x = system.initial_state().x
    cos, sin = np.cos(1.0), np.sin(1.0)
    end = 1.3 * x @ np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
    turned = turned_edges(system, 1.3 * x, x, end)
    assert turned.holds(end) and not turned_edges(system, x, x, end).holds(end)


def test_limits_of_one_cloth_and_turned_edges_of_another_hold_together():
    one = core.Cloth(core.ClothMesh(grid(CELLS, CELLS)[0] + [3.0, 0.0, 0.0], grid(CELLS, CELLS)[1]),
                     core.Material.preset("cotton"), max_elongation=0.1)
    system = ParticleSystem(core.Scene([sheet(), one]))
    x, end = lifted(system, 1.0)
    half = len(x) // 2
    end[half:] = x[half:] * (1.3, 1.0, 1.0)                                     # which the solve knows of
    limits = length_limits(system, x, x, end)
    end = brought_back(limits, end)
    longer = system.edge_lengths(end) / system.rest_lengths - 1.0
    of_second = system.edges[:, 0] >= half
    assert longer[~of_second].max() < TURNED_GROWTH and longer[of_second].max() < 0.11
    assert length_limits(system, x, None, end).holds(end)


def test_a_step_that_knows_what_turns_has_no_such_limit():
    system = ParticleSystem(core.Scene([sheet()]))
    x, end = lifted(system, 1.0)
    assert length_limits(system, x, None, end).holds(end)
    assert not length_limits(system, x, x, end).holds(end)


@pytest.mark.once
@pytest.mark.parametrize("settings", [{"steps_per_frame": 1}, AS_IN_BLENDER], ids=["1 step", "panel"])
def test_a_long_strip_that_folds_up_on_the_floor_has_no_edge_that_is_much_longer(settings):
    """Single edges of its folds were 1.2 to 1.4 times their length for a frame."""
    x, triangles = grid(10, 80)
    u, v = ((x[:, k] - x[:, k].min()) / np.ptp(x[:, k]) for k in (0, 1))
    up = 1.6 * v + 0.005
    strip = core.ClothMesh(np.stack([0.2 * u, 0.01 * np.sin(20.0 * up), up], axis=1), triangles)
    scene = core.Scene([core.Cloth(strip, core.Material.preset("cotton"))], [floor(0.0, 0.3)])
    frames = list(core.simulate(scene, core.Solver(**settings), range(31)))
    assert max(f.certificate.stretch_max for f in frames) < 1.1
    assert not any(f.certificate.crossings for f in frames)


@cases("pulled", ["one vertex", "a side", "nothing"])
def test_a_step_in_which_a_few_edges_grow_by_much_is_done_again_in_halves(pulled):
    """And not one in which many do, which other rules judge."""
    soft, (x, triangles) = core.Material(areal_density=1.0, stretch=1.0, shear=1.0, bend=1e-9), grid(CELLS, CELLS)
    velocities = np.zeros_like(x)
    velocities[{"one vertex": [MIDDLE], "a side": x[:, 0] > 0.6, "nothing": []}[pulled], 0] = 3.0
    other = core.Cloth(core.ClothMesh(x + [3.0, 0.0, 0.0], triangles), soft)
    cloth = core.Cloth(core.ClothMesh(x, triangles), soft, velocities=velocities)
    solver = core.Solver(steps_per_frame=1, max_strain_change=1e3, self_collision=False)
    scene = core.Scene([cloth, other], gravity=(0.0, 0.0, 0.0))
    last = list(core.simulate(scene, solver, range(2)))[-1].certificate
    assert (last.rejected > 0) == (pulled == "one vertex")

# SPDX-License-Identifier: GPL-3.0-or-later
"""Provot's relaxation: nothing stays too long, what is held stays, momentum stays, and what is short is left alone."""

import numpy as np
import pytest

import core
from core.contact import effort
from core.contact.effort import Effort
from core.contact.half_spaces import HalfSpaces
from core.kernels.backend import current, why_not
from core.model.strain_limit import StrainLimit, colours, reach_of
from tests.cases import cases
from tests.core.physics.scenes import rope, rope_fabric, run
from tests.core.shapes import ball, grid, quads

BACKENDS = ["numpy", "numba"]


def sheet(n=8):
    return core.ClothMesh(grid(n, n)[0], faces=quads(n, n))


def longest(mesh, x):
    return (np.linalg.norm(x[mesh.edges[:, 1]] - x[mesh.edges[:, 0]], axis=1) / mesh.rest_lengths).max()


def test_edges_of_one_colour_share_no_vertex_and_all_have_one():
    mesh = sheet()
    order, starts = colours(mesh.edges, len(mesh.positions))
    assert sorted(order) == list(range(len(mesh.edges)))
    for a, b in zip(starts[:-1], starts[1:], strict=True):
        ends = mesh.edges[order[a:b]].ravel()
        assert len(set(ends)) == len(ends) > 0


def test_the_reach_of_a_vertex_is_the_shortest_way_along_edges_to_a_pin():
    edges = np.array([(0, 1), (1, 2), (2, 3), (0, 4), (4, 3), (5, 6)])
    reach, pin = reach_of(edges, np.array([1.0, 1.0, 1.0, 0.5, 0.7, 1.0]), np.array([0]), 7)
    np.testing.assert_allclose(reach, [0.0, 1.0, 2.0, 1.2, 0.5, np.inf, np.inf])
    assert (pin[:5] == 0).all()


def test_edges_are_as_long_as_their_ends_are_apart(backend):
    x = np.random.default_rng(3).standard_normal((9_000, 3))            # enough for two threads
    edges = np.random.default_rng(4).integers(0, 9_000, (20_001, 2))
    found = current().strain.lengths(x, edges)
    assert np.allclose(found, np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1), rtol=1e-14, atol=0.0)


def test_relaxed_edges_are_within_the_limit_and_momentum_is_kept(backend):
    mesh = sheet()
    rng = np.random.default_rng(0)
    mass = rng.uniform(0.5, 2.0, len(mesh.positions))
    x = mesh.positions * (1.3, 1.0, 1.0) + 0.02 * rng.normal(size=mesh.positions.shape)
    limit = StrainLimit(mesh.edges, 1.1 * mesh.rest_lengths, mass, np.zeros(0, dtype=np.int64))
    y = limit.relaxed(x, np.zeros(0, dtype=np.int64))
    assert longest(mesh, x) > 1.3
    assert longest(mesh, y) <= 1.1 * 1.005
    np.testing.assert_allclose(mass @ y, mass @ x, atol=1e-12)


def test_sweeps_are_counted_and_fewer_out_of_effort(backend, monkeypatch):
    monkeypatch.setattr(effort, "LEAST_SWEEPS", 0.1)
    mesh, held = sheet(), np.zeros(0, dtype=np.int64)
    x = mesh.positions * (1.3, 1.05, 1.0)
    limit = StrainLimit(mesh.edges, 1.02 * mesh.rest_lengths, np.ones(len(x)), held)
    usual, little = Effort(), Effort(most=0.0, spent=1.0)
    assert longest(mesh, limit.relaxed(x, held, effort=usual)) <= 1.02 * 1.005
    limit.relaxed(x, held, effort=little)
    assert 0.0 < little.spent - 1.0 <= 0.1 < usual.spent


def test_what_is_held_stays_and_what_is_short_is_the_same_array(backend):
    mesh, held = sheet(), np.array([0, 8, 40])
    x = mesh.positions * (1.3, 1.05, 1.0)
    limit = StrainLimit(mesh.edges, 1.1 * mesh.rest_lengths, np.ones(len(x)), held)
    y = limit.relaxed(x, held)
    np.testing.assert_array_equal(y[held], x[held])
    assert limit.relaxed(mesh.positions, held) is mesh.positions


@pytest.mark.parametrize("backend_name", BACKENDS)
def test_a_soft_rope_that_hangs_is_no_longer_than_it_may_be(backend_name):
    """Case 8 of the physics table: after strain limiting, the largest stretch is the limit and half a per cent."""
    if why_not(backend_name):
        pytest.skip(why_not(backend_name))
    mesh = rope(np.outer(np.arange(21) / 20.0, (0.0, 0.0, -1.0)))
    stretch = []
    for limit in (None, 0.1):
        cloth = core.Cloth(mesh, rope_fabric(0.1, 2.0), model="rope", pins={0: None}, max_elongation=limit)
        frames = run(core.Scene([cloth]), core.Solver(backend=backend_name), 24)
        stretch.append(max(f.certificate.stretch_max for f in frames))
    assert stretch[0] > 1.4
    assert stretch[1] <= 1.1 + 0.005


def test_where_nothing_is_too_long_the_limit_changes_nothing():
    last = []
    for limit in (None, 0.5):
        cloth = core.Cloth(sheet(5), core.Material.preset("cotton"), pins={0: None}, max_elongation=limit)
        last.append(run(core.Scene([cloth]), core.Solver(backend="numpy"), 6)[-1].positions[0])
    np.testing.assert_array_equal(*last)


def test_free_cloth_keeps_its_momentum_while_it_is_limited():
    mesh, rng = sheet(5), np.random.default_rng(1)
    v = 3.0 * rng.normal(size=mesh.positions.shape)
    fabric = core.Material(areal_density=0.2, stretch=5.0, shear=1.0)
    cloth = core.Cloth(mesh, fabric, velocities=v, max_elongation=0.05)
    scene = core.Scene([cloth], gravity=(0, 0, 0))
    solver = core.Solver(backend="numpy", self_collision=False, tolerance=1e-8, adaptive=False, steps_per_frame=4)
    frames = run(scene, solver, 4)
    mass = 0.2 * mesh.vertex_areas
    free = core.Cloth(mesh, fabric, velocities=v)
    unlimited = run(core.Scene([free], gravity=(0, 0, 0)), solver, 4)
    assert max(f.certificate.stretch_max for f in unlimited) > 1.1
    np.testing.assert_allclose(mass @ frames[-1].velocities[0], mass @ v, atol=1e-8 * np.abs(mass[:, None] * v).sum())


def test_limited_cloth_on_a_ball_crosses_nothing():
    mesh = sheet(12)
    cloth = core.Cloth(mesh, core.Material(areal_density=0.3, stretch=20.0, shear=5.0, bend=(1e-5, 1e-5)),
                       positions=mesh.positions + [-0.5, -0.5, 0.32], max_elongation=0.05)
    frames = run(core.Scene([cloth], [core.Collider(*ball(0.3, 2))]), core.Solver(), 16)
    assert all(f.certificate.crossings == 0 for f in frames)
    assert frames[-1].certificate.stretch_max < 1.05 + 0.02
    assert max(f.certificate.deepest_penetration for f in frames) < 1e-3 * 0.3


def test_relaxed_edges_keep_in_front_of_planes(backend):
    """A rope whose ends are held, and its middle on a table above them."""
    x = np.stack([np.linspace(-1.0, 1.0, 21), np.zeros(21), np.zeros(21)], axis=1)
    x[1:-1, 2] += 0.5 * np.random.default_rng(2).uniform(size=19)
    edges = np.stack([np.arange(20), np.arange(1, 21)], axis=1)
    bounds = HalfSpaces.of_vertices(np.arange(5, 16), np.tile((0.0, 0.0, 1.0), (11, 1)), np.full(11, 0.2))
    limit = StrainLimit(edges, np.full(20, 0.11), np.ones(21), np.array([0, 20]))
    y = limit.relaxed(x, np.array([0, 20]), bounds)
    assert np.linalg.norm(np.diff(x, axis=0), axis=1).max() > 0.2
    assert np.linalg.norm(np.diff(y, axis=0), axis=1).max() < 0.11 * 1.005
    assert bounds.lack(y).max() < 2e-3 * 0.11


HARD = {
    "a ball under it": lambda t: (0.6, 0.5, -0.3),
    "a ball falls on it": lambda t: (0.35, 0.5, max(0.25 - 44.0 * t * t, -0.5)),
}


@pytest.mark.once
@cases("where", HARD.values(), ids=HARD)
def test_soft_cloth_is_nowhere_longer_than_it_may_be_in_any_frame_of_a_quick_motion_with_contact(where):
    """Springs of 25 N/m, on which a sheet hangs by two corners; without the limit they get half as long again."""
    mesh, (x, triangles) = sheet(14), ball(0.2, 2)
    fabric = core.Material(areal_density=0.2, stretch=25.0, shear=6.0, bend=(1e-5, 1e-5), friction=0.3)
    cloth = core.Cloth(mesh, fabric, model="mass_spring", pins={0: None, 14: None}, max_elongation=0.05)
    scene = core.Scene([cloth], [core.Collider(lambda t: x + where(t), triangles)])
    frames = run(scene, core.Solver(integrator="bdf2", steps_per_frame=1), 14)
    assert max(f.certificate.stretch_max for f in frames) <= 1.05 + 0.005
    for f in frames:
        np.testing.assert_allclose(f.positions[0][[0, 14]], mesh.positions[[0, 14]], atol=1e-12)
        assert f.certificate.crossings == 0
        assert f.certificate.deepest_penetration < 1e-3


def test_a_limit_that_is_none_is_refused():
    with pytest.raises(core.ClothError, match="max_elongation is 0, it must be a number above 0"):
        core.Cloth(sheet(2), core.Material.preset("cotton"), max_elongation=0)

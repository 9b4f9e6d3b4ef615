# SPDX-License-Identifier: GPL-3.0-or-later
"""Self-collision in whole simulations: no intersection in any frame, and cloth that rests stays at rest."""

import numpy as np
import pytest

import core
from core.integrators.registry import STEP_FUNCTIONS
from tests.cases import cases
from tests.core.contact.shapes import ball, sheet

IMPLICIT_EULER = STEP_FUNCTIONS["implicit_euler"]

COTTON = core.Material(areal_density=0.2, stretch=(2000.0, 2000.0), shear=200.0, bend=(2e-5, 2e-5), damping=0.01,
                       friction=0.4)
FLOOR = core.Collider([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]], [[0, 1, 2]], friction=0.5)


def cloth(columns, rows, width, height, place=lambda x: x, **more):
    x, triangles = sheet(columns, rows, width, height)
    return core.Cloth(core.ClothMesh(place(x), triangles), more.pop("material", COTTON), **more)


def run(cloths, colliders=(), frames=40, gravity=(0.0, 0.0, -9.81), **solver):
    return list(core.simulate(core.Scene(cloths, list(colliders), gravity=gravity), core.Solver(**solver),
                              range(1, frames + 1)))


def kinetic_energy(frame, cloths):
    return sum(0.5 * float(np.sum(c.material.areal_density * c.mesh.vertex_areas[:, None] * v**2))
               for c, v in zip(cloths, frame.velocities, strict=True))


def upright(x):
    """Return a strip on its edge, slightly wavy, so that it falls over itself."""
    return np.stack([0.02 * np.sin(6.0 * x[:, 0]), x[:, 1], x[:, 0] + 0.55], axis=1)


@pytest.mark.parametrize("integrator", ["implicit_euler", "bdf2"])
def test_a_strip_falls_on_its_own_folds_and_comes_to_rest(integrator):
    cloths = [cloth(20, 4, 1.0, 0.2, upright)]
    frames = run(cloths, [FLOOR], 60, integrator=integrator)
    assert [f.certificate.crossings for f in frames] == [0] * len(frames)
    assert frames[-1].positions[0][:, 2].max() < 0.15                       # it has folded
    energies = [kinetic_energy(f, cloths) for f in frames]
    assert max(energies[-5:]) < 1e-4 * max(energies)


def test_without_self_collision_the_strip_passes_through_itself():
    frames = run([cloth(20, 4, 1.0, 0.2, upright)], [FLOOR], 30, self_collision=False)
    assert max(f.certificate.crossings for f in frames) > 0


def test_a_stack_of_ten_sheets_stays_at_rest():
    """Each sheet rests at the contact distance from the next, for every load on it."""
    cloths = [cloth(5, 5, 0.4, 0.4, lambda x, k=k: x + [0.003 * k, 0.002 * k, 0.012 + 0.021 * k], thickness=0.01)
              for k in range(10)]
    frames = run(cloths, [FLOOR], 20)
    assert all(f.certificate.crossings == 0 for f in frames)
    heights = [x[:, 2].mean() for x in frames[-1].positions]
    np.testing.assert_allclose(np.diff(heights), 0.02, atol=0.003)
    moved = [np.abs(b - a).max() for a, b in zip(frames[10].positions, frames[-1].positions, strict=True)]
    assert max(moved) < 1e-3
    assert max(np.abs(v).max() for v in frames[-1].velocities) < 1e-2


@cases("speed", [1.0, 8.0])
def test_a_thrown_sheet_does_not_pass_through_a_held_one(speed):
    held = cloth(9, 9, 1.0, 1.0)
    border = np.flatnonzero(np.abs(held.positions[:, :2]).max(axis=1) > 0.49)
    held = cloth(9, 9, 1.0, 1.0, pins=dict.fromkeys(border.tolist()))
    thrown = cloth(5, 5, 0.3, 0.3, lambda x: x + [0.05, 0.02, 0.3])
    thrown.velocities[:] = [0.0, 0.0, -speed]
    frames = run([held, thrown], frames=20)
    assert all(f.certificate.crossings == 0 for f in frames)
    assert all((f.positions[1][:, 2] > f.positions[0][:, 2].min()).all() for f in frames)


def test_sheets_that_start_out_crossing_come_apart():
    """A sheet through the middle of another: the number of intersections decreases to zero, without an explosion."""
    cloths = [cloth(9, 9, 0.5, 0.5),
              cloth(9, 9, 0.5, 0.5, lambda x: np.stack([x[:, 0] + 0.1, 0.003 - x[:, 1] / 50, x[:, 1] + 0.17], axis=1))]
    frames = run(cloths, frames=24, gravity=(0.0, 0.0, 0.0), resolve_start=False)
    crossings = [f.certificate.crossings for f in frames]
    assert crossings[0] > 10 and crossings[-1] == 0
    # an edge that moves from one triangle to the next intersects both for a while; over three frames the number falls
    assert all(b <= a for a, b in zip(crossings[:-3], crossings[3:], strict=True))
    assert max(np.abs(v).max() for f in frames for v in f.velocities) < 5.0


@pytest.mark.slow
def test_a_sheet_draped_on_a_ball_folds_without_crossing():
    x, triangles = ball(32, 16, 0.3)
    cloths = [cloth(50, 50, 2.0, 2.0, lambda x: x + [0.0, 0.0, 0.33])]
    frames = run(cloths, [core.Collider(x, triangles, friction=0.3)], 60)
    assert [f.certificate.crossings for f in frames] == [0] * len(frames)
    energies = [kinetic_energy(f, cloths) for f in frames]
    assert energies[-1] < 0.1 * max(energies)


def test_where_pins_pull_cloth_through_cloth_steps_are_short_and_nothing_is_thrown_about(monkeypatch):
    """A shorter step may keep the sheets apart. Here no step does, and the shortest steps would add large velocities.
    """
    tried = []

    def watched(system, state, h, *rest):
        result = IMPLICIT_EULER(system, state, h, *rest)
        tried.append((h, result.crosses, result.state))
        return result

    monkeypatch.setitem(STEP_FUNCTIONS, "implicit_euler", watched)
    below = cloth(4, 4, 1.0, 1.0)
    held = core.Cloth(below.mesh, COTTON, pins=dict.fromkeys(range(len(below.positions))))
    start = np.array([[-0.1, -0.1, 0.05], [0.1, -0.1, 0.05], [0.1, 0.15, 0.05], [-0.1, 0.15, 0.05]])
    down = {k: lambda t, p=start[k]: p - [0.0, 0.0, 1.0 * t] for k in (0, 1)}
    pulled = core.Cloth(core.ClothMesh(start, [[0, 1, 2], [0, 2, 3]]), COTTON, pins=down)
    frames = run([held, pulled], frames=8, steps_per_frame=1, integrator="implicit_euler")
    crossing = [h for h, crosses, _ in tried if crosses]
    assert max(crossing) == pytest.approx(1.0 / 48.0) and min(crossing) == pytest.approx(1.0 / (16 * 24.0))
    assert np.abs(np.concatenate([f.positions[1] for f in frames])).max() < 0.6

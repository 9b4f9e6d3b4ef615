# SPDX-License-Identifier: GPL-3.0-or-later
"""Fast colliders and fast pulls: cloth is stretched by what its waves of tension do, and an impossible demand ends."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.contact.let_through import MOST_HELD_STRETCH, let_through, taut_lengths
from core.contact.surfaces import StepSurfaces
from core.integrators.post_step import StepResult
from core.model.particle_system import ParticleSystem
from core.state import StepControl
from core.stepping.step_halving import StepHalving, Try
from tests.core.contact.shapes import ball, box
from tests.scenes.staging import AS_IN_BLENDER, COTTON, cloth

SIDE = 1.5
"""Side of the curtain [m]."""
WAVE = float(np.sqrt(COTTON.stretch[0] / COTTON.areal_density))
"""Speed of waves of tension along the softer direction [m/s]."""


def curtain(speed, held, count=21, start=0.3):
    """Return a curtain across y that a ball flies through; `held` "top", "all" or "nothing"."""
    flat = cloth(count, count, SIDE, SIDE)
    x = flat.mesh.positions - flat.mesh.positions.min(axis=0)
    x = x[:, [0, 2, 1]]
    top, border = x[:, 2] > SIDE - 1e-9, (x[:, [0, 2]] < 1e-9).any(axis=1) | (x[:, [0, 2]] > SIDE - 1e-9).any(axis=1)
    pins = {"top": top, "all": border, "nothing": np.zeros(len(x), dtype=bool)}[held]
    positions, triangles = ball(24, 12, 0.12)
    first = np.array([0.5 * SIDE + 0.013, -start, 0.5 * SIDE])
    solid = core.Collider(lambda t: positions + first + [0.0, speed * t, 0.0], triangles, friction=0.3)
    hung = core.Cloth(core.ClothMesh(x, flat.mesh.triangles), COTTON, pins=dict.fromkeys(np.flatnonzero(pins)))
    return core.Scene([hung], [solid])


def frames_of(scene, count, **solver):
    return list(core.simulate(scene, core.Solver(**AS_IN_BLENDER, **solver), range(count)))


def test_a_curtain_is_stretched_by_a_ball_as_much_as_waves_of_tension_do_it():
    found = frames_of(curtain(12.0, "top"), 8)
    assert max(f.certificate.stretch_p99 for f in found) < 1.0 + 3.0 * 12.0 / WAVE
    assert found[-1].positions[0][:, 1].max() > 0.2                          # it was pushed aside
    assert all(f.certificate.crossings == f.certificate.crossings_pinched == 0 for f in found)


@pytest.mark.parametrize("speed", [3.0, 12.0])
def test_a_ball_passes_through_a_sheet_that_is_held_at_all_sides(speed):
    found = frames_of(curtain(speed, "all"), 14)
    assert max(f.certificate.stretch_max for f in found) < 1.1 * MOST_HELD_STRETCH
    if speed < 12.0:                                                         # or it is through within a frame
        assert max(f.certificate.crossings for f in found) > 0
    last = found[-1]
    assert last.certificate.crossings == last.certificate.crossings_pinched == 0
    assert last.checkpoint().state.contact.through is None
    assert np.abs(last.positions[0][:, 1]).max() < 0.1                       # the sheet is back in its plane


def test_pins_that_part_do_not_take_the_contact_of_their_cloth():
    """The edge between two pins is as long as they make it, whatever contact does: the cloth stays on its ball."""
    flat = cloth(15, 15, 0.8, 0.8)
    x = flat.mesh.positions - flat.mesh.positions.mean(axis=0) + [0.0, 0.0, 0.105]
    row = np.flatnonzero(x[:, 0] < -0.4 + 1e-9)
    ends = row[np.argsort(x[row, 1])][6:8]
    pins = {int(k): (lambda t, at=x[k], way=way: at + [0.0, 0.2 * way * t, 0.0])
            for k, way in zip(ends, (-1, 1), strict=True)}
    solid = core.Collider(*ball(24, 12, 0.1), friction=0.5)
    found = frames_of(core.Scene([core.Cloth(core.ClothMesh(x, flat.mesh.triangles), COTTON, pins=pins)], [solid]), 20)
    assert found[-1].certificate.stretch_max > 1.5 * MOST_HELD_STRETCH
    assert all(f.checkpoint().state.contact.through is None for f in found[1:])
    assert all(f.certificate.crossings == f.certificate.crossings_pinched == 0 for f in found)


def test_colliders_pass_only_where_cloth_pulls_on_an_edge_that_is_too_long():
    """A row of vertices that touch a solid: the chain of taut edges around the edge that is too long, no further."""
    x = np.zeros((8, 3))
    edges = np.column_stack([np.arange(7), np.arange(1, 8)])
    ratio = np.array([1.0, 1.2, 1.7, 2.3, 1.6, 1.4, 1.7])                       # of lengths at rest
    held = np.full(7, MOST_HELD_STRETCH)
    none = StepSurfaces((0.0, 1.0), 0, [], np.ones(8), None, None, np.zeros(0, dtype=bool))
    touches = np.array([True, True, True, False, True, True, True, True])
    found = let_through(None, x, ratio > held, ratio > taut_lengths(held), edges, touches, none)
    assert np.flatnonzero(found).tolist() == [2, 4, 5]


@pytest.mark.parametrize("count", [31, 61])
def test_a_cloth_that_is_pulled_off_a_table_is_not_stretched(count):
    """At 8 m/s, a third of a metre a frame. Were contacts at the far edge left as they were found, each step would hold
    the hem there anew; and in sixteenths of a frame, fine cloth would move by more than its edges in a step."""
    flat = cloth(count, count, 1.2, 1.2)
    x = flat.mesh.positions - flat.mesh.positions.mean(axis=0) - [0.0, 0.0, 0.003]
    pins = {int(k): (lambda t, at=x[k]: at + [8.0 * max(t - 0.5, 0.0), 0.0, 0.0])
            for k in np.flatnonzero(x[:, 0] > 0.6 - 1e-9)}
    corners, triangles = box((0.8, 0.8, 0.05))
    table = core.Collider(corners - [0.0, 0.0, 0.025], triangles, friction=0.3)
    found = frames_of(core.Scene([core.Cloth(core.ClothMesh(x, flat.mesh.triangles), COTTON, pins=pins)], [table]), 16)
    assert max(f.certificate.stretch_p99 for f in found) < 1.1
    assert all(f.certificate.crossings == 0 for f in found)


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_loop_that_hooks_on_a_bar_is_let_through_and_not_pulled_back(speed):
    """Pull the loop until contact lets go of it. Were its vertices still pulled home, they would stay in the bar."""
    angle, y = np.linspace(0.0, 2.0 * np.pi, 32, endpoint=False), np.linspace(-0.05, 0.05, 6)
    x = np.array([[0.1 * np.cos(a), at, 0.1 * np.sin(a)] for a in angle for at in y])
    i = np.arange(32)[:, None] * 6 + np.arange(5)
    j = (i + 6) % len(x)
    triangles = np.concatenate([np.stack([i, j, j + 1], axis=-1), np.stack([i, j + 1, i + 1], axis=-1)]).reshape(-1, 3)
    pins = {k: (lambda t, at=x[k]: at + [speed * t, 0.0, 0.0]) for k in range(6)}
    corners, faces = box((0.04, 0.4, 0.04))
    bar = core.Collider(corners - [0.07, 0.0, 0.0], faces, friction=0.3)
    scene = core.Scene([core.Cloth(core.ClothMesh(x, triangles), COTTON, pins=pins)], [bar], gravity=(0.0, 0.0, 0.0))
    found = frames_of(scene, 24)
    assert max(f.certificate.stretch_max for f in found) > 0.8 * MOST_HELD_STRETCH                   # it did hook
    assert max(f.certificate.stretch_max for f in found) < 1.05 * MOST_HELD_STRETCH
    last = found[-1]
    assert last.certificate.crossings == 0 and last.certificate.stretch_max < 1.05
    assert last.positions[0][:, 0].min() > 0.0                                                      # and is off it


def test_no_pin_is_asked_for_a_time_after_the_frame():
    """A bake in Blender reads the scene frame by frame, and knows no later one while it solves."""
    scene, count, asked, latest = curtain(3.0, "all"), 9, [], 0.0
    sheet = scene.cloths[0]

    def at(vertex):
        def target(time):
            asked.append(time)
            return sheet.positions[vertex]
        return target

    held, _ = ParticleSystem(scene).held_positions(0.0)
    driven = core.Cloth(sheet.mesh, COTTON, pins={int(vertex): at(vertex) for vertex in held})
    for frame in core.simulate(core.Scene([driven], scene.colliders), core.Solver(**AS_IN_BLENDER), range(count)):
        assert max(asked, default=0.0) <= frame.time + 1e-9
        latest = max(asked, default=latest)
        asked.clear()
    assert latest == pytest.approx(frame.time)


def test_a_sheet_that_can_follow_keeps_its_contact():
    last = frames_of(curtain(12.0, "nothing"), 8)[-1]
    assert last.positions[0][:, 1].min() > 0.5 and last.checkpoint().state.contact.through is None


def test_vertices_that_colliders_pass_through_travel_with_a_checkpoint(tmp_path):
    checkpoint = frames_of(curtain(12.0, "nothing"), 2)[-1].checkpoint()
    state = checkpoint.state
    through = np.arange(len(state.x)) % 3 == 0
    replace(checkpoint, state=replace(state, contact=replace(state.contact, through=through))).save(tmp_path / "state")
    assert np.array_equal(core.Checkpoint.load(tmp_path / "state").state.contact.through, through)


def rules():
    system = ParticleSystem(core.Scene([cloth(3, 3, 0.2, 0.2)]))
    result = StepResult(system.initial_state(), 1, 0.0, True, True, False)
    return StepHalving(system, core.Solver(max_strain_change=0.5), 64), result


@pytest.mark.parametrize(("grown", "size"), [(0.6, 32), (1.9, 32), (2.1, 16), (9.0, 8), (200.0, 4), (1e9, 4),
                                             (np.inf, 32)])
def test_a_step_that_adds_too_much_is_taken_again_as_short_as_its_square_says(grown, size):
    """Only in halves, if its end was not corrected."""
    halving, result = rules()
    attempt = halving.attempt(StepControl(64, 64), Try(64, 0.01, result, grown))
    assert attempt.rejected and attempt.size == size
    raw = replace(result, corrected=False, torn=grown)
    assert halving.attempt(StepControl(64, 64), Try(64, 0.01, raw, grown)).size == 32


@pytest.mark.parametrize(("torn", "size"), [(0.2, 64), (0.3, 32)])
def test_the_growth_of_the_solve_decides_about_a_longer_step(torn, size):
    halving, result = rules()
    after = halving.next(StepControl(32, 64), Try(32, 0.01, replace(result, torn=torn)), for_rest=False, done=64)
    assert after.size == size

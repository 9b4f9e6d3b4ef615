# SPDX-License-Identifier: GPL-3.0-or-later
"""Sheets that slide go as far as Coulomb's law says, in steps of any length: with the settings of the panel, BDF2 and
one step or more a frame."""

from dataclasses import replace

import numpy as np
import pytest

import core
from core.contact.friction_modes import ELASTIC
from core.contact.sliding_path import braked
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, grid
from tests.core.physics.test_friction import PLANE, tilted

PATH = 2e-3
"""Largest error of a way of constant acceleration, over the way [-]."""
GIVE = ELASTIC * 0.2 * 0.4 / 6
"""Way [m] by which friction gives before it holds, with the thickness of `slid`."""


def slid(mu, degrees, seconds, speed=0.0, steps=1, height=0.0, cells=6, heading=17.0):
    """Return the mean way [m] and velocity [m/s] down a slope of a sheet that starts with `speed` [m/s], `height` [m]
    above it, at every frame."""
    flat, triangles = grid((cells, cells), (0.4, 0.4))
    mesh = core.ClothMesh(flat, triangles)
    thickness = 0.2 * mesh.mean_edge
    start = tilted(flat + [0.0, 0.0, thickness + height], degrees, heading)
    down = tilted([1.0, 0.0, 0.0], degrees, heading)
    fabric = replace(core.Material.preset("cotton"), air_drag=0.0, friction=mu)
    cloth = core.Cloth(core.ClothMesh(start, triangles), fabric, velocities=np.tile(speed * down, (len(flat), 1)),
                       thickness=thickness)
    plane = core.Collider(tilted(PLANE[0], degrees, heading), PLANE[1], friction=mu)
    solver = core.Solver(frame_rate=24.0, integrator="bdf2", steps_per_frame=steps, tolerance=0.01)
    frames = list(core.simulate(core.Scene([cloth], [plane]), solver, range(round(24 * seconds) + 1)))
    return (np.array([np.mean((frame.positions[0] - start) @ down) for frame in frames]),
            np.array([np.mean(frame.velocities[0] @ down) for frame in frames]))


def pull(mu, degrees):
    """Return the acceleration [m/s^2] of a sheet that slides down a slope."""
    angle = np.radians(degrees)
    return GRAVITY * (np.sin(angle) - mu * np.cos(angle))


@pytest.mark.parametrize("steps", [1, 3])
@cases(("mu", "degrees", "speed"), [(0.3, 30.0, 0.0), (0.1, 12.0, 0.0), (0.5, 45.0, 0.7), (0.3, 18.0, 0.0),
                                    (0.0, 9.0, 0.0)])
def test_a_slide_goes_half_a_t_squared_in_steps_of_any_length(mu, degrees, speed, steps):
    """Steps of implicit Euler go 8 % too far in 12 steps. In the first step friction may still give."""
    way, velocity = slid(mu, degrees, 0.5, speed, steps)
    a, early = pull(mu, degrees), 0.0 if speed else 24 * steps * GIVE
    assert velocity[-1] == pytest.approx(speed + 0.5 * a, rel=PATH, abs=early)
    assert way[-1] == pytest.approx(0.5 * speed + 0.125 * a, rel=PATH, abs=0.5 * early)


@pytest.mark.parametrize("steps", [1, 3])
@cases(("mu", "speed", "degrees"), [(0.3, 1.0, 0.0), (0.3, 0.3, 0.0), (0.6, 1.3, 0.0), (0.5, 1.0, -15.0)])
def test_a_slide_stops_where_friction_has_taken_its_energy(mu, speed, degrees, steps):
    """In the last step, too, it goes v^2 / (2 mu g), in less time than the step has; then it stays, but for what
    friction gives."""
    a = -pull(mu, degrees)
    way, velocity = slid(mu, degrees, speed / a + 0.25, speed, steps)
    assert abs(way[-1] - 0.5 * speed ** 2 / a) <= PATH * way[-1] + 1.1 * GIVE
    assert abs(way[-1] - way[-3]) < 1e-7
    assert abs(velocity[-1]) < 1e-6


@pytest.mark.parametrize("height", [0.002, 0.005, 0.02])
def test_a_sheet_of_many_contacts_lands_with_all_the_friction_of_its_impact(height):
    """Without a correction of friction in quick motions it kept a third of what the impact takes."""
    mu, degrees, seconds = 0.3, 30.0, 0.5
    way, velocity = slid(mu, degrees, seconds, height=height, cells=12)
    fall = np.sqrt(2.0 * height / (GRAVITY * np.cos(np.radians(degrees))))
    before = GRAVITY * np.sin(np.radians(degrees)) * fall
    after = before - mu * GRAVITY * np.cos(np.radians(degrees)) * fall
    a, left = pull(mu, degrees), seconds - fall
    assert velocity[-1] == pytest.approx(after + a * left, rel=5e-3)
    assert way[-1] == pytest.approx(0.5 * before * fall + after * left + 0.5 * a * left ** 2, rel=0.02)


def test_paths_of_implicit_euler_stay_as_they_are_published():
    flat, triangles = grid((3, 3), (0.3, 0.3))
    mesh = core.ClothMesh(flat + [0.0, 0.0, 0.02], triangles)
    cloth = core.Cloth(mesh, core.Material(areal_density=0.2, stretch=2e3, shear=500.0, bend=1e-4, friction=0.3),
                       velocities=np.tile([1.0, 0.0, 0.0], (len(flat), 1)), thickness=0.02)
    plane = core.Collider(*PLANE, friction=0.3)
    h, steps = 1 / 24, 4
    frames = list(core.simulate(core.Scene([cloth], [plane]), core.Solver(
        frame_rate=24.0, integrator="implicit_euler", steps_per_frame=1), range(steps + 1)))
    expected = sum(h * (1.0 - n * 0.3 * GRAVITY * h) for n in range(1, steps + 1))
    assert np.mean(frames[-1].positions[0][:, 0] - flat[:, 0]) == pytest.approx(expected, rel=1e-4)


def test_the_time_of_a_slide_ends_where_it_stops():
    slide = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    a = np.array([[-4.0, 0.0, 0.0], [-0.1, 0.0, 0.0], [4.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    assert braked(slide, a, 0.5) == pytest.approx([0.25, 0.5, 0.5, 0.5])

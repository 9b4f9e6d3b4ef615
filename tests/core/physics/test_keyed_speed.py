# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of changing length: forces act for the simulated time, and what moves by frames keeps to its frames."""

from functools import cache

import numpy as np
import pytest

import core
from core.integrators.bdf2 import LARGEST_BLENDED_RATIO, LARGEST_STEP_RATIO
from core.integrators.multistep_start import BLEND
from tests.core.integrators.members import MEMBERS
from tests.core.physics.scenes import GRAVITY, sheet
from tests.core.shapes import grid

FABRIC = core.Material(areal_density=0.2, stretch=300.0, shear=60.0, bend=1e-4)
COUNT = 24
SOLID = [[0, 1, 2], [0, 2, 3]]


def ramp(frame):
    return 1.0 + 0.8 * np.sin(0.5 * frame)


def halved_and_doubled(frame):
    return 1.0 + frame % 2


def frames_of(scene, count=COUNT, speed=None, rate=24.0, **settings):
    clock = None if speed is None else core.FrameClock(0, rate, speed)
    return list(core.simulate(scene, core.Solver(**{"frame_rate": rate, **settings}), range(count + 1), clock=clock))


@pytest.mark.parametrize("integrator", MEMBERS)
@pytest.mark.parametrize("speed", [ramp, halved_and_doubled])
@pytest.mark.parametrize("steps", [1, 3])
def test_free_fall_is_that_of_the_simulated_time(integrator, speed, steps):
    """Its speed is g T(f), and its way with methods of second order g T(f)^2 / 2, exactly."""
    cloth = core.Cloth(sheet((3, 3), (0.3, 0.3)), core.Material(areal_density=0.2, stretch=1e-3, shear=1e-3))
    found = frames_of(core.Scene([cloth]), speed=speed, integrator=integrator, steps_per_frame=steps, rate=240.0)
    h = np.repeat([speed(frame) / 240.0 / steps for frame in range(1, COUNT + 1)], steps)
    assert {frame.certificate.steps for frame in found[1:]} == {steps}
    t, v = np.cumsum(h), GRAVITY * np.cumsum(h)
    exact, early = 0.5 * GRAVITY * t * t, np.cumsum(h * (v - h * GRAVITY))
    way = {"verlet": exact, "bdf2": exact, "explicit_euler": early}.get(integrator, np.cumsum(h * v))
    for number, frame in enumerate(found[1:], 1):
        last = number * steps - 1
        assert frame.time == pytest.approx(t[last], rel=1e-13)
        np.testing.assert_allclose(frame.velocities[0][:, 2], -v[last], rtol=1e-9)
        np.testing.assert_allclose(frame.positions[0][:, 2], -way[last], rtol=1e-8)


def swung(frames, integrator, speed, seconds=0.25):
    """Return positions of a hanging sheet [m] after a time that passes in frames of these speeds, by one step each."""
    speeds = [speed(frame, frames) for frame in range(1, frames + 1)]
    cloth = core.Cloth(core.ClothMesh(*grid(5, 5)), FABRIC, pins={0: None, 5: None})
    return frames_of(core.Scene([cloth]), frames, lambda frame: speeds[frame - 1], sum(speeds) / seconds,
                     integrator=integrator, steps_per_frame=1, tolerance=1e-10, newton_iterations="converge",
                     adaptive=False)[-1].positions[0]


@cache
def exact():
    return swung(800, "bdf2", lambda frame, frames: 1.0)


@pytest.mark.parametrize("speed", [lambda frame, frames: 1.0 + 0.9 * np.sin(9.0 * frame / frames),
                                   lambda frame, frames: 1.0 + frame % 2])
def test_bdf2_is_of_second_order_while_the_speed_changes(speed):
    coarse, fine = (np.abs(swung(frames, "bdf2", speed) - exact()).max() for frames in (50, 100))
    assert 3.0 < coarse / fine < 5.2
    assert fine < 0.2 * np.abs(swung(100, "implicit_euler", speed) - exact()).max()


def grows(ratio, blend):
    """Return the largest root of the formula of BDF2, or of its blend, in steps that each are `ratio` times as long."""
    s, g, share = 1.0 / ratio, 1.0 / ratio ** 2, BLEND if blend else 0.0
    weights = [1.0 + 1.0 / (1.0 + s) + share / (1.0 + s + g), -(1.0 + s) / s - share * (1.0 + s) / (s * (s + g)),
               1.0 / (s * (1.0 + s)) + share / (s * g), -share * (1.0 + s) / ((1.0 + s + g) * (s + g) * g)]
    assert sum(weights) == pytest.approx(0.0, abs=1e-12)
    return np.abs(np.roots(weights)).max()


@pytest.mark.parametrize(("largest", "blend"), [(LARGEST_STEP_RATIO, False), (LARGEST_BLENDED_RATIO, True)])
def test_no_root_grows_up_to_the_largest_ratios_and_one_does_soon_after(largest, blend):
    assert all(grows(ratio, blend) < 1.0 + 1e-12 for ratio in np.linspace(0.05, largest, 50))
    assert grows(1.05 * largest, blend) > 1.0 + 1e-3


@pytest.mark.parametrize("integrator", ["implicit_euler", "bdf2", "symplectic_euler"])
def test_a_speed_that_stays_the_same_is_another_frame_rate(integrator):
    scene = core.Scene([core.Cloth(core.ClothMesh(*grid(5, 5)), FABRIC, pins={0: None, 5: None})])
    for speed in (1.0, 0.5, 1.6):
        found = frames_of(scene, 12, lambda frame, speed=speed: speed, 48.0, integrator=integrator)
        wanted = frames_of(scene, 12, rate=48.0 / speed, integrator=integrator)
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one.positions[0], other.positions[0], rtol=0.0, atol=1e-6)
            assert one.certificate.steps == other.certificate.steps


def carried(speed, rate, way):
    """Return positions [m] of a sheet on a floor that moves by `way` [m] in each frame."""
    x = np.array([[-2.0, -2, 0.0], [6, -2, 0], [6, 2, 0], [-2, 2, 0]])

    def values(frame):
        return {"floor": x + [way * frame, 0.0, 0.0], "speed": np.array([speed(frame)])}

    window = core.MotionWindow(0, rate, values(0), speed="speed")
    fabric = core.Material(areal_density=0.2, stretch=300.0, shear=60.0, bend=1e-4, friction=0.6)
    cloth = core.Cloth(core.ClothMesh(grid(4, 4)[0] * 0.3 + [0.0, 0.0, 0.01], grid(4, 4)[1]), fabric, thickness=0.005)
    scene = core.Scene([cloth], [core.Collider(window.trajectory("floor"), SOLID, friction=0.6, thickness=0.005)])
    seen = []
    steps = core.simulate(scene, core.Solver(integrator="bdf2", frame_rate=rate), range(25), clock=window.clock)
    for number in range(25):
        if number:
            window.advance([(number, values(number))])
        seen.append(next(steps))
    return seen


def test_a_collider_at_half_speed_drags_as_one_that_moves_twice_as_fast():
    slow = carried(lambda frame: 0.5, 24.0, 0.01)
    fast = carried(lambda frame: 1.0, 48.0, 0.01)                # 0.48 m/s, for the same times
    still = carried(lambda frame: 1.0, 24.0, 0.01)
    for one, other in zip(slow, fast, strict=True):
        assert one.time == pytest.approx(other.time)
        np.testing.assert_allclose(one.positions[0], other.positions[0], rtol=0.0, atol=1e-7)
    assert slow[-1].positions[0][:, 0].mean() < still[-1].positions[0][:, 0].mean() - 0.01   # friction has less time


def test_pins_keep_to_their_frames_and_move_at_the_speed_of_the_simulated_time():
    mesh, rate = core.ClothMesh(*grid(4, 4)), 24.0

    def values(frame):
        return {"pins": mesh.positions + [0.02 * frame, 0.0, 0.0], "speed": np.array([ramp(frame)])}

    window = core.MotionWindow(0, rate, values(0), speed="speed")
    cloth = core.Cloth(mesh, FABRIC, pins=np.ones(len(mesh.positions)), pin_targets=window.trajectory("pins"))
    steps = core.simulate(core.Scene([cloth]), core.Solver(steps_per_frame=2), range(12), clock=window.clock)
    next(steps)
    for number in range(1, 12):
        window.advance([(number, values(number))])
        frame = next(steps)
        np.testing.assert_allclose(frame.positions[0], values(number)["pins"], rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(frame.velocities[0][:, 0], 0.02 * rate / ramp(number), rtol=1e-9)


def test_noise_of_fields_changes_with_the_frames():
    clock = core.FrameClock(0, 24.0, ramp)
    field = core.ForceField("wind", core.field_values(strength=1.0, noise=1.0), noise_rate=clock)
    assert [field.noise_at(clock.time(frame)) for frame in range(9)] == pytest.approx(range(9))
    still = core.field_values(strength=5.0, noise=1.0)
    cloth = core.Cloth(sheet((2, 2), (1.0, 1.0)), core.Material(areal_density=0.2, stretch=1e3, shear=1e3))
    pushed = []
    for speed in (lambda frame: 0.5, lambda frame: 2.0):
        clock = core.FrameClock(0, 24.0, speed)
        scene = core.Scene([cloth], fields=[core.ForceField("wind", still, noise_rate=clock)], gravity=(0.0, 0.0, 0.0))
        *_, last = core.simulate(scene, core.Solver(steps_per_frame=1, integrator="symplectic_euler"), range(6),
                                 clock=clock)
        pushed.append(last.velocities[0].mean(axis=0) / last.time)
    np.testing.assert_allclose(pushed[0], pushed[1], rtol=0.05)          # the same draws, each for a frame


def test_an_explicit_method_takes_as_many_steps_as_a_longer_frame_needs():
    scene = core.Scene([core.Cloth(core.ClothMesh(*grid(5, 5)), FABRIC, pins={0: None, 5: None})])
    found = frames_of(scene, 8, lambda frame: 1.0 if frame < 5 else 8.0, integrator="symplectic_euler",
                      steps_per_frame=2)
    steps = [frame.certificate.steps for frame in found[1:]]
    assert steps[4] >= 4 * steps[0]
    assert found[5].certificate.step_max <= 1.01 * found[1].certificate.step_max * 2
    assert np.abs(found[-1].positions[0]).max() < 3.0

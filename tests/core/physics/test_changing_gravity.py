# SPDX-License-Identifier: GPL-3.0-or-later
"""Gravity that is a function of time: closed forms, and the bytes of constant gravity where it does not change."""

import numpy as np
import pytest

import core
from tests.core.simple_scenes import FABRIC, floor, hanging, sheet

FRAMES = range(1, 6)


def run(scene, **options):
    return list(core.simulate(scene, core.Solver(backend="numpy", frame_rate=24.0, **options), FRAMES))


@pytest.mark.parametrize("integrator", core.integrators())
def test_a_falling_sheet_integrates_gravity_twice(integrator):
    """g = c t gives v = c t^2 / 2 and x = c t^3 / 6."""
    strength = np.array([3.0, 0.0, -20.0])
    fabric = core.Material(areal_density=0.2, stretch=20.0, shear=5.0)
    cloth = core.Cloth(sheet(2), fabric)
    last = run(core.Scene([cloth], gravity=lambda t: t * strength), integrator=integrator, steps_per_frame=60,
               newton_iterations=1)[-1]
    t = 4.0 / 24.0
    moved = last.positions[0] - cloth.positions
    assert moved == pytest.approx(np.tile(strength * t ** 3 / 6.0, (len(moved), 1)), rel=0.02, abs=1e-4)
    assert last.velocities[0] == pytest.approx(np.tile(strength * t * t / 2.0, (len(moved), 1)), rel=0.02, abs=1e-3)


def test_a_function_of_one_value_gives_the_bytes_of_that_value():
    one, other = (run(core.Scene([hanging(), core.Cloth(sheet(shift=0.3), FABRIC)], [floor()], gravity=g))[-1]
                  for g in ((0.0, 0.5, -9.0), lambda t: (0.0, 0.5, -9.0)))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one.positions, other.positions, strict=True))


def test_a_continued_simulation_has_the_same_bytes():
    scene = core.Scene([hanging(), core.Cloth(sheet(shift=0.3), FABRIC)], [floor()],
                       gravity=lambda t: (0.0, 4.0 * t, -9.81 + 20.0 * t))
    solver = core.Solver(backend="numpy", frame_rate=24.0)
    whole = list(core.simulate(scene, solver, FRAMES))
    rest = list(core.simulate(scene, solver, FRAMES[3:], start=whole[2].checkpoint()))
    assert rest[-1].positions[0].tobytes() == whole[-1].positions[0].tobytes()
    assert rest[-1].positions[1].tobytes() == whole[-1].positions[1].tobytes()


@pytest.mark.parametrize("gravity, message", [
    (lambda: 0, "gravity is a function of"), (lambda t: (0.0, 0.0), "gravity at 0 s is"),
    (lambda t: (0.0, 0.0, np.nan if t > 0.1 else 0.0), r"gravity at 0\.1\d+ s is .* finite")])
def test_a_function_that_gives_no_vector_is_refused(gravity, message):
    with pytest.raises(core.SceneError, match=message):
        run(core.Scene([hanging()], gravity=gravity))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A step tells whether cloth lies on cloth, because a stack comes to rest in short steps alone."""

import numpy as np

import core
from core.integrators.implicit_euler import step
from core.integrators.step_context import StepContext
from core.model.particle_system import ParticleSystem
from tests.core.contact.shapes import sheet


def steps(gap, count=4):
    """Return the results of steps of a sheet that begins `gap` [m] above a larger one, which is held."""
    x, triangles = sheet(9, 9, 0.2, 0.2)
    fabric = core.Material.preset("cotton")
    low = core.Cloth(core.ClothMesh(x, triangles, name="low"), fabric, thickness=0.005, pins=np.ones(len(x)))
    high = core.Cloth(core.ClothMesh(0.8 * x + [0.003, 0.002, gap], triangles, name="high"), fabric, thickness=0.005)
    system, h = ParticleSystem(core.Scene([low, high])), 1.0 / 96.0
    state, settings = system.initial_state(), core.Solver()
    for _ in range(count):
        result = step(system, state, h, StepContext.at(system, state, settings))
        state = result.state
        yield result


def test_cloth_that_lies_on_cloth_presses_on_it_and_is_piled():
    for gap, lies in ((0.0101, True), (0.1, False)):
        assert [(result.presses, result.piled) for result in steps(gap)] == [(lies, lies)] * 4

# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth slides on a solid that grows: friction stretches it by no more than the contact pressure allows."""

import numpy as np

import core
from tests.core.contact.shapes import ball, sheet


def test_a_ball_that_grows_does_not_take_the_cloth_along():
    """The overhang weighs 0.4 N/m, which friction around a quarter of the ball doubles. This stretches cotton by 0.01
    %. The ball grows by 28 % in these frames.
    """
    solid, faces = ball(32, 16, 0.3)
    x, triangles = sheet(26, 26, 1.2, 1.2)
    cloth = core.Cloth(core.ClothMesh(x + [0.02, 0.01, 0.33], triangles), core.Material.preset("cotton"))
    grows = core.Collider(lambda t: solid * (1.0 + 0.5 * np.clip(t - 0.4, 0.0, 0.8)), faces, friction=0.3)
    solver = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2)
    frames = list(core.simulate(core.Scene([cloth], [grows]), solver, range(1, 25)))
    assert max(f.certificate.stretch_p99 for f in frames) < 1.1
    assert all(f.certificate.crossings == 0 for f in frames)

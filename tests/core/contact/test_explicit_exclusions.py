# SPDX-License-Identifier: GPL-3.0-or-later
"""With explicit integrators, excluded triangles pass a fixed sheet and all others stay on their side of it."""

import numpy as np
import pytest

import core
from tests.core.contact.shapes import sheet

pytestmark = pytest.mark.once

FABRIC = core.Material(areal_density=0.2, stretch=50.0, shear=20.0, bend=1e-6, damping=0.005)
"""Soft, so that steps need not be short, and damped, which explicit Euler needs."""
GAP, SPEED, FRAMES = 0.06, 3.0, 4
"""Distance of both sheets [m], velocity of the upper one [m/s], and number of frames."""


def falling(below, excluded):
    """Return a sheet that falls onto a fixed one in the plane z = 0, and its triangles.

    Args:
        below: what the fixed sheet is: a "solid", other "cloth", or a part of the cloth "itself".
        excluded: (n,) vertices of the falling sheet in the group of the exclusion.
    """
    x, triangles = sheet(7, 5, 0.6, 0.4)
    count, wide, upper = len(x), 1.5 * x, x + [0.0, 0.0, GAP]
    velocities = np.tile([0.0, 0.0, -SPEED], (count, 1))
    pins = dict.fromkeys(range(count))
    if below == "itself":
        mesh = core.ClothMesh(np.concatenate([wide, upper]), np.concatenate([triangles, triangles + count]))
        contact = core.ClothContact(not_self=np.concatenate([np.zeros(count, dtype=bool), excluded]))
        cloth = core.Cloth(mesh, FABRIC, pins=pins, thickness=0.01, contact=contact,
                           velocities=np.concatenate([0.0 * velocities, velocities]))
        return core.Scene([cloth]), triangles
    cloth = core.Cloth(core.ClothMesh(upper, triangles), FABRIC, thickness=0.01, velocities=velocities,
                       contact=core.ClothContact(not_objects=excluded))
    if below == "solid":
        return core.Scene([cloth], [core.Collider(wide, triangles)]), triangles
    fixed = core.Cloth(core.ClothMesh(wide, triangles, name="Fixed"), FABRIC, pins=pins, thickness=0.01)
    return core.Scene([fixed, cloth]), triangles


@pytest.mark.parametrize("below", ["solid", "cloth", "itself"])
@pytest.mark.parametrize("integrator", ["explicit_euler", "symplectic_euler", "verlet"])
def test_excluded_triangles_pass_and_all_others_are_held(integrator, below):
    x, _ = sheet(7, 5, 0.6, 0.4)
    excluded = x[:, 0] > -0.05
    scene, triangles = falling(below, excluded)
    held = np.unique(triangles[~excluded[triangles].all(axis=1)])
    solver = core.Solver(integrator=integrator, steps_per_frame=24)
    for frame in core.simulate(scene, solver, range(FRAMES + 1)):
        heights = frame.positions[-1][-len(x):, 2]
        assert heights[held].min() > 0.0
        assert frame.certificate.crossings == 0
    assert heights[x[:, 0] > 0.1].max() < 0.0                         # beside the held ones, the sheet hangs over them

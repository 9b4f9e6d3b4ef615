# SPDX-License-Identifier: GPL-3.0-or-later
"""How often a step is solved while its contacts change."""

import numpy as np

import core
from core.integrators import contact_loop
from tests.core.shapes import ball, grid

FABRIC = core.Material(areal_density=0.2, stretch=500.0, shear=80.0, bend=1e-5, friction=0.3)


def test_where_many_touch_a_quick_motion_takes_two_solves_a_step_at_most(monkeypatch):
    solves, looked = [], 0
    once = contact_loop.modified_pcg
    monkeypatch.setattr(contact_loop, "modified_pcg", lambda *a, **options: solves.append(1) or once(*a, **options))
    x, triangles = grid(24, 24)
    cloth = core.Cloth(core.ClothMesh(x - [0.5, 0.5, 0.0], triangles), FABRIC,
                       velocities=np.tile([0.0, 0.0, -2.0], (len(x), 1)))
    scene = core.Scene([cloth], [core.Collider(*ball(0.5, 3, (0.0, 0.0, -0.53)), friction=0.3)])
    touching = 0
    for frame in core.simulate(scene, core.Solver(self_collision=False, tolerance=1e-2), range(13)):
        near = np.linalg.norm(frame.positions[0] - [0.0, 0.0, -0.53], axis=1) < 0.5 + 2.0 * cloth.thickness
        if touching > 2 * contact_loop.MANY_CONTACTS:
            assert len(solves) <= 2 * (frame.certificate.steps + frame.certificate.rejected)
            looked += 1
        touching = int(near.sum())
        solves.clear()
    assert looked > 5

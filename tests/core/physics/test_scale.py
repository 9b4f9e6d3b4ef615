# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth in millimetres, metres and kilometres: with all units rescaled, the same shape to rounding.

Lengths are multiplied by s at unchanged times and masses: density / s^2, N/m unchanged, N m times s^2, gravity and wind
times s. A power of two changes no digit; other factors only round.
"""

import numpy as np

import core
from core.stencils.bending.patch_geometry import PatchGeometry
from tests.cases import cases
from tests.core.physics.scenes import grid, run

SETTINGS = {"default": {}, "converged": {"newton_iterations": "converge", "tolerance": 1e-8}}
TIGHT = {"tolerance": 1e-13}


def draped(s, settings, bending="patch", count=8, damping=0.002):
    """Return positions over s of a sheet that falls onto a still ramp, with a pin, a soft pin, and wind."""
    positions, triangles = grid((6, 6), (0.6, 0.6))
    positions += np.outer(0.01 * np.sin(9.0 * positions[:, 0] + 5.0 * positions[:, 1]), [0, 0, 1])
    mesh = core.ClothMesh(s * positions, triangles)
    fabric = core.Material(areal_density=0.2 / s ** 2, stretch=2e3, shear=300.0, bend=1e-4 * s ** 2, damping=damping,
                           air_drag=0.05 / s ** 2, viscous_drag=0.01 / s ** 2, thread_width=0.005 * s)
    pins = np.zeros(len(positions))
    pins[0], pins[6] = 1.0, 0.4
    cloth = core.Cloth(mesh, fabric, pins=pins, bending=bending)
    ramp = core.Collider(s * np.array([[-2.0, -2, -0.7], [2, -2, 0.3], [2, 2, 0.3], [-2, 2, -0.7]]),
                         [[0, 1, 2], [0, 2, 3]], friction=0.4)
    scene = core.Scene([cloth], [ramp], gravity=(0, 0, -9.81 * s), wind=(s, 0.5 * s, 0))
    frames = run(scene, core.Solver(**settings), count)
    return np.array([frame.positions[0] / s for frame in frames]), [frame.certificate for frame in frames]


@cases("power", [-10, 10])
@cases("settings", SETTINGS)
def test_the_same_cloth_a_thousand_times_larger_or_smaller_does_the_same_to_the_last_digit(power, settings):
    count = 8 if settings == "default" else 3
    metres, certified = draped(1.0, SETTINGS[settings], count=count)
    scaled, also = draped(2.0 ** power, SETTINGS[settings], count=count)
    assert np.abs(metres[-1] - metres[0]).max() > 0.02                      # it moved
    assert (scaled == metres).all()
    assert [c.steps for c in also] == [c.steps for c in certified]
    assert [c.stretch_max for c in also] == [c.stretch_max for c in certified]
    assert [c.residual for c in also] == [c.residual for c in certified]


@cases("s", [1e-3, 1e3])
@cases("bending", ["patch", "hinge", "quadratic"])
def test_cloth_in_millimetres_and_kilometres_has_the_shape_of_cloth_in_metres(s, bending):
    """The solve goes down to rounding, because conjugate gradients amplify rounding up to their tolerance. The patch is
    not damped, because the direction of its columns at rest is rounding.
    """
    damping = 0.0 if bending == "patch" else 0.002
    metres, _ = draped(1.0, TIGHT, bending, damping=damping)
    assert np.ptp(metres[-1][:, 2] - 0.25 * metres[-1][:, 0]) > 0.01
    assert np.abs(draped(s, TIGHT, bending, damping=damping)[0] - metres).max() < 1e-8


@cases("s", [1e-3, 1e3])
def test_the_columns_of_a_bent_patch_do_not_round_more_at_another_scale(s):
    positions, triangles = grid((4, 4), (0.6, 0.6))
    positions += np.outer(0.01 * np.sin(9.0 * positions[:, 0] + 5.0 * positions[:, 1]), [0, 0, 1])
    metres, scaled = (PatchGeometry(core.ClothMesh(a * positions, triangles), (1e-4, 1e-4)) for a in (1.0, s))
    assert np.abs(scaled.rest - metres.rest).max() < 1e-13
    assert np.abs(s * scaled.stencil.weights - metres.stencil.weights).max() < 1e-12 * metres.stencil.weights.max()

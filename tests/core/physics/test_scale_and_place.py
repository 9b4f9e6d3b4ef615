# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth in free fall moves alike at every size and at every distance from the origin.

Internal forces make no momentum and no turn, from sheets of a micrometre to sheets of ten kilometres, and up to a
million of its own sizes away from the origin.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import core
from core.model.particle_system import ParticleSystem
from tests.cases import cases
from tests.core.shapes import grid

SIZES = (1e4, 1.0, 1e-3, 1.4e-5, 1e-6)
FRAMES = 8
PLACE = np.array([1.0, 0.3, -0.2])
TURN = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]


def mesh_of(model, size, offset):
    """Return a mesh of this size [m], turned, with its shape at rest curved where the model keeps that."""
    if model == "jelly":
        points = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
        faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    elif model in ("rope", "particles"):
        points = np.stack([np.linspace(0.0, 1.0, 8), np.zeros(8), np.zeros(8)], axis=1)
        faces = None
    else:
        points, faces = grid(5, 5)
        points = points / np.ptp(points, axis=0).max()
        if model in ("baraff_witkin", "projective"):                    # the others are flat at rest
            points[:, 2] = 0.1 * np.sin(3.0 * points[:, 0])
    points = size * (points @ TURN.T) + offset * size * PLACE
    if model == "rope":
        return core.ClothMesh(points, edges=np.stack([np.arange(7), np.arange(1, 8)], axis=1))
    return core.ClothMesh(points, faces=faces, points=model == "particles")


def fall(model, size, offset, integrator):
    """Return the masses (V,) [kg] and the positions (FRAMES, V, 3) [m] of a free fall."""
    fabric = replace(core.Material.preset("cotton"), air_drag=0.0, viscous_drag=0.0)
    if model in ("rope", "particles"):
        fabric = replace(fabric, thread_width=0.02 * size)
    scene = core.Scene([core.Cloth(mesh_of(model, size, offset), fabric, model=model)])
    solver = core.Solver(integrator=integrator, steps_per_frame=1, tolerance=0.01, backend="numpy")
    frames = core.simulate(scene, solver, frames=range(1, FRAMES + 1))
    x = np.array([frame.positions[0] for frame in frames])
    return ParticleSystem(scene).mass[:x.shape[1]], x


@cache
def distance_of_fall(integrator):
    """Return the fall [m] of a stiff sheet of a metre at the origin."""
    _, x = fall("baraff_witkin", 1.0, 0.0, integrator)
    return (x[0] - x[-1])[:, 2].mean()


def check(model, size, offset, integrator="bdf2"):
    mass, x = fall(model, size, offset, integrator)
    rounding = 1e-13 * offset * size
    moved = mass @ (x[-1] - x[0]) / mass.sum()
    # below a millimetre, rounding is enough to buckle the edges of immediate buckling, and steps are halved
    buckles = model == "immediate_buckling"
    atol = (1e-3 if buckles else 1e-6) + rounding
    np.testing.assert_allclose(moved[:2], 0.0, atol=atol, err_msg="momentum is made sideways")
    assert -moved[2] == pytest.approx(distance_of_fall(integrator), rel=0.1 if buckles else 0.0, abs=1e-6 + rounding)
    if not buckles:
        shape = (x[-1] - x[-1].mean(axis=0)) - (x[0] - x[0].mean(axis=0))
        assert np.abs(shape).max() <= 0.02 * size + rounding, "it has turned or changed its shape"


@cases("model", core.models())
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_sheets_of_all_sizes_fall_alike_at_all_places(model, offset):
    for size in SIZES:
        check(model, size, offset)


@pytest.mark.parametrize("integrator", ["implicit_euler", "projective_dynamics"])
def test_so_do_they_with_other_integrators(integrator):
    for size in SIZES:
        check("baraff_witkin", size, 1e6, integrator)


@cases("model", ["mass_spring", "baraff_witkin"])
@pytest.mark.parametrize("integrator", ["bdf2", "implicit_euler", "projective_dynamics"])
def test_rounding_of_large_inner_forces_makes_no_momentum(model, integrator):
    """Edges of a crumpled sheet of 0.3 mm are stretched ten times, by forces of 1e7 weights and more."""
    points, faces = grid(4, 4)
    start = 3e-4 * points
    crumpled = start + 1e-4 * np.random.default_rng(3).normal(size=start.shape)
    fabric = replace(core.Material.preset("denim"), air_drag=0.0, viscous_drag=0.0)
    scene = core.Scene([core.Cloth(core.ClothMesh(0.1 * start, faces=faces), fabric, model=model,
                                   positions=crumpled)])
    solver = core.Solver(integrator=integrator, steps_per_frame=1, tolerance=0.01, self_collision=False)
    mass = ParticleSystem(scene).mass
    for frame in core.simulate(scene, solver, frames=range(1, 4)):
        v = frame.checkpoint().state.v
        lost = mass @ v / mass.sum() - scene.gravity * frame.time
        assert np.abs(lost).max() <= 1e-13 * np.abs(v).max() + 1e-16

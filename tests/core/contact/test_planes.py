# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a solid at the end of a step has a plane that leads out, whatever the solid did in it."""

import numpy as np
import pytest

from core.contact.colliders import SurfaceShape
from core.contact.containment import inside
from core.contact.planes import find_planes
from core.kernels import using
from core.kernels.backend import why_not
from tests.cases import cases
from tests.core.contact.shapes import ball, box, bumpy_ball, rotation, sheet

BACKENDS = ["numpy", pytest.param("numba", marks=pytest.mark.skipif(bool(why_not("numba")), reason="no Numba"))]
REACH = 0.01


def together(*meshes):
    """One mesh of several (positions, triangles)."""
    before = np.cumsum([0] + [len(positions) for positions, _ in meshes[:-1]])
    return (np.concatenate([positions for positions, _ in meshes]),
            np.concatenate([triangles + first for (_, triangles), first in zip(meshes, before, strict=True)]))


def cut_open(mesh):
    """The same faces, each with vertices of its own."""
    positions, triangles = mesh
    return positions[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3)


def moved(mesh, by):
    return mesh[0] + by, mesh[1]


SOLIDS = {
    "ball": ball(16, 8),
    "bumpy": bumpy_ball(24, 12),
    "inside out": (ball(16, 8)[0], ball(16, 8)[1][:, ::-1]),
    "two that overlap": together(ball(16, 8), moved(box([0.6, 0.8, 0.5]), [0.4, 0.1, 0.1])),
    "one in another": together(ball(16, 8), ball(12, 6, 0.3)),
    "with a sheet through it": together(ball(16, 8), sheet(4, 4)),
    "cut open": cut_open(box([0.7, 0.7, 0.7])),
}
MOTIONS = {
    "rests": lambda x: x,
    "goes": lambda x: x + [0.3, -0.4, 0.2],
    "turns": lambda x: x @ rotation([1.0, 2.0, 0.5], 2.5).T,
    "is mirrored": lambda x: x * [-1.0, 1.0, 1.0],
    "is crushed": lambda x: x * [1.0, 0.2, 1.5] + 0.1 * np.sin(9.0 * x[:, ::-1]),
}


def paths(count, length, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.7, 0.7, size=(count, 3))
    return x, x + length * rng.normal(size=x.shape)


def within(points, positions, surface):
    return inside(points, positions, surface.shape.triangles, surface.shape.closed, surface.tree_t1)


@pytest.mark.parametrize("backend", BACKENDS)
@cases("length", [0.0, 0.05, 0.6])
@cases("motion", MOTIONS)
@cases("solid", SOLIDS)
def test_whoever_ends_inside_is_found(solid, motion, length, backend):
    positions, triangles = SOLIDS[solid]
    shape = SurfaceShape.build(positions, triangles)
    later = MOTIONS[motion](positions)
    surface = shape.moving(positions, positions if motion == "rests" else later)
    x_t0, x_t1 = paths(1500, length)
    with using(backend):
        planes, _ = find_planes(surface, x_t0, x_t1, np.full(len(x_t0), REACH), deep=True)
        ends_inside = np.flatnonzero(within(x_t1, surface.x_t1, surface))
    assert len(ends_inside) > 20
    assert set(ends_inside) <= set(planes.vertex)


@pytest.mark.parametrize("backend", BACKENDS)
def test_whoever_slips_through_a_seam_that_opens_is_found(backend):
    positions, triangles = cut_open(box([1.0, 1.0, 1.0]))
    faces = positions.reshape(-1, 3, 3)
    opened = positions + np.repeat(0.2 * (faces.mean(axis=1) > 0.49), 3, axis=0)   # three sides move off
    rests = SurfaceShape.build(positions, triangles).moving(opened, opened)
    x_t0 = np.array([[0.1, 0.62, 0.62]])
    x_t1 = np.array([[0.1, 0.3, 0.3]])
    with using(backend):
        planes, _ = find_planes(rests, x_t0, x_t1, np.full(1, REACH), deep=True)
    assert not rests.sealed
    assert planes.vertex.tolist() == [0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_whoever_rounding_puts_on_the_outside_is_found_however_deep_it_goes(backend):
    surface = SurfaceShape.build(*bumpy_ball(24, 12)).moving(*[bumpy_ball(24, 12)[0]] * 2)
    corners = surface.x_t0[surface.shape.triangles]
    x_t0 = np.concatenate([corners.mean(axis=1), corners[:, :2].mean(axis=1), surface.x_t0])
    x_t1 = 0.3 * x_t0
    with using(backend):
        planes, _ = find_planes(surface, x_t0, x_t1, np.full(len(x_t0), REACH), deep=True)
    assert set(planes.vertex) == set(range(len(x_t0)))

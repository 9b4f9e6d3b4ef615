# SPDX-License-Identifier: GPL-3.0-or-later
"""Taut cloth comes off what has pierced it: tension does not hold it there."""

import numpy as np
import pytest

import core
from tests.core.contact.shapes import ball
from tests.core.shapes import grid
from tests.scenes.staging import AS_IN_BLENDER

RADIUS, HEIGHT, WIDTH = 0.1, 0.008, 0.015
"""Radius of the ball, and height and width of the bump on it [m]."""
STRETCH = 1.1
"""Length of the tube's edges at the start over that at rest [-]."""


def ball_with_bump():
    x, triangles = ball(96, 48, RADIUS)
    away = np.linalg.norm(x - [RADIUS, 0.0, 0.0], axis=1)
    return x * (1.0 + HEIGHT / RADIUS * np.exp(-(away / WIDTH) ** 2))[:, None], triangles


def taut_tube(count, shift, rows=9, high=0.06, off=0.0035):
    """Return cloth of `count` vertices around the ball, turned by a part of an edge, that keeps off it."""
    angle = 2.0 * np.pi * (np.arange(count) + shift) / count
    z = np.repeat(np.linspace(-high, high, rows), count)
    radius = np.sqrt(RADIUS ** 2 - z ** 2) + off
    x = np.stack([radius * np.tile(np.cos(angle), rows), radius * np.tile(np.sin(angle), rows), z], axis=1)
    faces = [[i * count + j, i * count + (j + 1) % count, (i + 1) * count + (j + 1) % count, (i + 1) * count + j]
             for i in range(rows - 1) for j in range(count)]
    return core.Cloth(core.ClothMesh(x / STRETCH, faces=faces), core.Material.preset("cotton"), positions=x,
                      buckling=True)


@pytest.mark.parametrize(("count", "shift", "of"), [
    (24, 0.0, "collider"), (24, 0.5, "collider"), (32, 0.3, "collider"), (40, 0.0, "crossed collider"),
    (32, 0.3, "cloth")])
def test_a_bump_that_has_pierced_taut_cloth_goes_back_through_it(count, shift, of):
    """A bump of a collider, of one that another collider crosses elsewhere, or of cloth that pins hold."""
    x, triangles = ball_with_bump()
    other, more = ball(16, 8, 0.3 * RADIUS)
    if of == "cloth":
        held = core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), thickness=0.002,
                          pins=dict.fromkeys(range(len(x))))
        scene = core.Scene([taut_tube(count, shift), held])
    else:
        others = [core.Collider(other + [0.0, 0.0, RADIUS], more)] if of == "crossed collider" else []
        scene = core.Scene([taut_tube(count, shift)], [core.Collider(x, triangles), *others])
    solver = core.Solver(**{**AS_IN_BLENDER, "resolve_start": False})
    crossings = [frame.certificate.crossings for frame in core.simulate(scene, solver, range(1, 9))]
    assert crossings[0] > 40
    assert crossings[4:] == [0] * 4


def test_what_pins_hold_crossed_is_not_pulled_firmly():
    """Put a flap through a taut sheet, with pins at both ends of the flap and in the sheet: no step can part them."""
    x, triangles = grid(9, 9, (0.2, 0.2))
    x = x - x.mean(axis=0)
    far = np.abs(x[:, :2]).max(axis=1)
    cotton = core.Material.preset("cotton")
    sheet = core.Cloth(core.ClothMesh(x / STRETCH, triangles), cotton, positions=x,
                       pins=dict.fromkeys(np.flatnonzero((far > 0.1 - 1e-9) | (far < 0.01))))
    upright, faces = grid(5, 5, (0.04, 0.04))
    upright = (upright - upright.mean(axis=0))[:, [0, 2, 1]] + [0.001, 0.004, 0.002]
    flap = core.Cloth(core.ClothMesh(upright, faces), cotton, pins=dict.fromkeys(np.flatnonzero(
        np.abs(upright[:, 2] - 0.002) > 0.02 - 1e-9)))
    solver = core.Solver(**{**AS_IN_BLENDER, "resolve_start": False})
    found = [frame.certificate for frame in core.simulate(core.Scene([sheet, flap]), solver, range(1, 9))]
    assert found[-1].crossings > 0
    assert all(one.converged and one.stretch_max < 1.2 * STRETCH for one in found[1:])
    assert sum(one.steps for one in found[1:]) < 20

# SPDX-License-Identifier: GPL-3.0-or-later
"""A board that starts suddenly moves the sheet on it by friction alone, for every number of vertices."""

from dataclasses import replace

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.shapes import grid
from tests.scenes.staging import AS_IN_BLENDER, AS_IN_CORE

G, RATE, RESTS = 9.81, 24, 12                                                                   # frames, the last one
BOARD = np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [9.0, 9.0, 0.0], [-9.0, 9.0, 0.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])
SIDE = 0.6                                                                                                       # [m]


def on_board(cells, fabric, mu, motion, settings, frames):
    """Return positions (frames + 1, V, 3) [m] from the start of the board's `motion(t)`: (n, 3), (n, 3) -> (n, 3)."""
    x, triangles = grid(cells, cells, (SIDE, SIDE))
    x = x - x.mean(axis=0)
    material = replace(core.Material.preset(fabric), air_drag=0.0)
    cloth = core.Cloth(core.ClothMesh(x, triangles), material, positions=x + [0.0, 0.0, 5e-3])
    board = core.Collider(lambda t: motion(BOARD, max(t - RESTS / RATE, 0.0)), FACES,
                          friction=mu**2 / material.friction)
    solver = core.Solver(**{**settings, "frame_rate": RATE})
    return np.array([f.positions[0] for f in core.simulate(core.Scene([cloth], [board]), solver,
                                                           range(1, RESTS + frames + 2))])[RESTS:]


SPRINGS = {**AS_IN_CORE, "solid_contact": "springs"}


@cases(("cells", "fabric", "mu", "speed", "settings"), [
    (26, "silk", 0.3, 3.0, SPRINGS), (20, "cotton", 0.5, 2.0, {**AS_IN_BLENDER, "solid_contact": "springs"}),
    (20, "cotton", 0.5, 2.0, AS_IN_BLENDER), (26, "silk", 0.3, 3.0, AS_IN_CORE), (7, "denim", 0.5, 2.0, AS_IN_BLENDER)])
def test_it_is_drawn_along_with_mu_g(cells, fabric, mu, speed, settings):
    """With more than a hundred contacts that stick within one step, the sheet would reach 2 m/s after a frame, ten
    times too fast.
    """
    frames = int(0.8 * speed / (mu * G) * RATE)
    x = on_board(cells, fabric, mu, lambda x, t: x + [speed * t, 0.0, 0.0], settings, frames)
    gained = mu * G / RATE * np.arange(1, frames + 1)
    assert np.diff(x[:, :, 0].mean(axis=1)) * RATE == pytest.approx(gained, rel=0.05, abs=0.6 * mu * G / RATE)

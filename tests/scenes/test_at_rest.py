# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that hangs over an edge comes to rest and stays at rest, with the settings of the panel and one step per frame.
"""

import numpy as np
import pytest

import core
from tests.core.contact.shapes import box, sheet
from tests.scenes.staging import AS_IN_BLENDER

SHAKES = 5e-4
"""Root mean square of the speeds above which the cloth still moves [m/s]."""


def on_a_table(fabric, cells, side, beside, frames, friction=0.3):
    """Return the frames of a square that is laid on a table of 1 m, its middle `beside` [m] the middle of the table."""
    x, triangles = sheet(cells, cells, side, side)
    laid = core.Cloth(core.ClothMesh(x + [beside, 0.0, 0.06], triangles), core.Material.preset(fabric))
    table = core.Collider(*box([1.0, 1.0, 0.1]), friction=friction)
    return core.simulate(core.Scene([laid], [table]), core.Solver(**AS_IN_BLENDER), range(1, frames + 1))


def speeds(*scene):
    """Return the root mean square of the speeds (frames,) [m/s]."""
    return np.array([np.sqrt(np.mean(np.sum(frame.velocities[0] ** 2, axis=1))) for frame in on_a_table(*scene)])


@pytest.mark.parametrize("fabric", ["cotton", "silk"])
def test_what_hangs_over_the_edge_of_a_table_comes_to_rest(fabric):
    """A quarter of the sheet pulls at the rest. Contact penalties that stiffen and soften again in turn would shake it
    permanently, at 5 mm/s.
    """
    assert speeds(fabric, 30, 0.6, 0.35, 150)[-30:].max() < SHAKES


@pytest.mark.slow
def test_a_tablecloth_comes_to_rest():
    """It overhangs on all sides; its corners swing for some seconds."""
    assert speeds("denim", 30, 1.4, 0.0, 240)[-30:].max() < SHAKES


def test_a_sheet_slides_off_a_table_without_friction():
    """It is held only by the corner that its rows pass one after the other. Resting vertices must not stick."""
    last = list(on_a_table("cotton", 30, 0.6, 0.35, 40, 0.0))[-1]
    assert last.positions[0][:, 0].mean() > 0.5


def folded_between_walls(gap, frames):
    """Return the frames of a sheet that hangs folded over a held line, while two walls close in on it up to `gap` [m].
    """
    x, triangles = sheet(13, 13, 0.3, 0.3)
    across = x[:, 0]
    start = np.column_stack([x[:, 1], np.where(across < 0.0, -1.0, 1.0) * np.minimum(0.014, np.abs(across)),
                             -np.abs(across)])
    wall, faces = box([0.5, 0.1, 0.14])

    def at(time):
        share = np.clip(2.0 * time, 0.0, 1.0)
        away = 0.05 + 0.5 * gap + 0.04 * (1.0 - share * share * (3.0 - 2.0 * share))
        return np.concatenate([wall + [0.0, away, -0.09], wall - [0.0, away, 0.09]])

    held = dict.fromkeys(np.flatnonzero(np.abs(across) < 1e-9).tolist())
    made = core.Cloth(core.ClothMesh(x, triangles), core.Material.preset("cotton"), positions=start, pins=held)
    walls = core.Collider(at, np.concatenate([faces, faces + len(wall)]), friction=0.3)
    return list(core.simulate(core.Scene([made], [walls]), core.Solver(**AS_IN_BLENDER), range(1, frames + 1)))


def test_a_fold_between_walls_with_room_for_one_layer_takes_few_steps():
    """Springs that stiffened until both layers kept their distance would fling it about, at a dozen steps a frame."""
    frames = folded_between_walls(0.008, 40)
    assert sum(frame.certificate.steps for frame in frames) < 5 * len(frames)
    assert max(frame.certificate.crossings for frame in frames) == 0

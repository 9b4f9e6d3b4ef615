# SPDX-License-Identifier: GPL-3.0-or-later
"""What hangs over an edge comes to rest, and stays so: with the settings of Blender's panel, one step a frame."""

import numpy as np
import pytest

import core
from tests.core.contact.shapes import box, sheet
from tests.scenes.staging import AS_IN_BLENDER

SHAKES = 5e-4
"""Root mean square of speeds above which something still moves [m/s]."""


def on_a_table(fabric, cells, side, beside, frames, friction=0.3):
    """Frames of a square that is laid on a table of a metre, `beside` [m] its middle."""
    x, triangles = sheet(cells, cells, side, side)
    laid = core.Cloth(core.ClothMesh(x + [beside, 0.0, 0.06], triangles), core.Material.preset(fabric))
    table = core.Collider(*box([1.0, 1.0, 0.1]), friction=friction)
    return core.simulate(core.Scene([laid], [table]), core.Solver(**AS_IN_BLENDER), range(1, frames + 1))


def speeds(*scene):
    """Root mean square of speeds (frames,) [m/s]."""
    return np.array([np.sqrt(np.mean(np.sum(frame.velocities[0] ** 2, axis=1))) for frame in on_a_table(*scene)])


@pytest.mark.parametrize("fabric", ["cotton", "silk"])
def test_what_hangs_over_the_edge_of_a_table_comes_to_rest(fabric):
    """A quarter of the sheet pulls at the rest of it. Springs that had got stiffer at the edge, and eased until they
    sank once more, shook it for ever, at 5 mm/s."""
    assert speeds(fabric, 30, 0.6, 0.35, 150)[-30:].max() < SHAKES


@pytest.mark.slow
def test_a_tablecloth_comes_to_rest():
    """It hangs down all around; at its corners it swings for some seconds."""
    assert speeds("denim", 30, 1.4, 0.0, 240)[-30:].max() < SHAKES


def test_a_sheet_slides_off_a_table_without_friction():
    """Nothing holds it but the corner that its rows have to go round, one after the other. What lay still stuck."""
    last = list(on_a_table("cotton", 30, 0.6, 0.35, 40, 0.0))[-1]
    assert last.positions[0][:, 0].mean() > 0.5

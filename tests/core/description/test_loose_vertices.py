# SPDX-License-Identifier: GPL-3.0-or-later
"""Loose vertices that a mesh keeps move as their pins say, and change nothing else."""

import numpy as np
import pytest

import core

SILK = core.Material.preset("silk")


def grid():
    """Return positions (25, 3) [m] and quads of a sheet of 1 m."""
    side = np.linspace(0.0, 1.0, 5)
    positions = np.array([(x, y, 0.0) for y in side for x in side])
    return positions, [(a, a + 1, a + 6, a + 5) for j in range(4) for a in range(5 * j, 5 * j + 4)]


def sheet(loose=(), **options):
    positions, faces = grid()
    mesh = core.ClothMesh(np.concatenate([positions, np.reshape(loose, (-1, 3))]), faces=faces, keep_loose=True)
    return core.Cloth(mesh, SILK, **options)


def last(scene, frames=6, **solver):
    return list(core.simulate(scene, core.Solver(**solver), range(1, frames + 1)))[-1]


@pytest.mark.parametrize("model", ["baraff_witkin", "mass_spring"])
def test_the_sheet_moves_as_without_them(model):
    free = last(core.Scene([sheet(model=model)])).positions[0]
    kept = last(core.Scene([sheet([(0.5, 0.5, -0.02), (0.2, 0.2, -0.02), (9.0, 0.0, 0.0)], model=model)])).positions[0]
    np.testing.assert_allclose(kept[:25], free, atol=1e-9)
    assert (kept[25:] == [(0.5, 0.5, -0.02), (0.2, 0.2, -0.02), (9.0, 0.0, 0.0)]).all()


def test_they_follow_the_targets_of_pins():
    positions, _ = grid()
    start = np.concatenate([positions, [(0.0, 0.0, 2.0)]])
    cloth = sheet([(0.0, 0.0, 2.0)], pin_targets=lambda t: start + [0.0, t, 0.0])
    frame = last(core.Scene([cloth]), frames=5, frame_rate=10.0)
    np.testing.assert_allclose(frame.positions[0][25], (0.0, frame.time, 2.0), atol=1e-12)


def test_one_inside_a_collider_is_no_depth():
    corners = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-4.0, -2.0)])
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6),
             (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    frame = last(core.Scene([sheet([(0.0, 0.0, -3.0)])], [core.Collider(corners, faces)]), frames=2)
    assert frame.certificate.deepest_penetration == 0.0


def test_without_it_they_are_refused():
    positions, faces = grid()
    with pytest.raises(core.MeshError, match=r"vertex 25 belongs to no face or edge \(1 such\)"):
        core.ClothMesh(np.concatenate([positions, [(0.0, 0.0, 1.0)]]), faces=faces)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The cage of a mesh has the volume and the centre of the enclosed solid, and its cells are cut without gaps."""

import numpy as np
import pytest

from core import ClothMesh
from core.stencils.solids.cage import CELL_CORNERS, build_cage, trilinear
from core.stencils.solids.cage_tetrahedra import barycentric, cut_cells
from tests.cases import cases
from tests.core.shapes import ball, block


def cage(positions, cells, **faces):
    mesh = ClothMesh(positions, **faces)
    return mesh, build_cage(mesh.positions, mesh.triangles, mesh.edges, cells)


@cases("cells", [3, 8])
def test_a_block_is_filled_exactly(cells):
    x, faces = block((0.3, 0.2, 0.1), (6, 4, 2))
    _, found = cage(x + 5.0, 3 * cells, faces=faces)
    assert len(found.cells) == 6 * cells ** 3
    assert found.volume == pytest.approx(0.006, rel=1e-9)
    np.testing.assert_allclose(found.fraction, 1.0, rtol=1e-12)
    np.testing.assert_allclose(found.nodes.min(axis=0), x.min(axis=0) + 5.0)
    np.testing.assert_allclose(found.nodes.max(axis=0), x.max(axis=0) + 5.0)


def test_node_volumes_have_the_volume_and_the_centre_of_the_solid():
    x, t = ball(0.5, centre=(1.0, 2.0, 3.0))
    half = x.copy()
    half[:, 2] = np.maximum(half[:, 2], 3.0 + 1e-4 * (x[:, 2] - 3.0))      # a dome; its centre is at 3/8 of the radius
    _, found = cage(half, 16, triangles=t)
    assert found.node_volumes.sum() == pytest.approx(2.0 / 3.0 * np.pi * 0.125, rel=0.02)
    centre = found.node_volumes @ found.nodes / found.node_volumes.sum()
    np.testing.assert_allclose(centre, [1.0, 2.0, 3.0 + 3.0 / 8.0 * 0.5], atol=0.01)
    assert found.node_volumes.min() > 0.0
    assert found.fraction.sum() * found.size.prod() == pytest.approx(found.volume, rel=1e-12)


def test_every_vertex_is_in_a_cell_and_weights_give_its_position():
    mesh, found = cage(ball(0.5)[0], 7, triangles=ball(0.5)[1])
    cell, inside = found.locate(mesh.positions)
    assert (inside > -1e-9).all() and (inside < 1.0 + 1e-9).all()
    w = trilinear(inside)
    np.testing.assert_allclose(w.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.einsum("pc,pci->pi", w, found.nodes[found.cells[cell]]), mesh.positions,
                               atol=1e-12)
    nodes, w = barycentric(found.cells[cell], found.coordinates[cell], inside)
    assert w.min() > -1e-9
    np.testing.assert_allclose(np.einsum("pc,pci->pi", w, found.nodes[nodes]), mesh.positions, atol=1e-12)


def test_tetrahedra_fill_their_cells_and_share_whole_faces():
    _, found = cage(block((1.0,) * 3, (2, 2, 2))[0], 3, faces=block((1.0,) * 3, (2, 2, 2))[1])
    tetrahedra = cut_cells(found.cells, found.coordinates)
    a, b, c, d = (found.nodes[tetrahedra[:, k]] for k in range(4))
    volume = np.abs(np.einsum("qi,qi->q", np.cross(b - a, c - a), d - a)) / 6.0
    np.testing.assert_allclose(volume.reshape(-1, 5).sum(axis=1), found.size.prod())
    np.testing.assert_allclose(volume.reshape(-1, 5), np.tile([2.0, 1.0, 1.0, 1.0, 1.0], (27, 1)) / 27.0 / 6.0)
    sides = np.sort(np.concatenate([np.delete(tetrahedra, k, axis=1) for k in range(4)]), axis=1)
    faces, count = np.unique(sides, axis=0, return_counts=True)
    assert count.max() == 2
    assert (count == 1).sum() == 2 * 6 * 9                       # the surface of the block, two per square


def test_corners_are_numbered_in_binary():
    assert [int(np.dot(c, [4, 2, 1])) for c in CELL_CORNERS] == list(range(8))

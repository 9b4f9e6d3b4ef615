# SPDX-License-Identifier: GPL-3.0-or-later
"""Grids are recognised whatever their numbering, and what is none is refused with the reason."""

import numpy as np
import pytest

import core
from core.description.grid_topology import grid_of
from tests.cases import cases
from tests.core.shapes import ball, grid, quads


def scrambled(n, m, kind, seed=0):
    """A sheet of n x m cells, longer along x, with vertices and corners in random order."""
    rng = np.random.default_rng(seed)
    x, triangles = grid(n, m, (float(n), 0.7 * m))
    number = rng.permutation(len(x))
    y = np.empty_like(x)
    y[number] = x
    if kind == "triangles":
        return core.ClothMesh(y, number[triangles][rng.permutation(len(triangles))])
    turns, flips = rng.integers(0, 4, n * m), rng.integers(0, 2, n * m)
    faces = [np.roll(f if flip else f[::-1], k) for f, k, flip in zip(number[quads(n, m)], turns, flips, strict=True)]
    return core.ClothMesh(y, faces=[faces[i] for i in rng.permutation(n * m)])


@cases("kind", ["quads", "triangles"])
@cases("cells", [(1, 1), (1, 4), (6, 3), (5, 5)])
def test_a_grid_is_found_in_any_numbering_with_its_first_index_along_the_warp(cells, kind):
    mesh = scrambled(*cells, kind)
    found = grid_of(mesh)
    assert found.shape == (cells[0] + 1, cells[1] + 1)
    x = mesh.positions[found]
    np.testing.assert_allclose(np.abs(np.diff(x, axis=0)), np.broadcast_to((1.0, 0.0, 0.0), (*x[1:].shape[:2], 3)),
                               atol=1e-12)
    np.testing.assert_allclose(np.abs(np.diff(x, axis=1)), np.broadcast_to((0.0, 0.7, 0.0), x[:, 1:].shape), atol=1e-12)


def hole():
    x, _ = grid(3, 3)
    return core.ClothMesh(x, faces=np.delete(quads(3, 3), 4, axis=0))


def tube():
    a = 2.0 * np.pi * np.arange(6) / 6.0
    x = np.concatenate([np.stack([np.cos(a), np.sin(a), 0 * a + z], axis=1) for z in (0.0, 1.0, 2.0)])
    return core.ClothMesh(x, faces=[(6 * j + i, 6 * j + (i + 1) % 6, 6 * j + 6 + (i + 1) % 6, 6 * j + 6 + i)
                                    for j in range(2) for i in range(6)])


def tail():
    x, _ = grid(2, 2)
    return core.ClothMesh(np.append(x, [[2.0, 0.0, 0.0]], axis=0), faces=quads(2, 2), edges=[(0, 9)])


NO_GRIDS = {
    "tube": (tube, "it has 0 corners, as a tube"),
    "ball": (lambda: core.ClothMesh(*ball(1.0, 1)), "is not half of a quad"),
    "hole": (hole, "is no regular grid"),
    "tail": (tail, r"edge \[0, 9\] belongs to no face"),
}


@cases(("make", "reason"), NO_GRIDS.values(), ids=NO_GRIDS)
def test_what_is_no_grid_is_refused_with_the_reason_and_a_way_out(make, reason):
    with pytest.raises(core.MeshError, match=f"{reason}.*; take another model"):
        grid_of(make())

# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot leave a solid because pins hold cloth in it, against shortest paths by SciPy."""

import numpy as np
import pytest

import core
from core.contact.pinned_inside import PinnedInside
from tests.cases import cases
from tests.core.contact.shapes import box, sheet

sparse = pytest.importorskip("scipy.sparse")
csgraph = pytest.importorskip("scipy.sparse.csgraph")


def _net(x, triangles):
    corners = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
    return np.unique(np.sort(corners, axis=1), axis=0)


@cases("seed", range(4))
def test_what_is_nearer_to_a_pin_along_the_cloth_than_that_to_the_outside_is_kept(seed):
    rng = np.random.default_rng(seed)
    x, triangles = sheet(14, 11, 0.7, 0.4)
    x = x + 0.3 * 0.04 * rng.standard_normal(x.shape) * [1.0, 1.0, 0.0]
    edges, scale = _net(x, triangles), None if seed % 2 else rng.uniform(0.8, 1.2, len(x))
    held = np.isin(np.arange(len(x)), rng.choice(len(x), 4, replace=False))
    depth = np.where(held, rng.uniform(0.02, 0.15, len(x)), rng.uniform(-1.0, 1.0, len(x)))
    kept = PinnedInside(edges, triangles, x, scale).kept(held, depth)

    by_edge: dict[tuple[int, int], list[int]] = {}
    for corners in triangles.tolist():
        for k in range(3):
            pair = tuple(sorted((corners[k], corners[k - 1])))
            by_edge.setdefault(pair, []).append(corners[k - 2])
    links = np.concatenate([edges, [tips for tips in by_edge.values() if len(tips) == 2]])
    length = np.linalg.norm(x[links[:, 1]] - x[links[:, 0]], axis=1)
    if scale is not None:
        length = length * scale[links].mean(axis=1)
    away = csgraph.dijkstra(sparse.coo_matrix((length, links.T), shape=(len(x), len(x))), directed=False,
                            indices=np.flatnonzero(held))
    expected = (away < depth[held][:, None]).any(axis=0) & ~held
    assert 5 < expected.sum() < len(x) - 20
    np.testing.assert_array_equal(kept, expected)


def test_diagonals_count_in_both_directions():
    """Along edges alone the corner that no diagonal leads to would be two fifths further away, and be put out."""
    x, triangles = sheet(9, 9, 0.8, 0.8)
    held = np.arange(81) == 40
    reached = np.linalg.norm(x - x[40], axis=1)
    kept = PinnedInside(_net(x, triangles), triangles, x).kept(held, np.full(81, 0.31))
    assert kept[reached < 0.28].sum() == (reached < 0.28).sum() - 1 and not kept[reached > 0.32].any()


def test_pins_at_the_surface_keep_nothing():
    x, triangles = sheet(5, 5, 0.4, 0.4)
    held = np.arange(25) % 5 == 0
    assert not PinnedInside(_net(x, triangles), triangles, x).kept(held, np.full(25, 0.09)).any()


@cases("height", [0.0, 0.02])
def test_a_first_step_of_what_starts_too_near_to_a_solid_and_not_in_it_asks_for_no_depth(height):
    x, triangles = sheet(6, 6, 1.0, 1.0)
    cloth = core.Cloth(core.ClothMesh(x + [0.0, 0.0, 0.3 + height], triangles), core.Material.preset("cotton"))
    frames = list(core.simulate(core.Scene([cloth], [core.Collider(*box(0.6))]), core.Solver(), range(3)))
    assert frames[-1].certificate.crossings == 0 and np.ptp(frames[-1].positions[0][:, 2]) < 0.2

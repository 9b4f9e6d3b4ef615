# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of elimination separates what it says it does, and the factor solves on any graph."""

import numpy as np
import pytest

from core.description.topology import Topology
from core.kernels import using
from core.linear.block_cholesky import BlockCholesky
from core.linear.nested_dissection import NestedDissection
from tests.cases import cases
from tests.core.shapes import grid

pytestmark = pytest.mark.usefixtures("backend")


def edges_of(triangles):
    return Topology(triangles).edges


def sheet(cells=20):
    positions, triangles = grid(cells, cells)
    return edges_of(triangles), positions


def irregular():
    """A Delaunay mesh of random points, far denser in one corner."""
    from scipy.spatial import Delaunay
    rng = np.random.default_rng(5)
    xy = rng.random((700, 2)) ** 3
    return edges_of(Delaunay(xy).simplices.astype(np.int64)), np.column_stack([xy, np.zeros(len(xy))])


def pieces():
    """Three sheets of different size and a triangle, one on top of the other."""
    parts = [grid(9, 9), grid(4, 12), grid(1, 1), grid(15, 3)]
    starts = np.cumsum([0] + [len(p) for p, _ in parts])
    triangles = np.concatenate([t + s for (_, t), s in zip(parts, starts, strict=False)])
    return edges_of(triangles), np.concatenate([p for p, _ in parts])


def rope():
    edges = np.column_stack([np.arange(499), np.arange(1, 500)])
    return edges, np.column_stack([np.linspace(0.0, 1.0, 500), np.zeros(500), np.zeros(500)])


def book():
    """Seven sheets sewn together along one edge: not a manifold."""
    spine = np.column_stack([np.zeros(12), np.linspace(0, 1, 12), np.zeros(12)])
    positions, edges = [spine], [np.column_stack([np.arange(11), np.arange(1, 12)])]
    for page in range(7):
        angle = 0.3 * page
        start = 12 + page * 12 * 9
        before = np.arange(12)
        for column in range(9):
            here = start + 12 * column + np.arange(12)
            r = (column + 1) / 9
            x, z = np.full((2, 12), [[r * np.cos(angle)], [r * np.sin(angle)]])
            positions.append(np.column_stack([x, spine[:, 1], z]))
            edges += [np.column_stack([before, here]), np.column_stack([here[:-1], here[1:]]),
                      np.column_stack([before[:-1], here[1:]])]
            before = here
    return np.sort(np.concatenate(edges), axis=1), np.concatenate(positions)


def one_place():
    """A wheel whose vertices lie in one place, so that no cut has a meaning: every rim vertex touches the hub."""
    rim = np.arange(1, 200)
    return np.concatenate([np.column_stack([0 * rim, rim]), np.column_stack([rim[:-1], rim[1:]])]), np.zeros((200, 3))


def lonely():
    return np.zeros((0, 2), dtype=np.int64), np.random.default_rng(0).random((300, 3))


def two():
    return np.array([[0, 1]]), np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])


GRAPHS = [sheet, irregular, pieces, rope, book, one_place, lonely, two]
graphs = cases("graph", GRAPHS, ids=lambda g: g.__name__)
widths = cases("w", [1, 3])


def random_matrix(edges, n, w, seed=0):
    """Symmetric positive definite: sum over edges of (e_i - e_j) B (e_i - e_j)^T with B >= 0, plus a small diagonal."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(len(edges), w, w))
    B = B @ B.transpose(0, 2, 1)
    diagonal = np.tile(0.01 * np.eye(w), (n, 1, 1))
    R = np.eye(w) + 0.2 * rng.normal(size=(len(edges), w, w))               # so that block (i, j) is not symmetric
    np.add.at(diagonal, edges[:, 0], B)
    np.add.at(diagonal, edges[:, 1], R.transpose(0, 2, 1) @ B @ R)
    return diagonal, -B @ R


def dense(diagonal, off, edges):
    n, w = diagonal.shape[:2]
    A = np.zeros((n, w, n, w))
    A[np.arange(n), :, np.arange(n), :] = diagonal
    A[edges[:, 0], :, edges[:, 1], :] = off
    A[edges[:, 1], :, edges[:, 0], :] = off.transpose(0, 2, 1)
    return A.reshape(n * w, n * w)


def solve_columns(factor, n, w):
    """The matrix that `solve` applies."""
    unit = np.eye(n * w).reshape(n * w, n, w)
    return np.column_stack([factor.solve(e).ravel() for e in unit])


@graphs
@cases(("leaf", "depths"), [(4, 1), (16, 2), (64, 2), (8, 3)])
def test_every_vertex_is_eliminated_once_and_no_edge_joins_two_branches(graph, leaf, depths):
    edges, x = graph()
    tree = NestedDissection(edges, x, leaf=leaf, depths_per_level=depths)
    eliminated = np.concatenate([level.vertices for level in tree.levels])
    np.testing.assert_array_equal(np.sort(eliminated), np.arange(len(x)))
    assert len(np.unique(tree.slot)) == len(x) and tree.slot.max() < tree.slots
    depth, node = np.empty(len(x), dtype=int), np.empty(len(x), dtype=int)
    for number, level in enumerate(tree.levels[::-1]):
        depth[level.vertices], node[level.vertices] = number, level.node
    a, b = edges[:, 0], edges[:, 1]
    upper, lower = np.where(depth[a] <= depth[b], a, b), np.where(depth[a] <= depth[b], b, a)
    np.testing.assert_array_equal(node[lower] // (2 ** depths) ** (depth[lower] - depth[upper]), node[upper])


@graphs
@widths
def test_the_factor_solves(graph, w):
    edges, x = graph()
    diagonal, off = random_matrix(edges, len(x), w)
    factor = BlockCholesky(NestedDissection(edges, x, leaf=16), diagonal, off)
    A, r = dense(diagonal, off, edges), np.random.default_rng(1).normal(size=(len(x), w))
    wanted = np.linalg.solve(A, r.ravel()).reshape(-1, w)
    np.testing.assert_allclose(factor.solve(r), wanted, atol=2e-5 * np.abs(wanted).max())


@cases("leaf", [2, 16, 1000])
@cases("depths", [1, 2, 3])
def test_the_shape_of_the_tree_changes_nothing(leaf, depths):
    edges, x = sheet(13)
    diagonal, off = random_matrix(edges, len(x), 1)
    r = np.random.default_rng(1).normal(size=(len(x), 3))
    factor = BlockCholesky(NestedDissection(edges, x, leaf=leaf, depths_per_level=depths), diagonal, off)
    wanted = np.linalg.solve(dense(diagonal, off, edges), r)
    np.testing.assert_allclose(factor.solve(r), wanted, atol=2e-5 * np.abs(wanted).max())


@widths
def test_the_inverse_is_symmetric_and_positive_definite(w):
    edges, x = irregular()
    edges, x = edges[(edges < 150).all(axis=1)], x[:150]
    factor = BlockCholesky(NestedDissection(edges, x, leaf=8), *random_matrix(edges, len(x), w))
    inverse = solve_columns(factor, len(x), w)
    assert np.abs(inverse - inverse.T).max() < 2e-6 * np.abs(inverse).max()
    assert np.linalg.eigvalsh(inverse + inverse.T).min() > 0.0


@cases("scale", [1e-30, 1e-9, 1e20])
def test_single_precision_is_no_matter_of_units(scale):
    edges, x = sheet(8)
    diagonal, off = random_matrix(edges, len(x), 1)
    factor = BlockCholesky(NestedDissection(edges, x, leaf=8), diagonal, off)
    r = np.random.default_rng(1).normal(size=(len(x), 3))
    np.testing.assert_allclose(factor.solve(scale * r) / scale, factor.solve(r), rtol=1e-4, atol=1e-5)


@cases("scale", [1e-30, 1.0, 1e20])
def test_no_number_of_a_factor_is_denormal(scale):
    """Influence falls by five orders of magnitude an edge: a few edges away single precision has no numbers for it."""
    edges, x = sheet()
    diagonal, off = np.full((len(x), 1, 1), scale), np.full((len(edges), 1, 1), -1e-5 * scale)
    factor = BlockCholesky(NestedDissection(edges, x), diagonal, off, quick=True)
    parts = factor._factor
    kept = [parts] if isinstance(parts, np.ndarray) else [part for level in parts for part in level]
    sizes = np.abs(np.concatenate([np.ravel(part) for part in kept]))
    assert sizes.dtype == np.float32 and (sizes > 0.5).any()
    assert not ((sizes > 0.0) & (sizes < np.finfo(np.float32).tiny)).any()
    r = np.random.default_rng(1).normal(size=(len(x), 3))
    np.testing.assert_allclose(scale * factor.solve(r), r, atol=1e-3)


def test_a_factor_in_the_place_of_another_is_the_same_and_takes_no_memory():
    edges, x = sheet()
    tree, r = NestedDissection(edges, x, blocks=True), np.random.default_rng(1).normal(size=(len(x), 3))
    one, other = (random_matrix(edges, len(x), 3, seed) for seed in (1, 2))
    old = BlockCholesky(tree, *one, quick=True)
    kept = old._factor
    again = BlockCholesky(tree, *other, quick=True, old=old)
    np.testing.assert_array_equal(again.solve(r), BlockCholesky(tree, *other, quick=True).solve(r))
    assert isinstance(kept, list) or again._factor is kept
    np.testing.assert_array_equal(BlockCholesky(tree, *one, single=False, old=again).solve(r),     # of another type
                                  BlockCholesky(tree, *one, single=False).solve(r))


def test_nothing_in_gives_nothing_out():
    edges, x = sheet(5)
    factor = BlockCholesky(NestedDissection(edges, x), *random_matrix(edges, len(x), 1))
    np.testing.assert_array_equal(factor.solve(np.zeros((len(x), 3))), 0.0)


def test_a_number_that_is_none_does_not_vanish():
    edges, x = sheet(5)
    factor = BlockCholesky(NestedDissection(edges, x), *random_matrix(edges, len(x), 1))
    assert not np.isfinite(factor.solve(np.full((len(x), 3), np.nan))).any()
    assert not np.isfinite(factor.solve(np.full((len(x), 3), np.inf))).any()


@widths
@cases("single", [True, False])
@cases("quick", [True, False])
def test_both_backends_apply_the_same_inverse(backend, w, single, quick):
    edges, x = irregular()
    diagonal, off = random_matrix(edges, len(x), w)
    r = np.random.default_rng(1).normal(size=(len(x), 3))
    found = BlockCholesky(NestedDissection(edges, x), diagonal, off, single=single, quick=quick).solve(r)
    with using("numpy"):
        wanted = BlockCholesky(NestedDissection(edges, x), diagonal, off, single=False).solve(r)
    near = 2e-3 if quick else 1e-5 if single else 1e-11
    np.testing.assert_allclose(found, wanted, atol=near * np.abs(wanted).max())


def test_a_factor_stays_with_the_kernels_it_was_made_for(backend):
    edges, x = sheet(8)
    factor, r = BlockCholesky(NestedDissection(edges, x), *random_matrix(edges, len(x), 3)), np.ones((len(x), 3))
    here = factor.solve(r)
    with using("numpy"):
        np.testing.assert_array_equal(factor.solve(r), here)


def test_an_indefinite_matrix_is_refused():
    edges, x = sheet(6)
    diagonal, off = random_matrix(edges, len(x), 1)
    diagonal[17] = -1.0
    with pytest.raises(ArithmeticError, match="positive definite"):
        BlockCholesky(NestedDissection(edges, x, leaf=8), diagonal, off)


def test_the_factor_grows_little_faster_than_the_sheet():
    """n log n with its constant: 31/4 n log2 n - .. of the ideal order (George 1973), and what padding costs."""
    sizes = {}
    for cells in (32, 64, 128):
        tree = NestedDissection(*sheet(cells))
        sizes[cells] = tree.numbers / (cells + 1) ** 2
    assert sizes[128] / sizes[64] < 1.25 and sizes[64] / sizes[32] < 1.35
    assert sizes[128] < 130


def test_a_rope_needs_a_fixed_number_per_vertex():
    tree = NestedDissection(*rope(), leaf=16)
    assert max(level.boundary for level in tree.levels) <= 8
    assert tree.numbers < 60 * 500


def test_sheets_at_one_place_cost_no_more_than_as_many_alone():
    edges, positions = sheet(9)
    count = len(positions)
    several = np.concatenate([edges + k * count for k in range(20)])
    alone, together = NestedDissection(edges, positions), NestedDissection(several, np.tile(positions, (20, 1)))
    assert together.numbers < 2 * 20 * alone.numbers

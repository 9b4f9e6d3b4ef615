# SPDX-License-Identifier: GPL-3.0-or-later
"""What factors take of a matrix is what its definition says, on both backends."""

import numpy as np
import pytest

from core.description.topology import Topology
from core.linear.aggregation import aggregates
from core.linear.block_matrix import BlockMatrix, BlockPattern
from core.linear.constraint_filter import ConstraintFilter
from core.linear.galerkin import CoarsePattern
from core.linear.neighbour_blocks import NeighbourBlocks
from core.linear.preconditioners.block_jacobi import BlockJacobi
from tests.cases import cases
from tests.core.shapes import grid

pytestmark = pytest.mark.usefixtures("backend")


class Case:
    """A random symmetric matrix whose blocks and scalars reach beyond neighbours, and a filter of some vertices."""

    def __init__(self, held=True, scalars=True):
        rng = np.random.default_rng(3)
        self.x, triangles = grid(5, 4)
        n = self.n = len(self.x)
        self.edges = Topology(triangles).edges
        far, further = rng.integers(0, n, (6, 4)), rng.integers(0, n, (9, 3))
        pattern = BlockPattern(n, [triangles, far], [triangles, further] if scalars else [])
        parts = [rng.normal(size=(len(e), 3, 3)) for e in (triangles, further)] if scalars else []
        values = pattern.scalar.assemble([p + p.transpose(0, 2, 1) for p in parts])
        self.matrix = BlockMatrix(pattern, None, pattern.scalar.with_sums(values) if scalars else None)
        for number, elements in enumerate((triangles, far)):
            k = elements.shape[1]
            parts = rng.normal(size=(len(elements), 3 * k, 3 * k))
            parts = (parts @ parts.transpose(0, 2, 1)).reshape(-1, k, 3, k, 3).transpose(0, 1, 3, 2, 4)
            self.matrix.add(number, np.ascontiguousarray(parts))
        self.filter = ConstraintFilter(n)
        if held:
            self.filter.fix(np.array([0, 7]), np.zeros((2, 3)))
            some = np.array([3, 8, 9, 20])
            normals = rng.normal(size=(4, 3))
            self.filter.constrain(some, normals / np.linalg.norm(normals, axis=1)[:, None], np.zeros(4))
        self.S = np.array([self.filter.project(np.tile(axis, (n, 1))) for axis in np.eye(3)]).transpose(1, 2, 0)
        units = np.eye(3 * n).reshape(-1, n, 3)
        columns = np.stack([self.matrix.multiply(e) for e in units], axis=-1)
        self.dense = columns.reshape(n, 3, n, 3).transpose(0, 2, 1, 3)

    def restricted(self, i, block):
        S, size = self.S[i], np.trace(block) / 3.0
        return S @ block @ S + size * (np.eye(3) - S)


cases = cases("case", [{}, {"held": False}, {"scalars": False}], ids=str)


@cases
def test_neighbour_blocks_are_filtered_and_have_far_blocks_in_the_diagonal(case):
    c = Case(**case)
    near = NeighbourBlocks(c.matrix.pattern, c.edges)
    diagonal, off = near.of(c.matrix, c.filter, grow=1.25)
    edges = {tuple(sorted(edge)) for edge in c.edges}
    for i in range(c.n):
        block = c.dense[i, i].copy()
        for j in range(c.n):
            if i != j and tuple(sorted((i, j))) not in edges:
                size = np.abs(c.dense[i, j])
                block += max(size.sum(axis=0).max(), size.sum(axis=1).max()) * np.eye(3)
        np.testing.assert_allclose(diagonal[i], 1.25 * c.restricted(i, block), atol=1e-12 * np.abs(c.dense).max())
    assert {tuple(edge) for edge in near.edges} == edges
    for (i, j), block in zip(near.edges, off, strict=True):
        np.testing.assert_allclose(block, c.S[i] @ c.dense[i, j] @ c.S[j], atol=1e-12 * np.abs(c.dense).max())


@cases
def test_the_coarse_product_is_the_galerkin_product(case):
    c = Case(**case)
    group = aggregates(c.edges, c.x, 5)
    coarse = CoarsePattern(c.matrix.pattern, group)
    diagonal, off = coarse.product(c.matrix, c.filter, grow=1.25)
    wanted = np.zeros((coarse.count, coarse.count, 3, 3))
    for i in range(c.n):
        for j in range(c.n):
            wanted[group[i], group[j]] += c.S[i] @ c.dense[i, j] @ c.S[j]
    scalars = np.zeros(c.n)
    if c.matrix.scalar is not None:
        p = c.matrix.pattern
        scalars[p.scalar_own] = c.matrix.scalar[p.scalar_diagonal]
    for i in range(c.n):
        size = np.trace(c.dense[i, i]) / 3.0 - scalars[i]
        wanted[group[i], group[i]] += size * (np.eye(3) - c.S[i])
    near = 1e-12 * np.abs(wanted).max()
    np.testing.assert_allclose(diagonal, 1.25 * wanted[np.arange(coarse.count), np.arange(coarse.count)], atol=near)
    np.testing.assert_allclose(off, wanted[coarse.edges[:, 0], coarse.edges[:, 1]], atol=near)
    rest = wanted.copy()
    rest[np.arange(coarse.count), np.arange(coarse.count)] = 0.0
    rest[coarse.edges[:, 0], coarse.edges[:, 1]] = rest[coarse.edges[:, 1], coarse.edges[:, 0]] = 0.0
    assert np.abs(rest).max() < near


@cases
def test_block_jacobi_inverts_the_blocks_of_the_directions_left_free(case):
    c = Case(**case)
    c.matrix.add_diagonal(np.full(c.n, 30.0))                          # positive definite, whatever the scalars
    for i, inverse in enumerate(BlockJacobi(c.matrix, c.filter).inverse):
        block = c.restricted(i, c.dense[i, i] + 30.0 * np.eye(3))
        np.testing.assert_allclose(inverse @ block, np.eye(3), atol=1e-10)

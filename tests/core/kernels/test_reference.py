# SPDX-License-Identifier: GPL-3.0-or-later
"""The array kernels against the sums they stand for, written as loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernels.layouts import PaddedRows, RowGroup
from core.kernels.numpy import block_matrix, elements
from core.stencils.stencil import Stencil
from tests.cases import cases

SHAPES = [(1, 1, 1), (7, 2, 1), (9, 3, 2), (6, 4, 3), (5, 6, 4)]      # elements, vertices each, columns


def case(shape, vertex_count=8, seed=0):
    rng = np.random.default_rng(seed)
    E, k, _ = shape
    vertices = np.array([rng.choice(vertex_count, size=k, replace=False) for _ in range(E)])
    return rng, vertices, rng.normal(size=shape), vertex_count


def by_corner(vertices, weights):
    stencil = Stencil(vertices, weights, held=True)
    return stencil.by_corner


def random_columns(rng, E, C):
    return tuple(tuple(rng.normal(size=E) for _ in range(3)) for _ in range(C))


@cases("shape", SHAPES)
def test_gather_is_the_weighted_sum_of_an_elements_vertices(shape):
    rng, vertices, weights, V = case(shape)
    x = rng.normal(size=(V, 3))
    F = elements.gather(*by_corner(vertices, weights), x)
    for e in range(shape[0]):
        for c in range(shape[2]):
            wanted = sum(weights[e, i, c] * x[v] for i, v in enumerate(vertices[e]))
            np.testing.assert_allclose([F[c][axis][e] for axis in range(3)], wanted, rtol=1e-13, atol=1e-14)


@cases("shape", SHAPES)
def test_scatter_is_the_transpose_of_gather(shape):
    rng, vertices, weights, V = case(shape)
    for _ in range(5):
        x, P = rng.normal(size=(V, 3)), random_columns(rng, shape[0], shape[2])
        gathered = np.vdot(np.array(elements.gather(*by_corner(vertices, weights), x)), np.array(P))
        scattered = elements.scatter(*by_corner(vertices, weights), P, V)
        assert gathered == pytest.approx(np.vdot(x, scattered), rel=1e-12, abs=1e-12)


def test_scatter_leaves_vertices_without_elements_at_zero():
    total = elements.scatter(np.array([[2]]), np.ones((1, 1, 1)), (tuple(np.array([a]) for a in (1.0, 2.0, 3.0)),), 5)
    np.testing.assert_array_equal(total, [[0, 0, 0], [0, 0, 0], [1, 2, 3], [0, 0, 0], [0, 0, 0]])


def test_no_elements_scatter_to_zero():
    empty = (tuple(np.zeros(0) for _ in range(3)),)
    assert not elements.scatter(np.zeros((2, 0), dtype=np.int64), np.zeros((2, 1, 0)), empty, 4).any()


@cases("shape", SHAPES)
def test_element_blocks_are_the_weighted_sum_of_the_tangents(shape):
    rng, vertices, weights, _ = case(shape)
    E, k, C = shape
    H = rng.normal(size=(C, C, 3, 3, E))
    blocks = Stencil(vertices, weights, held=True).blocks(H)
    assert blocks.shape == (E, k, k, 3, 3)
    for e in range(E):
        for a in range(k):
            for b in range(k):
                wanted = sum(weights[e, a, c] * weights[e, b, d] * H[c, d, :, :, e] for c in range(C) for d in range(C))
                np.testing.assert_allclose(blocks[e, a, b], wanted, rtol=1e-12, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 8), st.integers(1, 9), st.integers(0, 2 ** 32 - 1))
def test_block_product_is_the_sum_of_a_rows_blocks_times_differences(rows, width, seed):
    rng = np.random.default_rng(seed)
    columns, blocks = rng.integers(0, 8, size=(rows, width)), rng.normal(size=(rows, width, 3, 3))
    x = rng.normal(size=(8, 3))
    lines = blocks.transpose(0, 2, 1, 3).reshape(rows, 3, 3 * width)
    order = rng.permutation(8)[:rows]
    wanted = [sum(blocks[n, w] @ (x[columns[n, w]] - x[row]) for w in range(width)) for n, row in enumerate(order)]
    result = np.zeros((8, 3))
    block_matrix.add_block_product(lines, columns, order, x, result)
    np.testing.assert_allclose(result[order], wanted, rtol=1e-12, atol=1e-12)


def test_element_blocks_add_up_at_their_places():
    rng = np.random.default_rng(1)
    vertices, blocks = np.array([[0, 1], [1, 0]]), rng.normal(size=(2, 2, 2, 3, 3))
    groups = [RowGroup(np.arange(2), np.array([[0, 1], [0, 1]], dtype=np.int32), 0)]
    layout = PaddedRows(groups, groups[0].columns.ravel(), np.arange(4), np.array([0, 2]), np.array([2, 2]), 4)
    data = rng.normal(size=36)
    wanted = data.reshape(2, 3, 2, 3).copy()
    for element, part in zip(vertices, blocks, strict=True):
        for i, row in enumerate(element):
            for j, column in enumerate(element):
                wanted[row, :, column] += part[i, j]
    positions = np.array([0, 1, 0, 1, 1, 0, 1, 0], dtype=np.int32)
    block_matrix.add_element_blocks(vertices, positions, blocks, layout, data)
    np.testing.assert_allclose(data, wanted.ravel(), rtol=1e-14, atol=1e-15)

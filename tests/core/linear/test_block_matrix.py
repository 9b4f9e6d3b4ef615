# SPDX-License-Identifier: GPL-3.0-or-later
"""A block matrix is the dense matrix of its elements, and its pattern is no larger than they need."""

import numpy as np
import pytest

from core.linear.block_matrix import BlockMatrix, BlockPattern
from core.linear.preconditioners.block_jacobi import BlockJacobi
from tests.cases import cases

PAIRS = np.array([[0, 1], [4, 2], [1, 4]])
TRIANGLES = np.array([[0, 1, 2], [2, 1, 3]])


def dense(matrix):
    """(3 V, 3 V)."""
    V = matrix.pattern.vertex_count
    return np.column_stack([matrix.multiply(unit.reshape(V, 3)).ravel() for unit in np.eye(3 * V)])


def test_the_pattern_has_each_pair_of_neighbours_and_every_diagonal_once():
    pattern = BlockPattern(6, [PAIRS, TRIANGLES])
    found = list(zip(pattern.rows.tolist(), pattern.columns.tolist(), strict=True))
    wanted = {(i, i) for i in range(6)}
    for element in [*PAIRS.tolist(), *TRIANGLES.tolist()]:
        wanted |= {(i, j) for i in element for j in element}
    assert found == sorted(wanted)
    assert [found[at] for at in pattern.diagonal] == [(i, i) for i in range(6)]


def test_elements_add_up_to_the_dense_matrix():
    rng = np.random.default_rng(0)
    pattern = BlockPattern(6, [PAIRS, TRIANGLES])
    matrix, wanted = BlockMatrix(pattern), np.zeros((6, 3, 6, 3))
    for vertices, factor in ((PAIRS, 1.0), (TRIANGLES, -0.3), (TRIANGLES, 2.0)):
        k = vertices.shape[1]
        blocks = rng.normal(size=(len(vertices), k, k, 3, 3))
        matrix.add(pattern.family(vertices), blocks, factor)
        for element, block in zip(vertices, blocks, strict=True):
            for i, vi in enumerate(element):
                for j, vj in enumerate(element):
                    wanted[vi, :, vj, :] += factor * block[i, j]
    scalars, blocks = rng.normal(size=6), rng.normal(size=(6, 3, 3))
    matrix.add_diagonal(scalars)
    matrix.add_diagonal(blocks)
    for i in range(6):
        wanted[i, :, i, :] += scalars[i] * np.eye(3) + blocks[i]
    np.testing.assert_allclose(dense(matrix), wanted.reshape(18, 18), rtol=1e-13, atol=1e-13)
    stored = [wanted[i, :, j, :] for i, j in zip(pattern.rows, pattern.columns, strict=True)]
    np.testing.assert_allclose(matrix.blocks(), stored, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(matrix.diagonal_blocks(), [wanted[i, :, i, :] for i in range(6)], rtol=1e-13, atol=1e-13)


@cases("seed", range(6))
def test_rows_of_any_length_multiply_like_the_dense_matrix(seed):
    rng = np.random.default_rng(seed)
    V = 23
    pairs = np.array([rng.choice(V, size=2, replace=False) for _ in range(4 * seed)] + [[0, i] for i in range(1, V, 2)])
    matrix, wanted = BlockMatrix(BlockPattern(V, [pairs])), np.zeros((V, 3, V, 3))
    blocks = rng.normal(size=(len(pairs), 2, 2, 3, 3))
    matrix.add(0, blocks)
    for element, block in zip(pairs, blocks, strict=True):
        for i in (0, 1):
            for j in (0, 1):
                wanted[element[i], :, element[j], :] += block[i, j]
    x = rng.normal(size=(V, 3))
    np.testing.assert_allclose(matrix.multiply(x), np.einsum("viwj,wj->vi", wanted, x), rtol=1e-12, atol=1e-12)


def test_a_family_is_found_by_value_and_an_unknown_one_is_refused():
    pattern = BlockPattern(6, [PAIRS, TRIANGLES, PAIRS])
    assert (pattern.family(PAIRS), pattern.family(TRIANGLES), pattern.family(TRIANGLES.copy())) == (0, 1, 1)
    with pytest.raises(KeyError):
        pattern.family(PAIRS + 1)


def test_particles_without_any_element_still_have_a_diagonal():
    matrix = BlockMatrix(BlockPattern(3, [np.zeros((0, 2), dtype=np.int64)]))
    matrix.add_diagonal(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(dense(matrix), np.diag(np.repeat([1.0, 2.0, 3.0], 3)))


@cases("spread", [0.0, 3.0, 6.0])
@cases("size", [1e-12, 1.0, 1e9])
def test_block_jacobi_inverts_the_diagonal_blocks(spread, size):
    rng = np.random.default_rng(2)
    axes = np.linalg.qr(rng.normal(size=(50, 3, 3)))[0]
    blocks = size * np.einsum("nij,j,nkj->nik", axes, 10.0 ** np.array([0.0, 0.5 * spread, spread]), axes)
    matrix = BlockMatrix(BlockPattern(50, [np.arange(50)[:, None]]))
    matrix.add_diagonal(blocks)
    wanted = rng.normal(size=(50, 3))
    found = BlockJacobi(matrix)(np.einsum("nij,nj->ni", blocks, wanted))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-15 * 10.0 ** spread * 1e2)

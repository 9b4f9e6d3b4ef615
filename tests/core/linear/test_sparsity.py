# SPDX-License-Identifier: GPL-3.0-or-later
"""The entries of a matrix that elements add up to are the pairs of vertices that share one, found in any pieces."""

import numpy as np
import pytest

from core.linear import scalar_matrix, sparsity
from core.linear.block_matrix import BlockPattern
from core.linear.scalar_matrix import ScalarPattern
from core.linear.sparsity import entries_of
from tests.cases import cases

rng = np.random.default_rng(4)
COUNT = 40
FAMILIES = [rng.integers(0, COUNT, (30, 3)), rng.integers(5, 20, (17, 4)), np.zeros((0, 2), dtype=np.int64)]
each_piece = cases("piece", [1, 7, 1000])


@each_piece
@cases("diagonal", [True, False])
def test_entries_are_the_pairs_of_vertices_that_share_an_element(piece, diagonal, monkeypatch):
    monkeypatch.setattr(sparsity, "ROWS_PER_PIECE", piece)
    rows, columns, places = entries_of(COUNT, FAMILIES, diagonal=diagonal)
    wanted = {(i, j) for family in FAMILIES for element in family.tolist() for i in element for j in element}
    wanted |= {(i, i) for i in range(COUNT)} if diagonal else set()
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == sorted(wanted)
    for family, place in zip(FAMILIES, places, strict=True):
        k = family.shape[1]
        assert (rows[place] == np.repeat(family, k, axis=1).ravel()).all()
        assert (columns[place] == np.tile(family, (1, k)).ravel()).all()


@each_piece
def test_values_add_up_whatever_the_pieces(piece, monkeypatch):
    monkeypatch.setattr(scalar_matrix, "NUMBERS_PER_PIECE", piece)
    pattern = ScalarPattern(COUNT, FAMILIES)
    entries = [rng.normal(size=(len(v), v.shape[1], v.shape[1])) for v in FAMILIES]
    wanted = np.zeros((COUNT, COUNT))
    for family, blocks in zip(FAMILIES, entries, strict=True):
        for vertices, block in zip(family, blocks, strict=True):
            for i, a in enumerate(vertices):
                for j, b in enumerate(vertices):
                    wanted[a, b] += block[i, j]
    values = pattern.assemble(entries)
    x = rng.normal(size=(COUNT, 3))
    np.testing.assert_allclose(pattern.with_sums(values).product(x), wanted @ x, atol=1e-12)


def test_a_family_given_twice_is_one():
    again = FAMILIES[0].copy()
    twice = BlockPattern(COUNT, [FAMILIES[0], FAMILIES[1], again])
    assert [twice.family(v) for v in (FAMILIES[0], FAMILIES[1], again, again.copy())] == [0, 1, 0, 0]
    with pytest.raises(KeyError):
        twice.family(FAMILIES[2])


def test_positions_say_where_in_its_row_each_block_of_an_element_is():
    pattern = BlockPattern(COUNT, FAMILIES[:2])
    for number, family in enumerate(FAMILIES[:2]):
        k, positions = family.shape[1], pattern.positions(number)
        blocks = np.searchsorted(pattern.rows, np.repeat(family, k, axis=1).ravel()) + positions
        assert (pattern.rows[blocks] == np.repeat(family, k, axis=1).ravel()).all()
        assert (pattern.columns[blocks] == np.tile(family, k).ravel()).all()
        assert positions.dtype == np.int32


def test_of_elements_with_a_core_pairs_without_one_of_its_vertices_have_no_entry():
    rng = np.random.default_rng(3)
    family = np.array([rng.permutation(40)[:7] for _ in range(15)])
    rows, columns, (places,) = entries_of(40, [family], hub_counts=[3])
    wanted = sorted({(v[i], v[j]) for v in family.tolist() for i in range(7) for j in range(7) if i < 3 or j < 3})
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == wanted
    for v, place in zip(family, places.reshape(15, 7, 7), strict=True):
        for i in range(7):
            for j in range(7):
                assert rows[place[i, j]] == v[i] and columns[place[i, j]] == (v[j] if i < 3 or j < 3 else v[0])

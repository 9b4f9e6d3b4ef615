# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step's growth of edges is judged by, and the energy that it takes."""

import numpy as np
import pytest

from core.integrators import step_strain
from core.model.elastic_forces import edge_stiffness

K = 700.0


def ring(count):
    """A closed chain of springs (count, 2), and the trace of each vertex's block: two springs meet there."""
    vertex = np.arange(count)
    return np.column_stack([vertex, (vertex + 1) % count]), np.full(count, 2.0 * K)


def test_a_chain_of_springs_takes_what_its_springs_take():
    edges, stiffness = ring(9)
    longer = np.random.default_rng(0).uniform(0.0, 0.02, size=9)
    springs = edge_stiffness(edges, stiffness)
    assert step_strain.energy(longer, springs) == pytest.approx(0.5 * K * np.sum(longer ** 2), rel=1e-12)


def test_what_gets_shorter_takes_nothing_and_a_vertex_without_edges_is_none_of_it():
    edges, stiffness = ring(5)
    longer = np.array([-0.5, 0.01, -0.1, 0.0, 0.02])
    alone = np.append(stiffness, 1e9)
    springs = edge_stiffness(edges, alone)
    assert step_strain.energy(longer, springs) == pytest.approx(0.5 * K * (0.01 ** 2 + 0.02 ** 2), rel=1e-12)


@pytest.mark.parametrize(("count", "ranks"), [
    (100_000, {1: 4.0, 101: 2.0, 1001: 0.21}), (1000, {1: 4.0, 2: 2.0, 11: 0.21}), (999, {1: 1.0}), (3, {1: 1.0})])
def test_a_few_edges_may_be_stretched_by_more_than_most(count, ranks):
    """So many of them by so much: that is as much as a step may, and a little more of any is more."""
    most = sorted(ranks.items())
    allowed = np.zeros(count)
    for rank, times in most:
        allowed[rank - 1:] = times
    assert step_strain.of_most(0.3 * allowed) == pytest.approx(0.3, rel=1e-12)
    for rank, _ in most:
        more = 0.3 * allowed
        more[:rank] = np.maximum(more[:rank], 1.1 * more[rank - 1])
        assert step_strain.of_most(np.random.default_rng(rank).permutation(more)) == pytest.approx(0.33, rel=1e-12)


@pytest.mark.parametrize("count", [400, 3000])
def test_what_is_not_enough_need_not_be_exact(count):
    added = np.random.default_rng(1).uniform(-0.1, 0.1, size=count)
    exact = step_strain.of_most(added)
    assert step_strain.of_most(added, 0.9 * exact) == exact and step_strain.of_most(added, 3.0 * exact) <= exact
    assert step_strain.of_most(np.append(added, np.nan)) != step_strain.of_most(np.append(added, np.nan))      # nan


def test_in_a_coarse_mesh_a_tenth_counts_where_contacts_did_not_settle():
    """In a fine one it is as it was."""
    added = np.random.default_rng(2).uniform(0.0, 0.1, size=999)
    assert step_strain.of_most(added, settled=False) == pytest.approx(10.0 * step_strain.of_most(added), rel=1e-12)
    more = np.append(added, 0.0)
    assert step_strain.of_most(more, settled=False) == step_strain.of_most(more)


def test_no_edges_are_not_stretched():
    assert step_strain.of_most(np.zeros(0)) == 0.0


def test_a_spike_is_of_a_few_edges_that_grow_by_much():
    added = np.full(500, 0.2)
    assert not step_strain.is_spiky(added) and not step_strain.is_spiky(added[:0])
    added[:5] = 0.31
    assert step_strain.is_spiky(added)
    added[:6] = 0.31                                             # more than one in a hundred: cloth that is pulled
    assert not step_strain.is_spiky(added)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a step's growth of edges is judged by, and the energy that it takes."""

import numpy as np
import pytest

from core.integrators import step_strain
from core.model.elastic_forces import edge_stiffness
from tests.cases import cases

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


@cases("count", [400, 3000])
def test_what_is_not_enough_need_not_be_exact(count):
    added = np.random.default_rng(1).uniform(-0.1, 0.1, size=count)
    exact = step_strain.of_most(added)
    assert step_strain.of_most(added, 0.9 * exact) == exact and step_strain.of_most(added, 3.0 * exact) <= exact
    assert step_strain.of_most(np.append(added, np.nan)) != step_strain.of_most(np.append(added, np.nan))      # nan


def test_no_edges_are_not_stretched():
    assert step_strain.of_most(np.zeros(0)) == 0.0

# SPDX-License-Identifier: GPL-3.0-or-later
"""The energy that growing edges take, from what the matrix's diagonal says of their stiffness."""

import numpy as np
import pytest

from core import growth

K = 700.0


def ring(count):
    """A closed chain of springs (count, 2), and the trace of each vertex's block: two springs meet there."""
    vertex = np.arange(count)
    return np.column_stack([vertex, (vertex + 1) % count]), np.full(count, 2.0 * K)


def test_a_chain_of_springs_takes_what_its_springs_take():
    edges, stiffness = ring(9)
    longer = np.random.default_rng(0).uniform(0.0, 0.02, size=9)
    assert growth.energy(longer, edges, stiffness) == pytest.approx(0.5 * K * np.sum(longer ** 2), rel=1e-12)


def test_what_gets_shorter_takes_nothing_and_a_vertex_without_edges_is_none_of_it():
    edges, stiffness = ring(5)
    longer = np.array([-0.5, 0.01, -0.1, 0.0, 0.02])
    alone = np.append(stiffness, 1e9)
    assert growth.energy(longer, edges, alone) == pytest.approx(0.5 * K * (0.01 ** 2 + 0.02 ** 2), rel=1e-12)

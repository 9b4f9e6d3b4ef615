# SPDX-License-Identifier: GPL-3.0-or-later
"""Edges brought back from tangents to arcs: both backends equal the definition."""

import numpy as np
import pytest

from core.kernels import current
from core.kernels.formulas.rotation import quaternion, rotation_matrix

pytestmark = pytest.mark.usefixtures("backend")


def test_an_edge_is_shortened_by_the_cosine_of_its_angle_to_the_turned_start():
    rng = np.random.default_rng(1)
    x0, edges = rng.normal(size=(40, 3)), rng.integers(0, 40, size=(90, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    x1, angle = x0 + 0.2 * rng.normal(size=x0.shape), np.array([0.2, -0.3, 0.1])
    q = np.tile(quaternion(tuple(angle)), (40, 1))
    R = np.array(rotation_matrix(quaternion(tuple(angle))))
    found = current().edge_arcs.back_to_arcs(edges, x0, q, x1, 0.9)
    n, e = (x0[edges[:, 1]] - x0[edges[:, 0]]) @ R.T, x1[edges[:, 1]] - x1[edges[:, 0]]
    cosine = (n * e).sum(axis=1) / np.linalg.norm(n, axis=1) / np.linalg.norm(e, axis=1)
    assert (cosine < 0.9).any() and (cosine > 0.9).any()
    np.testing.assert_allclose(found, (np.maximum(cosine, 0.9) - 1.0)[:, None] * e, rtol=0.0, atol=1e-14)


def test_an_edge_without_a_length_stays():
    x = np.zeros((2, 3))
    q = np.tile([1.0, 0.0, 0.0, 0.0], (2, 1))
    found = current().edge_arcs.back_to_arcs(np.array([[0, 1]]), x, q, x, 0.9)
    assert np.isfinite(found).all() and not found.any()

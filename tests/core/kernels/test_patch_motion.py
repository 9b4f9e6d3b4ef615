# SPDX-License-Identifier: GPL-3.0-or-later
"""Means over patches, their rotations and ends, growth of edges: both backends equal the sums that define them."""

import numpy as np
import pytest

from core.arrays import SINGLE_PRECISION
from core.kernels import current
from core.kernels.formulas.rotation import quaternion, rotation_matrix
from core.model.velocity_predictor import MotionPredictor
from tests.core.shapes import grid

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def sheet():
    """Return places (V, 3), the predictor of a sheet with two loose vertices, and its dense matrix of means."""
    x, triangles = grid(9, 6)
    edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    x = np.concatenate([x, [[2.0, 0.0, 0.0], [3.0, 1.0, 0.0]]])
    x += 0.1 * np.random.default_rng(1).normal(size=x.shape)
    mean, neighbours = np.eye(len(x)), np.zeros((len(x), len(x)))
    neighbours[edges[:, 0], edges[:, 1]] = neighbours[edges[:, 1], edges[:, 0]] = 1.0
    joined = neighbours.any(axis=1)
    mean[joined] = 0.5 * mean[joined] + 0.5 * neighbours[joined] / neighbours[joined].sum(axis=1, keepdims=True)
    return x, MotionPredictor(edges, len(x), np.zeros(len(x), dtype=bool)), mean


def test_means_are_half_the_vertex_and_half_its_neighbours(sheet):
    x, predictor, mean = sheet
    np.testing.assert_allclose(predictor._mean(x), mean @ x, rtol=0.0, atol=1e-14)
    every_other = np.repeat(x, 2, axis=0)[::2]                       # what is not in order in memory, too
    np.testing.assert_allclose(predictor._mean(every_other), mean @ x, rtol=0.0, atol=1e-14)


def test_rotations_are_momentum_over_inertia(sheet):
    x, predictor, mean = sheet
    v = np.random.default_rng(2).normal(size=x.shape)
    found = current().patch_motion.turns(predictor._weights, predictor._layout, x, v, 0.0, SINGLE_PRECISION)
    for i in range(len(x) - 2):
        weight, c, V = mean[i], mean[i] @ x, mean[i] @ v
        momentum = weight @ np.cross(x - c, v - V)
        covariance = (weight[:, None] * (x - c)).T @ (x - c)
        inertia = np.trace(covariance) * (1.0 + SINGLE_PRECISION) * np.eye(3) - covariance
        np.testing.assert_allclose(found[i], np.linalg.solve(inertia, momentum), rtol=1e-9, atol=1e-9)


def test_ends_are_the_means_of_rigid_motions(sheet):
    x, predictor, mean = sheet
    rng = np.random.default_rng(3)
    change, turn = rng.normal(size=x.shape), rng.normal(size=x.shape)
    R = np.array(rotation_matrix(quaternion(tuple(turn.T)))).transpose(2, 0, 1)
    found = current().patch_motion.ends(predictor._weights, predictor._layout, x, change, turn)
    c = mean @ x
    by_patch = (c + change)[:, None] + np.einsum("pab,pvb->pva", R, x[None] - c[:, None])     # (patch, V, 3)
    np.testing.assert_allclose(found, np.einsum("vp,pva->va", mean, by_patch), rtol=0.0, atol=1e-13)


def test_turns_are_those_of_rigid_motion_however_far_it_turns(sheet):
    """Along chords, and by the velocities of a formula that has an excess."""
    x, predictor, _ = sheet
    axis = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    joined, shift = slice(0, len(x) - 2), np.array([1.0, 2.0, -3.0])
    for angle in (0.0, 1e-9, 0.3, 2.5):
        R = np.array(rotation_matrix(quaternion(angle * axis)))
        wanted = np.tile(angle * axis, (len(x) - 2, 1))
        found = current().patch_motion.turns_to(predictor._weights, predictor._layout, x, x @ R.T + shift,
                                                SINGLE_PRECISION)
        np.testing.assert_allclose(found[joined], wanted, rtol=1e-4, atol=1e-12)
        for excess in (0.0, 0.2):
            way = np.cross(angle * axis, x) + shift
            found = current().patch_motion.turns(predictor._weights, predictor._layout, x, way, excess,
                                                 SINGLE_PRECISION)
            np.testing.assert_allclose(found[joined], wanted / (1.0 + excess * angle**2), rtol=1e-4, atol=1e-12)
        found = current().patch_motion.quaternions(np.tile(angle * axis, (3, 1)))
        np.testing.assert_allclose(found, np.tile(quaternion(angle * axis), (3, 1)), rtol=0.0, atol=1e-15)


def test_growth_of_edges_counts_from_their_rest_lengths(sheet):
    """An edge that was shorter may go back to its rest length."""
    x, _, _ = sheet
    edges, rng = np.array([[0, 1], [1, 2], [5, 9], [20, 3]]), np.random.default_rng(4)
    before, rest = rng.uniform(0.05, 0.3, (2, len(edges)))
    after = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    found = current().strain.growth(x, edges, before, rest)
    np.testing.assert_allclose(found, [(c - max(a, b)) / b for a, b, c in zip(before, rest, after, strict=True)],
                               rtol=1e-12)

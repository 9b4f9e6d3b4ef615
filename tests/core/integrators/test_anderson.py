# SPDX-License-Identifier: GPL-3.0-or-later
"""Anderson acceleration: a linear iteration ends after as many iterates as it has dimensions, and nothing raises."""

import numpy as np
import pytest

from core.integrators.anderson import Anderson


def test_a_linear_iteration_of_three_dimensions_ends_after_four_iterates():
    rng = np.random.default_rng(4)
    A, b = 0.3 * rng.normal(size=(3, 3)), rng.normal(size=(1, 3))
    exact = np.linalg.solve(np.eye(3) - A, b[0])
    acceleration, u = Anderson(np.ones(1), 5), np.zeros((1, 3))
    for _ in range(4):
        g = u @ A.T + b
        better = acceleration.next(u, g)
        u = g if better is None else better
    assert u[0] == pytest.approx(exact, rel=1e-9)


def test_iterates_whose_squares_are_no_numbers_are_not_accelerated():
    acceleration = Anderson(np.ones(2), 5)
    with np.errstate(over="ignore", invalid="ignore"):
        for size in (1.0, 1e200, 1e250):
            assert acceleration.next(np.zeros((2, 3)), np.full((2, 3), size)) is None
    assert acceleration.next(np.zeros((2, 3)), np.ones((2, 3))) is None           # it began anew

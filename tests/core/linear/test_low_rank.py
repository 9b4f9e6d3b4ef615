# SPDX-License-Identifier: GPL-3.0-or-later
"""The preconditioner of a matrix with vectors beside it is its inverse for an exact factor, and always definite."""

from collections.abc import Iterator

import numpy as np
import pytest

import core
from core.kernels import using
from core.linear.constraint_filter import ConstraintFilter
from core.linear.preconditioners.low_rank import LowRankCorrection
from core.model.particle_system import ParticleSystem
from tests.core.shapes import ball

H = 1.0 / 24.0


@pytest.fixture(autouse=True)
def numpy_backend() -> Iterator[None]:
    """Compute with NumPy."""
    with using("numpy"):
        yield


def balloons():
    """Return the matrix of a step of two balloons, and that of its assembled part as an array (3 V, 3 V)."""
    one, two = ball(0.5, 1), ball(0.3, 1, (2.0, 0.0, 0.0))
    mesh = core.ClothMesh(np.concatenate([one[0], two[0]]), np.concatenate([one[1], two[1] + len(one[0])]))
    fabric = core.Material(areal_density=0.2, stretch=1000.0, shear=300.0)
    system = ParticleSystem(core.Scene([core.Cloth(mesh, fabric, pressure=core.Pressure(50.0, gas=1e5))]))
    x = system.nodes.start + 0.01 * np.random.default_rng(1).normal(size=system.nodes.start.shape)
    A = system.elastic(0.0).in_step(x, x, H, 0.0 * x).stiffness(x, H ** 2, definite=True)
    A.add_diagonal(system.mass)
    beside, A.beside = A.beside, None
    assembled = dense(A.multiply, x.shape)
    A.beside = beside
    return A, assembled


def dense(operator, shape):
    """Return a linear map of vectors `shape` as an array."""
    return np.column_stack([operator(row.reshape(shape).copy()).ravel() for row in np.eye(np.prod(shape))])


def test_with_a_factor_of_the_assembled_part_it_is_the_inverse():
    A, assembled = balloons()
    shape = (len(assembled) // 3, 3)
    inverse = np.linalg.inv(assembled)
    precondition = LowRankCorrection(lambda r: (inverse @ r.ravel()).reshape(shape), A, ConstraintFilter(shape[0]))
    product = dense(lambda r: precondition(A.multiply(r)), shape)
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-8)


def test_it_is_definite_and_good_after_contacts_have_changed_without_another_product():
    A, assembled = balloons()
    shape, calls = (len(assembled) // 3, 3), []
    filter_ = ConstraintFilter(shape[0])

    def factor(matrix):
        inverse = np.linalg.inv(matrix)

        def apply(r):
            calls.append(1)
            return (inverse @ r.ravel()).reshape(shape)
        return apply

    LowRankCorrection(factor(assembled), A, filter_)
    multiply, products = A.multiply, []
    A.multiply = lambda x: products.append(1) or multiply(x)
    blocks = np.zeros((shape[0], 3, 3))
    blocks[:4] = np.eye(3) * assembled.max()                                         # pairs press on some vertices
    A.add_diagonal(blocks)
    stiffer = assembled + np.kron(np.diag(np.arange(shape[0]) < 4), np.eye(3)) * assembled.max()
    filter_ = ConstraintFilter(shape[0])
    filter_.fix(np.array([7, 20]), np.zeros((2, 3)))
    calls.clear()
    free = dense(filter_.project, shape)
    held = free @ stiffer @ free + np.eye(len(free)) - free
    precondition = LowRankCorrection(factor(held), A, filter_)
    assert not calls and not products
    M, matrix = free @ dense(precondition, shape) @ free, free @ dense(A.multiply, shape) @ free
    np.testing.assert_allclose(M, M.T, atol=1e-9 * np.abs(M).max())
    values = np.sort(np.linalg.eigvals(M @ matrix).real)[6:]                         # all but the fixed directions
    alone = np.sort(np.linalg.eigvals(np.linalg.inv(held) @ matrix).real)[6:]
    assert values[0] > 0.1
    assert values[-1] < 0.1 * alone[-1]

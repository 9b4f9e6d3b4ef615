# SPDX-License-Identifier: GPL-3.0-or-later
"""The preconditioner of a matrix with vectors beside it is its inverse for an exact factor, and always definite. Where
the vectors are soft, it costs nothing."""

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


def balloons(gas=1e5):
    """Return the matrix of a step of two balloons, and that of its assembled part as an array (3 V, 3 V)."""
    one, two = ball(0.5, 1), ball(0.3, 1, (2.0, 0.0, 0.0))
    mesh = core.ClothMesh(np.concatenate([one[0], two[0]]), np.concatenate([one[1], two[1] + len(one[0])]))
    fabric = core.Material(areal_density=0.2, stretch=1000.0, shear=300.0)
    system = ParticleSystem(core.Scene([core.Cloth(mesh, fabric, pressure=core.Pressure(50.0, gas=gas))]))
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


def counted(matrix):
    """Return r -> matrix^-1 r for a matrix (3 V, 3 V) and r (V, 3), and a list with an entry for each call of it."""
    inverse, calls = np.linalg.inv(matrix), []

    def apply(r):
        calls.append(1)
        return (inverse @ r.ravel()).reshape(r.shape)
    return apply, calls


def test_with_a_factor_of_the_assembled_part_it_is_the_inverse():
    A, assembled = balloons()
    shape = (len(assembled) // 3, 3)
    precondition = LowRankCorrection(counted(assembled)[0], A, ConstraintFilter(shape[0]))
    precondition(A.beside.low_rank.fields[0])                                          # the right-hand side of a solve
    product = dense(lambda r: precondition(A.multiply(r)), shape)
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-8)


def test_the_norm_of_a_right_hand_side_is_its_energy_up_to_a_factor_of_two_however_stiff_the_vectors_are():
    rng, deflated = np.random.default_rng(2), []
    for gas in 10.0 ** np.arange(9):
        A, assembled = balloons(gas)
        inverse = np.linalg.inv(dense(A.multiply, (len(assembled) // 3, 3)))
        [field] = A.beside.low_rank.fields
        for share in (0.0, 0.1, 1.0, 10.0):
            b = share * field / np.linalg.norm(field) + rng.normal(size=field.shape) / np.sqrt(field.size)
            A.beside.directions.clear()
            norm = np.sum(b * LowRankCorrection(counted(assembled)[0], A, ConstraintFilter(len(b)))(b))
            energy = b.ravel() @ inverse @ b.ravel()
            assert energy * (1.0 - 1e-6) <= norm <= 2.0 * energy, (gas, share)
            deflated.append(bool(A.beside.directions))
    assert 0 < sum(deflated) < len(deflated)


def test_soft_vectors_cost_no_product_and_no_application():
    A, assembled = balloons(1.0)
    precondition, calls = counted(assembled)
    corrected = LowRankCorrection(precondition, A, ConstraintFilter(len(assembled) // 3))
    A.multiply = None
    [field] = A.beside.low_rank.fields
    for r in (field, np.ones_like(field)):
        np.testing.assert_array_equal(corrected(r), precondition(r))
    assert len(calls) == 4                                                             # two of them by this test itself


def test_a_preconditioner_of_another_scale_is_always_corrected():
    A, assembled = balloons(1.0)
    count = len(assembled) // 3
    corrected = LowRankCorrection(lambda r: r, A, ConstraintFilter(count), near=False)
    [field] = A.beside.low_rank.fields
    for w in (field * (A.beside.low_rank.body == body)[:, None] for body in range(2)):
        np.testing.assert_allclose(corrected(A.multiply(w)), w, rtol=0.0, atol=1e-9 * np.abs(w).max())


def test_it_is_definite_and_good_after_contacts_have_changed_without_another_product():
    A, assembled = balloons()
    shape = (len(assembled) // 3, 3)
    filter_ = ConstraintFilter(shape[0])
    LowRankCorrection(counted(assembled)[0], A, filter_)(A.beside.low_rank.fields[0])
    multiply, products = A.multiply, []
    A.multiply = lambda x: products.append(1) or multiply(x)
    blocks = np.zeros((shape[0], 3, 3))
    blocks[:4] = np.eye(3) * assembled.max()                                         # pairs press on some vertices
    A.add_diagonal(blocks)
    stiffer = assembled + np.kron(np.diag(np.arange(shape[0]) < 4), np.eye(3)) * assembled.max()
    filter_ = ConstraintFilter(shape[0])
    filter_.fix(np.array([7, 20]), np.zeros((2, 3)))
    free = dense(filter_.project, shape)
    held = free @ stiffer @ free + np.eye(len(free)) - free
    factor, calls = counted(held)
    precondition = LowRankCorrection(factor, A, filter_)
    assert not calls and not products
    M, matrix = free @ dense(precondition, shape) @ free, free @ dense(A.multiply, shape) @ free
    np.testing.assert_allclose(M, M.T, atol=1e-9 * np.abs(M).max())
    values = np.sort(np.linalg.eigvals(M @ matrix).real)[6:]                         # all but the fixed directions
    alone = np.sort(np.linalg.eigvals(np.linalg.inv(held) @ matrix).real)[6:]
    assert values[0] > 0.1
    assert values[-1] < 0.1 * alone[-1]

# SPDX-License-Identifier: GPL-3.0-or-later
"""A packed matrix is the matrix, but for what single precision takes, and not that where everything moves as one."""

import numpy as np
import pytest

from core.kernels.tuning import tuning
from core.linear.modified_pcg import modified_pcg
from core.linear.packed_matrix import packed
from core.linear.preconditioners.block_jacobi import BlockJacobi
from tests.cases import cases
from tests.core.linear.test_preconditioners import Problem, delaunay, pieces, rope, sheet, three_pages

pytestmark = pytest.mark.usefixtures("backend")
meshes = cases("mesh", [sheet, rope, delaunay, pieces, three_pages], ids=lambda m: m.__name__)
SINGLE = 2.0 ** -24


def problem_of(mesh):
    """One with blocks of its own on the diagonal, as contacts leave them."""
    problem = Problem(mesh(), [0])
    blocks = np.random.default_rng(1).normal(size=(len(problem.b), 3, 3))
    problem.A.add_diagonal(np.einsum("nij,nkj->nik", blocks, blocks))
    return problem


def packed_of(problem):
    return packed(problem.A, problem.system.mass, 1e-2)


def dense(multiply, n):
    return np.column_stack([multiply(e.reshape(n, 3)).ravel() for e in np.eye(3 * n)])


@meshes
def test_products_are_those_of_the_matrix_to_single_precision(mesh):
    problem = problem_of(mesh)
    n = len(problem.b)
    A = dense(problem.A.multiply, n)
    rounded = dense(packed_of(problem), n)
    beside = ~np.kron(np.eye(n, dtype=bool), np.ones((3, 3), dtype=bool))
    assert (np.abs(rounded - A) <= SINGLE * np.abs(A) + 1e-15)[beside].all()
    np.testing.assert_allclose(rounded, rounded.T, rtol=0.0, atol=1e-15 * np.abs(A).max())
    lost = np.abs(rounded - A).sum(axis=1)
    assert (lost <= 2.0 * 3.0 * SINGLE * np.abs(A).sum(axis=1)).all()
    if tuning().packs_matrices:
        assert lost.max() > 0.0


@meshes
def test_a_motion_of_everything_as_one_has_the_energy_it_has(mesh):
    """Rounding of stiffness that is a hundred thousand times as much as the mass would be another mass, or none."""
    problem = problem_of(mesh)
    n, multiply = len(problem.b), packed_of(problem)
    size = np.abs(dense(problem.A.multiply, n)).sum()
    for axis in [*np.eye(3), np.array([0.6, -0.5, 0.3])]:
        motion = np.tile(axis, (n, 1))
        wanted = np.vdot(motion, problem.A.multiply(motion))
        assert np.vdot(motion, multiply(motion)) == pytest.approx(wanted, rel=1e-12, abs=1e-15 * size)


def test_a_matrix_is_not_rounded_where_that_would_be_as_much_as_its_mass():
    problem = problem_of(sheet)
    x = np.random.default_rng(0).normal(size=problem.b.shape)
    stiff = packed(problem.A, 1e-9 * problem.system.mass, 1e-2)
    np.testing.assert_array_equal(stiff(x), problem.A.multiply(x))
    if tuning().packs_matrices:
        assert (packed_of(problem)(x) != problem.A.multiply(x)).any()


def test_a_solve_to_many_digits_is_of_the_matrix_itself():
    problem = problem_of(sheet)
    x = np.random.default_rng(0).normal(size=problem.b.shape)
    np.testing.assert_array_equal(packed(problem.A, problem.system.mass, 1e-6)(x), problem.A.multiply(x))


@meshes
def test_a_solve_with_it_is_a_solve_of_the_matrix(mesh):
    problem = problem_of(mesh)
    P = BlockJacobi(problem.A, problem.filter)
    exact, found = (modified_pcg(multiply, problem.b, precondition=P, project=problem.filter.project,
                                 z=problem.filter.z, tolerance=1e-9).solution
                    for multiply in (problem.A.multiply, packed_of(problem)))
    away = found - exact
    energy = np.vdot(away, problem.A.multiply(away)) / np.vdot(exact, problem.A.multiply(exact))
    assert np.sqrt(energy) < 1e-4


def test_the_next_matrix_takes_the_place_of_the_last():
    problem = problem_of(sheet)
    x = np.random.default_rng(0).normal(size=problem.b.shape)
    once = packed_of(problem)(x)
    problem.A.data *= 2.0
    problem.A.scalar = 2.0 * problem.A.scalars
    problem.A.row_sums *= 2.0
    np.testing.assert_allclose(packed_of(problem)(x), 2.0 * once, rtol=1e-12)

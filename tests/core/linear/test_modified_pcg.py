# SPDX-License-Identifier: GPL-3.0-or-later
"""The modified conjugate gradients equal a dense solve on the free subspace, and say truly how they ended."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.kernels.formulas import conjugate_gradients as module
from core.linear.constraint_filter import ConstraintFilter
from core.linear.modified_pcg import modified_pcg
from tests.cases import cases


def spd(rng, n, condition=1e3):
    axes = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return (axes * np.geomspace(1.0, condition, n)) @ axes.T


class Problem:
    """A random system of V particles with 0 to 3 directions of each taken."""

    def __init__(self, seed, V=7, constrained=True, moving=True):
        rng = np.random.default_rng(seed)
        self.rng, self.V = rng, V
        self.A, self.b = spd(rng, 3 * V), rng.normal(size=(V, 3))
        self.P = np.linalg.inv(np.diag(np.diag(self.A)))
        self.filter = ConstraintFilter(V)
        for vertex in range(V if constrained else 0):
            for _ in range(rng.integers(0, 4)):
                p = rng.normal(size=(1, 3))
                self.filter.constrain(np.array([vertex]), p / np.linalg.norm(p),
                                      rng.normal(size=1) if moving else np.zeros(1))

    def multiply(self, d):
        return (self.A @ d.ravel()).reshape(-1, 3)

    def precondition(self, r):
        return (self.P @ r.ravel()).reshape(-1, 3)

    def solve(self, **options):
        settings_ = {"precondition": self.precondition, "project": self.filter.project, "z": self.filter.z,
                     "tolerance": 1e-12, **options}
        return modified_pcg(options.pop("multiply", self.multiply), options.pop("b", self.b),
                            **{k: v for k, v in settings_.items() if k not in ("multiply", "b")})

    def dense(self):
        """The answer by elimination of the constrained directions."""
        n = 3 * self.V
        S = np.column_stack([self.filter.project(e.reshape(-1, 3)).ravel() for e in np.eye(n)])
        values, vectors = np.linalg.eigh(S)
        free = vectors[:, values > 0.5]
        z = self.filter.z.ravel()
        y = np.linalg.solve(free.T @ self.A @ free, free.T @ (self.b.ravel() - self.A @ z))
        return (z + free @ y).reshape(-1, 3)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2 ** 32 - 1), st.booleans(), st.booleans())
def test_the_answer_is_the_dense_one_on_the_free_subspace(seed, moving, warm):
    problem = Problem(seed, moving=moving)
    start = problem.rng.normal(size=problem.b.shape) if warm else None
    result = problem.solve(start=start)
    wanted = problem.dense()
    np.testing.assert_allclose(result.solution, wanted, atol=1e-7 * max(1.0, np.abs(wanted).max()))
    assert result.converged and result.residual <= 1e-12
    constrained = result.solution - problem.filter.project(result.solution)
    np.testing.assert_allclose(constrained, problem.filter.z, atol=1e-13, err_msg="z is met exactly, not to tolerance")


def test_a_solve_that_goes_on_from_an_answer_is_measured_as_the_one_that_found_it():
    problem = Problem(3)
    before = problem.solve(tolerance=1e-8)
    same = problem.solve(tolerance=1e-7, start=before.solution, scale=before.scale)
    assert same.iterations == 0 and same.converged and same.scale == before.scale
    b = problem.b + 1e-3 * problem.rng.normal(size=problem.b.shape)
    after = problem.solve(b=b, tolerance=1e-8, start=before.solution, scale=before.scale)
    r = problem.filter.project(b - problem.multiply(after.solution))
    assert after.iterations > 0
    assert np.sqrt(np.vdot(r, problem.precondition(r)) / before.scale) == pytest.approx(after.residual, rel=1e-3)


@cases("tolerance", [1e-1, 1e-3, 1e-6])
def test_the_residual_it_reports_is_the_residual_it_has(tolerance):
    problem = Problem(1)
    result = problem.solve(tolerance=tolerance)
    r = problem.filter.project(problem.b - problem.multiply(result.solution))
    z = problem.filter.z
    sizes = []
    for vector in (problem.b, problem.b - problem.multiply(z)):
        f = problem.filter.project(vector)
        sizes.append(np.vdot(f, problem.precondition(f)))
    true = np.sqrt(np.vdot(r, problem.precondition(r)) / max(sizes))
    assert result.residual == pytest.approx(true, rel=1e-6)
    assert result.converged and result.residual <= tolerance and result.reason == "tolerance"


def test_the_answer_does_not_depend_on_what_z_holds_in_free_directions():
    problem = Problem(2)
    extra = problem.filter.project(problem.rng.normal(size=problem.b.shape))
    np.testing.assert_allclose(problem.solve(z=problem.filter.z + extra).solution, problem.dense(), atol=1e-7)


def test_a_start_at_the_answer_needs_no_iteration():
    problem = Problem(3)
    result = problem.solve(start=problem.dense(), tolerance=1e-6)
    assert (result.iterations, result.reason, result.converged) == (0, "tolerance", True)


def test_a_worse_start_changes_where_it_begins_and_not_what_it_is_measured_by():
    problem = Problem(4)
    far = problem.solve(start=1e6 * np.ones_like(problem.b), tolerance=1e-3)
    np.testing.assert_allclose(far.solution, problem.dense(), atol=0.3)
    assert far.residual <= 1e-3


def test_inputs_are_left_as_they_were():
    problem = Problem(5)
    start = problem.rng.normal(size=problem.b.shape)
    before = problem.b.copy(), problem.filter.z.copy(), start.copy()
    problem.solve(start=start)
    for now, then in zip((problem.b, problem.filter.z, start), before, strict=True):
        np.testing.assert_array_equal(now, then)


@cases("preconditioned", [False, True])
def test_operators_that_hand_back_their_argument_are_as_good_as_ones_that_copy(preconditioned):
    problem = Problem(6, constrained=False)
    b = problem.b.copy()
    result = problem.solve(project=lambda d: d, precondition=problem.precondition if preconditioned else lambda r: r)
    np.testing.assert_allclose(result.solution, problem.dense(), atol=1e-7)
    np.testing.assert_array_equal(problem.b, b)


# ---------------------------------------------------------------------- how it ended


def test_no_force_and_no_motion_is_answered_at_once():
    problem = Problem(7, moving=False)
    result = problem.solve(b=np.zeros_like(problem.b))
    assert (result.reason, result.iterations) == ("zero right-hand side", 0)
    assert result.converged and result.residual == 0.0
    assert not result.solution.any()


def test_forces_on_constrained_directions_alone_are_answered_at_once():
    problem = Problem(8, moving=False)
    b = problem.b - problem.filter.project(problem.b)
    b = b - problem.filter.project(b)                              # rounding of the projection
    result = problem.solve(b=b, tolerance=0.5)
    assert np.abs(result.solution).max() <= 1e-12


def test_moving_constraints_without_any_force_end_too():
    problem = Problem(9)
    problem.b[:] = 0.0
    result = problem.solve()
    np.testing.assert_allclose(result.solution, problem.dense(), atol=1e-7)
    assert result.reason == "tolerance"


def test_too_few_iterations_are_reported_and_the_best_so_far_returned():
    problem = Problem(10)
    result = problem.solve(max_iterations=3)
    assert (result.reason, result.iterations, result.converged) == ("iteration limit", 3, False)
    assert result.residual > 1e-12
    assert problem.solve(max_iterations=0).reason == "iteration limit"


def test_an_indefinite_matrix_is_reported():
    problem = Problem(11, constrained=False)
    problem.A = problem.A - 30.0 * np.eye(len(problem.A))
    result = problem.solve()
    assert (result.reason, result.converged) == ("indefinite", False)


def test_an_indefinite_preconditioner_is_reported_and_never_counts_as_converged():
    for factors in (-np.ones(21), np.where(np.arange(21) < 20, 1.0, -1e3)):
        problem = Problem(12, constrained=False)
        problem.P = problem.P * factors
        result = problem.solve(tolerance=1e-9)
        assert (result.reason, result.converged) == ("indefinite", False)


def test_a_start_that_an_indefinite_preconditioner_judges_is_no_failure_of_numbers():
    """Then the caller can make a better preconditioner: only what is not finite has no residual."""
    problem = Problem(12, constrained=False)
    near = problem.solve(tolerance=1e-3)
    problem.P = -problem.P
    result = problem.solve(start=near.solution, scale=near.scale)
    assert (result.reason, result.converged, result.iterations) == ("indefinite", False, 0)
    assert 0.0 < result.residual < 2e-3


@cases("where", ["b", "A", "P", "z"])
def test_what_is_not_a_number_never_counts_as_converged(where):
    problem = Problem(13, constrained=False)
    problem.filter.fix(np.array([0]), np.array([[1.0, 0.0, 0.0]]))
    values = {"b": problem.b[1:], "A": problem.A[5:], "P": problem.P[5:], "z": problem.filter.z}[where]
    values[0, 0] = np.nan
    result = problem.solve()
    assert (result.reason, result.converged) == ("indefinite", False)
    assert not result.residual <= 1e-12


def test_numbers_too_large_to_square_never_count_as_converged():
    problem = Problem(16)
    with np.errstate(over="ignore"):
        result = problem.solve(b=1e200 * problem.b)
    assert (result.reason, result.converged) == ("indefinite", False)
    assert np.isnan(result.residual)


def test_a_start_that_is_not_a_number_is_passed_over():
    problem = Problem(15)
    result = problem.solve(start=np.full_like(problem.b, np.nan))
    np.testing.assert_allclose(result.solution, problem.dense(), atol=1e-7)
    assert result.converged


def test_as_many_iterations_as_free_directions_suffice():
    problem = Problem(14, V=4)
    free = int(problem.filter.degrees_of_freedom(np.arange(4)).sum())
    assert problem.solve(tolerance=1e-8).iterations <= free + 2


def test_the_preconditioner_is_applied_once_before_the_first_iteration_and_once_in_each(monkeypatch):
    """It may cost as much as an iteration: what rests is not weighed twice, a start that is no better not at all."""
    monkeypatch.setattr(module, "SHRINK_MARGIN", np.inf)
    problem = Problem(seed=5, moving=False)
    calls = []

    def precondition(r):
        calls.append(1)
        return problem.precondition(r)
    far = 1e6 * np.ones_like(problem.b)
    result = modified_pcg(problem.multiply, problem.b, precondition=precondition, project=problem.filter.project,
                          z=np.zeros_like(problem.b), start=far)
    assert result.converged and len(calls) == 1 + result.iterations


@cases("seed", range(8))
def test_with_a_factor_that_is_nearly_the_matrix_nobody_asks_whether_the_last_iteration_was_the_last(seed):
    """That would be a third of the work. What is said of the residual is no less than what it is."""
    problem = Problem(seed, constrained=False)
    noise = problem.rng.normal(size=problem.A.shape)
    near = np.linalg.inv(problem.A + 3e-3 * (noise + noise.T))
    calls = []

    def precondition(r):
        calls.append(1)
        return (near @ r.ravel()).reshape(-1, 3)

    result = problem.solve(precondition=precondition, tolerance=3e-4)
    assert result.converged and result.iterations == len(calls) == 2
    r = problem.b - problem.multiply(result.solution)
    true = np.sqrt(np.vdot(r, precondition(r)) / result.scale)
    assert true <= result.residual <= 3e-4


def test_a_scale_that_the_residual_of_its_guess_exceeds_is_none():
    """It is of other equations, such as those without contacts, which ask for nothing where things fall freely."""
    problem = Problem(5, constrained=False)
    result = problem.solve(tolerance=1e-4, start=np.zeros_like(problem.b), scale=1e-30)
    assert result.converged and result.iterations == problem.solve(tolerance=1e-4).iterations
    np.testing.assert_allclose(result.solution, problem.dense(), atol=1e-3)


def test_a_guess_that_is_not_good_enough_is_not_preconditioned(monkeypatch):
    monkeypatch.setattr(module, "SHRINK_MARGIN", np.inf)
    problem, calls = Problem(5, constrained=False), []

    def counted(r):
        calls.append(1)
        return problem.precondition(r)

    half = 0.5 * problem.dense()                                     # leaves half the residual
    for good, more in ((1.0, 1), (0.4, 0), (0.6, 1)):
        calls.clear()
        result = problem.solve(precondition=counted, start=half, good=good, tolerance=1e-6)
        assert len(calls) == 1 + more + result.iterations            # of the right-hand side, the guess, each product
        np.testing.assert_allclose(result.solution, problem.dense(), rtol=1e-3, atol=1e-4)


def test_what_rounding_leaves_of_a_load_that_constraints_hold_is_not_solved_for():
    """A sheet at rest: all of its weight is taken by the filter, and what is left is the weight's last digits."""
    weight = np.tile([0.0, 0.0, -1.0], (8, 1))
    left = 2.0 ** -53 * np.random.default_rng(4).normal(size=(8, 3))
    result = modified_pcg(lambda d: 2.0 * d, weight + left, precondition=lambda r: r,
                          project=lambda d: d * [1.0, 1.0, 0.0], tolerance=1e-5)
    assert result.converged and result.iterations == 0 and np.abs(result.solution).max() == 0.0

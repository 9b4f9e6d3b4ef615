# SPDX-License-Identifier: GPL-3.0-or-later
"""A solve is one compiled call, and gives the bytes of the same algorithm on functions of Python."""

import numpy as np
import pytest

from core.kernels import backend, using
from tests.cases import cases
from tests.core.linear.test_preconditioners import Problem, sheet

if backend.why_not("numba"):
    pytest.skip("needs Numba", allow_module_level=True)

from core.kernels.numba import thread_pool
from core.kernels.numba.gradients import summed
from core.linear.modified_pcg import arrays_of, modified_pcg
from core.linear.packed_matrix import packed
from core.linear.preconditioners.aggregation_multigrid import AggregationMultigrid
from core.linear.preconditioners.neighbour_cholesky import NeighbourCholesky
from core.linear.products import Assembled, WithPairs

VERTICES = 48                                                        # along a side: enough for parts of every loop


class SomePairs:
    """Terms of pairs that stick and slip, as contact adds them."""

    def __init__(self, count):
        rng = np.random.default_rng(2)
        normal = rng.normal(size=(200, 3))
        self._terms = (rng.integers(count, size=(200, 4)), rng.normal(size=(200, 4)),
                       normal / np.linalg.norm(normal, axis=1)[:, None], 1e-3 * rng.random(200), 1e-4 * rng.random(200))

    def terms(self):
        return self._terms

    def add_product(self, x, result):
        backend.current().pair_penalty.add_product(*self._terms, x, result)


@pytest.fixture(scope="module")
def problem():
    with using("numba"):
        made = Problem(sheet(VERTICES - 1), [0, VERTICES - 1])
        made.filter.z[0] = 0.01
        made.pairs = SomePairs(len(made.b))
        made.A.add_diagonal(backend.current().pair_penalty.diagonal(*made.pairs.terms(), len(made.b)))
        yield made


def operators(problem, product, kind):
    multiply = packed(problem.A, problem.system.mass, 1e-2) if product == "packed" else Assembled(problem.A)
    maker = AggregationMultigrid if kind == "multigrid" else NeighbourCholesky
    P = maker(problem.A.pattern, problem.system.edges, problem.rest).at(problem.A, problem.filter)
    return WithPairs(multiply, problem.pairs), P, problem.filter.projection


@cases("guess", [None, "start", "scale"])
@cases("product,kind", [("packed", "multigrid"), ("assembled", "direct")])
def test_a_solve_is_one_call_with_the_bytes_of_python_s_loop(problem, product, kind, guess, monkeypatch):
    multiply, P, project = operators(problem, product, kind)
    rng = np.random.default_rng(4)
    options = {"z": problem.filter.z, "tolerance": 1e-4}
    if guess is not None:
        options["start"] = 1e-3 * rng.normal(size=problem.b.shape)
    if guess == "scale":
        options["scale"] = modified_pcg(multiply, problem.b, precondition=P, project=project, **options).scale
    wanted = modified_pcg(lambda x: multiply(x), problem.b, precondition=lambda r: P(r), project=lambda d: project(d),
                          **options)
    assert wanted.iterations > 1
    calls = []
    called = thread_pool._called
    monkeypatch.setattr(thread_pool, "_called", lambda *given: calls.append(given[0]) or called(*given))
    for threads in (1, 2, 3, 8):
        token = thread_pool.thread_limit.set(threads)
        try:
            calls.clear()
            found = modified_pcg(multiply, problem.b, precondition=P, project=project, **options)
        finally:
            thread_pool.thread_limit.reset(token)
        assert len(calls) == 1, "nothing of a solve goes through the interpreter"
        assert found.solution.tobytes() == wanted.solution.tobytes()
        assert (found.iterations, found.residual, found.reason, found.scale) == (
            wanted.iterations, wanted.residual, wanted.reason, wanted.scale)


@cases("product", ["packed", "assembled"])
def test_a_product_with_pairs_knows_what_it_makes_of_translations(problem, product):
    multiply = operators(problem, product, "multigrid")[0]
    for axis, found in enumerate(multiply.translations()):
        wanted = multiply(np.tile(np.eye(3)[axis], (len(problem.b), 1)))
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-4 * np.abs(wanted).max())
        assert product == "packed" or found.tobytes() == wanted.tobytes()


def test_a_matrix_with_parts_beside_it_is_solved_by_python_s_loop(problem):
    class Beside:
        def add_product(self, x, total):
            total += 0.01 * x

    multiply, P, project = operators(problem, "assembled", "direct")
    problem.A.beside = Beside()
    try:
        assert arrays_of(multiply) is None
        result = modified_pcg(multiply, problem.b, precondition=P, project=project)
        r = project(problem.b - multiply(result.solution))
        assert result.converged and np.abs(r).max() < 1e-2 * np.abs(problem.b).max()
    finally:
        problem.A.beside = None


def test_numbers_that_are_not_finite_end_a_solve(problem):
    multiply, P, project = operators(problem, "assembled", "direct")
    b = problem.b.copy()
    b[7, 1] = np.nan
    result = modified_pcg(multiply, b, precondition=P, project=project)
    assert result.reason == "indefinite" and not result.converged and np.isnan(result.residual)
    nothing = modified_pcg(multiply, np.zeros_like(b), precondition=P, project=project)
    assert nothing.reason == "zero right-hand side" and nothing.converged


@cases("count", [0, 1, 2, 7, 8, 9, 15, 16, 17, 100, 128])
def test_sums_of_parts_are_added_as_numpy_does(count):
    numbers = np.random.default_rng(count).normal(size=count)
    assert summed(numbers) == numbers.sum()

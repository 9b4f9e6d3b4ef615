# SPDX-License-Identifier: GPL-3.0-or-later
"""Which preconditioner is taken, by what the solves before needed."""

import numpy as np
import pytest

from core.linear.block_cholesky import BlockCholesky
from core.linear.preconditioners.aggregation_multigrid import TwoLevels
from core.linear.preconditioners.select import LONGEST, TRY_AGAIN, PreconditionerChoice
from core.model.projective_elements import scalar_elements
from tests.core.linear.test_preconditioners import H, Problem, sheet

pytestmark = pytest.mark.usefixtures("backend")


class Choice:
    """A choice on a small sheet, asked again and again."""

    def __init__(self, few=False):
        self.problem = Problem(sheet(8), [0])
        forces, rest = self.problem.system._forces, self.problem.rest
        self.choice = PreconditionerChoice(self.problem.A.pattern, lambda: scalar_elements(forces, rest),
                                           self.problem.system.edges, rest)
        self.choice.few = self.choice.few if few is None else few

    def solve(self, iterations, **options):
        p = self.problem
        found = self.choice.make(H, p.system.mass, p.filter, p.A, 1e-3)
        self.choice.learn(iterations, **options)
        return {BlockCholesky: "direct", TwoLevels: "multigrid"}.get(type(found), "constant")


def slow_solves(choice):
    """Solves with multigrid that together cost more than direct ones."""
    count = 0
    while choice.choice._left == 0:
        assert choice.solve(10 * choice.choice.slow) == "multigrid"
        count += 1
    return count


def test_slow_solves_make_the_next_ones_direct_for_a_while():
    choice = Choice()
    slow = choice.choice.slow
    assert [choice.solve(slow) for _ in range(20)] == ["multigrid"] * 20
    assert slow_solves(choice) <= 2
    assert [choice.solve(2) for _ in range(TRY_AGAIN)] == ["direct"] * TRY_AGAIN
    assert choice.solve(2) == "multigrid"
    assert choice.solve(2) == "multigrid"


def test_in_contact_the_kernels_say_apart_what_is_slow():
    """Multigrid leaves more of it to second solves."""
    choice = Choice()
    choice.choice.slow, choice.choice.slow_in_contact = 20, 10
    assert [choice.solve(15) for _ in range(20)] == ["multigrid"] * 20
    assert [choice.solve(15, touching=True) for _ in range(20)][-1] == "direct"


def test_one_slow_solve_in_a_step_of_quick_ones_changes_nothing():
    """The first of a step starts from nothing, the ones after its contacts changed from its answer."""
    choice = Choice()
    slow = choice.choice.slow
    step = [2 * slow, slow // 3, slow // 3, slow // 4]
    assert [choice.solve(iterations) for iterations in 6 * step] == ["multigrid"] * 24


def test_where_multigrid_stays_slow_it_is_tried_ever_less_often():
    choice = Choice()
    slow_solves(choice)
    for wait in (TRY_AGAIN, 2 * TRY_AGAIN, 4 * TRY_AGAIN, LONGEST, LONGEST):
        assert [choice.solve(2) for _ in range(wait)] == ["direct"] * wait
        assert choice.solve(3 * choice.choice.slow) == "multigrid"
    assert [choice.solve(2) for _ in range(LONGEST)] == ["direct"] * LONGEST
    assert [choice.solve(2) for _ in range(8)] == ["multigrid"] * 8
    slow_solves(choice)
    assert [choice.solve(2) for _ in range(TRY_AGAIN + 1)] == ["direct"] * TRY_AGAIN + ["multigrid"]


def test_where_the_direct_factor_would_not_fit_multigrid_stays_and_without_any_factor_the_constant_matrix(monkeypatch):
    choice = Choice()
    slow_solves(choice)
    monkeypatch.setattr("core.linear.preconditioners.select.LARGEST", 1000)
    assert choice.solve(2) == "multigrid"
    monkeypatch.undo()
    assert choice.solve(2) == "direct"
    choice.problem.A.add_diagonal(np.full(81, -1.0))
    assert choice.solve(2) == "constant"


def test_a_few_vertices_are_solved_directly_at_once():
    assert Choice(few=None).solve(2) == "direct"

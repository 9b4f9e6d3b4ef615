# SPDX-License-Identifier: GPL-3.0-or-later
"""Which preconditioner is taken, by what the solves before needed."""

from unittest import mock

import numpy as np
import pytest

from core.linear.block_cholesky import BlockCholesky
from core.linear.preconditioners import select
from core.linear.preconditioners.aggregation_multigrid import TwoLevels
from core.linear.preconditioners.select import FIRST_WAIT, LONGEST_WAIT, NO_SOLVES, Preconditioners, after
from core.model.projective_matrix import constant_elements
from core.state import SolveHistory
from tests.core.linear.test_preconditioners import H, Problem, sheet

pytestmark = pytest.mark.usefixtures("backend")


class Solves:
    """Solves on a small sheet, each with the history of those before."""

    def __init__(self, always_direct=False):
        self.problem = Problem(sheet(8), [0])
        forces, rest = self.problem.system._forces.final, self.problem.rest
        self.preconditioners = Preconditioners(
            self.problem.A.pattern, lambda: constant_elements(forces, rest, bounding=False),
            self.problem.system.edges, rest)
        self.always_direct = select.ALWAYS_DIRECT if always_direct is None else 0
        self.history = NO_SOLVES

    @property
    def worth(self):
        return self.preconditioners.worth(touching=False)

    def solve(self, iterations, touching=False, in_flight=False):
        p = self.problem
        with mock.patch.object(select, "ALWAYS_DIRECT", self.always_direct):
            found, direct = self.preconditioners.make(self.history, H, p.system.mass, p.filter, p.A, 1e-3,
                                                      in_flight=in_flight)
        self.history = after(self.history, iterations, self.preconditioners.worth(touching=touching))
        kind = {BlockCholesky: "direct", TwoLevels: "multigrid"}.get(type(found), "constant")
        assert direct == (kind == "direct")
        return kind


def slow_solves(solves):
    """Solves with multigrid that together cost more than direct ones."""
    count = 0
    while solves.history.direct_left == 0:
        assert solves.solve(10 * solves.worth) == "multigrid"
        count += 1
    return count


def test_slow_solves_make_the_next_ones_direct_for_a_while():
    solves = Solves()
    worth = solves.worth
    assert [solves.solve(worth) for _ in range(20)] == ["multigrid"] * 20
    assert slow_solves(solves) <= 2
    assert [solves.solve(2) for _ in range(FIRST_WAIT)] == ["direct"] * FIRST_WAIT
    assert solves.solve(2) == "multigrid"
    assert solves.solve(2) == "multigrid"


def test_in_contact_the_kernels_say_apart_what_is_slow():
    """Multigrid leaves more of it to second solves."""
    solves = Solves()
    solves.preconditioners._worth, solves.preconditioners._worth_in_contact = 20, 10
    assert [solves.solve(15) for _ in range(20)] == ["multigrid"] * 20
    assert [solves.solve(15, touching=True) for _ in range(20)][-1] == "direct"


def test_one_slow_solve_in_a_step_of_quick_ones_changes_nothing():
    """The first of a step starts from nothing, the ones after its contacts changed from its answer."""
    solves = Solves()
    worth = solves.worth
    step = [2 * worth, worth // 3, worth // 3, worth // 4]
    assert [solves.solve(iterations) for iterations in 6 * step] == ["multigrid"] * 24


def test_where_multigrid_stays_slow_it_is_tried_ever_less_often():
    solves = Solves()
    slow_solves(solves)
    for wait in (FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT, LONGEST_WAIT, LONGEST_WAIT):
        assert [solves.solve(2) for _ in range(wait)] == ["direct"] * wait
        assert solves.solve(3 * solves.worth) == "multigrid"
    assert [solves.solve(2) for _ in range(LONGEST_WAIT)] == ["direct"] * LONGEST_WAIT
    assert [solves.solve(2) for _ in range(8)] == ["multigrid"] * 8
    slow_solves(solves)
    assert [solves.solve(2) for _ in range(FIRST_WAIT + 1)] == ["direct"] * FIRST_WAIT + ["multigrid"]


def test_where_the_direct_factor_would_not_fit_multigrid_stays_and_without_any_factor_the_constant_matrix(monkeypatch):
    solves = Solves()
    slow_solves(solves)
    monkeypatch.setattr("core.linear.preconditioners.select.LARGEST_FACTOR", 1000)
    assert solves.solve(2) == "multigrid"
    monkeypatch.undo()
    assert solves.solve(2) == "direct"
    solves.problem.A.add_diagonal(np.full(81, -1.0))
    assert solves.solve(2) == "constant"


def test_a_few_vertices_are_solved_directly_at_once():
    assert Solves(always_direct=None).solve(2) == "direct"
    assert Solves().solve(2, in_flight=True) == "direct"                 # more of them in a step without contact


def test_the_history_is_a_value():
    """A solve that is taken again from the same history selects the same preconditioner."""
    solves = Solves()
    slow_solves(solves)
    before = solves.history
    assert [solves.solve(2) for _ in range(FIRST_WAIT + 1)][-1] == "multigrid"
    solves.history = before
    assert solves.solve(2) == "direct"
    assert before == SolveHistory(FIRST_WAIT, FIRST_WAIT, before.mean, False)

# SPDX-License-Identifier: GPL-3.0-or-later
"""`cases` runs every case, fails if one of them does, and names it."""

import pytest

from tests.cases import case_count, cases

seen = []


def check(test, **fixtures):
    seen.clear()
    test(**fixtures)


@cases("number", [1, 2, 3])
@cases(("low", "high"), [(0, 2), (1, 3)], ids=["narrow", "wide"])
def number_is_between(number, low, high, allowed):
    seen.append((number, low, high))
    assert low < number < high or allowed


def test_all_cases_run_with_their_values_and_the_fixtures():
    check(number_is_between, allowed=True)
    assert seen == [(n, low, high) for n in (1, 2, 3) for low, high in ((0, 2), (1, 3))]


def test_failed_cases_are_counted_and_named_after_all_have_run():
    with pytest.raises(AssertionError) as caught:
        check(number_is_between, allowed=False)
    assert len(seen) == 6
    lines = str(caught.value).splitlines()
    assert lines[0] == "3 of 3 cases fail:"
    assert lines[1].startswith("number=1: 1 of 2 cases fail:") and lines[2].startswith("wide: ")
    assert [line.split(":")[0] for line in lines[1:] if line.startswith("number")] == [f"number={n}" for n in (1, 2, 3)]


def test_any_error_fails_a_case_and_shows_its_type():
    @cases("value", [1, 0])
    def divides(value):
        assert 1 / value

    with pytest.raises(AssertionError, match="1 of 2 cases fail:\nvalue=0: ZeroDivisionError: division by zero"):
        divides()


def test_only_a_test_whose_cases_all_skip_is_skipped():
    @cases("value", [1, 2])
    def skips(value, largest):
        if value <= largest:
            pytest.skip("too small")

    skips(largest=1)
    with pytest.raises(pytest.skip.Exception, match="too small"):
        skips(largest=2)


def test_a_test_needs_cases_and_their_arguments():
    with pytest.raises(AssertionError, match="no cases"):
        cases("value", [])
    with pytest.raises(AssertionError, match="does not take {'other'}"):
        cases("other", [1])(lambda value: None)


def test_the_number_of_random_cases_comes_from_the_environment(monkeypatch):
    monkeypatch.delenv("MUSLIN_CASES", raising=False)
    assert case_count(300) == 300
    monkeypatch.setenv("MUSLIN_CASES", "10000")
    assert case_count(300) == 10_000

# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests over many small cases that count as one: `cases` is used like `pytest.mark.parametrize`.

Tests of random cases take their number from `case_count`, so that `make test-long` can run more of them.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark import ParameterSet

SHOWN = 5
"""Largest number of failed cases whose error is shown in full."""


def case_count(usual: int) -> int:
    """Return how many random cases a test runs: `usual`, or the number in the environment variable MUSLIN_CASES."""
    return int(os.environ.get("MUSLIN_CASES") or usual)


def cases(names: str | Sequence[str], values: Iterable[Any], ids: Any = None) -> Callable[[Callable], Callable]:
    """Run a test in all cases and report those that fail, as one test.

    Args:
        names, values, ids: as for `pytest.mark.parametrize`.

    A case that skips counts as passed unless all do. Decorators of both kinds may be stacked. Fixtures are shared by
    all cases, so a test that writes to a folder or replaces attributes must not depend on an untouched one.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = list(values)
    rows = [tuple(value) if len(names) > 1 else (value,) for value in values]
    assert not any(isinstance(value, ParameterSet) for value in values), "pytest.param is for pytest.mark.parametrize"
    assert rows and all(len(row) == len(names) for row in rows), f"no cases, or not of {names}"
    if callable(ids):
        labels = ["-".join(str(ids(value)) for value in row) for row in rows]
    else:
        labels = [str(label) for label in ids] if ids is not None else [
            ", ".join(f"{name}={_short(value)}" for name, value in zip(names, row, strict=True)) for row in rows]
    assert len(labels) == len(rows), "one id for each case"

    def decorate(test: Callable) -> Callable:
        @functools.wraps(test)
        def all_cases(**fixtures: Any) -> None:
            __tracebackhide__ = True
            failed: list[tuple[str, BaseException]] = []
            skipped: list[str] = []
            for label, row in zip(labels, rows, strict=True):
                try:
                    test(**fixtures, **dict(zip(names, row, strict=True)))
                except pytest.skip.Exception as reason:
                    skipped.append(str(reason))
                except (Exception, pytest.fail.Exception) as error:
                    failed.append((label, error))
            if failed:
                shown = [f"{label}: {_message(error)}" for label, error in failed[:SHOWN]]
                shown += [label for label, _ in failed[SHOWN:]]
                raise AssertionError("\n".join([f"{len(failed)} of {len(rows)} cases fail:", *shown])) from failed[0][1]
            if len(skipped) == len(rows):
                pytest.skip(skipped[0])

        signature = inspect.signature(test)
        all_cases.__signature__ = signature.replace(                                        # type: ignore[attr-defined]
            parameters=[p for name, p in signature.parameters.items() if name not in names])
        missing = set(names) - set(signature.parameters)
        assert not missing, f"{test.__name__} does not take {missing}"
        return all_cases

    return decorate


def _short(value: Any) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _message(error: BaseException) -> str:
    text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
    return text or "assertion failed"

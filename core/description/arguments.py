# SPDX-License-Identifier: GPL-3.0-or-later
"""Arguments of a constructor, kept so that the object can be described in a file and made again.

Arrays are copied and iterators become lists, because the caller may change or use up what was given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar

import numpy as np

Class = TypeVar("Class", bound=type)
Method = TypeVar("Method", bound=Callable[..., Any])


def keeps_arguments(made: Class) -> Class:
    """Decorate a class so that its objects keep the arguments of their constructor; `arguments_of` returns them."""
    make = made.__init__                                                        # type: ignore[misc]
    signature = inspect.signature(make)

    @wraps(make)
    def kept(self: Any, *given: Any, **named: Any) -> None:
        given = tuple(_listed(value) for value in given)
        named = {name: _listed(value) for name, value in named.items()}
        make(self, *given, **named)
        bound = signature.bind(self, *given, **named).arguments
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                bound |= bound.pop(parameter.name, {})
        self._arguments = {name: _copied(value) for name, value in list(bound.items())[1:]}
        self._changes = ()

    made.__init__ = kept                                                        # type: ignore[misc]
    return made


def keeps_change(method: Method) -> Method:
    """Decorate a method that returns a changed copy of its object so that the copy keeps the call, see `changes_of`."""
    @wraps(method)
    def kept(self: Any, *given: Any, **named: Any) -> Any:
        bound = inspect.signature(method).bind(self, *given, **named).arguments
        result = method(self, *given, **named)
        change = method.__name__, {name: _copied(value) for name, value in list(bound.items())[1:]}
        _set_changes(result, (*self._changes, change))
        return result

    return kept                                                                 # type: ignore[return-value]


def arguments_of(thing: object) -> Mapping[str, Any]:
    """Return the arguments by which an object of a class that `keeps_arguments` was made; defaults are left out."""
    arguments: Mapping[str, Any] = thing._arguments                             # type: ignore[attr-defined]
    return arguments


def changes_of(thing: object) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """Return the methods, and their arguments, that made an object from the one that `arguments_of` describes."""
    changes: tuple[tuple[str, Mapping[str, Any]], ...] = thing._changes         # type: ignore[attr-defined]
    return changes


def _set_changes(self: Any, changes: tuple[tuple[str, Mapping[str, Any]], ...]) -> None:
    self._changes = changes


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, Iterator) else value


def _copied(value: Any) -> Any:
    """Return a copy of nested lists, tables and arrays. Other objects are shared."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(_copied(item) for item in value)
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return value

# SPDX-License-Identifier: GPL-3.0-or-later
"""Suggestions in error messages: for unknown names, and for calls with arguments that do not fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar

from .errors import ClothError

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])


def perhaps(given: Any, known: Iterable[str]) -> str:
    """Return the end of a message that suggests the known name most similar to `given`.

    Empty if `given` is one of the `known` names, or if none is similar. Names with capitals, spaces or hyphens, as
    Blender's panel shows them, are compared in lower case with underscores.
    """
    names = tuple(known)
    if not isinstance(given, str) or given in names:
        return ""
    for spelled in dict.fromkeys((given, given.lower().replace(" ", "_").replace("-", "_"))):
        near = get_close_matches(spelled, names, 1)
        if near:
            return f"; perhaps '{given}' should be '{near[0]}'"
    return ""


def names_arguments(error_type: type[ClothError]) -> Callable[[Function], Function]:
    """Return a decorator for functions that raises `error_type` for unknown or missing arguments, instead of TypeError.

    The message suggests the argument most similar to an unknown one.
    """
    def of(function: Function) -> Function:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*given: Any, **named: Any) -> Any:
            try:
                return function(*given, **named)
            except TypeError:
                try:
                    signature.bind(*given, **named)
                except TypeError as misfit:
                    raise error_type(_misfit(function, signature, str(misfit), named),
                                     object_name=_name_in(named)) from None
                raise                                           # it comes from inside

        return checked                                          # type: ignore[return-value]
    return of


def names_arguments_of(error_type: type[ClothError]) -> Callable[[Class], Class]:
    """Return a decorator that applies `names_arguments` to the constructor of a class, which may be a dataclass."""
    def of(made: Class) -> Class:
        made.__init__ = names_arguments(error_type)(made.__init__)              # type: ignore[misc]
        return made
    return of


def _misfit(function: Callable[..., Any], signature: inspect.Signature, found: str, named: dict[str, Any]) -> str:
    """Return the message for a call of `function` whose arguments do not fit.

    found: message of `signature.bind`. named: the keyword arguments of the call.
    """
    parameters = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    known = [p.name for p in parameters if p.name not in ("self", "cls")]
    near = (perhaps(wrong, [name for name in known if name not in named]) for wrong in named if wrong not in known)
    called = function.__qualname__.removesuffix(".__init__")
    return f"{called}: {found}{next(filter(None, near), '')}; its arguments are: {', '.join(known)}"


def _name_in(named: dict[str, Any]) -> str | None:
    """Return the argument `name` of a constructor call if it is a string, else None."""
    name = named.get("name")
    return name if isinstance(name, str) else None

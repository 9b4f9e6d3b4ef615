# SPDX-License-Identifier: GPL-3.0-or-later
"""Values parsed from files and records: JSON and TOML of bounded size and depth, checked against types and ranges.

A schema is a tree of the classes below. Each has one function, `check(value, where)`, which raises ParsedError with the
place and the value if the value does not fit. The depth of a text is bounded before it is parsed, and that of the
checks by the schema, so that no text can exhaust the stack.
"""

from __future__ import annotations

import json
import math
import reprlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from .number_text import number_text


class ParsedError(ValueError):
    """A text or value does not fit its schema. The message names the place and the value."""


class Kind(Protocol):
    """A type of values, with its ranges."""

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if `value`, at the place `where`, is not of this kind."""


def refuse(where: str, value: Any, wanted: str) -> NoReturn:
    """Raise ParsedError with a short form of the value."""
    raise ParsedError(f"{where or 'the whole'} is {reprlib.repr(value)}, not {wanted}")


@dataclass(frozen=True)
class Number:
    """A finite number from `low` to `high`. True and False are no numbers. None is allowed if `or_none`."""

    low: float = -math.inf
    high: float = math.inf
    whole: bool = False
    or_none: bool = False

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if the value is no such number."""
        if value is None and self.or_none:
            return
        types = int if self.whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, types):
            refuse(where, value, "a whole number" if self.whole else "a number")
        if not self.low <= value <= self.high or value in (math.inf, -math.inf):        # nan fails, too
            refuse(where, value, f"a finite number from {number_text(self.low)} to {number_text(self.high)}")


@dataclass(frozen=True)
class Text:
    """A text of at most `longest` characters."""

    longest: int

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if the value is no such text."""
        if not isinstance(value, str) or len(value) > self.longest:
            refuse(where, value, f"a text of at most {self.longest} characters")


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if the value is neither."""
        if not isinstance(value, bool):
            refuse(where, value, "true or false")


@dataclass(frozen=True)
class Anything:
    """Any value, for parts that are stored and not read."""

    def check(self, value: Any, where: str) -> None:
        """Accept every value."""


@dataclass(frozen=True)
class Either:
    """A value of one of two kinds."""

    one: Kind
    other: Kind

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if the value is of neither kind."""
        try:
            self.one.check(value, where)
        except ParsedError:
            self.other.check(value, where)


@dataclass(frozen=True)
class ListOf:
    """A list of at least `least` and at most `most` values of one kind."""

    kind: Kind
    most: int
    least: int = 0

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if the value is no such list."""
        if not isinstance(value, list):
            refuse(where, value, "a list")
        if not self.least <= len(value) <= self.most:
            raise ParsedError(f"{where} has {len(value)} values, not {self.least} to {self.most}")
        for number, item in enumerate(value):
            self.kind.check(item, f"{where}[{number}]")


@dataclass(frozen=True)
class TableOf:
    """A table of at most `most` values of one kind, with any names."""

    kind: Kind
    most: int

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if the value is no such table."""
        if not isinstance(value, dict):
            refuse(where, value, "a table")
        if len(value) > self.most:
            raise ParsedError(f"{where} has {len(value)} values, not {self.most} at most")
        for name, item in value.items():
            self.kind.check(item, f"{where}[{reprlib.repr(name)}]")


@dataclass(frozen=True)
class Fields:
    """A table with these names. Those in `optional` may be missing; names that are unknown are ignored."""

    needed: Mapping[str, Kind]
    optional: Mapping[str, Kind]

    def check(self, value: Any, where: str) -> None:
        """Raise ParsedError if a name is missing or a value does not fit."""
        if not isinstance(value, dict):
            refuse(where, value, "a table")
        inside = f"{where}." if where else ""
        for name, kind in self.needed.items():
            if name not in value:
                raise ParsedError(f"{inside}{name} is missing")
            kind.check(value[name], f"{inside}{name}")
        for name, kind in self.optional.items():
            if name in value:
                kind.check(value[name], f"{inside}{name}")


def from_json(text: Any, kind: Kind, *, longest: int, deepest: int) -> Any:
    """Return the value of a JSON text of at most `longest` characters and `deepest` levels, checked against `kind`.

    Raises:
        ParsedError: it is no such text, or the value does not fit. NaN and Infinity are refused.
    """
    if not isinstance(text, str):
        refuse("", text, "a text")
    if len(text) > longest:
        raise ParsedError(f"it has {len(text)} characters, more than {longest}")
    if _depth(text) > deepest:
        raise ParsedError(f"it is nested more than {deepest} levels deep")
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_int=_integer)
    except ValueError as error:
        raise error if isinstance(error, ParsedError) else ParsedError(f"it is no JSON: {error}") from error
    kind.check(value, "")
    return value


def from_toml(path: Path, kind: Kind, *, longest: int = 65536, most_brackets: int = 200) -> Any:
    """Return the table of a TOML file of at most `longest` bytes, checked against `kind`.

    The number of opening brackets is bounded by `most_brackets`, and with it the depth.

    Raises:
        OSError: the file cannot be read.
        ParsedError: it is no such file, or the table does not fit.
    """
    with path.open("rb") as file:
        content = file.read(longest + 1)
    if len(content) > longest:
        raise ParsedError(f"it has more than {longest} bytes")
    if content.count(b"[") + content.count(b"{") > most_brackets:
        raise ParsedError(f"it has more than {most_brackets} opening brackets")
    try:
        value = tomllib.loads(content.decode("utf-8"))
    except ValueError as error:
        raise ParsedError(f"it is no TOML: {error}") from error
    kind.check(value, "")
    return value


def _depth(text: str) -> int:
    """Return the number of levels of a JSON text. Brackets inside strings do not count."""
    outside = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    signs = np.frombuffer(outside.encode("ascii", "ignore"), np.uint8)
    depth = deepest = 0
    piece = 1 << 13                                         # bounds the memory besides the text
    for start in range(0, len(signs), piece):
        some = signs[start:start + piece]
        steps = np.isin(some, np.frombuffer(b"[{", np.uint8)).astype(np.int64)
        steps -= np.isin(some, np.frombuffer(b"]}", np.uint8))
        levels = depth + np.cumsum(steps)
        depth, deepest = int(levels[-1]), max(deepest, int(levels.max()))
    return deepest


def _no_constant(name: str) -> NoReturn:
    raise ParsedError(f"it holds {name}, which is no finite number")


def _integer(digits: str) -> int:
    if len(digits) > 20:
        raise ParsedError(f"it holds a number of {len(digits)} digits")
    return int(digits)

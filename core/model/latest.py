# SPDX-License-Identifier: GPL-3.0-or-later
"""The last value of a pure function is kept, for callers that ask for it several times in a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")


class Latest(Generic[Key, Value]):
    """The value that belongs to one key. Keys are compared by value, so that this changes no result."""

    def __init__(self) -> None:
        self._kept: tuple[Key, Value] | None = None

    def at(self, key: Key, make: Callable[[Key], Value]) -> Value:
        """Return make(key), which is called unless the key is that of the last call."""
        if self._kept is None or self._kept[0] != key:
            self._kept = key, make(key)
        return self._kept[1]

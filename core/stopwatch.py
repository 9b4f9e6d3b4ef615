# SPDX-License-Identifier: GPL-3.0-or-later
"""Wall-clock seconds per named stage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Adds up wall-clock seconds per stage. Stages do not nest."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time a `with` block into stage `name`."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - start

    def take(self) -> dict[str, float]:
        """Return the seconds of all stages so far, and start again at zero."""
        seconds, self.seconds = self.seconds, {}
        return seconds

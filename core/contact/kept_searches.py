# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep trees and boxes of a search for pairs, for later searches from the same start for a few vertices."""

from __future__ import annotations

from typing import Any

from ..arrays import FloatArray
from ..row_ops import mean


class KeptSearches:
    """The data that kernels keep of each search, by its name, after a search for all pairs.

    Attributes:
        common: (3,) motion that all are taken to have in common [m]; None before the first search. It stays the same,
            so that vertices that are where they were expected have not moved for later searches.
    """

    def __init__(self) -> None:
        self.common: FloatArray | None = None
        self._of: dict[tuple[str, int], dict[str, Any]] = {}

    def less_common(self, x0: FloatArray, x1: FloatArray) -> FloatArray:
        """Return x1 (V, 3) [m] without the common motion, which is the mean one from x0 (V, 3) [m] at first."""
        if self.common is None:
            self.common = mean(x1 - x0)
        return x1 - self.common

    def of(self, name: str, number: int = 0) -> dict[str, Any]:
        """Return what is kept of the search with this name, with a collider of this number."""
        return self._of.setdefault((name, number), {})

    def forget(self, number: int) -> None:
        """Forget the searches with a collider of this number: one of them was left out."""
        for key in [key for key in self._of if key[1] == number]:
            del self._of[key]

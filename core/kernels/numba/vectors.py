# SPDX-License-Identifier: GPL-3.0-or-later
"""3-vectors as tuples of plain numbers, for compiled loops: reading rows of arrays, and the arithmetic of formulas."""

from __future__ import annotations

from typing import Any

from ..formulas import vectors
from . import plain_functions as plain_functions  # registers that arithmetic
from .kernel_cache import njit
from .options import INLINED

add: Any = vectors.add                                              # its types are those of arrays
cross: Any = vectors.cross
divide: Any = vectors.divide
dot: Any = vectors.dot
scale: Any = vectors.scale
subtract: Any = vectors.subtract


@njit(**INLINED)
def at(x: Any, row: Any) -> Any:
    """Return a row of x (N, 3)."""
    return x[row, 0], x[row, 1], x[row, 2]


@njit(**INLINED)
def four(x: Any, row: Any) -> Any:
    """Return a row of x (N, 4)."""
    return x[row, 0], x[row, 1], x[row, 2], x[row, 3]


@njit(**INLINED)
def at_corners(x: Any, vertices: Any, row: Any) -> Any:
    """Return x (V, 3) at the four vertices (N, 4) of a row."""
    return (at(x, vertices[row, 0]), at(x, vertices[row, 1]), at(x, vertices[row, 2]), at(x, vertices[row, 3]))

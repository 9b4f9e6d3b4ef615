# SPDX-License-Identifier: GPL-3.0-or-later
"""Area vectors of triangles, by `formulas.area_vectors`, and forces along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arrays import FloatArray, IntArray
from ..formulas.area_vectors import area_change, area_vector
from .vectors import corners, join, split

if TYPE_CHECKING:
    from ...stencils.stencil import Stencil


def area_vectors(triangles: IntArray, x: FloatArray) -> FloatArray:
    """Return N (T, 3) [m^2] of triangles (T, 3) at x (V, 3) [m]."""
    return join(area_vector(*corners(x, triangles)))


def area_changes(triangles: IntArray, first: FloatArray, second: FloatArray, u: FloatArray) -> FloatArray:
    """Return dN (T, 3) of displacements u (V, 3); half edges first and second (T, 3) as of `area_change`."""
    return join(area_change(split(first), split(second), *corners(u, triangles)))


def add_to_corners(stencil: Stencil, vectors: FloatArray, total: FloatArray) -> None:
    """Add vectors (T, 3) of triangles, times the weight of each corner, to total (V, 3)."""
    total += stencil.scatter((split(vectors),), len(total))

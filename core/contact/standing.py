# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth that stands on an open wall, a row of its vertices exactly in it: as a curtain that reaches down to the floor.

An open wall has two sides, and cloth belongs to the one that it starts on. Of what lies in it rounding says that,
vertex by vertex, and cloth could be caught under the floor that it stands on. So a vertex whose neighbours are all on
one side starts a hair's breadth on that side, too. Where they are on both, the cloth passes through the wall.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import unit
from .colliders import SurfaceShape
from .exclusions import PairFilter, kept_off
from .lying import Lying, in_solid


def beside_walls(x: FloatArray, vertices: IntArray, edges: IntArray, held: BoolArray, hair: float, within: float,
                 solids: Sequence[tuple[FloatArray, SurfaceShape]], pair_filter: PairFilter | None = None
                 ) -> FloatArray:
    """Positions x (V, 3) [m] with those of the `vertices` put a `hair` [m] beside open walls that lie `within` [m] of
    one.

    edges (E, 2): of the cloth; held (V,): vertices that pins hold, which stay; solids: positions (W, 3) [m] and shapes
    of colliders; pair_filter: None where nothing is excluded from contact.
    """
    lying = [in_solid(x, kept_off(pair_filter, k, vertices), at, shape, 0, within, some=~shape.closed)
             for k, (at, shape) in enumerate(solids) if not shape.closed.all()]
    if not any(len(found.vertex) for found in lying):
        return x
    found = Lying.joined(lying)
    side = _sides(x, found, edges, within)
    away = np.zeros_like(x)
    np.add.at(away, found.vertex, side[:, None] * found.across)
    away[held] = 0.0
    moved: FloatArray = x + hair * unit(away)
    return moved


def _sides(x: FloatArray, lying: Lying, edges: IntArray, within: float) -> FloatArray:
    """On which side of its wall all neighbours by edges (E, 2) of each of P vertices are (P,): 1 in front, -1 behind, 0
    if they are on both or in it."""
    ends = np.concatenate([edges, edges[:, ::-1]])
    ends = ends[np.isin(ends[:, 0], lying.vertex)]
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    first = np.searchsorted(ends[:, 0], lying.vertex)
    count = np.searchsorted(ends[:, 0], lying.vertex, side="right") - first
    row = np.repeat(np.arange(len(count)), count)
    neighbour = ends[np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(row)), 1]
    height = np.einsum("pi,pi->p", x[neighbour] - x[lying.vertex[row]], lying.across[row]) + lying.above[row]
    highest, lowest = np.full(len(count), -np.inf), np.full(len(count), np.inf)
    np.maximum.at(highest, row, height)
    np.minimum.at(lowest, row, height)
    in_front, behind = (lowest >= -within) & (highest > within), (highest <= within) & (lowest < -within)
    return in_front.astype(float) - behind

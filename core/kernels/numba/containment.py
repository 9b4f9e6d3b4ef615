# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the points inside the closed parts of a surface, compiled: one point after the other.

By `formulas.containment`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas import containment as formulas
from ..formulas.containment import edge_turn, is_above
from .kernel_cache import njit
from .options import INLINED, INNER, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_ELEMENTS, share
from .trees import STACK_SIZE, rows_of, walk
from .vectors import at

register(formulas, INLINED)


def inside(points: FloatArray, positions: FloatArray, triangles: IntArray, closed: BoolArray, order: IntArray,
           nodes: FloatArray) -> BoolArray:
    """Return whether each point (Q, 3) [m] is inside a closed part.

    The surface has positions (V, 3) [m] and triangles (T, 3), of which closed (T,) belong to closed parts.
    """
    result = np.zeros(len(points), dtype=bool)
    share(_inside, len(points), LEAST_ELEMENTS, np.ascontiguousarray(points), np.ascontiguousarray(positions),
          triangles, closed, order, rows_of(nodes), result)
    return result


@njit(**KERNEL)
def _inside(first: Any, last: Any, points: Any, positions: Any, triangles: Any, closed: Any, order: Any, rows: Any,
            result: Any) -> None:
    """Write to `result` (Q,) whether points first..last - 1 are inside; rows (2L, 6): nodes of the tree."""
    stack, high = np.empty(STACK_SIZE, dtype=np.int64), np.empty(3)
    met = np.empty(64, dtype=np.int64)
    for i in range(first, last):
        p = at(points, i)
        if not (rows[1, 2] <= p[2] <= rows[1, 5]):                  # the traversal tests the other axes
            continue
        high[0], high[1], high[2] = p[0], p[1], rows[1, 5]
        total = walk(rows, points[i], high, stack, met)
        if total > len(met):
            met = np.empty(2 * total, dtype=np.int64)
            walk(rows, points[i], high, stack, met)
        leaves = 0
        for k in range(total):
            t = order[met[k]]
            if closed[t]:
                leaves += _leaves_through(p, positions, triangles[t])
        result[i] = leaves > 0


@njit(**INNER)
def _leaves_through(p: Any, positions: Any, corners: Any) -> Any:
    """Return 1 if the ray upwards from p leaves the solid through the triangle, -1 if it enters, 0 if it misses it.

    p: components [m]. positions (V, 3) [m]. corners (3,): vertices of the triangle.
    """
    turns = 0
    for k in range(3):
        start, end = corners[k], corners[(k + 1) % 3]
        first, second = min(start, end), max(start, end)
        x0, y0 = positions[first, 0], positions[first, 1]
        x1, y1 = positions[second, 0], positions[second, 1]
        turn = edge_turn(p, x0, y0, x1, y1)
        turns += turn if start == first else -turn
    if turns == 0:
        return 0
    a, b, c = at(positions, corners[0]), at(positions, corners[1]), at(positions, corners[2])
    return turns if is_above(turns, p, a, b, c) else 0

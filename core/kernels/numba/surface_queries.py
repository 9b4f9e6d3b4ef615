# SPDX-License-Identifier: GPL-3.0-or-later
"""Nearest points on a mesh, and segments that meet one, compiled: each query traverses the tree with a stack.

Arguments and results are those of `kernels.numpy.surface_queries`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ..formulas import segments
from ..formulas.segments import meets
from .distances import closest
from .kernel_cache import njit
from .nearest_triangles import BOUND_SLACK
from .options import INLINED, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_SEARCHES, share
from .trees import STACK_SIZE, rows_of
from .vectors import at

register(segments, INLINED)


def nearest(order: IntArray, nodes: FloatArray, triangles: IntArray, x: FloatArray, points: FloatArray
            ) -> tuple[IntArray, FloatArray]:
    """Return the nearest triangle (P,) of each point (P, 3) [m], and its nearest point (P, 3) [m]."""
    found, place = np.zeros(len(points), dtype=np.int64), np.zeros((len(points), 3))
    share(_nearest, len(points), LEAST_SEARCHES, order, rows_of(nodes), np.ascontiguousarray(triangles),
          np.ascontiguousarray(x), np.ascontiguousarray(points), found, place)
    return found, place


def blocked(order: IntArray, nodes: FloatArray, triangles: IntArray, x: FloatArray, starts: FloatArray,
            ends: FloatArray) -> BoolArray:
    """Return which segments, from starts to ends (P, 3) [m], meet a triangle."""
    result = np.zeros(len(starts), dtype=np.bool_)
    share(_blocked, len(starts), LEAST_SEARCHES, order, rows_of(nodes), np.ascontiguousarray(triangles),
          np.ascontiguousarray(x), np.ascontiguousarray(starts), np.ascontiguousarray(ends), result)
    return result


@njit(**KERNEL)
def _nearest(begin: Any, end: Any, order: Any, rows: Any, triangles: Any, x: Any, points: Any, found: Any,
             place: Any) -> None:
    """Write the nearest triangles and points of points begin..end - 1."""
    stack, leaves = np.empty(STACK_SIZE, dtype=np.int64), len(order)
    for i in range(begin, end):
        p = at(points, i)
        best, top = np.inf, 1
        stack[0] = 1
        while top:
            top -= 1
            node = stack[top]
            if _away(rows, node, p) > best * best * (1.0 + BOUND_SLACK):
                continue
            if node >= leaves:
                t = order[node - leaves]
                if t < 0:
                    continue
                _, q, distance, _ = closest(p, at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2]))
                if distance < best or distance == best and t < found[i]:
                    best, found[i] = distance, t
                    place[i, 0], place[i, 1], place[i, 2] = q
                continue
            near, far = 2 * node, 2 * node + 1
            if _away(rows, far, p) < _away(rows, near, p):
                near, far = far, near
            stack[top], stack[top + 1] = far, near
            top += 2


@njit(**INLINED)
def _away(rows: Any, node: Any, p: Any) -> Any:
    """Return the squared distance [m^2] between the point p and the box of a node, rows (2L, 6)."""
    x = max(max(rows[node, 0] - p[0], p[0] - rows[node, 3]), 0.0)
    y = max(max(rows[node, 1] - p[1], p[1] - rows[node, 4]), 0.0)
    z = max(max(rows[node, 2] - p[2], p[2] - rows[node, 5]), 0.0)
    return x * x + y * y + z * z


@njit(**KERNEL)
def _blocked(begin: Any, end: Any, order: Any, rows: Any, triangles: Any, x: Any, starts: Any, ends: Any,
             result: Any) -> None:
    """Write which of the segments begin..end - 1 meet a triangle."""
    stack, leaves = np.empty(STACK_SIZE, dtype=np.int64), len(order)
    for i in range(begin, end):
        p, q = at(starts, i), at(ends, i)
        top = 1
        stack[0] = 1
        while top:
            top -= 1
            node = stack[top]
            if not _passes(rows, node, p, q):
                continue
            if node >= leaves:
                t = order[node - leaves]
                if t >= 0 and meets(p, q, at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2])):
                    result[i] = True
                    break
                continue
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node
            top += 2


@njit(**INLINED)
def _passes(rows: Any, node: Any, p: Any, q: Any) -> Any:
    """Return whether the segment from p to q may meet the box of a node, rows (2L, 6): the test of separating axes."""
    cx, cy, cz = 0.5 * (rows[node, 0] + rows[node, 3]), 0.5 * (rows[node, 1] + rows[node, 4]), 0.5 * (
        rows[node, 2] + rows[node, 5])
    ex, ey, ez = rows[node, 3] - cx, rows[node, 4] - cy, rows[node, 5] - cz
    hx, hy, hz = 0.5 * (q[0] - p[0]), 0.5 * (q[1] - p[1]), 0.5 * (q[2] - p[2])
    mx, my, mz = 0.5 * (p[0] + q[0]) - cx, 0.5 * (p[1] + q[1]) - cy, 0.5 * (p[2] + q[2]) - cz
    ax, ay, az = abs(hx), abs(hy), abs(hz)
    slack = BOUND_SLACK * (ax + ay + az + abs(mx) + abs(my) + abs(mz) + abs(ex) + abs(ey) + abs(ez))
    if abs(mx) > ex + ax + slack or abs(my) > ey + ay + slack or abs(mz) > ez + az + slack:
        return False
    area = slack * (ax + ay + az + abs(mx) + abs(my) + abs(mz))
    return not (abs(my * hz - mz * hy) > ey * az + ez * ay + area or abs(mz * hx - mx * hz) > ex * az + ez * ax + area
                or abs(mx * hy - my * hx) > ex * ay + ey * ax + area)

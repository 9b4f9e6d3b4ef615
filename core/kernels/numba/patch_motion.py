# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of patches, compiled: one pass over the neighbours of each vertex for all means at once.

Arguments and results are those of `kernels.numpy.patch_motion`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray
from ..formulas import patch_motion as formulas
from ..formulas.patch_motion import angular_velocity, matrix_of, of_chord, of_formula
from ..formulas.rotation import quaternion
from ..formulas.vectors import SMALLEST_DIVISOR
from ..layouts import PaddedRows
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .plain_functions import register
from .thread_pool import LEAST_ROWS, LEAST_VERTICES, share
from .vectors import add, at, cross, dot, scale, subtract

register(formulas, INLINED)


def means(weights: FloatArray, layout: PaddedRows, field: FloatArray) -> FloatArray:
    """Return the means (V, 3) of a field (V, 3)."""
    result = np.empty_like(field, order="C")
    share(_means, len(field), LEAST_VERTICES, weights, layout.row_start, layout.row_width, layout.columns,
          np.ascontiguousarray(field), result)
    return result


def turns(weights: FloatArray, layout: PaddedRows, x: FloatArray, way: FloatArray, excess: float, rounding: float
          ) -> FloatArray:
    """Return the turns (V, 3) [rad] of patches at places x (V, 3) [m] that move by `way` (V, 3) [m]."""
    result = np.empty_like(x, order="C")
    share(_turns, len(x), LEAST_ROWS, weights, layout.row_start, layout.row_width, layout.columns,
          np.ascontiguousarray(x), np.ascontiguousarray(way), excess, rounding, SMALLEST_DIVISOR, result)
    return result


def turns_to(weights: FloatArray, layout: PaddedRows, x: FloatArray, end: FloatArray, rounding: float) -> FloatArray:
    """Return the turns (V, 3) [rad] of patches on their way from x to `end` (V, 3) [m]."""
    result = np.empty_like(x, order="C")
    share(_turns_to, len(x), LEAST_ROWS, weights, layout.row_start, layout.row_width, layout.columns,
          np.ascontiguousarray(x), np.ascontiguousarray(end), rounding, SMALLEST_DIVISOR, result)
    return result


def ends(weights: FloatArray, layout: PaddedRows, x: FloatArray, change: FloatArray, turn: FloatArray) -> FloatArray:
    """Return the ends (V, 3) [m] of vertices: the mean, over their patches, of where the rigid motion of each leads."""
    rows = layout.row_start, layout.row_width, layout.columns
    x, moved, result, R = np.ascontiguousarray(x), np.empty_like(x), np.empty_like(x), np.empty((len(x), 3, 3))
    share(_moved, len(x), LEAST_VERTICES, weights, *rows, x, np.ascontiguousarray(change), np.ascontiguousarray(turn),
          moved, R)
    share(_ends, len(x), LEAST_ROWS, weights, *rows, x, moved, R, result)
    return result


def quaternions(turn: FloatArray) -> FloatArray:
    """Return the unit quaternions (V, 4) of rotation vectors (V, 3) [rad]."""
    result = np.empty((len(turn), 4))
    share(_quaternions, len(turn), LEAST_ROWS, np.ascontiguousarray(turn), result)
    return result


@njit(**INLINED)
def _away(w: Any, a: Any, b: Any) -> Any:
    """Return w (a - b)."""
    return scale(w, subtract(a, b))


@njit(**INLINED)
def _squares(a: Any) -> Any:
    """Return the squares of the components of a."""
    return a[0] * a[0], a[1] * a[1], a[2] * a[2]


@njit(**INLINED)
def _mixed(a: Any) -> Any:
    """Return the products of each component of a with the next one."""
    return a[0] * a[1], a[1] * a[2], a[2] * a[0]


@njit(**INLINED)
def _no_neighbour() -> Any:
    """Return the sums of `_with_neighbour` over none."""
    nothing = (0.0, 0.0, 0.0)
    return nothing, nothing, nothing, nothing, nothing


@njit(**INLINED)
def _with_neighbour(sums: Any, w: Any, d: Any, e: Any) -> Any:
    """Return the sums that `angular_velocity` takes, with those of a neighbour of weight w whose place and velocity are
    those of the vertex plus d and e."""
    c, V, moment, square, mixed = sums
    return (add(c, scale(w, d)), add(V, scale(w, e)), add(moment, scale(w, cross(d, e))),
            add(square, scale(w, _squares(d))), add(mixed, scale(w, _mixed(d))))


@njit(**KERNEL)
def _means(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, field: Any,
           result: Any) -> None:
    """Write the means of vertices begin..end - 1 to result (V, 3)."""
    u = np.uintp
    for i in range(u(begin), u(end)):
        mine, total, start = at(field, i), (0.0, 0.0, 0.0), u(starts[i])
        for s in range(u(widths[i])):
            total = add(total, _away(weights[start + s], at(field, u(columns[start + s])), mine))
        result[i, 0], result[i, 1], result[i, 2] = add(total, mine)


@njit(**KERNEL)
def _turns(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, x: Any, way: Any, excess: Any,
           rounding: Any, smallest: Any, result: Any) -> None:
    """Write the turns of patches begin..end - 1 to result (V, 3)."""
    u = np.uintp
    for i in range(u(begin), u(end)):
        a, b, start = at(x, i), at(way, i), u(starts[i])
        sums = _no_neighbour()
        for s in range(u(widths[i])):
            w, j = weights[start + s], u(columns[start + s])
            d, e = subtract(at(x, j), a), subtract(at(way, j), b)
            sums = _with_neighbour(sums, w, d, e)
        c, V, m, q, p = sums
        result[i, 0], result[i, 1], result[i, 2] = of_formula(
            angular_velocity(c, V, m, q, p, rounding, smallest), excess)


@njit(**KERNEL)
def _turns_to(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, x: Any, x1: Any,
              rounding: Any, smallest: Any, result: Any) -> None:
    """Write the turns of patches begin..end - 1 on their way from x to x1 to result (V, 3)."""
    u = np.uintp
    for i in range(u(begin), u(end)):
        a, b, start = at(x, i), at(x1, i), u(starts[i])
        sums = _no_neighbour()
        for s in range(u(widths[i])):
            w, j = weights[start + s], u(columns[start + s])
            before, after = subtract(at(x, j), a), subtract(at(x1, j), b)
            d, e = scale(0.5, add(before, after)), subtract(after, before)
            sums = _with_neighbour(sums, w, d, e)
        c, V, m, q, p = sums
        result[i, 0], result[i, 1], result[i, 2] = of_chord(angular_velocity(c, V, m, q, p, rounding, smallest))


@njit(**INLINED)
def _row(R: Any, i: Any, row: Any) -> Any:
    """Return a row of R[i]."""
    return R[i, row, 0], R[i, row, 1], R[i, row, 2]


@njit(**KERNEL)
def _moved(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, x: Any, change: Any, turn: Any,
           moved: Any, R: Any) -> None:
    """Write the rotation of patches begin..end - 1 to R (V, 3, 3), and where the patch takes its vertex, less the
    vertex' place, to moved (V, 3): change + c - R c, with the mean c of the patch from there."""
    u = np.uintp
    for i in range(u(begin), u(end)):
        mine, c, start = at(x, i), (0.0, 0.0, 0.0), u(starts[i])
        for s in range(u(widths[i])):
            c = add(c, _away(weights[start + s], at(x, u(columns[start + s])), mine))
        one, two, three = matrix_of(at(turn, i))
        R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = one
        R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = two
        R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = three
        turned = dot(one, c), dot(two, c), dot(three, c)
        moved[i, 0], moved[i, 1], moved[i, 2] = add(at(change, i), subtract(c, turned))


@njit(**KERNEL)
def _ends(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, x: Any, moved: Any, R: Any,
          result: Any) -> None:
    """Write the ends of vertices begin..end - 1 to result (V, 3)."""
    u = np.uintp
    for i in range(u(begin), u(end)):
        start, place, mine, total = u(starts[i]), at(x, i), at(moved, i), (0.0, 0.0, 0.0)
        for s in range(u(widths[i])):
            w, j = weights[start + s], u(columns[start + s])
            away = subtract(at(x, j), place)                                 # x_j - R_j (x_j - x_i) + moved_j, from x_i
            turned = dot(_row(R, j, 0), away), dot(_row(R, j, 1), away), dot(_row(R, j, 2), away)
            there = add(subtract(away, turned), at(moved, j))
            total = add(total, _away(w, there, mine))
        result[i, 0], result[i, 1], result[i, 2] = add(place, add(mine, total))


@njit(**KERNEL)
def _quaternions(begin: Any, end: Any, turn: Any, result: Any) -> None:
    """Write the quaternions of rows begin..end - 1 to result (V, 4)."""
    for i in range(np.uintp(begin), np.uintp(end)):
        result[i, 0], result[i, 1], result[i, 2], result[i, 3] = quaternion(at(turn, i))

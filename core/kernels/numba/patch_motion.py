# SPDX-License-Identifier: GPL-3.0-or-later
"""Motion of patches, compiled: one pass over the neighbours of each vertex for all means at once.

Arguments and results are those of `kernels.numpy.patch_motion`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray
from ..formulas import patch_motion as formulas
from ..formulas.patch_motion import angular_velocity
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


def fitted(weights: FloatArray, layout: PaddedRows, y: FloatArray, v: FloatArray, rounding: float, smallest: float
           ) -> FloatArray:
    """Return the angular velocities (V, 3) of patches with velocities v (V, 3) at places y (V, 3), both in one unit."""
    result = np.empty_like(y, order="C")
    share(_fitted, len(y), LEAST_ROWS, weights, layout.row_start, layout.row_width, layout.columns,
          np.ascontiguousarray(y), np.ascontiguousarray(v), rounding, smallest, result)
    return result


def ends(weights: FloatArray, layout: PaddedRows, origin: FloatArray, y: FloatArray, change: FloatArray,
         R: FloatArray) -> FloatArray:
    """Return the ends (V, 3) [m] of vertices: the mean, over their patches, of where the rigid motion of each leads."""
    rows = layout.row_start, layout.row_width, layout.columns
    y, R = np.ascontiguousarray(y), np.ascontiguousarray(R)
    moved, result = np.empty_like(y), np.empty_like(y)
    share(_moved, len(y), LEAST_VERTICES, weights, *rows, y, np.ascontiguousarray(change), R, moved)
    share(_ends, len(y), LEAST_ROWS, weights, *rows, np.ascontiguousarray(origin), y, moved, R, result)
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
def _fitted(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, y: Any, v: Any,
            rounding: Any, smallest: Any, result: Any) -> None:
    """Write the angular velocities of vertices begin..end - 1 to result (V, 3)."""
    u = np.uintp
    for i in range(u(begin), u(end)):
        a, b, start = at(y, i), at(v, i), u(starts[i])
        moment, square, mixed = cross(a, b), _squares(a), _mixed(a)
        c = V = m = q = p = (0.0, 0.0, 0.0)
        for s in range(u(widths[i])):
            w, j = weights[start + s], u(columns[start + s])
            d, e = at(y, j), at(v, j)
            c, V, m = add(c, _away(w, d, a)), add(V, _away(w, e, b)), add(m, _away(w, cross(d, e), moment))
            q, p = add(q, _away(w, _squares(d), square)), add(p, _away(w, _mixed(d), mixed))
        result[i, 0], result[i, 1], result[i, 2] = angular_velocity(
            add(c, a), add(V, b), add(m, moment), add(q, square), add(p, mixed), rounding, smallest)


@njit(**INLINED)
def _row(R: Any, i: Any, row: Any) -> Any:
    """Return a row of R[i]."""
    return R[i, row, 0], R[i, row, 1], R[i, row, 2]


@njit(**KERNEL)
def _moved(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, y: Any, change: Any, R: Any,
           moved: Any) -> None:
    """Write change + c - R c to moved (V, 3) for patches begin..end - 1, with the mean c of each."""
    u = np.uintp
    for i in range(u(begin), u(end)):
        mine, c, start = at(y, i), (0.0, 0.0, 0.0), u(starts[i])
        for s in range(u(widths[i])):
            c = add(c, _away(weights[start + s], at(y, u(columns[start + s])), mine))
        c = add(c, mine)
        turned = dot(_row(R, i, 0), c), dot(_row(R, i, 1), c), dot(_row(R, i, 2), c)
        moved[i, 0], moved[i, 1], moved[i, 2] = add(at(change, i), subtract(c, turned))


@njit(**KERNEL)
def _ends(begin: Any, end: Any, weights: Any, starts: Any, widths: Any, columns: Any, origin: Any, y: Any, moved: Any,
          R: Any, result: Any) -> None:
    """Write the ends of vertices begin..end - 1 to result (V, 3)."""
    u = np.uintp
    o = (origin[0], origin[1], origin[2])
    for i in range(u(begin), u(end)):
        start, mine = u(starts[i]), at(moved, i)
        one, two, three = _row(R, i, 0), _row(R, i, 1), _row(R, i, 2)
        m = a = b = c = (0.0, 0.0, 0.0)
        for s in range(u(widths[i])):
            w, j = weights[start + s], u(columns[start + s])
            m, a = add(m, _away(w, at(moved, j), mine)), add(a, _away(w, _row(R, j, 0), one))
            b, c = add(b, _away(w, _row(R, j, 1), two)), add(c, _away(w, _row(R, j, 2), three))
        place = at(y, i)
        turned = dot(add(a, one), place), dot(add(b, two), place), dot(add(c, three), place)
        result[i, 0], result[i, 1], result[i, 2] = add(add(o, add(m, mine)), turned)

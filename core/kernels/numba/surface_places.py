# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow places along a surface, compiled: one place after the other. Arguments and results are those of the NumPy
kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..numpy.surface_places import Followed
from .distances import closest
from .kernel_cache import njit
from .options import INLINED, KERNEL
from .thread_pool import LEAST_SEARCHES, share
from .vectors import at, cross, dot, subtract

__all__ = ["follow", "unit_normals"]


def follow(points: FloatArray, triangle: IntArray, near: IntArray, first: int, corners: IntArray, x: FloatArray,
           alike: float, moves: int) -> Followed:
    """Return the places nearest to points (n, 3) [m] on the sheets of triangles (n,)."""
    found, feature = triangle.copy(), np.zeros(len(triangle), dtype=np.int64)
    weights, point = np.zeros((len(found), 3)), np.zeros((len(found), 3))
    share(_follow, len(found), LEAST_SEARCHES, np.ascontiguousarray(points), near, first, np.ascontiguousarray(corners),
          np.ascontiguousarray(x), alike, moves, found, weights, point, feature)
    return found, weights, point, feature


def unit_normals(corners: IntArray, x: FloatArray) -> FloatArray:
    """Return the unit normals (n, 3) of triangles with corners (n, 3) on x (V, 3) [m]."""
    normals = np.empty((len(corners), 3))
    _unit_normals(np.ascontiguousarray(corners), np.ascontiguousarray(x), normals)
    return normals


@njit(**KERNEL)
def _follow(begin: Any, end: Any, points: Any, near: Any, first: Any, corners: Any, x: Any, alike: Any, moves: Any,
            found: Any, weights: Any, point: Any, feature: Any) -> None:
    """Follow places begin..end - 1 from triangles `found` (n,), and write the results of `follow`."""
    for i in range(begin, end):
        p, facing = at(points, i), _normal(corners, found[i], x)
        for _ in range(moves):
            nearest, least = 0, np.inf
            for k in range(near.shape[1]):
                t = near[first + found[i], k] - first
                if k > 0 and not dot(_normal(corners, t, x), facing) > alike:
                    continue
                w, q, distance, code = closest(p, at(x, corners[t, 0]), at(x, corners[t, 1]), at(x, corners[t, 2]))
                if k == 0 or distance < least:
                    nearest, least, feature[i] = k, distance, code
                    weights[i, 0], weights[i, 1], weights[i, 2] = w
                    point[i, 0], point[i, 1], point[i, 2] = q
            found[i] = near[first + found[i], nearest] - first
            if nearest == 0:
                break


@njit(**KERNEL)
def _unit_normals(corners: Any, x: Any, normals: Any) -> None:
    """Write the unit normals of all triangles to `normals` (n, 3)."""
    for t in range(len(corners)):
        normals[t, 0], normals[t, 1], normals[t, 2] = _normal(corners, t, x)


@njit(**INLINED)
def _normal(corners: Any, t: Any, x: Any) -> Any:
    """Return the unit normal of triangle t, corners (T, 3), on x (V, 3) [m]; 0 where it has none."""
    a = at(x, corners[t, 0])
    area = cross(subtract(at(x, corners[t, 1]), a), subtract(at(x, corners[t, 2]), a))
    size = max(np.sqrt(dot(area, area)), np.finfo(np.float64).tiny)
    return area[0] / size, area[1] / size, area[2] / size

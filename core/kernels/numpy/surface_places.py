# SPDX-License-Identifier: GPL-3.0-or-later
"""Follow places along a surface, from triangle to neighbouring triangle. `contact.surface_places` says what for."""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from .distances import point_triangle

Followed = tuple[IntArray, FloatArray, FloatArray, IntArray]


def follow(points: FloatArray, triangle: IntArray, near: IntArray, first: int, corners: IntArray, x: FloatArray,
           alike: float, moves: int) -> Followed:
    """Return the places nearest to points (n, 3) [m] on the sheets of triangles (n,).

    Args:
        near: (N, k), each triangle and others around it, by their numbers less `first`, which is that of the first of
            the surface; where there is none, itself again.
        corners: (T, 3) on x (V, 3) [m].
        alike: cosine of the angle between normals of triangles of one sheet, from where it begins, above which it goes
            on [-].
        moves: largest number of neighbours that a place goes through.

    Returns:
        triangle (n,), weights (n, 3), point (n, 3) [m] and feature code (n,) of each place.
    """
    at, count = triangle.copy(), near.shape[1]
    weights, point, feature = np.zeros((len(at), 3)), np.zeros((len(at), 3)), np.zeros(len(at), dtype=np.int64)
    left, facing = np.arange(len(at)), unit_normals(corners[at], x)
    for _ in range(moves):
        options = near.take(first + at[left], axis=0) - first
        a, b, c = (x.take(corners[options.ravel(), k], axis=0) for k in range(3))
        found = point_triangle(np.repeat(points[left], count, axis=0), a, b, c)
        same = np.einsum("noi,ni->no", unit_normals(corners[options], x), facing) > alike
        same[:, 0] = True
        best = np.argmin(np.where(same, found[2].reshape(-1, count), np.inf), axis=1)
        row = np.arange(len(left)) * count + best
        at[left] = options[np.arange(len(left)), best]
        weights[left], point[left], feature[left] = found[0][row], found[1][row], found[3][row]
        left, facing = left[best > 0], facing[best > 0]
        if not len(left):
            break
    return at, weights, point, feature


def unit_normals(corners: IntArray, x: FloatArray) -> FloatArray:
    """Return the unit normals (..., 3) of triangles with corners (..., 3) on x (V, 3) [m]."""
    a, b, c = (x.take(corners[..., k], axis=0) for k in range(3))
    area = np.cross(b - a, c - a)
    return np.asarray(area / np.maximum(np.linalg.norm(area, axis=-1, keepdims=True), np.finfo(float).tiny))

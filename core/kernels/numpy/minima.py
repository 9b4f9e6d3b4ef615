# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the distance between two pieces of surface has a minimum (`contact.nearness` says what that means)."""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...row_ops import all_of, length, pick

FEATURE_OF = np.array([0, 4, 5, 1, 6, 3, 2, 0])
"""Feature code of `distances`, by which corners have weight: 1 for the first, 2 for the second, 4 for the third."""
SHARP = 0.2
"""Least sum of the sines by which the triangles at an edge fold away from the other [-]: some 12 degrees in all."""
LEANING = 0.1
"""Sine by which a triangle may lean towards the other edge and count as flat [-]."""


def keys(primitives: IntArray, weights: FloatArray, faces: int, table: IntArray, count: int, edges: int,
         vertices: int) -> IntArray:
    """A number for each pair (P,): of the vertex and the feature its closest point lies on, or of both edges.

    Pairs (P, 2) with weights (P, 4), `faces` of them with a triangle; features (T, 7) by triangle and code, `count` of
    them, as in `Features`; and how many edges and vertices there are.
    """
    code = FEATURE_OF[((weights[:faces, 1:] != 0.0) * [1, 2, 4]).sum(axis=1)]
    edge = primitives[faces:]
    return np.concatenate([primitives[:faces, 0] * count + table[primitives[:faces, 1], code],
                           vertices * count + edge[:, 0] * edges + edge[:, 1]])


def whole(key: IntArray, degree: IntArray) -> IntArray:
    """Rows, ascending, where a key (N,) that is there as often as its feature's degree (F,) is for the first time."""
    unique, first, count = np.unique(key, return_index=True, return_counts=True)
    return np.sort(first[count == degree[unique % len(degree)]])


def ridges(vertices: IntArray, primitives: IntArray, weights: FloatArray, normals: FloatArray, opposite: IntArray,
           x: FloatArray, cloth: int) -> BoolArray:
    """Which of the pairs of edges are two ridges that cross (P,).

    Per pair: vertices and weights (P, 4), the edges (P, 2), unit normals (P, 3) from the second to the first. Vertices
    opposite each edge (E, 2), -1 for none; vertices from number `cloth` on are those of colliders.
    """
    result: BoolArray = all_of(weights != 0.0)
    row = np.flatnonzero(result)
    for which, sign in ((0, 1.0), (1, -1.0)):
        corners, normal = pick(vertices, row), pick(normals, row)
        beside = pick(opposite, primitives[row, which])                                  # (R, 2)
        start, end = (pick(x, corners[:, 2 * which + k]) for k in range(2))
        along = end - start
        along /= length(along)[:, None]
        inward = pick(x, beside) - start[:, None]
        inward -= np.einsum("rki,ri->rk", inward, along)[:, :, None] * along[:, None, :]
        size = np.linalg.norm(inward, axis=2)
        sine = sign * np.einsum("rki,ri->rk", inward, normal) / np.where(size > 0.0, size, 1.0)
        there = beside >= 0
        folds = (sine >= -LEANING) | ~there
        least = np.where(all_of(there), SHARP, -LEANING)
        least[corners[:, 2 - 2 * which] >= cloth] = -np.inf                              # cloth over a ridge
        enough = np.where(there, sine, 0.0).sum(axis=1) >= least
        keep = all_of(folds) & enough
        result[row[~keep]] = False
        row = row[keep]
    return result

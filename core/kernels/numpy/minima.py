# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs at which the distance between two pieces of surface has a minimum, by `formulas.minima`.

`contact.nearness` defines these minima.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...row_ops import all_of, pick
from ..formulas.minima import (
    FEATURE_OF,
    LEANING,
    SHARP,
    corners_with_weight,
    edge_direction,
    fold_sine,
    is_ridge,
    pair_key,
)
from .vectors import split

__all__ = ["LEANING", "SHARP", "keys", "ridges", "whole"]


def keys(primitives: IntArray, weights: FloatArray, faces: int, table: IntArray, count: int, edges: int,
         vertices: int) -> IntArray:
    """Return one number for each pair (P,): of the vertex and the feature of its closest point, or of both edges.

    primitives (P, 2): vertex and triangle in the first `faces` rows, then edge and edge. weights (P, 4): of the closest
    points. table (T, 7): features of each triangle by code, `count` features in all. edges, vertices: their numbers.
    """
    code = FEATURE_OF[corners_with_weight(*weights[:faces, 1:].T)]
    edge = primitives[faces:]
    return np.concatenate([pair_key(primitives[:faces, 0], table[primitives[:faces, 1], code], count),
                           vertices * count + pair_key(edge[:, 0], edge[:, 1], edges)])


def whole(key: IntArray, degree: IntArray) -> IntArray:
    """Return the first row of each key (N,) that occurs as often as its feature's degree (F,), in ascending order."""
    unique, first, count = np.unique(key, return_index=True, return_counts=True)
    return np.sort(first[count == degree[unique % len(degree)]])


def ridges(vertices: IntArray, primitives: IntArray, weights: FloatArray, normals: FloatArray, opposite: IntArray,
           x: FloatArray, cloth: int) -> BoolArray:
    """Return for each pair of edges (P,) whether both are ridges and their closest points inside the edges.

    vertices, weights (P, 4); primitives (P, 2): the edges; normals (P, 3): unit vectors from the second to the first.
    opposite (E, 2): vertices opposite each edge, -1 for none. x (V, 3) [m]. Vertices from number `cloth` on belong to
    colliders.
    """
    result: BoolArray = all_of(weights != 0.0)
    row = np.flatnonzero(result)
    for which, sign in ((0, 1.0), (1, -1.0)):
        vertex = pick(vertices, row)
        start, n = split(pick(x, vertex[:, 2 * which])), split(sign * pick(normals, row))
        along = edge_direction(start, split(pick(x, vertex[:, 2 * which + 1])))
        beside = pick(opposite, primitives[row, which])                                  # (R, 2)
        total, flat_or_folded = np.zeros(len(row)), np.ones(len(row), dtype=np.bool_)
        for corner in beside.T:
            sine = np.where(corner >= 0, fold_sine(split(pick(x, corner)), start, along, n), 0.0)
            flat_or_folded &= sine >= -LEANING
            total += sine
        keep = flat_or_folded & is_ridge(total, all_of(beside >= 0), vertex[:, 2 - 2 * which] >= cloth)
        result[row[~keep]] = False
        row = row[keep]
    return result

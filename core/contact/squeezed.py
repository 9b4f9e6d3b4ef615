# SPDX-License-Identifier: GPL-3.0-or-later
"""Find contacts without room: solids or other contacts press both sides of them together."""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import any_of, pick

OPPOSITE = 0.4
"""Cosine below whose negative two contacts of a vertex press from opposite sides [-]."""


def squeezed(vertex: IntArray, normal: FloatArray, room: FloatArray) -> BoolArray:
    """Return which contacts (C,) are of a vertex (C,) that contacts from opposite sides leave no room for: along unit
    normals (C, 3), each with a room (C,) [m] beyond its thickness, negative where it lacks."""
    if len(vertex) == 0:
        return np.zeros(0, dtype=np.bool_)
    order = np.lexsort((room, vertex))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = vertex[order[1:]] != vertex[order[:-1]]
    group = np.cumsum(first) - 1
    nearest = order[first][group]                                    # of the same vertex
    against = np.einsum("ci,ci->c", normal[order], normal[nearest]) < -OPPOSITE
    against &= room[order] + room[nearest] < 0.0
    result = np.zeros(len(order), dtype=np.bool_)
    result[order] = np.bincount(group, against)[group] > 0
    return result


def between_solids(vertices: IntArray, weights: FloatArray, normal: FloatArray, touches: BoolArray, some: BoolArray,
                   count: int) -> BoolArray:
    """Return which of `some` contacts (C,) solids press together, by faces against both of its sides, or by one against
    the side of cloth where the other side is of a solid.

    Args:
        vertices, weights (C, 4); normal (C, 3): of all contacts, as in `repulsion.Contacts`.
        touches: (C,) which of them act; those of a single vertex are with solids.
        count: of the vertices of cloth.
    """
    alone = np.flatnonzero(touches & (np.count_nonzero(weights, axis=1) == 1))
    at, outward = np.argmax(weights[alone] != 0.0, axis=1), np.zeros((count, 3))
    outward[vertices[alone, at]] = np.sign(weights[alone, at])[:, None] * normal[alone]
    along = np.einsum("nki,ni->nk", pick(outward, vertices[some]), normal[some])
    one, other = weights[some] > 0.0, weights[some] < 0.0
    result = some.copy()
    result[some] = (any_of(one & (along < -OPPOSITE)) | ~any_of(one)) & (
        any_of(other & (along > OPPOSITE)) | ~any_of(other))
    return result

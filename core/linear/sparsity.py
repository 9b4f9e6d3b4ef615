# SPDX-License-Identifier: GPL-3.0-or-later
"""Find the entries of a matrix that is a sum over elements: all pairs of vertices that share an element.

They are found for some rows at a time, because all pairs of all elements are ten times as many as the entries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..arrays import IntArray

ROWS_PER_PIECE = 1024
"""Rows that are worked on at a time [-]: their pairs fit into a core's cache."""


def entries_of(vertex_count: int, families: Sequence[IntArray], *, diagonal: bool = False,
               hub_counts: Sequence[int | None] | None = None
               ) -> tuple[IntArray, IntArray, list[npt.NDArray[np.int32]]]:
    """Return the entries, and where the pairs of each element are among them.

    Args:
        vertex_count: rows and columns.
        families: per element family its vertices (E, k).
        diagonal: whether all diagonal entries exist, too.
        hub_counts: per family the number of leading vertices of an element that are coupled to all its vertices, None
            for all. Two other vertices i, j have no entry; the position of their pair, where elements add zeros, is
            that of i and the first vertex.

    Returns:
        rows, columns (N,) in lexicographic order, and per family the number (E k k,) of pair (i, j) of each element, i
        before j.
    """
    hub_counts = [None] * len(families) if hub_counts is None else hub_counts
    around = [_corners_by_vertex(vertices, vertex_count) for vertices in families]
    places = [np.empty((vertices.size, vertices.shape[1]), dtype=np.int32) for vertices in families]
    own = np.arange(vertex_count) if diagonal else np.zeros(0, dtype=np.int64)
    keys: list[IntArray] = []
    count = 0
    for first in range(0, vertex_count, ROWS_PER_PIECE):
        last = min(first + ROWS_PER_PIECE, vertex_count)
        some = [corners[starts[first]:starts[last]] for starts, corners in around]
        pairs = [own[first:last] * vertex_count + own[first:last]]
        for vertices, corners, hub_count in zip(families, some, hub_counts, strict=True):
            rows, columns = vertices.ravel()[corners], vertices[corners // vertices.shape[1]]
            if hub_count is not None:
                outer = corners % vertices.shape[1] >= hub_count
                columns[outer, hub_count:] = columns[outer, :1]
            pairs.append((rows[:, None] * vertex_count + columns).ravel())
        found, number = np.unique(np.concatenate(pairs), return_inverse=True)
        number, at = number.reshape(-1), len(pairs[0])
        for place, corners in zip(places, some, strict=True):
            place[corners] = (count + number[at:at + corners.size * place.shape[1]]).reshape(-1, place.shape[1])
            at += corners.size * place.shape[1]
        keys.append(found)
        count += len(found)
    entries = np.concatenate([np.zeros(0, dtype=np.int64), *keys])
    return entries // vertex_count, entries % vertex_count, [place.ravel() for place in places]


def _corners_by_vertex(vertices: IntArray, vertex_count: int) -> tuple[IntArray, IntArray]:
    """Return where each vertex's corners begin (V + 1,), and the corners (E k,), e k + i, sorted by vertex."""
    flat = vertices.ravel()
    starts = np.zeros(vertex_count + 1, dtype=np.int64)
    np.cumsum(np.bincount(flat, minlength=vertex_count), out=starts[1:])
    return starts, np.argsort(flat, kind="stable")

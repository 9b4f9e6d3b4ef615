# SPDX-License-Identifier: GPL-3.0-or-later
"""Which entries a matrix has that elements add up to: every pair of vertices that share one.

Found some rows at a time: all pairs of all elements are ten times the entries they make.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..arrays import IntArray

PIECE = 1024
"""Rows worked on at a time: their pairs fit into a core's own memory [-]."""


def entries_of(vertex_count: int, families: Sequence[IntArray], *, diagonal: bool = False,
               cores: Sequence[int | None] | None = None) -> tuple[IntArray, IntArray, list[npt.NDArray[np.int32]]]:
    """The entries, and where the pairs of each element are among them.

    Args:
        vertex_count: rows and columns.
        families: per element family its vertices (E, k).
        diagonal: whether all of the diagonal is there, too.
        cores: per family how many of an element's vertices, the first ones, are coupled to all of them, None for every
            one: two others have no entry, and what is added to theirs, which is nothing, goes to that of i and the
            first one.

    Returns:
        rows, columns (N,) in lexicographic order, and per family the number (E k k,) of pair (i, j) of each element, i
        before j.
    """
    cores = [None] * len(families) if cores is None else cores
    around = [_corners_by_vertex(vertices, vertex_count) for vertices in families]
    places = [np.empty((vertices.size, vertices.shape[1]), dtype=np.int32) for vertices in families]
    own = np.arange(vertex_count) if diagonal else np.zeros(0, dtype=np.int64)
    keys: list[IntArray] = []
    count = 0
    for first in range(0, vertex_count, PIECE):
        last = min(first + PIECE, vertex_count)
        some = [corners[starts[first]:starts[last]] for starts, corners in around]
        pairs = [own[first:last] * vertex_count + own[first:last]]
        for vertices, corners, core in zip(families, some, cores, strict=True):
            rows, columns = vertices.ravel()[corners], vertices[corners // vertices.shape[1]]
            if core is not None:
                outer = corners % vertices.shape[1] >= core
                columns[outer, core:] = columns[outer, :1]
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
    """Where each vertex's corners begin (V + 1,) among the corners (E k,), e k + i, by vertex."""
    flat = vertices.ravel()
    starts = np.zeros(vertex_count + 1, dtype=np.int64)
    np.cumsum(np.bincount(flat, minlength=vertex_count), out=starts[1:])
    return starts, np.argsort(flat, kind="stable")

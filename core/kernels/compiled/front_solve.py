# SPDX-License-Identifier: GPL-3.0-or-later
"""Solving with the factor of `fronts`, compiled: up the tree and down again.

Every front has a vector of its own, own rows first, then its boundary, column after column. On the way up a front
adds up what its children leave on their boundaries; on the way down it takes its boundary from its parent. Nobody
writes where another front reads, so branches are worked on side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from ...arrays import IntArray
from .dense_rows import dots, flushed, subtract
from .options import INNER, KERNEL
from .pool import share
from .tiles import CHUNK

BRANCHES = 16
"""Branches of the tree that are solved side by side."""
LEAST = 200_000
"""Numbers in a factor worth another thread."""


@njit(**INNER)
def _up(front, first_child, children, own, boundary, starts, stride, begins, vertices,  # type: ignore[no-untyped-def]
        places, values, r, by, tiny, z):
    """t = X^T y in place of y, and -M^T t for the parent."""
    w, columns = r.shape[1], r.shape[2]
    o, b = own[front] * w, boundary[front] * w
    n, line = o + b, stride[front]
    base = begins[front]
    y = np.empty((o + CHUNK - 1) // CHUNK * CHUNK, dtype=z.dtype)
    for c in range(columns):
        mine = starts[2, front] * w * columns + c * n
        for row in range(own[front]):
            vertex = vertices[starts[0, front] + row]
            for a in range(w):
                z[mine + w * row + a] = r[vertex, a, c] * by
        for j in range(o, n):
            z[mine + j] = 0.0
        for child in range(first_child, first_child + children):
            skip, size = own[child], boundary[child]
            given = starts[2, child] * w * columns + (c * (skip + size) + skip) * w
            for j in range(size):
                at = mine + w * places[starts[1, child] + j]
                for a in range(w):
                    z[at + a] += z[given + w * j + a]
        y[:] = 0.0
        for i in range(0, o, 8):
            left = i - i % CHUNK
            subtract(y, left, z, mine + i, values, base + i * line + left, line, min(8, o - i), o - left)
        for i in range(o):
            z[mine + i] = flushed(tiny, -y[i])
        for i in range(0, o, 8):
            subtract(z, mine + o, z, mine + i, values, base + i * line + o, line, min(8, o - i), b)


@njit(**INNER)
def _down(front, own, boundary, starts, stride, begins, parent, vertices,  # type: ignore[no-untyped-def]
          places, values, z, size, tiny, result):
    """x = X (t - M x_b)."""
    w, columns = result.shape[1], result.shape[2]
    o, b = own[front] * w, boundary[front] * w
    n, line = o + b, stride[front]
    base, above = begins[front], parent[front]
    y = np.empty(o, dtype=z.dtype)
    for c in range(columns):
        mine = starts[2, front] * w * columns + c * n
        if b:
            theirs = (starts[2, above] * columns + c * (own[above] + boundary[above])) * w
            for j in range(boundary[front]):
                at = theirs + w * places[starts[1, front] + j]
                for a in range(w):
                    z[mine + o + w * j + a] = z[at + a]
            for i in range(0, o, 4):
                products = dots(values, base + i * line + o, line, o - i, z, mine + o, b)
                for k in range(min(4, o - i)):
                    y[i + k] = z[mine + i + k] - products[k]
        else:
            for i in range(o):
                y[i] = z[mine + i]
        for i in range(0, o, 4):
            products = dots(values, base + i * line + i, line, o - i, y, i, o - i)
            for k in range(min(4, o - i)):
                z[mine + i + k] = flushed(tiny, products[k])
        for row in range(own[front]):
            vertex = vertices[starts[0, front] + row]
            for a in range(w):
                result[vertex, a, c] = z[mine + w * row + a] * size


def solve_fronts(numbers: int, first: IntArray, *tree: Any) -> None:
    """Through all the tree, up and down, as `_solve`, with a factor of so many numbers."""
    levels = len(first) - 1
    split = levels - 1                                                   # the level where the branches begin
    while split > 0 and first[split + 1] - first[split] < BRANCHES:
        split -= 1
    branches = int(first[split + 1] - first[split])
    least, roots = 1 if numbers > LEAST else branches, int(first[levels] - first[levels - 1])
    share(_solve, branches, least, 0, split, True, first, *tree)
    for upward in (True, False) if split + 1 < levels else ():
        _solve(0, roots, split + 1, levels - 1, upward, first, *tree)
    share(_solve, branches, least, 0, split, False, first, *tree)


@njit(**KERNEL)
def _solve(begin, end, bottom, crown, upward, first, own, boundary, starts, stride,  # type: ignore[no-untyped-def]
           begins, parent, vertices, places, fan, values, r, scale, size, tiny, z, result):
    """size P^-1 r / scale for r (V, w, columns) into `result`, as far as fronts of levels bottom to crown go, under
    fronts begin..end - 1 of the crown: first up the tree, then down. z is room for the fronts' vectors."""
    count, by = first[crown + 1] - first[crown], 1.0 / scale
    for step in range(crown + 1 - bottom):
        level = bottom + step if upward else crown - step
        wide = (first[level + 1] - first[level]) // count
        for node in range(begin * wide, end * wide):
            if upward:
                _up(first[level] + node, first[max(level - 1, 0)] + node * fan, fan if level else 0, own, boundary,
                    starts, stride, begins, vertices, places, values, r, by, tiny, z)
            else:
                _down(first[level] + node, own, boundary, starts, stride, begins, parent, vertices, places, values, z,
                      size, tiny, result)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Leave a part of a collider out of collisions, such as the hands of a body.

The triangles of that part are removed. Of a closed surface, the loops of edges where they were are closed by fans of
triangles on the same vertices, so that it stays closed: a body without its hands still has an inside.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, IntArray
from .topology import bodies


def without(triangles: IntArray, marked: BoolArray) -> IntArray:
    """Return triangles (T, 3) without those of which all corners are `marked` (V,), and with the fans that close what
    this opens of closed surfaces."""
    gone = marked[triangles].all(axis=1)
    if not gone.any():
        return triangles
    count = int(triangles.max()) + 1
    sides = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
    edges, edge, degree = np.unique(np.sort(sides, axis=1), axis=0, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    part = bodies(edges, count)
    is_open = np.bincount(part[edges[:, 0]], degree != 2) > 0.0
    left = np.repeat(~gone, 3)
    border = left & (np.bincount(edge, left)[edge] == 1) & ~is_open[part[sides[:, 0]]]
    following = dict(sides[border].tolist())
    fans: list[list[int]] = []
    while following:
        first, vertex = following.popitem()
        loop = [first]
        while vertex != first and vertex in following:
            loop.append(vertex)
            vertex = following.pop(vertex)
        if vertex == first:
            fans += [[loop[0], loop[k + 1], loop[k]] for k in range(1, len(loop) - 1)]
    return np.concatenate([triangles[~gone], np.array(fans, dtype=triangles.dtype).reshape(-1, 3)])

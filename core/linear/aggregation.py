# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices in small compact groups, the coarse vertices of a mesh.

Cut into parts of equal count across their longest axis, as in nested dissection, until they have the size wanted. Parts
that are not in one piece are taken apart (the front and the back of a shirt lie close but do not hang together), and
each vertex then goes to the nearest middle among its own group's and its neighbours': two sweeps make the groups
round (Lloyd's relaxation, along edges). Ragged groups of the same size cost a quarter more iterations.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.topology import bodies

SWEEPS = 2
"""Sweeps to the nearest middle; more change nothing."""
TIE = 1e-6
"""Positions closer than this part of the mesh count as equal, so that rows of a grid stay rows [-]."""


def aggregates(edges: IntArray, positions: FloatArray, size: int) -> IntArray:
    """The group (V,) of each vertex, numbered from 0, of about `size` vertices each.

    Args:
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), at rest.
    """
    group = _cut(positions, size)
    within = group[edges[:, 0]] == group[edges[:, 1]]
    group = bodies(edges[within], len(positions))
    for _ in range(SWEEPS):
        group = _to_nearest(group, edges, positions)
    return group


def _cut(x: FloatArray, size: int) -> IntArray:
    """Parts of `size` vertices each, one more or less."""
    n = len(x)
    part: IntArray = np.zeros(n, dtype=np.int64)
    wanted = np.array([max(1, round(n / size))])                    # parts that each part is still to become
    extent: FloatArray = x.max(axis=0, initial=-np.inf) - x.min(axis=0, initial=np.inf)
    longest = float(extent.max())
    along: FloatArray = np.round(x / (TIE * longest)) if longest > 0.0 else np.zeros_like(x)   # all at one place
    while n and wanted.max() > 1:
        order = np.argsort(part, kind="stable")
        sizes = np.bincount(part, minlength=len(wanted))
        starts = np.cumsum(sizes) - sizes
        extent = np.maximum.reduceat(along[order], starts) - np.minimum.reduceat(along[order], starts)
        axis = np.argmax(extent, axis=1)[part]
        first, second = along[np.arange(n), axis], along[np.arange(n), (axis + 1) % 3]
        order = np.lexsort((second, first, part))
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n) - starts[part[order]]
        lower = (wanted + 1) // 2
        kept = np.where(wanted > 1, np.round(sizes * lower / wanted), sizes).astype(np.int64)
        there, part = np.unique(2 * part + (rank >= kept[part]), return_inverse=True)
        part = part.reshape(-1)
        wanted = np.column_stack([lower, np.maximum(wanted - lower, 1)]).ravel()[there]
    return part


def _to_nearest(group: IntArray, edges: IntArray, x: FloatArray) -> IntArray:
    """Each vertex in the group whose middle is nearest, of its own and its neighbours', renumbered."""
    n = len(x)
    count = np.bincount(group)
    middle = np.column_stack([np.bincount(group, weights=x[:, axis]) for axis in range(3)]) / count[:, None]
    vertex = np.concatenate([np.arange(n), edges[:, 0], edges[:, 1]])
    offered = np.concatenate([group, group[edges[:, 1]], group[edges[:, 0]]])
    distance = ((x[vertex] - middle[offered]) ** 2).sum(axis=1)
    order = np.lexsort((offered, distance, vertex))
    nearest = offered[order[np.searchsorted(vertex[order], np.arange(n))]]
    renumbered: IntArray = np.unique(nearest, return_inverse=True)[1].reshape(-1)
    return renumbered

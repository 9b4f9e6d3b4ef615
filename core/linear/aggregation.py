# SPDX-License-Identifier: GPL-3.0-or-later
"""Aggregate vertices to small compact groups, the vertices of a coarse level.

The vertices are cut into parts of equal count across their longest axis, as in nested dissection, until the parts have
the wanted size. Parts that are not connected are divided (the front and the back of a shirt are close but not
connected). Then each vertex moves to the group of the nearest centroid, among its own group and those of its
neighbours: two sweeps make the groups round (Lloyd's relaxation, along edges). With ragged groups of the same size,
solves need a quarter more iterations.
"""

from __future__ import annotations

import numpy as np

from ..arrays import SINGLE_PRECISION, FloatArray, IntArray
from ..description.topology import bodies

LLOYD_SWEEPS = 2
"""Sweeps in which vertices move to the nearest centroid [-]; more sweeps change nothing."""


def aggregates(edges: IntArray, positions: FloatArray, size: int) -> IntArray:
    """Return the group (V,) of each vertex, numbered from 0, of about `size` vertices each.

    Args:
        edges: (E, 2), pairs of neighbours.
        positions: (V, 3), at rest.
    """
    group = _cut(positions, size)
    within = group[edges[:, 0]] == group[edges[:, 1]]
    group = bodies(edges[within], len(positions))
    for _ in range(LLOYD_SWEEPS):
        group = _to_nearest(group, edges, positions)
    return group


def _cut(x: FloatArray, size: int) -> IntArray:
    """Return the number of the part of each point x (V, 3) [m], for parts of about `size` points."""
    n = len(x)
    part: IntArray = np.zeros(n, dtype=np.int64)
    wanted = np.array([max(1, round(n / size))])                    # number of parts that each part is still cut into
    extent: FloatArray = x.max(axis=0, initial=-np.inf) - x.min(axis=0, initial=np.inf)
    longest = float(extent.max())
    along: FloatArray = np.round(x / (SINGLE_PRECISION * longest)) if longest > 0.0 else np.zeros_like(x)
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
    """Return for each vertex the group of the nearest centroid among its own and its neighbours' groups, renumbered."""
    n = len(x)
    count = np.bincount(group)
    centroid = np.column_stack([np.bincount(group, weights=x[:, axis]) for axis in range(3)]) / count[:, None]
    vertex = np.concatenate([np.arange(n), edges[:, 0], edges[:, 1]])
    offered = np.concatenate([group, group[edges[:, 1]], group[edges[:, 0]]])
    distance = ((x[vertex] - centroid[offered]) ** 2).sum(axis=1)
    order = np.lexsort((offered, distance, vertex))
    nearest = offered[order[np.searchsorted(vertex[order], np.arange(n))]]
    renumbered: IntArray = np.unique(nearest, return_inverse=True)[1].reshape(-1)
    return renumbered

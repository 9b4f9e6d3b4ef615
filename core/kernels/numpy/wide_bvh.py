# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees whose leaves are clusters of triangles: find triangles whose boxes touch.

`CLUSTER` neighbouring leaves of a surface's tree are one cluster, as many clusters one node above, and so on: a tree of
a few levels, of which NumPy compares many boxes at once. On each level node n is at [n % CLUSTER, n // CLUSTER], so
that groups whose members are compared with each other follow one another in memory. The compiled tree is binary above
the clusters and is traversed with a stack.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from .trees import PAIRS_PER_PIECE

CLUSTER = 8
"""Triangles in a cluster, and children of a node [-]."""
GROUP_PAIRS_PER_PIECE = PAIRS_PER_PIECE // (CLUSTER * CLUSTER)
"""Largest number of pairs of groups whose boxes are compared at a time [-]."""
MOST_ROOT_PAIRS = 256
"""Largest number of pairs of groups with which a search begins [-]: a further level above them saves no time."""

Level = tuple[FloatArray, FloatArray]
"""Lower and upper corners (3, CLUSTER, N) [m] of the nodes of one level; empty places have lower above upper."""


def lanes(corners: IntArray) -> IntArray:
    """Return corners (T, 3) of triangles, in the order of leaves, in the layout of the lowest level: (3, CLUSTER, C).

    Places without a triangle have arbitrary corners.
    """
    padded = np.zeros((-(-len(corners) // CLUSTER) * CLUSTER, 3), dtype=np.int64)
    padded[:len(corners)] = corners
    return np.ascontiguousarray(padded.T.reshape(3, -1, CLUSTER).transpose(0, 2, 1))


def fit(x: FloatArray, corners: IntArray, count: int) -> list[Level]:
    """Return the levels of the tree around `count` triangles, lowest first; corners as of `lanes`, x (3, V) [m]."""
    groups = corners.shape[2]
    lower, upper = np.empty((3, CLUSTER, groups)), np.empty((3, CLUSTER, groups))
    for axis in range(3):
        a, b, c = (x[axis].take(corner) for corner in corners)
        np.minimum(np.minimum(a, b, out=lower[axis]), c, out=lower[axis])
        np.maximum(np.maximum(a, b, out=upper[axis]), c, out=upper[axis])
    lower[:, (count - 1) % CLUSTER + 1:, -1:], upper[:, (count - 1) % CLUSTER + 1:, -1:] = np.inf, -np.inf
    levels = [(lower, upper)]
    while levels[-1][0].shape[2] > 1:
        levels.append(_above(levels[-1]))
    return levels


def _above(level: Level) -> Level:
    """Return the level above this one: each of its boxes is around CLUSTER boxes of this one."""
    groups = level[0].shape[2]
    above = []
    for corner, empty in ((level[0].min(axis=1), np.inf), (level[1].max(axis=1), -np.inf)):
        padded = np.full((3, -(-groups // CLUSTER) * CLUSTER), empty)
        padded[:, :groups] = corner
        above.append(np.ascontiguousarray(padded.reshape(3, -1, CLUSTER).transpose(0, 2, 1)))
    return above[0], above[1]


def touching_clusters(a: list[Level], b: list[Level], radius: float, same: bool) -> tuple[IntArray, IntArray]:
    """Return pairs of clusters whose boxes come within the radius [m].

    same: whether both trees are one; then each pair is returned once, also that of a cluster and itself.
    """
    a, b = list(a), list(b)
    for one, other in ((a, b), (b, a)):
        while len(one) < len(other):
            one.append(_above(one[-1]))
    level = next(k for k in range(len(a)) if a[k][0].shape[2] * b[k][0].shape[2] <= MOST_ROOT_PAIRS or k == len(a) - 1)
    i, j = (k.ravel() for k in np.indices((a[level][0].shape[2], b[level][0].shape[2])))
    if same:
        i, j = i[i <= j], j[i <= j]
    for k in range(level, 0, -1):
        i, j = touching_members(a[k], b[k], radius, i, j)
        if same:
            once = np.flatnonzero(i <= j)
            i, j = i[once], j[once]
    return i, j


def touching_members(a: Level, b: Level, radius: float, i: IntArray, j: IntArray, allowed: BoolArray | None = None
                     ) -> tuple[IntArray, IntArray]:
    """Return pairs of members of the groups (i, j) whose boxes come within the radius [m].

    allowed (CLUSTER, CLUSTER, P): which pairs of members may be among them; all if None.
    """
    one, other = [], []
    for start in range(0, len(i), GROUP_PAIRS_PER_PIECE):
        m, n = i[start:start + GROUP_PAIRS_PER_PIECE], j[start:start + GROUP_PAIRS_PER_PIECE]
        touch = np.True_ if allowed is None else allowed[:, :, start:start + GROUP_PAIRS_PER_PIECE]
        for axis in range(3):
            low, high = a[0][axis].take(m, axis=1) - radius, a[1][axis].take(m, axis=1) + radius
            near = low[:, None] <= b[1][axis].take(n, axis=1)[None]
            near &= b[0][axis].take(n, axis=1)[None] <= high[:, None]
            touch = np.logical_and(touch, near, out=near)
        at = np.flatnonzero(touch)
        lane, pair = np.divmod(at, len(m))
        one.append(m[pair] * CLUSTER + lane // CLUSTER)
        other.append(n[pair] * CLUSTER + lane % CLUSTER)
    nobody = np.zeros(0, dtype=np.int64)
    return np.concatenate([nobody, *one]), np.concatenate([nobody, *other])

# SPDX-License-Identifier: GPL-3.0-or-later
"""A coarser mesh over some vertices of a mesh of triangles, with the same topology.

A set of vertices is selected such that no two of them are within `reach` edges, those with a priority first, then those
of the border, corners first. Each vertex belongs to the nearest selected one along the edges: this map takes triangles
to triangles, and those with three different images are the coarse mesh. A border belongs to selected vertices on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import length
from .topology import Topology, bodies


@dataclass(frozen=True)
class CoarseMesh:
    """A coarse mesh.

    Attributes:
        vertices: (C,) the vertices of the fine mesh that are those of the coarse one, ascending.
        triangles: (K, 3) in the numbering of `vertices`.
        nearest: (V,) the coarse vertex to which each fine one belongs.
    """

    vertices: IntArray
    triangles: IntArray
    nearest: IntArray


def coarsened(x: FloatArray, triangles: IntArray, most: int, priority: BoolArray) -> CoarseMesh | None:
    """Return a coarse mesh of about `most` vertices, or more where narrow parts need them.

    Args:
        x: (V, 3) [m].
        triangles: (T, 3).
        most: number of vertices wanted.
        priority: (V,) vertices that are selected before others.

    Returns:
        None if a mesh of less than half of the vertices has another topology: with other holes or pieces, or without
        narrow parts such as straps.
    """
    reach = round(float(np.sqrt(len(x) / most))) - 1               # a mesh of every second vertex has reach 1
    topology = Topology(triangles)
    if len(triangles) == 0 or len(np.unique(triangles)) < len(x) or topology.hinge_branches.any():
        return None
    border = _border(triangles, topology)
    for edges_between in range(reach, 0, -1):
        result = _selected(x, triangles, topology.edges, border, edges_between, priority)
        if _same_topology(result, topology.edges, border, len(x), len(triangles)):
            return result
    return None


def _border(triangles: IntArray, topology: Topology) -> BoolArray:
    """Return which edges (E,) have one triangle."""
    n = int(triangles.max()) + 1
    inner = np.sort(topology.hinges[:, :2], axis=1)
    return ~np.isin(topology.edges[:, 0] * n + topology.edges[:, 1], inner[:, 0] * n + inner[:, 1])


def _selected(x: FloatArray, triangles: IntArray, edges: IntArray, border: BoolArray, reach: int,
              priority: BoolArray) -> CoarseMesh:
    count = len(x)
    on_border = np.zeros(count, dtype=np.bool_)
    on_border[edges[border]] = True
    order = np.lexsort((np.arange(count), _angle_sums(x, triangles), ~on_border, ~priority))
    vertices = np.sort(_apart(edges, order, reach))
    index = np.full(count, -1)
    index[vertices] = np.arange(len(vertices))
    fixed = np.where(on_border, _grown(np.where(on_border, index, -1), edges[border]), index)
    nearest = _grown(fixed, edges)
    return CoarseMesh(vertices, _turned(x[vertices], _images(nearest[triangles])), nearest)


def _angle_sums(x: FloatArray, triangles: IntArray) -> FloatArray:
    """Return the sum of the angles (V,) [rad] of the triangles at each vertex."""
    total = np.zeros(len(x))
    for corner in range(3):
        at, one, other = (triangles[:, (corner + k) % 3] for k in range(3))
        a, b = x[one] - x[at], x[other] - x[at]
        angle = np.arctan2(length(np.cross(a, b)), np.einsum("ti,ti->t", a, b))
        total += np.bincount(at, angle, len(x))
    return np.round(total, 6)                                      # equal corners in the order of their numbers


def _apart(edges: IntArray, order: IntArray, reach: int) -> IntArray:
    """Return the vertices, first ones of `order` (V,) first, of which no two are connected by `reach` edges or less."""
    count = len(order)
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    first = np.searchsorted(both[:, 0], np.arange(count + 1)).tolist()
    ends = both[:, 1].tolist()
    taken, result = [False] * count, []
    for vertex in order.tolist():
        if taken[vertex]:
            continue
        result.append(vertex)
        ring = {vertex}
        seen = {vertex}
        for _ in range(reach):
            ring = {end for v in ring for end in ends[first[v]:first[v + 1]]} - seen
            seen |= ring
        for v in seen:
            taken[v] = True
    return np.array(result, dtype=np.int64)


def _grown(label: IntArray, edges: IntArray) -> IntArray:
    """Return the labels (V,), in which vertices without one, -1, have that of the nearest along edges (E, 2), the
    lowest of several; -1 where none is connected."""
    label, none = label.copy(), len(label)
    start, end = np.concatenate([edges, edges[:, ::-1]]).T
    while True:
        some = (label[start] >= 0) & (label[end] < 0)
        if not some.any():
            return label
        found = np.full(len(label), none)
        np.minimum.at(found, end[some], label[start[some]])
        label = np.where(found < none, found, label)


def _images(corners: IntArray) -> IntArray:
    """Return the triangles (K, 3) that are images of triangles with the corners (T, 3): each once, in the winding of
    most of these, and none where as many have either winding."""
    whole = (corners != np.roll(corners, 1, axis=1)).all(axis=1)
    corners = corners[whole]
    order = np.argsort(corners, axis=1)
    winding = np.where((order == np.array([[0, 1, 2]])).all(axis=1) | (order == np.array([[1, 2, 0]])).all(axis=1)
                       | (order == np.array([[2, 0, 1]])).all(axis=1), 1, -1)
    found, which = np.unique(np.sort(corners, axis=1), axis=0, return_inverse=True)
    net = np.bincount(which.ravel(), winding, len(found))
    found[net < 0] = found[net < 0][:, ::-1]
    return found[net != 0]


def _turned(x: FloatArray, triangles: IntArray) -> IntArray:
    """Return triangles (K, 3) at x (C, 3) [m] with their inner edges turned where that is better."""
    corners = triangles.tolist()
    of_side = {(t[k], t[k - 2]): n for n, t in enumerate(corners) for k in range(3)}
    waiting = sorted(pair for pair in of_side if pair[0] < pair[1] and pair[::-1] in of_side)
    left = 4 * len(waiting)
    while waiting and left:
        a, b = waiting.pop()
        left -= 1
        if (a, b) not in of_side or (b, a) not in of_side:
            continue
        one, other = of_side[a, b], of_side[b, a]
        c, d = (next(v for v in corners[n] if v not in (a, b)) for n in (one, other))
        if c == d or (c, d) in of_side or (d, c) in of_side or _opposite(x, c, d, a, b) <= 180.0:
            continue
        del of_side[a, b], of_side[b, a]
        corners[one], corners[other] = [a, d, c], [d, b, c]
        for n in (one, other):
            of_side.update({(corners[n][k], corners[n][k - 2]): n for k in range(3)})
        waiting += [(min(pair), max(pair)) for pair in ((a, c), (c, b), (b, d), (d, a))]
    return np.array(corners, dtype=np.int64).reshape(-1, 3)


def _opposite(x: FloatArray, c: int, d: int, one: int, other: int) -> float:
    """Return the sum of the angles at c and d between two others [degrees], rounded: of four corners on a circle both
    diagonals are as good."""
    angles = 0.0
    for at in (c, d):
        a, b = x[one] - x[at], x[other] - x[at]
        angles += float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))
    return round(np.degrees(angles), 6)


def _same_topology(coarse: CoarseMesh, edges: IntArray, border: BoolArray, count: int, faces: int) -> bool:
    """Return whether a coarse mesh has the pieces, holes and border loops of the fine one, and no narrow part without
    triangles."""
    size, triangles = len(coarse.vertices), coarse.triangles
    if 2 * size > count or (coarse.nearest < 0).any() or len(np.unique(triangles)) < size:
        return False
    topology = Topology(triangles)
    pairs = np.sort(coarse.nearest[edges], axis=1)
    pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
    if topology.hinge_branches.any() or len(pairs) != len(topology.edges):         # turned edges keep their number
        return False
    rim = _border(triangles, topology)
    return (size - len(topology.edges) + len(triangles) == count - len(edges) + faces
            and _pieces(topology.edges, size) == _pieces(edges, count)
            and _loops(topology.edges[rim]) == _loops(edges[border]))


def _pieces(edges: IntArray, count: int) -> int:
    return int(bodies(edges, count).max()) + 1


def _loops(edges: IntArray) -> int:
    """Return the number of connected border lines of edges (B, 2)."""
    if len(edges) == 0:
        return 0
    vertices, ends = np.unique(edges, return_inverse=True)
    return _pieces(ends.reshape(-1, 2), len(vertices))

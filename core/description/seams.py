# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams between the panels of one cloth, and buttons: pairs of points that are pulled together.

The length of each pair goes smoothly from its distance at the start, L_0, to zero within the closing time T, so that
the cloth is not thrown:

    L(t) = L_0 (1 - s^2 (3 - 2 s)),   s = min(t / T, 1)                                       [m]

A seam joins two vertices by a spring of k = 10 k_s, with k_s [N/m] the larger stretch stiffness of the fabric. A row of
edges of the mesh has k_s, so that a closed seam is open by a tenth of the elongation of one such row, on any mesh. Its
force is limited to `force` times the length of border at the vertex: the limit is a tension, in newtons per metre of
seam. A button joins a vertex to another one or to a point of a triangle; it is stiffer, and has no limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray, index_rows, is_number, is_series
from ..errors import ClothError
from .material import Material
from .mesh import ClothMesh
from .seam_pairs import MOST_POINTS, Links

SEAM_STIFFNESS = 10.0
"""Stiffness of a seam, over the stretch stiffness of the fabric [-]."""
BUTTON_STIFFNESS = 100.0
"""Stiffness of a button, over the stretch stiffness of the fabric [-]: one point carries the load of a whole seam."""
SMALLEST_SHARE = 1e-9
"""Share of a triangle's corner below which a button's point lies on the opposite side [-]."""


@dataclass(frozen=True)
class Sewing:
    """Pairs of points of one cloth that are pulled together. The offset of a pair is sum_k w_k x_k.

    Attributes:
        vertices: (n, k).
        weights: (n, k) [-]; the weights of a pair sum to 0.
        stiffness: (n,) [N/m].
        start: (n,) distance at the start [m].
        most: (n,) largest force [N].
        time: time at which the pairs are closed [s].
    """

    vertices: IntArray
    weights: FloatArray
    stiffness: FloatArray
    start: FloatArray
    most: FloatArray
    time: float

    def lengths(self, time: float) -> FloatArray:
        """Return the distances (n,) [m] that the pairs may have at `time` [s]."""
        s = min(max(time, 0.0) / self.time, 1.0) if self.time > 0.0 else 1.0
        return self.start * (1.0 - s * s * (3.0 - 2.0 * s))

    def gap(self, x: FloatArray) -> float:
        """Return the largest distance between the points of a pair [m], for vertices at x (V, 3) [m]."""
        d = offsets(self.vertices, self.weights, x).T
        return float(np.sqrt(np.max(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], initial=0.0)))

    def links(self) -> Links:
        """Return the pairs of vertices that count as one in contact and in the mesh's graph."""
        row, k = np.nonzero(self.weights[:, 1:])
        room = ((0, 0), (0, MOST_POINTS - self.vertices.shape[1]))
        return Links(np.column_stack([self.vertices[row, 0], self.vertices[row, k + 1]]),
                     np.pad(self.vertices, room)[row], np.pad(self.weights, room)[row])


def offsets(vertices: IntArray, weights: FloatArray, x: FloatArray) -> FloatArray:
    """Return sum_k w_k x_k (n, 3) [m] of vertices (n, k) and weights (n, k), with x (V, 3) [m]."""
    total: FloatArray = weights[:, :1] * x[vertices[:, 0]]
    for k in range(1, vertices.shape[1]):
        total += weights[:, k:k + 1] * x[vertices[:, k]]
    return total


def seam_edges(mesh: ClothMesh, given: Any) -> IntArray:
    """Return the seams of a mesh as pairs of vertices (S, 2), smaller index first.

    given: pairs of vertices (S, 2); or True for the loose edges between vertices of triangles, False for none. Two
        loose edges with a vertex in the middle that belongs to no triangle are such an edge, too; they stay a thread.

    Raises:
        ClothError: there are no loose edges, or a pair is an edge of a face, joins a vertex to itself, or has an end
            that belongs to no face.
    """
    in_triangles = np.zeros(len(mesh.positions), dtype=np.bool_)
    in_triangles[mesh.triangles] = True
    if isinstance(given, (bool, np.bool_)):
        if not given:
            return np.zeros((0, 2), dtype=np.int64)
        seams: IntArray = mesh.loose_edges[in_triangles[mesh.loose_edges].all(axis=1)]
        across = _across_middles(mesh, in_triangles)
        if len(across):
            seams = np.unique(np.concatenate([seams, across]), axis=0)
        if len(seams) == 0:
            raise ClothError("has no loose edges between its faces to sew; join the borders of its panels by edges (of "
                             "panels in different objects, join these first), or switch sewing off",
                             object_name=mesh.name)
        return seams
    try:
        seams = index_rows(given, 2)
    except ValueError as error:
        raise ClothError(f"sewing: {error}; give pairs of vertices, or True for all loose edges",
                         object_name=mesh.name) from None
    count = len(mesh.positions)
    bad = (seams < 0) | (seams >= count)
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise ClothError(f"seam {row} {seams[row].tolist()} names a vertex that does not exist, they must be in "
                         f"0..{count - 1}", object_name=mesh.name)
    seams = np.unique(np.sort(seams, axis=1), axis=0)
    inner = mesh.edges[:len(mesh.edges) - len(mesh.loose_edges)]
    known = np.isin(seams[:, 0] * count + seams[:, 1], inner[:, 0] * count + inner[:, 1])
    for wrong, why in ((seams[:, 0] == seams[:, 1], "sews a vertex to itself"), (known, "is an edge of a face"),
                       (~in_triangles[seams].all(axis=1), "has an end that belongs to no face")):
        if wrong.any():
            raise ClothError(f"seam {seams[np.argmax(wrong)].tolist()} {why} ({int(wrong.sum())} such); it must join "
                             "two vertices of different faces", object_name=mesh.name)
    return seams


def _across_middles(mesh: ClothMesh, in_triangles: BoolArray) -> IntArray:
    """Return the pairs (n, 2) of vertices of triangles, smaller index first, that two loose edges join in a vertex
    which has no other edge."""
    both = np.concatenate([mesh.loose_edges, mesh.loose_edges[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]                          # sorted by the vertex in the middle
    middle, first, count = np.unique(both[:, 0], return_index=True, return_counts=True)
    first = first[(count == 2) & ~in_triangles[middle]]
    ends = np.sort(np.stack([both[first, 1], both[first + 1, 1]], axis=1).reshape(-1, 2), axis=1)
    inner = mesh.edges[:len(mesh.edges) - len(mesh.loose_edges)]
    known = np.isin(ends[:, 0] * len(in_triangles) + ends[:, 1], inner[:, 0] * len(in_triangles) + inner[:, 1])
    return ends[in_triangles[ends].all(axis=1) & ~known]


def sew(mesh: ClothMesh, material: Material, seams: IntArray, positions: FloatArray, force: float | None,
        time: float) -> Sewing:
    """Return the seams (S, 2) of a mesh at positions (V, 3) [m], which close within `time` [s].

    force: largest force per length of seam [N/m], None for no limit.
    """
    _check_fabric(mesh, material)
    border = _border_lengths(mesh)
    each = np.maximum(np.bincount(seams.ravel(), minlength=len(border)), 1)        # a vertex may be sewn several times
    share = (border / each)[seams].mean(axis=1)
    most = np.full(len(seams), np.inf) if force is None else force * share
    along = positions[seams[:, 1]] - positions[seams[:, 0]]
    k = np.full(len(seams), SEAM_STIFFNESS * max(material.stretch))
    return Sewing(seams, np.tile([-1.0, 1.0], (len(seams), 1)), k, np.linalg.norm(along, axis=1), most, time)


def buttoned(buttons: Sequence[Any], name: str) -> IntArray:
    """Return the buttons that join two vertices (n, 2), smaller index first; buttons on triangles are left out."""
    if not (isinstance(buttons, (Sequence, np.ndarray)) and is_series(buttons)):
        raise ClothError(f"buttons is {buttons!r}, it must be a list of them, () for none", object_name=name)
    pairs = [sorted(b) for b in buttons if isinstance(b, (Sequence, np.ndarray)) and len(b) == 2
             and all(isinstance(end, (int, np.integer)) for end in b)]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def button_up(mesh: ClothMesh, material: Material, buttons: Sequence[Any], positions: FloatArray,
              time: float) -> Sewing:
    """Return the buttons of a mesh at positions (V, 3) [m], which are closed within `time` [s].

    buttons: pairs (vertex, vertex) or (vertex, (triangle, (a, b, c))) with barycentric weights in the triangle.
    """
    _check_fabric(mesh, material)
    vertices, weights = np.zeros((len(buttons), MOST_POINTS), dtype=np.int64), np.zeros((len(buttons), MOST_POINTS))
    for row, button in enumerate(buttons):
        vertices[row], weights[row] = _button(mesh, row, button)
    used = np.zeros(len(positions), dtype=np.bool_)
    used[mesh.edges] = True
    alone = ~used[vertices].all(axis=1)
    if alone.any():
        row = int(np.argmax(alone))
        vertex = vertices[row][~used[vertices[row]]][0]
        raise ClothError(f"button {row} holds vertex {vertex}, which belongs to no face and no other edge; "
                         "take a vertex of a face", object_name=mesh.name)
    apart = np.linalg.norm(offsets(vertices, weights, positions), axis=1)
    k = np.full(len(buttons), BUTTON_STIFFNESS * max(material.stretch))
    return Sewing(vertices, weights, k, apart, np.full(len(buttons), np.inf), time)


def _button(mesh: ClothMesh, number: int, button: Any) -> tuple[IntArray, FloatArray]:
    """Return the vertices (4,) and weights (4,) of one button: from its vertex to the point that it is joined to."""
    def fail(why: str) -> ClothError:
        return ClothError(f"button {number} is {button!r}: {why}; give (vertex, vertex) or (vertex, (triangle, "
                          "(a, b, c))) with shares that add up to 1", object_name=mesh.name)

    def index(value: Any, count: int, what: str) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < count:
            raise fail(f"{what} {value!r} is none of 0..{count - 1}")
        return int(value)

    try:
        first, second = button
    except (TypeError, ValueError):
        raise fail("it needs two places") from None
    vertex = index(first, len(mesh.positions), "vertex")
    if isinstance(second, (int, np.integer)):
        other = index(second, len(mesh.positions), "vertex")
        if other == vertex:
            raise fail("both are one vertex")
        return np.array([vertex, other, vertex, vertex]), np.array([1.0, -1.0, 0.0, 0.0])
    try:
        triangle, place = second
        share = np.array([float(part) for part in place])
    except (TypeError, ValueError):
        raise fail("the second place is no vertex and no point of a triangle") from None
    corners = mesh.triangles[index(triangle, len(mesh.triangles), "triangle")]
    if share.shape != (3,) or not (share >= -SMALLEST_SHARE).all() or not abs(share.sum() - 1.0) < SMALLEST_SHARE:
        raise fail(f"the shares {share.tolist()} are not three numbers from 0 on that add up to 1")
    if vertex in corners:
        raise fail(f"vertex {vertex} is a corner of triangle {triangle}")
    share = np.where(share > SMALLEST_SHARE, share, 0.0)
    return np.concatenate([[vertex], corners]), np.concatenate([[1.0], -share / share.sum()])


def _border_lengths(mesh: ClothMesh) -> FloatArray:
    """Return the length of border that belongs to each vertex (V,) [m]: half of its border edges' rest lengths.

    A vertex that is not on a border gets the mean edge length.
    """
    inner = len(mesh.edges) - len(mesh.loose_edges)
    count = len(mesh.positions)
    sides = np.sort(np.stack([mesh.triangles, np.roll(mesh.triangles, -1, axis=1)], axis=-1), axis=-1).reshape(-1, 2)
    keys = mesh.edges[:inner, 0] * count + mesh.edges[:inner, 1]
    triangles = np.bincount(np.searchsorted(keys, sides[:, 0] * count + sides[:, 1]), minlength=inner)
    border = np.flatnonzero(triangles == 1)
    length = np.bincount(mesh.edges[border].ravel(), np.repeat(0.5 * mesh.rest_lengths[border], 2), minlength=count)
    return np.where(length > 0.0, length, mesh.mean_edge)


def check_closing(force: float | None, time: float, name: str) -> None:
    """Raise ClothError if the largest force [N/m] or the closing time [s] is not valid, even if there are no seams."""
    if force is not None and not (is_number(force) and force > 0.0):
        raise ClothError(f"the largest sewing force is {force!r} N/m, it must be a number above 0, or None for no "
                         "limit", object_name=name)
    if not (is_number(time) and time >= 0.0):
        raise ClothError(f"the closing time of seams is {time!r} s, it must be a number, 0 or more", object_name=name)


def _check_fabric(mesh: ClothMesh, material: Material) -> None:
    """Raise ClothError if the fabric has no stretch stiffness: that of a seam is a multiple of it."""
    if not max(material.stretch) > 0.0:
        raise ClothError("its fabric does not resist stretching at all, so a seam has no stiffness to go by; give it "
                         "some", object_name=mesh.name)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The slope of a sheet across each of its edges, from the heights of the surrounding vertices.

For heights w over the flat rest shape, the slope dw/dn at the midpoint of an edge is a weighted sum of up to eight
heights: those of the two triangles at the edge and of the up to four triangles next to them, all unfolded into one
plane. The weights are found in two steps:

  1. The slopes s_0, s_1 of the two triangles are averaged, each weighted by the height of the other triangle,
     (h_1 s_0 + h_0 s_1) / (h_0 + h_1). This is exact for linear w and for w = n^2.
  2. The smallest correction is added that makes the weights exact for t^2 and t n too, where t is the coordinate along
     the edge. The norm of the correction allows near vertices to change more. A few edges, at corners and on strips
     one cell wide, have too few vertices around them to distinguish these functions; they get a partial correction.

If the two triangles form a parallelogram, as on a grid with parallel diagonals or on an equilateral mesh, step 1 is
already exact and four vertices are enough.
"""

from __future__ import annotations

import numpy as np

from ...arrays import BoolArray, FloatArray, IntArray
from ...description.mesh import ClothMesh
from ..tolerances import ROUNDING_SHARE
from .hinge_geometry import HingeGeometry

LEAST_INDEPENDENT_PART = 0.03
"""Smallest part of a quadratic function that is independent of the constraints already met, over its norm at the
vertices, for which it is corrected [-]."""


def edge_slopes(mesh: ClothMesh, hinge: HingeGeometry, across: IntArray | None = None) -> tuple[IntArray, FloatArray]:
    """Return vertices (H, 8) and weights (H, 8) [1/m] of dw/dn, with n pointing from side 1 to side 0 of each hinge.

    The weight of a missing vertex is 0. `across` is the result of `across_edges`, to be given if the hinges of a mesh
    are processed in batches.
    """
    across = across_edges(mesh) if across is None else across
    vertices = np.concatenate([hinge.vertices, np.repeat(hinge.vertices[:, :1], 4, axis=1)], axis=1)
    x, y = _own_points(hinge)                                                         # (4, H) [m]
    start = _mean_slope(hinge)                                                        # (4, H) [1/m]
    # in units of the hinge's size along and across the edge
    size_x, size_y = np.sqrt(np.mean(x * x, axis=0)), np.sqrt(np.mean(y * y, axis=0))
    u, v = x / size_x, y / size_y
    missing = -np.stack([(start * u * u).sum(axis=0), (start * u * v).sum(axis=0)])   # the exact slope at 0 is 0
    weights = np.zeros((len(vertices), 8))
    weights[:, :4] = start.T
    some = np.flatnonzero((np.abs(missing) > ROUNDING_SHARE * np.abs(start).max(axis=0)).any(axis=0))
    if len(some):
        outer, x, y, present = _surroundings(mesh, hinge, some, x[:, some], y[:, some], across)
        vertices[some, 4:] = outer.T
        weights[some] += _correction(x / size_x[some], y / size_y[some], present, missing[:, some]).T
    return vertices, weights


def across_edges(mesh: ClothMesh) -> IntArray:
    """Return, for each corner (3 T,), the corner beyond the opposite edge, or -1 if there is none.

    Corner i of triangle t has the number 3 t + i.
    """
    across = np.full(mesh.triangles.size, -1, dtype=np.int64)
    one, two = mesh.hinge_corners[~mesh.hinge_branches].T
    across[one], across[two] = two, one
    return across


def _own_points(hinge: HingeGeometry) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates x, y (4, H) [m] of the hinges' vertices in the plane.

    The origin is the midpoint of the edge, x is along the edge and y towards side 0.
    """
    half, zero = 0.5 * hinge.lengths, np.zeros(len(hinge.lengths))
    foot = (2.0 * hinge.feet - 1.0) * half[:, None]
    return (np.stack([-half, half, foot[:, 0], foot[:, 1]]),
            np.stack([zero, zero, hinge.heights[:, 0], -hinge.heights[:, 1]]))


def _mean_slope(hinge: HingeGeometry) -> FloatArray:
    """Return the weights of step 1 (4, H) [1/m] for v0, v1, and the apices of sides 0 and 1."""
    h0, h1 = hinge.heights.T
    one, two = h1 / h0 / (h0 + h1), -h0 / h1 / (h0 + h1)
    at_v1 = hinge.feet[:, 0] * one + hinge.feet[:, 1] * two
    return np.stack([at_v1 - one - two, -at_v1, one, two])


def _correction(x: FloatArray, y: FloatArray, present: BoolArray, missing: FloatArray) -> FloatArray:
    """Return the correction of step 2: changes (8, n) of the weights of points x, y (8, n).

    They add `missing` (2, n) to the values for t^2 and t n.
    """
    root = np.where(present, 1.0 / (0.5 + x * x + y * y), 0.0)                        # root of the norm's weight
    met: list[FloatArray] = []                                                        # constraints that stay met
    for column in (root, root * x, root * y, root * y * y):
        column = _without(column, met)
        met.append(column / np.sqrt((column * column).sum(axis=0)))
    p, q = root * x * x, root * x * y
    whole = (p * p).sum(axis=0) + (q * q).sum(axis=0)
    p, q = _without(p, met), _without(q, met)
    # pseudo-inverse of the Gram matrix (a b; b c) without eigenvalues that are too small
    a, b, c = (p * p).sum(axis=0), (p * q).sum(axis=0), (q * q).sum(axis=0)
    large = 0.5 * (a + c) + np.hypot(0.5 * (a - c), b)
    small = np.maximum(a * c - b * b, 0.0) / np.where(large > 0.0, large, 1.0)
    least = LEAST_INDEPENDENT_PART ** 2 * whole
    both, one = small > least, large > least
    over = np.where(both, 1.0 / np.where(both, large * small, 1.0), 0.0)
    share = np.where(one & ~both, 1.0 / np.where(one & ~both, large * (large - small), 1.0), 0.0)
    aa, bb, cc = c * over + (a - small) * share, b * (share - over), a * over + (c - small) * share
    return root * (p * (aa * missing[0] + bb * missing[1]) + q * (bb * missing[0] + cc * missing[1]))


def _without(column: FloatArray, met: list[FloatArray]) -> FloatArray:
    """Return the part of `column` (8, n) that is orthogonal to the orthonormal vectors `met`.

    The projection is done twice, because rounding leaves some of it after the first time.
    """
    for _ in range(2):
        for direction in met:
            column = column - (column * direction).sum(axis=0) * direction
    return column


def _surroundings(mesh: ClothMesh, hinge: HingeGeometry, some: IntArray, x: FloatArray, y: FloatArray,
                  across: IntArray) -> tuple[IntArray, FloatArray, FloatArray, BoolArray]:
    """Return the neighbourhoods of the hinges `some` with own points x, y (4, n).

    Returns:
        The four vertices beyond the hinge's sides (4, n).
        Coordinates x, y (8, n) [m] of all eight vertices, unfolded into the plane of the hinge.
        Which of the eight exist (8, n).
    """
    vertices, triangles, ends = hinge.vertices[some], hinge.triangles[some], hinge.ends[some]
    beyond = np.empty((4, len(some)), dtype=np.int64)
    x, y = np.concatenate([x, np.zeros_like(x)]), np.concatenate([y, np.zeros_like(y)])
    present = np.ones(x.shape, dtype=np.bool_)
    for side in (0, 1):
        for end in (0, 1):                                        # the edge from that end to the apex
            slot = 2 * side + end
            corner = across[3 * triangles[:, side] + ends[:, side, 1 - end]]
            there = corner >= 0
            foot, height = _apex(mesh, corner, vertices[:, end])
            span_x, span_y = x[2 + side] - x[end], y[2 + side] - y[end]
            inside = np.sign((x[1 - end] - x[end]) * span_y - (y[1 - end] - y[end]) * span_x)
            height *= -inside / np.hypot(span_x, span_y)
            x[4 + slot] = np.where(there, x[end] + foot * span_x + height * span_y, 0.0)
            y[4 + slot] = np.where(there, y[end] + foot * span_y - height * span_x, 0.0)
            beyond[slot] = np.where(there, mesh.triangles.ravel()[corner], vertices[:, 0])
            present[4 + slot] = there
    return beyond, x, y, present


def _apex(mesh: ClothMesh, corner: IntArray, start: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return foot (H,) [-] and height (H,) [m] of each corner, numbered 3 t + i, over the opposite edge.

    The foot is 0 at the vertex `start` of that edge.
    """
    uv, vertices = mesh.uv.reshape(-1, 2), mesh.triangles.ravel()
    triangle, place = np.divmod(corner, 3)
    one, two = 3 * triangle + (place + 1) % 3, 3 * triangle + (place + 2) % 3
    swap = vertices[one] != start
    one, two = np.where(swap, two, one), np.where(swap, one, two)
    along, apex = uv[two] - uv[one], uv[corner] - uv[one]
    squared = np.einsum("hi,hi->h", along, along)
    return np.einsum("hi,hi->h", apex, along) / squared, 2.0 * mesh.areas[triangle] / np.sqrt(squared)

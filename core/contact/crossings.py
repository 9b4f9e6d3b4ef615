# SPDX-License-Identifier: GPL-3.0-or-later
"""Which edges pierce which triangles.

Edge (p, q) pierces triangle (a, b, c) if p and q lie on different sides of its plane, and the line through them passes
the sides ab, bc, ca all in the same sense. Each of these is the sign of a volume of four points. The few volumes that
are within their own rounding error (Shewchuk 1997) are computed again in whole numbers, so that every sign is right.
Zero is decided so that no passage through a surface is missed:

- a point in the plane is on the triangle's front: a surface whose vertices lie exactly in the plane of the triangle
  it passes still has edges to its back, and a hem standing on the front of a floor does not pierce it;
- a line through a side of the triangle passes it: an edge through the common side of two triangles pierces both.

An edge in the plane of a triangle pierces nothing, nor does one that has an end at the very place of a corner: these
two count as sewn together there.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..kernels.formulas.orient3d import UNSURE
from ..kernels.numpy.vectors import Vector, cross, dot, take
from .bvh import BVH, element_boxes, touching_boxes
from .triangle_surface import TriangleSurface


def crossing_pairs(a: TriangleSurface, b: TriangleSurface) -> IntArray:
    """All pairs (N, 2) of an edge of `a` and a triangle of `b` that it pierces, in order.

    If both are the same, an edge pierces no triangle that has one of its ends, or is sewn to one.
    """
    return piercing(a, b, current().surface_pairs.meet(a.arrays, b.arrays, a is b, 0.0)[0])


def _near_threads(a: TriangleSurface, b: TriangleSurface) -> IntArray:
    """Pairs (N, 2) of threads of `a`, by their edges, and triangles of `b` that hold all that pierce: a search among
    triangles alone, as the kernels' is, does not see what belongs to none."""
    tree = BVH.build(*element_boxes(b.triangles, b.positions))
    pairs = touching_boxes(tree, *element_boxes(a.edges[a.threads], a.positions))
    pairs[:, 0] = a.threads[pairs[:, 0]]
    if a is b:
        ends, corners = a.edges[pairs[:, 0]], b.triangles[pairs[:, 1]]
        pairs = pairs[(ends[:, :, None] != corners[:, None, :]).all(axis=(1, 2))]
    return pairs


def piercing(a: TriangleSurface, b: TriangleSurface, pairs: IntArray) -> IntArray:
    """Those of the pairs (N, 2) of an edge of `a` and a triangle of `b` that pierce, and threads that do."""
    if len(a.threads) and len(b.triangles):
        pairs = np.unique(np.concatenate([pairs, _near_threads(a, b)]), axis=0)
    if a is b:
        pairs = pairs[a.apart(a.edges[pairs[:, 0]], a.triangles[pairs[:, 1]])]
    if len(pairs) == 0:
        return pairs
    p, q = (take(a.positions, a.edges[pairs[:, 0], k]) for k in range(2))
    corner_a, corner_b, corner_c = (take(b.positions, b.triangles[pairs[:, 1], k]) for k in range(3))
    return pairs[pierces(p, q, corner_a, corner_b, corner_c)]


def pierces(p: Vector, q: Vector, a: Vector, b: Vector, c: Vector) -> BoolArray:
    """Whether each edge (p, q) pierces its triangle (a, b, c)."""
    opposite = (_side(a, b, c, p) >= 0) != (_side(a, b, c, q) >= 0)
    result = np.zeros(len(opposite), dtype=bool)
    row = np.flatnonzero(opposite)                                   # few are left
    p, q, a, b, c = ((v[0][row], v[1][row], v[2][row]) for v in (p, q, a, b, c))
    turns = np.stack([_side(p, q, a, b), _side(p, q, b, c), _side(p, q, c, a)])
    hit = ((turns >= 0).all(axis=0) | (turns <= 0).all(axis=0)) & (turns != 0).any(axis=0)
    for end in (p, q):
        for corner in (a, b, c):
            hit &= ~((end[0] == corner[0]) & (end[1] == corner[1]) & (end[2] == corner[2]))
    result[row] = hit
    return result


def _side(a: Vector, b: Vector, c: Vector, d: Vector) -> IntArray:
    """Sign of the volume of (a, b, c, d): 1 where d lies in front of (a, b, c), 0 in the plane. Exact."""
    side: IntArray = current().orient3d.sides(a, b, c, d)
    unsure = np.flatnonzero(side == UNSURE)
    if len(unsure):
        whole = _integers(np.array([[axis[unsure] for axis in corner] for corner in (a, b, c, d)]))
        u, v, w = (tuple(whole[k] - whole[3]) for k in range(3))
        side[unsure] = -np.sign(dot(u, cross(v, w))).astype(np.int64)
    return side


def _integers(x: FloatArray) -> FloatArray:
    """Floats times one power of two that makes them all whole, as Python's integers of any size."""
    mantissa, exponent = np.frexp(x)
    lowest = exponent[x != 0.0].min(initial=0)
    shift = np.where(x != 0.0, exponent - lowest, 0)
    whole: FloatArray = np.ldexp(mantissa, 53).astype(np.int64).astype(object) << shift.astype(object)
    return whole

# SPDX-License-Identifier: GPL-3.0-or-later
"""The planes that hold moving points on their side of a moving surface, compiled: one point after the other.

Arguments, results and rules are those of `kernels.numpy.surface_contacts`. For each point the loop visits the triangles
near its path. It finds the nearest triangle at the start, the first entry and the minima of the distance from the end,
and makes planes of them. Cheap bounds exclude most triangles: from the start and the end of the point to the box of the
triangle, and from the length of the path. NumPy works on the pairs of all points at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import FloatArray, IntArray
from ..formulas import moving_triangle as formulas
from ..formulas.distances import FACE, FLAT
from ..formulas.moving_triangle import barycentric_point, triangle_frame, turn_with_frame
from ..numpy.surface_contacts import AGREES, MAX_PER_VERTEX, SAME_SIDE, TOUCHING, Motion, Planes, Shape
from .distances import closest
from .kernel_cache import njit
from .nearest_triangles import BOUND_SLACK, above, away, insert, keep_minima, room
from .options import INLINED, INNER, KERNEL
from .plain_functions import register
from .point_triangle_ccd import first_entry
from .thread_pool import LEAST_SEARCHES, share
from .trees import STACK_SIZE, roots, rows_of, walk_below
from .vectors import add, at, cross, dot, scale, subtract

register(formulas, INLINED)

GROUP, ROOTS = 4, 16
"""Number of points that share the upper part of a traversal, as neighbours often have successive indices [-]; and the
largest number of nodes at which their own traversals begin [-]."""
MISS = 1e-3
"""Least distance from a still triangle at which a path that crosses its plane misses it, over its size [-]."""
BESIDE = 1e-5
"""Largest distance of an entry from the border of a triangle, over its size [-]: ten times `OVERLAP`."""


def find(
    x_t0: FloatArray, x_t1: FloatArray, reach: FloatArray, drift: FloatArray, order: IntArray, nodes: FloatArray,
    shape: Shape, motion: Motion
) -> tuple[Planes, FloatArray]:
    """Return planes for points moving from x_t0 to x_t1 (V, 3) [m], and their distances at the start (V,) [m].

    Arguments as in NumPy: reach (V,) [m], the tree (drift, order, nodes), the surface's shape and motion.
    """
    V = len(x_t0)
    count, distance = np.empty(V, dtype=np.int64), np.empty(V)
    triangle, weights = np.empty((V, MAX_PER_VERTEX), dtype=np.int64), np.empty((V, MAX_PER_VERTEX, 3))
    normal, entered = np.empty((V, MAX_PER_VERTEX, 3)), np.empty((V, MAX_PER_VERTEX), dtype=np.bool_)
    still = motion[0] is motion[1]
    share(_find, V, LEAST_SEARCHES, *(np.ascontiguousarray(x) for x in (x_t0, x_t1, reach, drift)), order,
          rows_of(nodes), *(np.ascontiguousarray(x) for x in (*shape, *motion)), still, count, distance, triangle,
          weights, normal, entered)
    n = int(count.sum())
    planes = (np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64), np.empty((n, 3)), np.empty((n, 3)),
              np.empty(n, dtype=np.bool_))
    _gather(count, triangle, weights, normal, entered, *planes)
    return planes, distance


def measured(
    vertex: IntArray, triangle: IntArray, barycentric: FloatArray, normal: FloatArray, distance: FloatArray,
    x_t0: FloatArray, x_t1: FloatArray, room: FloatArray, triangles: IntArray, surface_t0: FloatArray,
    surface_t1: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the places of N planes at the start and the end (N, 3) [m], and the gaps there (N,) [m], as in NumPy."""
    n = len(vertex)
    result = np.empty((n, 3)), np.empty((n, 3)), np.empty(n), np.empty(n)
    _measure(vertex, triangle, *(np.ascontiguousarray(x) for x in (
        barycentric, normal, distance, x_t0, x_t1, room, triangles, surface_t0, surface_t1)), surface_t0 is surface_t1,
        *result)
    return result


@njit(**KERNEL)
def _find(begin: Any, last: Any, x_t0: Any, x_t1: Any, reach: Any, drift: Any, order: Any, rows: Any, triangles: Any,
          closed: Any, features: Any, degree: Any, surface_t0: Any, surface_t1: Any, normals_t0: Any, normals_t1: Any,
          still: Any, count: Any, distance: Any, triangle: Any, weights: Any, normal: Any, entered: Any) -> None:
    """Find the planes of points begin..last - 1; at most MAX_PER_VERTEX for each point.

    Args:
        x_t0, x_t1, reach, drift, order: as of `find`. rows (2L, 6): nodes of the tree.
        triangles .. degree, surface_t0 .. normals_t1: the surface's `Shape` and `Motion`. still: it does not move.
        count, distance: (V,), number of planes of each point, and its distance at the start [m].
        triangle, weights, normal, entered: (V, MAX_PER_VERTEX, ..), triangle, barycentric weights and unit normal of
            each plane, and whether the path enters the surface.
    """
    stack, nodes, tops = np.empty(STACK_SIZE, dtype=np.int64), np.empty((2, ROOTS + 2), dtype=np.int64), np.int64(0)
    boxes, low, high = np.empty((GROUP, 2, 3)), np.empty(3), np.empty(3)
    size = np.int64(64)
    leaf, near, code, gap = room(size)
    minima = np.empty(size, dtype=np.int64)
    leaves = len(rows) // 2
    for v in range(begin, last):
        count[v], distance[v] = 0, reach[v]
        member = (v - begin) % GROUP
        if member == 0:
            there = min(GROUP, last - v)
            for other in range(there):
                _box(v + other, x_t0, x_t1, reach, drift, boxes[other])
            tops = roots(rows, boxes, there, low, high, nodes)
        if tops == 0:
            continue
        total = walk_below(rows, nodes, tops, boxes[member, 0], boxes[member, 1], stack, leaf)
        if total == 0:
            continue
        if total > size:
            size = 2 * total
            leaf, near, code, gap = room(size)
            minima = np.empty(size, dtype=np.int64)
            walk_below(rows, nodes, tops, boxes[member, 0], boxes[member, 1], stack, leaf)
        p, q = at(x_t0, v), at(x_t1, v)
        motion, drifted = subtract(q, p), (p[0] + drift[0], p[1] + drift[1], p[2] + drift[2])
        path = np.sqrt(dot(motion, motion))
        least, nearest, kept = reach[v], np.int64(-1), np.int64(0)
        start, start_at, start_on = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), np.int64(0)
        entry, into, side, place = np.inf, np.int64(-1), 0.0, (0.0, 0.0, 0.0)
        for k in range(total):
            # the leaf's box is around the triangle at both ends of the step, and tells most of what there is to know
            node, t = leaves + leaf[k], order[leaf[k]]
            from_start, from_end = _away(rows, node, drifted), _away(rows, node, q)
            may_enter = not still or from_start <= 1.001 * path + BESIDE * _size(rows, node)
            may_be_nearest = from_start <= least + BOUND_SLACK * reach[v]
            may_be_near = from_end <= reach[v] * (1.0 + BOUND_SLACK)
            if not (may_be_nearest or may_be_near or may_enter):
                continue
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            a0, b0, c0 = at(surface_t0, a), at(surface_t0, b), at(surface_t0, c)
            a1, b1, c1 = (a0, b0, c0) if still else (at(surface_t1, a), at(surface_t1, b), at(surface_t1, c))
            if may_be_near and not away(q, a1, b1, c1, reach[v]) and not above(q, a1, b1, c1, reach[v]):
                _, _, d, feature = closest(q, a1, b1, c1)
                if d <= reach[v]:
                    kept = insert(kept, t, d, features[t, feature], near, gap, code)
                # the start is no nearer than the path is long
                may_be_nearest &= not (still and d - path > least + BOUND_SLACK * (reach[v] + _size(rows, node)))
            if may_be_nearest and not away(p, a0, b0, c0, least) and not above(p, a0, b0, c0, least):
                w, point, d, feature = closest(p, a0, b0, c0)
                if d < least or (d == least and (nearest < 0 or t < nearest)):
                    least, nearest, start, start_at, start_on = d, t, w, point, feature
            if may_enter and _may_enter(p, q, motion, a0, b0, c0, a1, b1, c1, still):
                time, front, w = first_entry(p, q, a0, b0, c0, a1, b1, c1, closed[t])
                if time < entry or (time == entry and time < np.inf and t < into):
                    entry, into, side, place = time, t, front, w

        inside_now = False
        direction = (0.0, 0.0, 0.0)
        if nearest >= 0:
            distance[v] = least
            if closed[nearest]:
                face = features[nearest, start_on]
                if dot(subtract(p, start_at), at(normals_t0, face)) < 0.0:
                    distance[v] = -least
                    entry, into, place, direction = 0.0, nearest, start, at(normals_t1, face)
                elif into >= 0:
                    direction = scale(side, at(normals_t1, into))
            elif into >= 0:
                direction = scale(side, at(normals_t1, into))
        elif into >= 0:
            direction = scale(side, at(normals_t1, into))

        number = keep_minima(kept, near, code, degree, minima)
        agrees = False
        for k in range(number):
            t = minima[k]
            w, point, d, feature = _closest(q, triangles, t, surface_t1)
            offset = subtract(q, point)
            pseudo = at(normals_t1, features[t, feature])
            outside = not dot(offset, pseudo) < 0.0
            sign = 1.0 if outside else -1.0
            if feature == FACE or d <= TOUCHING * reach[v]:
                n = scale(1.0 if closed[t] else sign, pseudo)
            else:
                n = scale(1.0 / d * (sign if closed[t] else 1.0), offset)
            within = not closed[t] or outside
            if k == 0:
                inside_now, within = not within, True                 # if inside, the nearest way out
            if into >= 0:
                # beyond the entry only the nearest says anything; more walls show once the vertex is back
                if k > 0:
                    break
                cosine = dot(n, direction)
                if not closed[t] and cosine < 0.0:
                    n, cosine = scale(-1.0, n), -cosine
                agrees = cosine > AGREES
                if not agrees:
                    break
            if within and count[v] < MAX_PER_VERTEX:
                _add(v, t, w, n, into >= 0, count, triangle, weights, normal, entered)
        if into >= 0 and not agrees:
            _add(v, into, place, direction, into >= 0, count, triangle, weights, normal, entered)
        if nearest < 0 and inside_now and into < 0:
            distance[v] = -np.inf


@njit(**INNER)
def _box(v: Any, x_t0: Any, x_t1: Any, reach: Any, drift: Any, box: Any) -> None:
    """Write the box around the path of point v, grown by its reach, to box (2, 3) [m]: lower and upper corner."""
    for axis in range(3):
        moved = x_t0[v, axis] + drift[axis]
        box[0, axis] = min(moved, x_t1[v, axis]) - reach[v]
        box[1, axis] = max(moved, x_t1[v, axis]) + reach[v]


@njit(**INLINED)
def _may_enter(p: Any, q: Any, motion: Any, a0: Any, b0: Any, c0: Any, a1: Any, b1: Any, c1: Any, still: Any) -> Any:
    """Return whether the path from p to q may enter a moving triangle; False is certain.

    motion: q - p [m]. a0, b0, c0 and a1, b1, c1: corners at the start and at the end, components [m]. still: both are
    equal.
    """
    ab, ac = subtract(b0, a0), subtract(c0, a0)
    if still:
        u, n = subtract(p, a0), cross(ab, ac)
        f0, f1 = dot(u, n), dot(subtract(q, a0), n)
        if (f0 >= 0.0) == (f1 >= 0.0):
            return False                                             # as `first_entry` would say, and it is slow
        # through the plane far beside the triangle; not to be told of a path along the plane
        nn, size = dot(n, n), np.sqrt(max(dot(ab, ab), dot(ac, ac)))
        steep = abs(f0 - f1) > FLAT * np.sqrt(nn) * (np.sqrt(dot(u, u)) + np.sqrt(dot(motion, motion)))
        u = add(u, scale(f0 / (f0 - f1), motion))
        w_b, w_c = dot(cross(u, ac), n), dot(cross(ab, u), n)
        least = min(min(w_b, w_c), nn - w_b - w_c)
        return not steep or least >= -MISS * (nn + np.sqrt(nn * dot(motion, motion)) * size)
    one, two = subtract(motion, subtract(a1, a0)), subtract(motion, subtract(b1, b0))
    three = subtract(motion, subtract(c1, c0))
    far = np.sqrt(max(max(dot(one, one), dot(two, two)), dot(three, three)))
    return not away(p, a0, b0, c0, 1.001 * far + BESIDE * np.sqrt(dot(ab, ab) + dot(ac, ac)))


@njit(**INLINED)
def _away(rows: Any, node: Any, p: Any) -> Any:
    """Return the distance [m] between the point p and the box of a node of the tree, rows (2L, 6)."""
    x = max(max(rows[node, 0] - p[0], p[0] - rows[node, 3]), 0.0)
    y = max(max(rows[node, 1] - p[1], p[1] - rows[node, 4]), 0.0)
    z = max(max(rows[node, 2] - p[2], p[2] - rows[node, 5]), 0.0)
    return np.sqrt(x * x + y * y + z * z)


@njit(**INLINED)
def _size(rows: Any, node: Any) -> Any:
    """Return the sum of the three side lengths [m] of the box of a node of the tree, rows (2L, 6)."""
    return rows[node, 3] - rows[node, 0] + rows[node, 4] - rows[node, 1] + rows[node, 5] - rows[node, 2]


@njit(**INLINED)
def _closest(p: Any, triangles: Any, t: Any, surface: Any) -> Any:
    """Return `closest` for the point p and triangle t of a surface: triangles (T, 3), surface (V, 3) [m]."""
    return closest(p, at(surface, triangles[t, 0]), at(surface, triangles[t, 1]), at(surface, triangles[t, 2]))


@njit(**INNER)
def _add(v: Any, t: Any, w: Any, n: Any, is_entry: Any, count: Any, triangle: Any, weights: Any, normal: Any,
         entered: Any) -> None:
    """Add a plane of point v, unless it has one whose normal has a cosine above `SAME_SIDE` with this one.

    t, w, n: triangle, barycentric weights and unit normal of the plane. is_entry: whether the path enters the surface.
    Other arguments are those of `_find`.
    """
    for k in range(count[v]):
        if normal[v, k, 0] * n[0] + normal[v, k, 1] * n[1] + normal[v, k, 2] * n[2] > SAME_SIDE:
            return
    k = count[v]
    triangle[v, k], entered[v, k] = t, is_entry
    weights[v, k, 0], weights[v, k, 1], weights[v, k, 2] = w
    normal[v, k, 0], normal[v, k, 1], normal[v, k, 2] = n
    count[v] = k + 1


@njit(**KERNEL)
def _gather(count: Any, triangle: Any, weights: Any, normal: Any, entered: Any, vertex: Any, all_triangles: Any,
            all_weights: Any, all_normals: Any, all_entered: Any) -> None:
    """Copy the planes of all points, count (V,) each, to consecutive rows of `vertex` .. `all_entered`."""
    row = 0
    for v in range(len(count)):
        for k in range(count[v]):
            vertex[row], all_triangles[row], all_entered[row] = v, triangle[v, k], entered[v, k]
            for axis in range(3):
                all_weights[row, axis], all_normals[row, axis] = weights[v, k, axis], normal[v, k, axis]
            row += 1


@njit(**KERNEL)
def _measure(vertex: Any, triangle: Any, barycentric: Any, normal: Any, distance: Any, x_t0: Any, x_t1: Any, room: Any,
             triangles: Any, surface_t0: Any, surface_t1: Any, still: Any, point_t0: Any, point_t1: Any, gap_t0: Any,
             gap_t1: Any) -> None:
    """Write the results of `measured`; still: surface_t0 and surface_t1 are equal."""
    for c in range(len(vertex)):
        v, t = vertex[c], triangle[c]
        w, n = at(barycentric, c), at(normal, c)
        a0, b0, c0 = at(surface_t0, triangles[t, 0]), at(surface_t0, triangles[t, 1]), at(surface_t0, triangles[t, 2])
        a1, b1, c1 = at(surface_t1, triangles[t, 0]), at(surface_t1, triangles[t, 1]), at(surface_t1, triangles[t, 2])
        before, after = barycentric_point(w, a0, b0, c0), barycentric_point(w, a1, b1, c1)
        start = subtract(at(x_t0, v), before)
        if not still:
            start = turn_with_frame(start, triangle_frame(a0, b0, c0), triangle_frame(a1, b1, c1))
        point_t0[c, 0], point_t0[c, 1], point_t0[c, 2] = before
        point_t1[c, 0], point_t1[c, 1], point_t1[c, 2] = after
        gap_t0[c] = max(dot(start, n), distance[c]) - room[v]
        gap_t1[c] = dot(subtract(at(x_t1, v), after), n) - room[v]

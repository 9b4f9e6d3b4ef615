# SPDX-License-Identifier: GPL-3.0-or-later
"""Lengths of edges, and relaxation of edges that are too long in front of planes.

NumPy moves all edges of a set at once; the compiled loop goes from edge to edge. Edges of a set share no vertex, so
that the results are equal but for rounding.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray


def lengths(x: FloatArray, edges: IntArray) -> FloatArray:
    """Return the lengths (E,) [m] of edges (E, 2) with vertices at x (V, 3) [m]."""
    along = x.take(edges[:, 1], axis=0) - x.take(edges[:, 0], axis=0)
    found: FloatArray = np.sqrt(np.einsum("ei,ei->e", along, along))
    return found


def growth(x: FloatArray, edges: IntArray, before: FloatArray, rest: FloatArray) -> FloatArray:
    """Return the stretch (E,) [-] that edges (E, 2) of lengths `before` (E,) [m] have gained with vertices at
    x (V, 3) [m], as of `integrators.step_strain.added_strain`."""
    found = lengths(x, edges)
    found -= np.maximum(before, rest)
    found /= rest
    return found


def relax(x: FloatArray, edges: IntArray, longest: FloatArray, weights: FloatArray, starts: IntArray,
          corners: IntArray, shares: FloatArray, normals: FloatArray, least: FloatArray, sets: IntArray, close: float,
          room: float, sweeps: int, further: float) -> int:
    """Move x (V, 3) [m] in place until edges are short enough and points are in front of their planes; return how many
    sweeps that took.

    A plane has four vertices. The sum of their positions times `shares` is a point, or the vector between two points;
    its component along the plane's normal must be at least `least`.

    Args:
        edges, longest: (E, 2), (E,) [m], edges and their largest lengths.
        weights: (V,), inverse mass of each vertex, 0 for fixed vertices.
        starts: (C + 1,), where the sets of edges without common vertices begin; sweeps alternate their order.
        corners, shares, normals, least: (P, 4), (P, 4), (P, 3), (P,) [m], of the planes.
        sets: (S + 1,), where the sets of planes without common vertices begin.
        close: share by which an edge may be longer than `longest` at the end [-].
        room: distance by which a point may be behind its plane at the end [m].
        sweeps: largest number of sweeps.
        further: over-relaxation factor, until the last fifth of the sweeps [-].
    """
    spans = [slice(int(a), int(b)) for a, b in zip(starts[:-1], starts[1:], strict=True)]
    parts = [(edges[s, 0], edges[s, 1], longest[s], weights[edges[s, 0]], weights[edges[s, 1]]) for s in spans]
    spans = [slice(int(a), int(b)) for a, b in zip(sets[:-1], sets[1:], strict=True)]
    push = shares * weights[corners]
    moved = np.einsum("pk,pk->p", shares, push)
    push /= np.where(moved > 0.0, moved, 1.0)[:, None]
    planes = [(corners[s], shares[s], normals[s], least[s], push[s], moved[s] > 0.0) for s in spans]
    for sweep in range(sweeps):
        worst, lack, part = 0.0, 0.0, further if 5 * sweep < 4 * sweeps else 1.0
        for i, j, most, wi, wj in parts if sweep % 2 == 0 else reversed(parts):
            d = x[j] - x[i]
            length = np.sqrt(np.einsum("ei,ei->e", d, d))
            moves = wi + wj
            rows = np.flatnonzero((length > most) & (moves > 0.0))
            if len(rows) == 0:
                continue
            over = length[rows] - most[rows]
            worst = max(worst, float((over / most[rows]).max()))
            pull = d[rows] * (part * over / (length[rows] * moves[rows]))[:, None]
            x[i[rows]] += wi[rows, None] * pull
            x[j[rows]] -= wj[rows, None] * pull
        for at, share, normal, low, step, free in planes:
            below = np.where(free, np.maximum(low - np.einsum("pk,pki,pi->p", share, x[at], normal), 0.0), 0.0)
            deepest = float(below.max(initial=0.0))
            if deepest == 0.0:
                continue
            lack = max(lack, deepest)
            for k in range(4):                                    # a corner may occur twice, with share 0
                x[at[:, k]] += (below * step[:, k])[:, None] * normal
        if worst <= close and lack <= room:
            return sweep + 1
    return sweeps

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pulling cloth out of cloth that it crosses at the start.

Two sheets that cross do so along a contour, and each edge that pierces a triangle is a point of it. From there the
contour goes on into the triangles A_k at that edge, along the unit vectors R_k. Moved by D against the pierced triangle
(unit normal N), an edge of direction E moves its point of the contour by D - (D.N)/(E.N) E and shortens it by

    G . D ,     G = R - (E.R)/(E.N) N ,   R = sum_k R_k

so that along G sheets come apart, whichever way out is nearer, and without knowing an inside: Volino and
Magnenat-Thalmann 2006. Each such pair is a contact that wants to be moved along G at a bounded speed. Its four vertices
are the edge's two and the two corners of the triangle that are nearest to the point.

Where the contour is straight, its two triangles cancel each other in R: G is short there, and its direction chance.
What was moved along it at full speed would cross more before it crosses less. So the speed grows with G: contours open
at their ends and where they bend, and are followed from there.

That is of no use to a sheet that stands through the middle of a wider one, both ends of the contour on its own rim:
they are pulled towards each other, which only presses it together. But such a contour has parted it, and the smaller
part is to go back through. So where a contour parts a surface, that way out joins G.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..topology import bodies
from .distance import point_triangle
from .nearness import Features, Primitives
from .repulsion import STIFFNESS, Contacts, lever

SPEED = 32.0
"""Speed at which what crosses is pulled apart, in edges per second [1/s]: edges that are pulled slowly are left behind
by the next ones, and the contour gets longer before it gets shorter."""
SURE = 1.0
"""Length of G from which on the speed is the full one [-]: as at the end of a contour."""
SHALLOW = 0.1
"""Sine of the angle between an edge and the triangle it pierces below which G counts no further [-]."""


def around(surface: Primitives, crossings: IntArray, vertex_count: int) -> BoolArray:
    """Which vertices (V,) belong to an edge or a triangle of the crossings (N, 2)."""
    result = np.zeros(vertex_count, dtype=np.bool_)
    result[surface.edges[crossings[:, 0]]] = True
    result[surface.triangles[crossings[:, 1]]] = True
    return result


def pull_apart(surface: Primitives, crossings: IntArray, features: Features, x: FloatArray,
               inverse_mass: FloatArray, h: float, unheld: FloatArray | None = None) -> Contacts:
    """Contacts that pull apart the crossings (N, 2), edges and triangles of the surface at x (V, 3) [m], in h [s];
    `unheld` as in `repulsion.make_contacts`."""
    ends, corners = surface.edges[crossings[:, 0]], surface.triangles[crossings[:, 1]]
    p, q = x[ends[:, 0]], x[ends[:, 1]]
    a = x[corners[:, 0]]
    spread = np.cross(x[corners[:, 1]] - a, x[corners[:, 2]] - a)
    area, along = _unit(spread), _unit(q - p)
    # of an edge and a triangle one may be a collider's, as large as it likes
    length = np.minimum(np.linalg.norm(q - p, axis=1), np.sqrt(np.linalg.norm(spread, axis=1)))
    above, below = ((point - a) * area for point in (p, q))
    height, drop = above.sum(axis=1), (above - below).sum(axis=1)
    s = np.clip(height / np.where(drop != 0.0, drop, 1.0), 0.0, 1.0)
    place = p + s[:, None] * (q - p)

    contour = np.zeros_like(p)
    opposite = features.opposite[crossings[:, 0]]
    for side in range(2):
        there = opposite[:, side] >= 0
        inward = x[opposite[:, side]] - p
        inward -= (inward * along).sum(axis=1)[:, None] * along
        line = np.cross(np.cross(along, inward), area)
        line *= np.sign((line * inward).sum(axis=1))[:, None]
        contour += np.where(there[:, None], _unit(line), 0.0)
    sine = (along * area).sum(axis=1)
    sine = np.where(sine < 0.0, np.minimum(sine, -SHALLOW), np.maximum(sine, SHALLOW))
    gradient = contour - ((along * contour).sum(axis=1) / sine)[:, None] * area
    gradient += _way_back(surface, crossings, s, x, inverse_mass, area, _normals(x, ends, opposite, along))
    normal, speed = _unit(gradient), SPEED * length * np.minimum(np.linalg.norm(gradient, axis=1) / SURE, 1.0)

    away = np.linalg.norm(x[corners] - place[:, None], axis=2)
    two = np.sort(np.argsort(away, axis=1, kind="stable")[:, :2], axis=1)
    pair = np.take_along_axis(corners, two, axis=1)
    near = np.take_along_axis(away, two, axis=1)
    share = near[:, ::-1] / near.sum(axis=1)[:, None]
    vertices = np.concatenate([ends, pair], axis=1)
    weights = np.concatenate([np.stack([1.0 - s, s], axis=1), -share], axis=1)

    mobility = np.einsum("pk,pk->p", weights**2, inverse_mass[vertices])
    some = np.flatnonzero((mobility > 0.0) & (np.abs(normal).sum(axis=1) > 0.0))
    vertices, weights, normal = vertices[some], weights[some], normal[some]
    mass, _ = lever(mobility[some], weights, vertices, unheld)
    return _wanting(vertices, weights, normal, h * speed[some], x, mass)


def _way_back(surface: Primitives, crossings: IntArray, place: FloatArray, x: FloatArray, inverse_mass: FloatArray,
              area: FloatArray, across: FloatArray) -> FloatArray:
    """Unit vectors (N, 3) along which the edge of each of the crossings (N, 2) is to be moved against its triangle, so
    that the smaller part goes back of what the contours part; 0 where they part nothing.

    Edges are pierced at `place` (N,) of their length [-]. At x (V, 3) [m], with unit normals of the triangles, `area`,
    and of the surfaces at the edges, `across` (N, 3). What is held is larger than what is not. Where both surfaces are
    parted, the smaller of their smaller parts goes back.
    """
    whole = np.ones(len(surface.edges), dtype=np.bool_)
    whole[crossings[:, 0]] = False
    part = bodies(surface.edges[whole], len(x))
    share = np.full(len(surface.edges), 0.5)
    share[crossings[:, 0]] = place
    share = np.stack([share, 1.0 - share], axis=1)
    share *= ((x[surface.edges[:, 1]] - x[surface.edges[:, 0]])**2).sum(axis=1)[:, None]  # as areas; threads have some
    extent = np.bincount(part[surface.edges].ravel(), weights=share.ravel(), minlength=len(x))
    held = np.bincount(part, weights=inverse_mass == 0.0, minlength=len(x)) > 0.0
    size = (extent + held * extent.sum())[part]                                           # of each vertex's part (V,)
    ends, corners = surface.edges[crossings[:, 0]], surface.triangles[crossings[:, 1]]
    least, ways = [], []
    for vertices, normal, sign in ((ends, area, 1.0), (corners, across, -1.0)):
        sizes, there = size[vertices], x[vertices]
        smallest, largest = np.argmin(sizes, axis=1), np.argmax(sizes, axis=1)
        row = np.arange(len(vertices))
        way = ((there[row, largest] - there[row, smallest]) * normal).sum(axis=1)
        parted = sizes[row, smallest] < sizes[row, largest]
        least.append(np.where(parted, sizes[row, smallest], np.inf))
        ways.append(np.where(parted, sign * np.sign(way), 0.0)[:, None] * normal)
    result: FloatArray = np.where((least[0] <= least[1])[:, None], ways[0], ways[1])
    return result


def _normals(x: FloatArray, ends: IntArray, opposite: IntArray, along: FloatArray) -> FloatArray:
    """Unit normals (N, 3) of the surface at x (V, 3) [m] at edges `ends` (N, 2) of directions `along` (N, 3), whose
    triangles have third vertices `opposite` (N, 2), -1 for none; 0 where there are none."""
    total = np.zeros_like(along)
    for side, sign in ((0, 1.0), (1, -1.0)):
        there = opposite[:, side] >= 0
        normal = sign * _unit(np.cross(along, x[opposite[:, side]] - x[ends[:, 0]]))
        total += np.where(there[:, None], normal, 0.0)
    return _unit(total)


def lift_out(level: IntArray, edges: IntArray, x: FloatArray, inverse_mass: FloatArray, h: float) -> Contacts:
    """Contacts that lift vertices out of the triangles that they lie in, `level` (L, 4), to the side where their
    neighbours by edges (E, 2) are on the whole; surface at x (V, 3) [m], in h [s]."""
    p, a, b, c = (x[level[:, k]] for k in range(4))
    spread = np.cross(b - a, c - a)
    beside = np.zeros_like(x)
    np.add.at(beside, edges[:, 0], x[edges[:, 1]] - x[edges[:, 0]])
    np.add.at(beside, edges[:, 1], x[edges[:, 0]] - x[edges[:, 1]])
    normal = _unit(spread) * np.sign((spread * beside[level[:, 0]]).sum(axis=1))[:, None]
    share = point_triangle(p, a, b, c).barycentric
    weights = np.concatenate([np.ones((len(level), 1)), -share], axis=1)
    mobility = np.einsum("pk,pk->p", weights**2, inverse_mass[level])
    some = np.flatnonzero((mobility > 0.0) & (np.abs(normal).sum(axis=1) > 0.0))
    speed = SPEED * np.sqrt(np.linalg.norm(spread[some], axis=1))
    return _wanting(level[some], weights[some], normal[some], h * speed, x, 1.0 / mobility[some])


def _wanting(vertices: IntArray, weights: FloatArray, normal: FloatArray, more: FloatArray, x: FloatArray,
             mass: FloatArray) -> Contacts:
    """Contacts that want their gaps to grow by `more` (C,) [m]; vertices, weights (C, 4), normal (C, 3), mass (C,)."""
    least = np.einsum("pk,pki,pi->p", weights, x[vertices], normal) + more
    count, zero, none = len(vertices), np.zeros(len(vertices)), 0.0 * normal
    return Contacts(-1 - np.arange(count), vertices, weights, normal, least, STIFFNESS * mass, zero, none, none,
                    none, zero, mass, np.full(count, -np.inf), np.ones(count, dtype=np.bool_), none, none)


def _unit(a: FloatArray) -> FloatArray:
    """Rows (N, 3) of length 1, or 0."""
    size = np.linalg.norm(a, axis=1)[:, None]
    return a / np.where(size > 0.0, size, 1.0)

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
What was moved along it at full speed would cross more before it crosses less. So the speed grows with the square of G:
contours open at their ends and where they bend, and are followed from there.

That is of no use to a sheet that stands through the middle of a wider one, both ends of the contour on its own rim:
they are pulled towards each other, which only presses it together. But such a contour has parted it, and one part is
to go back through (`way_back`). So where a contour parts a surface, that way out joins G.

Such a pair is a soft spring, as others of several vertices. But taut cloth on a bump is not lifted by a spring that its
mass alone decides: the bump stays in it for good. Where the way is known, because the contour has parted something, the
spring is as stiff as the cloth is, by the inertia in the step of the vertices that it moves (`pair_contacts`). Not
where solids leave no room: cloth that is pulled out of one there is pulled into the other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..row_ops import unit
from .distance import point_triangle
from .nearness import Features, Primitives
from .pair_contacts import STIFFNESS, lever, resistance
from .piercing import Piercings
from .repulsion import STIFFEST, Contacts
from .way_back import WayBack

SPEED = 32.0
"""Speed at which what crosses is pulled apart, in edges per second [1/s]: edges that are pulled slowly are left behind
by the next ones, and the contour gets longer before it gets shorter."""
FULL_SPEED_GRADIENT = 1.0
"""Length of G from which on the speed is the full one [-]: as at the end of a contour."""
SHALLOW = 0.1
"""Sine of the angle between an edge and the triangle it pierces below which G counts no further [-]."""


def around(surface: Primitives, crossings: IntArray, vertex_count: int) -> BoolArray:
    """Which vertices (V,) belong to an edge or a triangle of the crossings (N, 2)."""
    result = np.zeros(vertex_count, dtype=np.bool_)
    result[surface.edges[crossings[:, 0]]] = True
    result[surface.triangles[crossings[:, 1]]] = True
    return result


def around_each(surface: Primitives, crossings: IntArray) -> IntArray:
    """Return the vertices (N, 5) of the edge and the triangle of each of the crossings (N, 2)."""
    return np.concatenate([surface.edges[crossings[:, 0]], surface.triangles[crossings[:, 1]]], axis=1)


def pull_apart(surface: Primitives, crossings: IntArray, features: Features, x: FloatArray,
               inverse_mass: FloatArray, h: float, unheld: FloatArray | None = None, layer: IntArray | None = None,
               way: WayBack | None = None, cloth: int | None = None, inertia: FloatArray | None = None,
               roomy: BoolArray | None = None) -> Contacts:
    """Contacts that pull apart the crossings (N, 2), edges and triangles of the surface at x (V, 3) [m], in h [s];
    `unheld` as in `pair_contacts.make_contacts`. layer (V,): of vertices of cloth, None if all are of one; of colliders
    there may be more vertices. way: of the crossings, if it is known. cloth: vertices below this number are of cloth;
    None if nothing is to move along its way alone. inertia: as in `make_contacts`. roomy (N,): which crossings may be
    pulled firmly; None for all.

    What surely goes back through something, and is not of another layer, moves along that way alone, as far as it has
    to: its contour may be long."""
    pierced = Piercings.at(surface, crossings, features, x)
    corners, place, share = pierced.corners, pierced.place, pierced.share
    held = inverse_mass == 0.0 if unheld is None else (inverse_mass == 0.0) & (unheld > 0.0)      # of cloth, by pins
    way = way or WayBack.of(pierced, surface.edges, x, held)
    gradient = _shortest(pierced) + way.direction
    if layer is not None:
        gradient = _by_layers(pierced, surface.triangles, x, layer, gradient)
    size = np.linalg.norm(gradient, axis=1)
    normal, speed = unit(gradient), SPEED * pierced.length * np.minimum(size / FULL_SPEED_GRADIENT, 1.0)**2
    sure = np.flatnonzero(way.sure & ~_of_two_layers(pierced, layer)) if cloth is not None else np.zeros(0, np.int64)
    if len(sure):
        own = np.where(pierced.ends[sure, 0] < cloth, _lengths(x, pierced.ends[sure]), _sizes(x, pierced.corners[sure]))
        normal[sure] = way.direction[sure]
        speed[sure] = np.minimum(SPEED * own, SPEED * pierced.length[sure] + way.depth[sure] / h)

    away = np.linalg.norm(x[corners] - place[:, None], axis=2)
    two = np.sort(np.argsort(away, axis=1, kind="stable")[:, :2], axis=1)
    pair = np.take_along_axis(corners, two, axis=1)
    near = np.take_along_axis(away, two, axis=1)
    weights = np.concatenate([np.stack([1.0 - share, share], axis=1), -near[:, ::-1] / near.sum(axis=1)[:, None]],
                             axis=1)
    vertices = np.concatenate([pierced.ends, pair], axis=1)
    firm = np.zeros(len(crossings))                                                            # [kg]
    if inertia is not None:
        rows = sure if roomy is None else sure[roomy[sure]]
        firm[rows] = resistance(weights[rows], inertia[vertices[rows]], inverse_mass[vertices[rows]] > 0.0)

    mobility = np.einsum("pk,pk->p", weights**2, inverse_mass[vertices])
    some = np.flatnonzero((mobility > 0.0) & (np.abs(normal).sum(axis=1) > 0.0))
    vertices, weights, normal = vertices[some], weights[some], normal[some]
    mass, _ = lever(mobility[some], weights, vertices, unheld)
    pulls = wanting(vertices, weights, normal, h * speed[some], x, mass)
    return replace(pulls, stiffness=np.maximum(pulls.stiffness, firm[some]))


def _lengths(x: FloatArray, ends: IntArray) -> FloatArray:
    """Return the lengths (N,) [m] of edges (N, 2) at x (V, 3) [m]."""
    return np.asarray(np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1))


def _sizes(x: FloatArray, corners: IntArray) -> FloatArray:
    """Return the square roots (N,) [m] of twice the areas of triangles (N, 3) at x (V, 3) [m]."""
    a = x[corners[:, 0]]
    return np.asarray(np.sqrt(np.linalg.norm(np.cross(x[corners[:, 1]] - a, x[corners[:, 2]] - a), axis=1)))


def _shortest(pierced: Piercings) -> FloatArray:
    """G of each of N places (N, 3), see above."""
    along, area = pierced.along, pierced.area
    contour = np.zeros_like(along)
    for inward in pierced.inward:
        line = np.cross(np.cross(along, inward), area)
        contour += unit(line * np.sign((line * inward).sum(axis=1))[:, None])
    sine = (along * area).sum(axis=1)
    sine = np.where(sine < 0.0, np.minimum(sine, -SHALLOW), np.maximum(sine, SHALLOW))
    gradient: FloatArray = contour - ((along * contour).sum(axis=1) / sine)[:, None] * area
    return gradient


def _by_layers(pierced: Piercings, triangles: IntArray, x: FloatArray, layer: IntArray, gradient: FloatArray
               ) -> FloatArray:
    """G (N, 3), where an edge and a triangle are of cloths of different layers the way out of the higher one: along the
    normals of the lower one, of its triangles (T, 3) at x (V, 3) [m], where that has any."""
    own = np.flatnonzero(_of_two_layers(pierced, layer))
    higher = layer[pierced.ends[own, 0]] > layer[pierced.corners[own, 0]]
    areas = np.cross(x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]])
    at_vertex = np.zeros_like(x)
    for corner in triangles.T:
        np.add.at(at_vertex, corner, areas)
    at_edge, at_triangle = (at_vertex[ends[own]].sum(axis=1) for ends in (pierced.ends, pierced.corners))
    out = np.where(higher[:, None], unit(at_triangle), -unit(at_edge))
    some = out.any(axis=1)
    result = gradient.copy()
    result[own[some]] = out[some]
    return result


def _of_two_layers(pierced: Piercings, layer: IntArray | None) -> BoolArray:
    """Return which of N piercings are of cloths of different layers (N,), if vertices have a `layer` (V,)."""
    result = np.zeros(len(pierced.edge), dtype=np.bool_)
    if layer is not None:
        own = np.flatnonzero((pierced.vertices < len(layer)).all(axis=1))
        result[own] = layer[pierced.ends[own, 0]] != layer[pierced.corners[own, 0]]
    return result


def lift_out(level: IntArray, edges: IntArray, x: FloatArray, inverse_mass: FloatArray, h: float,
             unheld: FloatArray | None = None) -> Contacts:
    """Contacts that lift vertices out of the triangles that they lie in, `level` (L, 4), to the side where their
    neighbours by edges (E, 2) are on the whole; surface at x (V, 3) [m], in h [s]; `unheld` as in `pull_apart`."""
    p, a, b, c = (x[level[:, k]] for k in range(4))
    spread = np.cross(b - a, c - a)
    beside = np.zeros_like(x)
    np.add.at(beside, edges[:, 0], x[edges[:, 1]] - x[edges[:, 0]])
    np.add.at(beside, edges[:, 1], x[edges[:, 0]] - x[edges[:, 1]])
    normal = unit(spread) * np.sign((spread * beside[level[:, 0]]).sum(axis=1))[:, None]
    share = point_triangle(p, a, b, c).barycentric
    weights = np.concatenate([np.ones((len(level), 1)), -share], axis=1)
    mobility = np.einsum("pk,pk->p", weights**2, inverse_mass[level])
    some = np.flatnonzero((mobility > 0.0) & (np.abs(normal).sum(axis=1) > 0.0))
    speed = SPEED * np.sqrt(np.linalg.norm(spread[some], axis=1))
    # where pins hold all corners but one of hardly any weight, the mass without a lever's limit is without end
    mass, _ = lever(mobility[some], weights[some], level[some], unheld)
    return wanting(level[some], weights[some], normal[some], h * speed, x, mass)


def wanting(vertices: IntArray, weights: FloatArray, normal: FloatArray, more: FloatArray, x: FloatArray,
             mass: FloatArray) -> Contacts:
    """Contacts that want their gaps to grow by `more` (C,) [m]; vertices, weights (C, 4), normal (C, 3), mass (C,)."""
    least = np.einsum("pk,pki,pi->p", weights, x[vertices], normal) + more
    count, zero, none = len(vertices), np.zeros(len(vertices)), 0.0 * normal
    return Contacts(-1 - np.arange(count), vertices, weights, normal, least, STIFFNESS * mass, zero, none, none,
                    none, zero, mass, np.full(count, -np.inf), STIFFEST * mass, zero, zero, zero,
                    np.ones(count, dtype=np.bool_), none, none)

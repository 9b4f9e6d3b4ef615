# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth in contact with itself, with other cloth and with colliders, by pairs of primitives, in one implicit step.

All cloths are one surface, and colliders are part of it whose motion is known (`all_surfaces`). A step looks once for
the pairs of primitives that may come close (`surroundings`), takes those that are close and face each other as contacts
(`nearness`), lets them act as springs in the linear solve (`repulsion`), takes in what the solution would make meet,
and in the end cuts the motion where something still would (`contact_step`, `truncation`).

Where cloth starts out crossing something, the pairs around it are neither contacts nor held apart: they are pulled out
of each other (`untangling`). Whether anything crosses is looked up at the start of a simulation, and after that only
while something does, or after a step that could not keep everything apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.collider import Collider
from ..description.seam_pairs import Links
from ..kernels import current
from ..row_ops import all_of, length, pick
from .all_surfaces import AllSurfaces, Motion
from .coincident import parted
from .colliders import SurfaceShape
from .continuous import Pairs, near_pairs
from .crossings import crossing_pairs
from .exclusions import ITSELF, OTHER, Exclusions, PairFilter
from .expectation import SearchBounds
from .friction_coefficients import FrictionAt, over_time
from .joined_vertices import JoinedVertices
from .nearness import Features
from .pinned_inside import PinnedInside
from .standing import beside_walls
from .tear_sides import TearSides
from .triangle_surface import TriangleSurface

REACH = 1.5
"""Distance up to which a pair is a contact that may come to touch, over the thickness of both [-]."""
EDGE_SHARE = 0.5
"""Part of the thickness that edges keep from edges of colliders, and faces from their tips [-]: where vertices keep all
of it from faces, edges come nearer on any surface that bends, and only where it is sharp do they need more."""
REST_SHARE = 0.5
"""Part of its distance in the rest shape that a pair keeps at most [-]: in a fold neighbours may come closer."""
AT_REST = 0.9
"""Part of its distance in the rest shape from which on a pair is not near [-]: above `REACH` times that share, so that
of what is beside a contact all is known."""
CROWDED = 2.0
"""Pairs of one piece that are near each other at rest, over the vertices, above which it is worth asking of all pairs
how far apart they are there [-]: none in an even mesh, 30 in Blender's monkey, subdivided once."""
THICKEST = 1.0
"""Largest thickness, over the mean edge length [-]: beyond that, everything would be near everything."""
HAIR = 1e-4
"""How far apart what lies in one another starts, over the least mean length of edges [-]: what nobody sees."""
COINCIDENCE = 0.25
"""Distance, over a hair, up to which a vertex lies in a triangle [-]: meshes are stored in single precision."""
CLOSEST = 0.2
"""Least distance within which pairs are looked for where there is motion, over the mean edge length [-]."""
BAND = 0.05
"""Distance beyond its thickness within which a pair that rests is looked for, over that [-]: what is laid on its
thickness is there but for what the solver leaves."""


class SelfContact:
    """Contact of all cloths with themselves, each other and the colliders, through all steps.

    Args:
        thickness (V,) [m], mass (V,) [kg] of the vertices; body (V,): their connected pieces.
        friction: coefficients over time, or (V,) [-] of all vertices.
        skin: how many of them have a surface, the first; all if not given.
        rest: (V, 3) [m], the rest shape. surface: of the cloth where the simulation starts.
        seams: what is sewn together; None if nothing is.
        scale (V,): lengths at rest over those of `rest` [-]; None where they are the same.
        held (N,): vertices that pins hold for good; none if not given.
        from_cloth: thickness (V,) [m] of cloth on cloth; that on colliders if not given.
        exclusions: None where nothing is excluded from contact. layer (V,): of `ClothContact`; None if all are of one.
        tears: (N, 2) vertices that were one before they tore; None if nothing has torn.

    Attributes:
        all: the surface of cloth and colliders. thickness (V + W,) [m], body (V + W,): of all vertices; the
            body of colliders is -1; filled (V + W,): whether of a body that has an inside; held (V + W,): whether pins
            hold it for good. finest: the least mean edge length of a piece [m].
            pair_filter: None where nothing is excluded. layer: as given. joined: vertices that count as one.
        own_bounds, solid_bounds: of the searches for pairs of cloth with cloth, and of cloth with colliders.
    """

    def __init__(self, thickness: FloatArray, friction: FloatArray | FrictionAt, mass: FloatArray, body: IntArray,
                 rest: FloatArray, surface: TriangleSurface, colliders: Sequence[Collider] = (), *,
                 seams: Links | None = None, skin: int | None = None, scale: FloatArray | None = None,
                 held: IntArray | None = None,
                 from_cloth: FloatArray | None = None, exclusions: Exclusions | None = None,
                 layer: IntArray | None = None, tears: IntArray | None = None) -> None:
        self.mass, self.rest, self.layer = mass, rest, layer
        self.surface = surface
        self.all = AllSurfaces(self.surface, len(mass), colliders, skin)
        self.features = Features(self.all, self.all.total, cloth=len(mass))
        ends = self.surface.edges
        lengths, piece = length(pick(rest, ends[:, 1]) - pick(rest, ends[:, 0])), body[ends[:, 0]]
        edges = np.bincount(piece, minlength=int(body.max()) + 1)
        mean = np.bincount(piece, weights=lengths, minlength=len(edges)) / np.maximum(edges, 1)
        longest = float(mean.max(initial=0.0))
        self.finest = float(mean[mean > 0.0].min(initial=np.inf))
        extra = [min(c.thickness, THICKEST * longest) if longest else c.thickness for c in colliders]
        own = thickness if from_cloth is None else from_cloth
        cloth, own = (np.where(edges[body] > 0, np.minimum(given, THICKEST * mean[body]), given)
                      for given in (thickness, own))
        self.thickness, self._own_thickness = (self.all.beside(given, extra) for given in (cloth, own))
        self.joined = JoinedVertices(seams, tears, self._own_thickness[:len(mass)], ends)
        self._scale = None if scale is None else self.all.beside(scale, [1.0] * len(extra))
        self._friction = over_time(friction, [c.friction for c in colliders])
        self.pair_filter = (PairFilter(exclusions, self.all) if exclusions is not None and exclusions.exclude else None)
        self._parts = None if self.pair_filter is None else [
            Features(self.all, self.all.total, cloth=len(mass), some=self.pair_filter.taking_part(kind))
            for kind in (OTHER, ITSELF)]
        self.body: IntArray = np.concatenate([body, np.full(self.all.total - len(mass), -1)])
        self.filled: BoolArray = np.isin(self.body, body[self.all.skin:])
        self.held: BoolArray = np.isin(np.arange(self.all.total), [] if held is None else held)
        closest = CLOSEST * np.where(edges[body] > 0, mean[body], longest)
        self.own_bounds, self.solid_bounds = (SearchBounds(
            np.maximum(2.0 * REACH * least, closest), 2.0 * (1.0 + BAND) * least, drifting=drifting,
            skin=self.all.skin) for least, drifting in ((own, True), (cloth, False)))

    def passages(self, motion: Motion, x0: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return `Motion.passages` of cloth at x0 (V, 3) [m], without what is excluded from contact."""
        crossings, within = motion.passages(x0)
        if self.pair_filter is not None:
            crossings = crossings[self.pair_filter.of_piercings(crossings)]
            within[:, :self.all.skin] &= self.pair_filter.with_solids
        return crossings, within

    def solid_groups(self, count: int) -> tuple[BoolArray, IntArray]:
        """Return whether each of S colliders collides with each of G groups of vertices (S, G), and the group of each
        of `count` vertices of cloth (V,)."""
        if self.pair_filter is None:
            return np.ones((len(self.all.solids), 1), dtype=np.bool_), np.zeros(count, dtype=np.int64)
        sets, group = self.pair_filter.groups
        return sets, np.pad(group, (0, count - len(group)))

    def left_alone(self, crossings: IntArray) -> BoolArray:
        """Return which edges and triangles (N, 2) of cloth that cross are not pulled apart (N,): those of one body with
        an inside, which holds them together, and those that were neighbours before they tore."""
        edges, triangles = self.all.edges[crossings[:, 0]], self.all.triangles[crossings[:, 1]]
        return self.in_one_body(crossings) | self.joined.were_neighbours(edges, triangles)

    def in_one_body(self, crossings: IntArray) -> BoolArray:
        """Return whether each edge and triangle (N, 2) of cloth that cross are of one body with an inside (N,)."""
        corners = np.concatenate([self.all.edges[crossings[:, 0]], self.all.triangles[crossings[:, 1]]], axis=1)
        body = self.body[corners]
        return all_of(self.filled[corners]) & all_of(body == body[:, :1])

    def parted_start(self, solids: Sequence[tuple[FloatArray, SurfaceShape]] = ()) -> FloatArray:
        """Where the simulation starts (V, 3) [m], with a hair between what lies in one another, or in `solids`
        (`coincident`, `standing`)."""
        if not np.isfinite(self.finest):                         # nothing but particles
            return self.surface.positions
        hair, held, surface = HAIR * self.finest, self.held[:len(self.mass)], self.surface
        x = parted(surface, held, hair, COINCIDENCE * hair, solids, self.pair_filter, self.layer)
        return beside_walls(x, surface.vertices, surface.edges, held, hair, COINCIDENCE * hair, solids,
                            self.pair_filter)

    def sewn_at(self, x0: FloatArray) -> TriangleSurface:
        """The surface with that alone sewn together which is near at x0 (V, 3) [m]: cloth beside a seam that has yet to
        close is cloth like any other, and so is a tear that has opened."""
        sewn = self.joined.at(x0)
        return self.surface if sewn is None else replace(self.surface, sewn=sewn)

    def sides_of_tears(self, x0: FloatArray) -> TearSides | None:
        """The sides of tears that have hardly opened at x0 (V, 3) [m], without those that do not collide; None if there
        are none."""
        pairs = self.joined.closed_tears(x0)
        if self.pair_filter is not None:
            pairs = pairs[self.pair_filter.of_vertices(pairs)]
        return TearSides.at(x0, pairs, self.surface.edges, self._own_thickness[:len(x0)]) if len(pairs) else None

    def crossings(self, x0: FloatArray) -> IntArray:
        """Return the edges of cloth and the triangles (N, 2) of cloth that they pierce at x0 (V, 3) [m]."""
        surface = replace(self.surface.at(x0), sewn=self.joined.with_all_seams(x0))
        return crossing_pairs(surface, surface)

    def thickness_of(self, pairs: Pairs) -> FloatArray:
        """Distance (P,) [m] that pairs keep."""
        i, j = pairs.vertices[:, 0], pairs.vertices[:, 3]
        both = self.apart(pairs)
        same = np.flatnonzero(self.body[i] == self.body[j])
        if len(same):
            both[same] = np.minimum(both[same], REST_SHARE * self._at_rest(
                pairs.vertices[same], int(np.searchsorted(same, pairs.faces))))
        return both

    def all_radii(self, cloth: FloatArray) -> FloatArray:
        """Return within which pairs with colliders are looked for (V + W,) [m]: `cloth` (V,), and what colliders add to
        that."""
        return np.concatenate([cloth, 2.0 * REACH * self.thickness[len(cloth):]])

    @cached_property
    def pinned_inside(self) -> PinnedInside:
        """The net of cloth at rest, for what pins hold inside of colliders."""
        scale = None if self._scale is None else self._scale[:len(self.mass)]
        return PinnedInside(self.surface.edges, self.surface.triangles, self.rest, scale)

    @cached_property
    def crowded(self) -> bool:
        """Whether a part of the cloth is so fine that its own neighbours are within the radius of all."""
        rest, radius = self.rest, self.own_bounds.radius
        smallest = 1.0 if self._scale is None else float(self._scale[:self.all.skin].min())
        pairs = near_pairs(self.surface.at(rest), rest, rest, radius / smallest, np.zeros(len(rest)))
        same = np.flatnonzero(self.body[pairs.vertices[:, 0]] == self.body[pairs.vertices[:, 3]])
        there = self._at_rest(pairs.vertices[same], int(np.searchsorted(same, pairs.faces)))
        near = there < radius[pairs.vertices[same]].max(axis=1)
        return int(np.count_nonzero(near)) > CROWDED * len(self.surface.vertices)

    def reach(self, vertices: IntArray, faces: int) -> FloatArray:
        """Within which distance (P,) [m] pairs (P, 4) of cloth can be contacts, by their distance at rest: a mesh of
        which a part is finer has many there that are near as soon as elsewhere, and never come to touch."""
        result: FloatArray = np.full(len(vertices), np.inf)
        same = np.flatnonzero(self.body[vertices[:, 0]] == self.body[vertices[:, 3]])
        if len(same):
            result[same] = AT_REST * self._at_rest(vertices[same], int(np.searchsorted(same, faces)))
        return result

    def minima(self, pairs: Pairs, x: FloatArray) -> IntArray:
        """Rows of the pairs that are contacts, as of `Features.minima`; what takes no part in contact is not there."""
        if self.pair_filter is None or self._parts is None:
            return self.features.minima(pairs, x)
        itself, found = self.pair_filter.itself(pairs.vertices), []
        for kind, features in zip((OTHER, ITSELF), self._parts, strict=True):
            some = np.flatnonzero(itself == (kind == ITSELF))
            found.append(some[features.minima(pairs[some], x)])
        return np.sort(np.concatenate(found))

    def friction_of(self, pairs: Pairs, time: float) -> FloatArray:
        """Coefficients of friction (P,) [-] of pairs at `time` [s]."""
        found = self._friction(time)
        own, other = (self.all.beside(given[:len(self.mass)], found.solids.tolist())
                      for given in (found.on_cloth, found.on_solids))
        i, j = pairs.vertices[:, 0], pairs.vertices[:, 3]
        product: FloatArray = own[i] * own[j]
        solid = np.flatnonzero(np.maximum(i, j) >= len(self.mass))
        product[solid] = other[i[solid]] * other[j[solid]]
        return np.sqrt(product)

    def _at_rest(self, vertices: IntArray, faces: int) -> FloatArray:
        """Distance at rest (P,) [m] of pairs (P, 4) of one piece, the first `faces` of them with a triangle."""
        distance: FloatArray = current().conservative_advancement.closest(self.rest, vertices, faces)[2]
        return distance if self._scale is None else distance * self._scale[vertices].mean(axis=1)

    def apart(self, pairs: Pairs) -> FloatArray:
        """Thickness (P,) [m] of both; of edges and tips of colliders a part."""
        i, j, count = pairs.vertices[:, 0], pairs.vertices[:, 3], len(self.mass)
        both: FloatArray = self._own_thickness.take(i) + self._own_thickness.take(j)
        solid = np.flatnonzero(np.maximum(i, j) >= count)
        both[solid] = self.thickness[i[solid]] + self.thickness[j[solid]]
        vertices_of_cloth = (solid < pairs.faces) & (i[solid] < count)
        both[solid[~vertices_of_cloth]] *= EDGE_SHARE
        return both

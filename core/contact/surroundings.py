# SPDX-License-Identifier: GPL-3.0-or-later
"""What may come near what in a step: looked up once, and again where the motion is not the one expected.

There are two searches. Cloth is near cloth whatever the motion that all of it has in common. Colliders do not share
that motion, but where they go is known, so that only the ends of cloth can be other than expected.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..kernels import current
from ..row_ops import all_of, any_of, box, pick
from .all_surfaces import Motion
from .contact_history import ContactHistory
from .continuous import KEPT_DISTANCE, NEVER, Pairs, near_pairs
from .covered import Covered
from .effort import Effort
from .expectation import MISS_DECAY, Expectation, Search
from .piercing import Piercings
from .pinch import connected
from .self_contact import REACH, SelfContact
from .untangling import around, around_each
from .way_back import WayBack, left_by_solids, passing, through_open

FAR = 0.1
"""Distance over the least search radius beyond which what a pair has to keep does not grow [-]."""
STRAYS = 0.3
"""Part of the vertices up to which their pairs alone are looked for again, when they are not where they were expected
[-]."""
SIDELESS_DISTANCE = 1e-6
"""Distance, over the least search radius, below which nobody can tell on which side of a collider cloth is [-]."""
LEAST_GAP = 2e-4
"""Distance, over the least search radius, that a pair is left at least, if it had as much: what presses without end, as
a *Limit Stretch* between pins and a solid, would else leave a part of a part, step by step, down to nothing [-]."""


class Surroundings:
    """The pairs that may come near in a step from x0 (V, 3) [m], but those around a crossing.

    Args:
        fixed: geometry of all surfaces. history: contact memory, which this brings up to date.
        x1: (V, 3) [m], where the step is expected to end. motion: of the colliders, None where there are none.
        itself: whether cloth is looked for, too.
        pinched: (V,) vertices of cloth without pairs with colliders; None if there are none.
        outward: (V, 3) normals of colliders where vertices that are astray belong, 0 for others; None without such.
        effort: counts the searches; a new one if it is not given.

    Attributes:
        start (V + W, 3) [m]: x0, and where colliders start. pairs: what was found.
        level (L, 4): vertices and the triangles that they lie in; nobody can tell on which side they belong.
        crossings (N, 2): edges that pierce triangles at the start. caught (N,): those that nobody is to pull apart:
            contacts with faces move a vertex of them out of a collider, or they are of a body with an inside that
            crosses itself, or of a tear. left (V,): vertices in a collider that contact is not to move out, because
            they are pulled.
        passing (V + W,): vertices of colliders that go back through cloth, and of cloth at their contours, without
            contact with each other; None if there are none. way, roomy (N,): of the crossings, and which of them have
            room where they go; None if none are with colliders.
        tears: sides of tears that have hardly opened; None if there are none.
        within (S, V + W): which vertices of cloth start inside of each collider; no rows while nothing is stuck.
    """

    def __init__(self, fixed: SelfContact, history: ContactHistory, x0: FloatArray, x1: FloatArray,
                 motion: Motion | None = None, *, itself: bool = True, pinched: BoolArray | None = None,
                 outward: FloatArray | None = None, effort: Effort | None = None) -> None:
        self._outward = outward
        self.pinched, self.effort = pinched, Effort() if effort is None else effort
        self._covered = _covered(fixed, x0, x1, motion)
        self._fixed, self._history = fixed, history
        self.x0, self.motion, self.itself = x0, motion, itself
        self.motion_number = None if motion is None else motion.number
        self.start = x0 if motion is None else np.concatenate([x0, motion.x_t0])
        self.crossings: IntArray = np.zeros((0, 2), dtype=np.int64)
        self.caught: BoolArray = np.zeros(0, dtype=np.bool_)
        self.left: BoolArray = np.zeros(len(x0), dtype=np.bool_)
        self.passing: BoolArray | None = None
        self.way: WayBack | None = None
        self.roomy: BoolArray | None = None
        self._involved: list[BoolArray | None] = [None, None]            # in crossings of cloth, and of colliders
        self._crosses: BoolArray | None = None                          # around any crossing with a collider
        self.within: BoolArray = np.zeros((0, len(self.start)), dtype=np.bool_)
        self._swallowed: BoolArray | None = None
        self._let: BoolArray = self.within                              # vertices of cloth that nobody keeps off which
        self.level = np.zeros((0, 4), dtype=np.int64)
        self.tears = fixed.sides_of_tears(x0) if itself else None
        self._look_for_crossings()
        self._close: Pairs | None = None
        self._own: Search | None = None
        self._solid: Search | None = None
        nothing = np.zeros((0, 4), dtype=np.int64)
        none = Pairs.at(self.start, nothing, nothing[:, :2], 0)
        self._parts = [none, none]
        self.pairs = none
        self._noted: tuple[Pairs | None, FloatArray, IntArray, FloatArray | None] = None, x0, nothing, None
        self.cover(x1)

    def end(self, x1: FloatArray) -> FloatArray:
        """x1 (V, 3) [m], and where colliders end (V + W, 3) [m]."""
        return x1 if self.motion is None else np.concatenate([x1, self.motion.x_t1])

    def let_in(self, kept: BoolArray) -> None:
        """Have no pairs of colliders with the vertices of cloth that pins keep in them, `kept` (S, V)."""
        if kept.any():
            self._let[:, :kept.shape[1]] |= kept
            self._parts[1] = self._parts[1][np.flatnonzero(~self._is_let(self._parts[1]))]
            self._join_parts()

    def cover(self, x1: FloatArray) -> None:
        """Look, or look again and further around, if x1 (V, 3) [m] is not where what was searched for goes."""
        before = list(self._parts)
        if self.itself and (self._own is None or not self._own.covers(x1)):
            self._own, some = self._anew(self._own, self._history.own, x1)
            self._take(0, self._near_itself(self._own, some), some)
        if self.motion is not None and (self._solid is None or not self._solid.covers(x1)):
            self._solid, some = self._anew(self._solid, self._history.solid, x1)
            self._take(1, self._near_solids(self.motion, self._solid, some), some)
        if any(part is not old for part, old in zip(self._parts, before, strict=True)):
            self._join_parts()
            self.effort.search(len(self.pairs), len(x1))

    def covers(self, x1: FloatArray) -> bool:
        """Whether no pair can meet on the way to x1 (V, 3) [m] but those found."""
        return all(search is None or search.covers(x1) for search in (self._own, self._solid))

    def learn(self, x1: FloatArray) -> None:
        """Take in where a step has ended, x1 (V, 3) [m]."""
        for search, expectation in ((self._own, self._history.own), (self._solid, self._history.solid)):
            if search is not None:
                search.learn(x1, MISS_DECAY)
            else:                                                    # who was not expected anywhere was not missed
                expectation.fade(MISS_DECAY)

    def close(self) -> Pairs:
        """Pairs that are close at the start and say something about it."""
        if self._close is None:
            reach = REACH * self._fixed.apart(self.pairs)
            rows = np.flatnonzero((self.pairs.distance < reach) & (self.pairs.distance > 0.0))
            near = self.pairs[rows] if len(rows) < len(self.pairs) else self.pairs
            self._close = near[self._fixed.minima(near, self.start)] if len(near) else near
        return self._close

    def meeting(self, x1: FloatArray) -> tuple[Pairs, FloatArray]:
        """Pairs that meet on the way to x1 (V, 3) [m], and when (P,)."""
        self.cover(x1)
        end = self.end(x1)
        pairs, before, rows, times = self._noted
        if pairs is not self.pairs or times is None or not np.array_equal(before, end):
            every = self.pairs.meeting_times(self.start, end, self.effort)
            rows = np.flatnonzero(every < NEVER)
            times = every[rows]
            self.note(end, rows, times)
        return self.pairs[rows], times

    def note(self, end: FloatArray, rows: IntArray, times: FloatArray | None = None) -> None:
        """Remember which `rows` of the pairs meet on the way to `end` (V + W, 3) [m], and when, if that is known."""
        self._noted = self.pairs, end.copy(), rows, times

    def noted(self) -> tuple[FloatArray, IntArray] | None:
        """What was remembered last, end and rows; None if pairs are others now."""
        pairs, end, rows, _ = self._noted
        return (end, rows) if pairs is self.pairs else None

    def touches(self, x1: FloatArray) -> bool:
        """Whether anything is, or comes, too close on the way to x1 (V, 3) [m]."""
        if len(self.crossings) or self.tears is not None and self.tears.press(x1):
            return True
        self.cover(x1)
        close = self.close()
        gap = np.einsum("pk,pki,pi->p", close.weights, pick(self.end(x1), close.vertices), close.normal)
        if (np.minimum(gap, close.distance) < self._fixed.thickness_of(close)).any():     # sooner known than meetings
            return True
        return len(self.meeting(x1)[0]) > 0

    # ------------------------------------------------------------------ parts

    def _look_for_crossings(self) -> None:
        fixed, history, own, solid = self._fixed, self._history, self.crossings, self.crossings
        if history.tangled and self.itself:
            own = fixed.crossings(self.x0)
            if fixed.pair_filter is not None:
                own = own[fixed.pair_filter.of_piercings(own)]
            history.settle(tangled=len(own) > 0)
        history.see_tangled(self.tears is not None)                  # these may go through each other unseen
        if history.stuck and self.motion is not None:
            solid, within = fixed.passages(self.motion, self.x0)
            if self.pinched is not None:
                within[:, self.pinched[:within.shape[1]]] = False
            history.settle(stuck=len(solid) > 0 or bool(within.any()))
            solid = self._find_ways_back(own, solid, within)
            if history.stuck:
                self.within = np.pad(within, ((0, 0), (0, len(self.motion.x_t0))))
                self._swallowed = self.within.any(axis=0)
                self._let = np.zeros_like(self.within)
        elif len(own):
            self._find_ways_back(own, solid, np.zeros((0, len(self.x0)), dtype=np.bool_))
        self._involved = [around(fixed.all, found, fixed.all.total) if len(found) else None for found in (own, solid)]
        self.crossings = np.concatenate([own, solid])
        self.caught = np.zeros(len(self.crossings), dtype=np.bool_)
        self.caught[:len(own)] = fixed.left_alone(own)
        if self.motion is not None and len(solid) and self._swallowed is not None:
            assert self.way is not None
            pierced = Piercings.at(fixed.all, solid, fixed.features, self.start)
            way = self.way[np.arange(len(own), len(self.crossings))]
            solid_of = fixed.all.solid_of
            pinned = (self.within & fixed.held).any(axis=1)[solid_of[pierced.vertices].max(axis=1)]
            left = left_by_solids(pierced, way, fixed.all.edges, self._swallowed, solid_of < 0, pinned)
            self.left, self._swallowed = left[:len(self.x0)], self._swallowed & ~left
            self._let = self.within & bool(self.left.any())
            self.caught[len(own):] = any_of(self._swallowed[pierced.vertices])
            self.left |= through_open(pierced, way, len(self.x0), self.motion.open)

    def _find_ways_back(self, own: IntArray, solid: IntArray, within: BoolArray) -> IntArray:
        """Find how crossings (N, 2) of cloth, with its `own` and with `solid`, are undone; return those with solids
        that have room. within: (S, V) which vertices of cloth are inside of each collider."""
        fixed, count = self._fixed, len(self.x0)
        every, apart = np.concatenate([own, solid]), np.ones(len(solid), dtype=np.bool_)
        if len(solid) and (self.pinched is not None or self._covered is not None):
            apart = ~any_of(self._without_room(around_each(fixed.all, solid)))
        if len(every):
            pierced = Piercings.at(fixed.all, every, fixed.features, self.start)
            way = WayBack.of(pierced, fixed.all.edges, self.start, fixed.held)
            rows = np.flatnonzero(np.concatenate([np.ones(len(own), dtype=np.bool_), apart]))
            self.roomy, self.way = self._roomy(around_each(fixed.all, every), way, within)[rows], way[rows]
        if len(solid):
            self._crosses, mine = around(fixed.all, solid, fixed.all.total), np.arange(len(every)) >= len(own)
            found = passing(pierced[mine], way[mine], fixed.all.solid_of >= 0,
                            np.pad(within.any(axis=0), (0, len(self.start) - count)), fixed.held)
            self.passing = found if found.any() else None
        return solid[apart]

    def narrow(self, some: IntArray) -> BoolArray:
        """Return which rows of vertices `some` (n, k) have one of a collider with another one in front of it at the end
        of the step, and less room than cloth takes there: cloth may cross it, and nothing keeps them apart."""
        count = len(self.x0)
        if self.motion is None or not (some >= count).any():
            return np.zeros(len(some), dtype=np.bool_)
        vertices = np.unique(some[some >= count]) - count
        found = self.motion.narrow(vertices, 2.0 * float(self._fixed.thickness[:count].max()))
        there = Covered.of(found, len(self.motion.x_t1), self._fixed.solid_groups(count))
        result: BoolArray = any_of(there.among(some))
        return result

    def _roomy(self, vertices: IntArray, way: WayBack, within: BoolArray) -> BoolArray:
        """Return which crossings (N,), of `vertices` (N, 5), have room where they surely go back.

        Nothing of the part that is to go is beside pinched cloth, held by pins in a collider, `within` (S, V), or
        covered by another one; pins do not hold both it and what it goes through; and no cloth is to leave a collider
        at another side than that on which it is worn.
        """
        fixed, count, size = self._fixed, len(self.x0), len(self.start)
        edge, face, goes = vertices[:, :2], vertices[:, 2:], np.maximum(way.back, 0)
        held = (np.bincount(way.part, fixed.held, size) > 0.0)[way.part]
        tight = np.zeros(size, dtype=np.bool_)                       # of cloth
        tight[:count] = within.any(axis=0)
        tight &= held
        if self.pinched is not None:
            crossed = self.pinched.copy()
            crossed[vertices[vertices < count]] = True
            tight[:count] |= connected(np.flatnonzero(self.pinched), crossed, fixed.surface.edges)
        still = fixed.held | (np.arange(size) >= count)
        hindered = any_of(tight[vertices]) | any_of(still[edge]) & any_of(still[face])
        hindered |= held[goes] & np.where(way.of_edge, any_of(held[face]), any_of(held[edge]))
        if self._outward is not None:
            normal = self._outward[np.where(vertices < count, vertices, 0)]
            along = np.array([1.0, 1.0, -1.0, -1.0, -1.0]) * np.einsum("nki,ni->nk", normal, way.direction)
            hindered |= any_of((vertices < count) & (along < 0.0))
        back = way.part[goes]
        stays = np.bincount(back, way.sure & hindered, size) > 0.0
        if self._covered is not None:
            stays |= np.bincount(way.part[count:][self._covered.flags.any(axis=0)], minlength=size) > 0
        result: BoolArray = ~stays[back]
        return result

    def _without_room(self, rows: IntArray) -> BoolArray:
        """Return which vertices in rows (N, k), each with one of cloth, have no pairs of cloth and a collider, because
        they are pinched or covered."""
        count = len(self.x0)
        result = np.zeros(rows.shape, dtype=np.bool_) if self._covered is None else self._covered.among(rows)
        if self.pinched is not None:
            result |= (rows < count) & self.pinched[np.minimum(rows, count - 1)]
        return result

    def _join_parts(self) -> None:
        own, solid = self._parts
        self.pairs = own.joined(solid) if len(own) and len(solid) else solid if len(solid) else own
        self._close = None

    def _is_let(self, pairs: Pairs) -> BoolArray:
        """Which of some pairs of cloth and a collider (P,) are of cloth that may be in that collider."""
        solid = self._fixed.all.solid_of[pairs.vertices].max(axis=1)
        return any_of(self._let[solid[:, None], pairs.vertices])

    def _anew(self, before: Search | None, expectation: Expectation, x1: FloatArray
              ) -> tuple[Search, BoolArray | None]:
        """Another search, for what ends at x1 (V, 3) [m]; and of which vertices (V,), None of all: where few are not
        where they were expected, the others' pairs stay."""
        if before is not None:
            some = before.follow(x1)
            if np.count_nonzero(some) < STRAYS * len(some):
                return before, some
        return Search(expectation, self.x0, x1, 1.0 if before is None else before.loose), None

    def _from_inside(self, pairs: Pairs, rows: IntArray, crosses: BoolArray) -> IntArray:
        """Return which `rows` (n,) of pairs of cloth and a collider have their point of the cloth inside of the
        collider at the start. Only pairs with a vertex of cloth marked in `crosses` (V + W,) are looked up: vertices of
        primitives that cross. They may be outside, while edges of the collider would hold an edge between them inside.
        """
        vertices, count = pairs.vertices[rows], len(self.x0)
        some = np.flatnonzero(any_of((vertices < count) & pick(crosses, vertices)))
        rows, vertices = rows[some], vertices[some]
        weights = np.where(vertices < count, np.abs(pairs.weights[rows]), 0.0)
        points = np.einsum("pk,pki->pi", weights, pick(self.start, vertices))
        solid, result = self._fixed.all.solid_of[vertices].max(axis=1), np.zeros(len(rows), dtype=np.bool_)
        assert self.motion is not None
        for number in np.unique(solid):
            mine = np.flatnonzero(solid == number)
            result[mine] = self.motion.inside(int(number), points[mine])
        return rows[result]

    def _take(self, part: int, pairs: Pairs, some: BoolArray | None) -> None:
        """Pairs that were found, in the place of all, or of those with one of `some` vertices (V,)."""
        level, found = self.level, self._found(pairs, part)
        if some is not None:
            old, other = self._parts[part], np.zeros(self._fixed.all.total, dtype=np.bool_)
            other[:len(some)] = some
            if part == 0:
                self.level = np.concatenate([level[~any_of(other[level])], self.level])
            found = old.replaced(other, found)
        self._parts[part] = found

    def _near_itself(self, search: Search, some: BoolArray | None) -> Pairs:
        fixed = self._fixed
        return near_pairs(fixed.sewn_at(self.x0), self.x0, search.end, search.radius, search.slack,
                          far=FAR * self._history.own.scale, some=some, most=fixed.reach if fixed.crowded else None,
                          allowed=None if fixed.pair_filter is None else fixed.pair_filter.candidates, kept=search.kept)

    def _near_solids(self, motion: Motion, search: Search, some: BoolArray | None) -> Pairs:
        """All pairs of cloth and a collider within the radius of each other, or that may meet; of `some` only."""
        end, room = self._ends(motion, search)
        radius = self._fixed.all_radii(search.radius)
        found = motion.candidates(self.start, end, room, radius, far=FAR * self._history.solid.scale, some=some,
                                  kept=search.kept)
        return self._pairs_of(found, end, room, radius)

    def _ends(self, motion: Motion, search: Search) -> tuple[FloatArray, FloatArray]:
        """Where all end as far as searched for (V + W, 3) [m], and how far from there they may be (V + W,) [m]."""
        return self.end(search.end), np.concatenate([search.slack, np.zeros(len(motion.x_t0))])

    def _pairs_of(self, candidates: tuple[IntArray, IntArray], end: FloatArray, room: FloatArray, radius: FloatArray
                  ) -> Pairs:
        """The candidates that are within their radius, `radius` (V + W,) [m], of each other, or may meet."""
        fixed, scale = self._fixed, self._history.solid.scale
        if fixed.pair_filter is not None:
            candidates = fixed.pair_filter.candidates(candidates)
        tables = fixed.all.triangles, fixed.all.edges
        vertices, primitives, faces, weights, normal, distance = current().conservative_advancement.relevant(
            self.start, end, candidates, tables, room, radius, FAR * scale)
        keep = KEPT_DISTANCE * np.minimum(np.minimum(distance, FAR * scale),
                                 fixed.thickness[vertices[:, 0]] + fixed.thickness[vertices[:, 3]])
        pairs = Pairs(vertices, primitives, faces, weights, normal, distance, keep)
        apart = distance > SIDELESS_DISTANCE * scale
        self._history.see_stuck(not apart.all())                     # the next step looks on which side it is
        return pairs if apart.all() else pairs[np.flatnonzero(apart)]

    def _found(self, pairs: Pairs, part: int) -> Pairs:
        """The pairs of cloth (part 0) or with colliders (1), without those around a crossing of that kind, and without
        what swallowed cloth has with what swallowed it."""
        keep, involved = pairs.distance > 0.0, self._involved[part]
        if part == 0:
            self.level = pairs.vertices[:pairs.faces][~keep[:pairs.faces]]
            self._history.see_tangled(not keep.all())
        if involved is not None:
            caught, first = pick(involved, pairs.vertices), pairs.first
            keep &= ~(any_of(caught & first) & any_of(caught & ~first))
        if part == 1 and (self.pinched is not None or self._covered is not None):
            without, cloth = self._without_room(pairs.vertices), pairs.vertices < len(self.x0)
            keep &= ~(any_of(without & cloth) | all_of(without | cloth))
        if part == 1 and self.passing is not None:
            passing, cloth = pick(self.passing, pairs.vertices), pairs.vertices < len(self.x0)
            keep &= ~(any_of(passing & cloth) & any_of(passing & ~cloth))
        if part == 1 and self._swallowed is not None:
            keep &= ~any_of(pick(self._swallowed, pairs.vertices))
            if self._let.any():
                keep &= ~self._is_let(pairs)
        if part == 1 and self._crosses is not None:
            keep[self._from_inside(pairs, np.flatnonzero(keep), self._crosses)] = False
        found = pairs if keep.all() else pairs[np.flatnonzero(keep)]
        return found.keeping(LEAST_GAP * (self._history.own, self._history.solid)[part].scale)


def _covered(fixed: SelfContact, x0: FloatArray, x1: FloatArray, motion: Motion | None) -> Covered | None:
    """Return which vertices of colliders are covered for which cloth on the way x0 -> x1 (V, 3) [m]; None if there are
    none."""
    if motion is None:
        return None
    (low, high), (below, above) = box(x0), box(x1)
    found = motion.covered(np.minimum(low, below), np.maximum(high, above))
    return Covered.of(found, len(motion.x_t1), fixed.solid_groups(len(x0))) if len(found) else None

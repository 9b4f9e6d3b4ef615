# SPDX-License-Identifier: GPL-3.0-or-later
"""Cutting a step's motion short where cloth would pass through cloth.

First by the closest points alone. The two points of a pair that are closest when it meets are put apart, as an
inelastic impact would leave them, and the vertices move by their shares in that: the least that parts the pair. What is
moved may meet others, so all pairs with a vertex that was moved are looked at again. This ends where it parts all, or
where the pairs that meet get more.

Then by planes. A pair that meets on its way gets a unit normal n across which it is apart at the start, and at the
end both primitives are put on their sides of a plane across n. In between everything moves in straight lines, so that
the plane can, too, and the pair keeps apart. The plane's place is where an inelastic impact would leave the closest
points: nothing is slowed that moves along, and momentum is kept. But whole primitives are moved, and those of a garment
are slivers: half a millimetre, where a micrometre lacks, stores far more energy than the motion has.

Then, after some rounds, by taking whatever still meets as one: pairs that share vertices make a heap, and a heap's
motion comes closer to one motion each round, until it is that: its own mean motion, or the turn and translation that
what cannot be moved goes through. That makes nothing meet, and heaps that meet others grow, so that the search ends;
but not where pins or solids move one way what can only go the other.

Then by the closest points once more, from where heaps have led. Between solids that close on it cloth has to bend: an
edge that is half under a box which comes down on the floor turns about the box's rim, and is on one side of no plane
that does not turn with it. What is left then is handed back, and the step has failed.

A collider's vertices are some that cannot be moved: cloth is pushed along in front of it.

Nothing is taken as apart that has not been looked at in its final motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import bodies
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import any_of, highest, length, lowest, pick
from .continuous import NEVER, Pairs
from .effort import Effort

PLANE_ROUNDS = 6
"""Rounds by planes."""
PLANE_SWEEPS = 8
"""Goes over all planes in a round."""
HEAP_ROUNDS = 12
"""Rounds in which heaps come closer to their mean motion."""
SHRINK = 0.5
"""Part of the motion relative to its heap that is left in the next round [-]."""
CUT_DISTANCE = 2.0
"""Distance that a pair cut by a plane has at the end, over what it has to keep [-]."""
CLEAR_START_DISTANCE = 2.5
"""Distance, over what it has to keep, by which a pair must be apart at the start across the normal of its meeting, for
that normal to be taken, and not that of the start [-]."""
EASED = 16
"""Rounds by closest points."""
FARTHEST_CUT = 2.0
"""Largest motion of a vertex that was cut, over the largest that was asked for [-]: pairs that have no room push each
other further and further from plane to plane."""
HELD = 0.1
"""Part of a direction that must be free for a vertex to be moved along it [-]."""


@dataclass(frozen=True)
class Cut:
    """Ends x (V, 3) [m] of a motion that makes nothing meet but the pairs `left`; whether each vertex was moved (V,);
    and the pairs `parted` that would have met (both rows of what was asked about)."""

    x: FloatArray
    left: IntArray
    moved: BoolArray
    parted: IntArray


def cut_motion(pairs: Pairs, x0: FloatArray, x1: FloatArray, inverse_mass: FloatArray,
               free: Callable[[], ConstraintFilter], pins: ConstraintFilter | None = None, *,
               known: tuple[FloatArray, IntArray] | None = None, effort: Effort | None = None) -> Cut:
    """The motion x0 -> x1 (V, 3) [m] changed so that none of `pairs` meets.

    What moves are vertices whose inverse_mass (V,) [1/kg] is above 0, in the directions that `free()` leaves, which is
    asked for if something meets: so what lies on solids stays on them. Where a pair has one of the vertices that it
    says nothing about, those of colliders at the end of all, `pins` says more: nothing but pins keeps cloth from being
    carried along. `known`, if given: positions (V, 3) [m] on the way to which nothing meets but some rows of the pairs.
    `effort` counts the rounds. Out of effort, heaps move as one at once: no ways of closest points, and no planes.
    """
    effort = Effort() if effort is None else effort
    moved = np.zeros(len(x0), dtype=np.bool_)
    nothing = np.zeros(0, dtype=np.int64)
    if known is None:
        meets = np.flatnonzero(pairs.meeting_times(x0, x1, effort) < NEVER)
    else:
        meets = _meeting_again(pairs, x0, x1, any_of(x1 != known[0]), known[1], effort)
    if len(meets) == 0:
        return Cut(x1, meets, moved, nothing)
    left_free = free()
    held = left_free if pins is None else pins
    farthest = FARTHEST_CUT * float(np.max(length(x1 - x0))) + CUT_DISTANCE * float(pairs.keep.max())
    if not effort.out:
        cut = _eased(pairs, Cut(x1, meets, moved, nothing), x0, inverse_mass, left_free, held, farthest, effort)
        if len(cut.left) == 0:
            return cut
    x, parted = x1.copy(), nothing
    for _ in range(PLANE_ROUNDS):
        if effort.out:
            break
        effort.round()
        parted = np.union1d(parted, meets)
        planes = _Planes(pairs[parted], x0, x, inverse_mass, left_free, held, effort)
        touched = planes.part(x)
        _stay_near(x, x0, farthest, touched)
        moved |= touched
        meets = _meeting_again(pairs, x0, x, touched, meets, effort)
        if len(meets) == 0:
            return Cut(x, meets, moved, parted)
    cut = _heaped(pairs, meets, parted, x0, x, inverse_mass, moved, effort)
    if len(cut.left) == 0 or effort.out:
        return cut
    return _eased(pairs, cut, x0, inverse_mass, left_free, held, farthest, effort)


def _meeting_again(pairs: Pairs, x0: FloatArray, x: FloatArray, touched: BoolArray, before: IntArray,
                   effort: Effort) -> IntArray:
    """Rows of the pairs that meet: of those that met before and those with a vertex that was moved."""
    if not touched.any() and not len(before):
        return before
    look = any_of(pick(touched, pairs.vertices))
    look[before] = True
    rows = np.flatnonzero(look)
    result: IntArray = rows[pairs[rows].meeting_times(x0, x, effort) < NEVER]
    return result


class _Planes:
    """Normals of pairs, and which of their vertices can be moved how."""

    def __init__(self, pairs: Pairs, x0: FloatArray, x1: FloatArray, inverse_mass: FloatArray,
                 free: ConstraintFilter, pins: ConstraintFilter, effort: Effort) -> None:
        self.vertices, self.first = pairs.vertices, pairs.first
        self.keep = pairs.keep
        times = pairs.meeting_times(x0, x1, effort)
        then = pairs.at_times(x0, x1, np.where(times < NEVER, times, 0.0))
        later = (self._slab(pick(x0, pairs.vertices), then.normal) >= CLEAR_START_DISTANCE * self.keep)[:, None]
        self.normal = np.where(later, then.normal, pairs.normal)
        weights = np.where(later, then.weights, pairs.weights)
        along = free.left_of(self.normal, pairs.vertices)                                # S n
        solid = np.flatnonzero(any_of(pairs.vertices >= len(free.z)))
        if len(solid):
            along[solid] = pins.left_of(self.normal[solid], pairs.vertices[solid])
        share = np.einsum("pki,pi->pk", along, self.normal)
        loose = (share > HELD) & (pick(inverse_mass, pairs.vertices) > 0.0)
        self.step = np.where(loose[:, :, None], along / np.where(loose, share, 1.0)[:, :, None], 0.0)
        self.give = np.where(loose, pick(inverse_mass, pairs.vertices), 0.0)
        give = weights**2 * self.give
        one, other = (np.where(side, give, 0.0).sum(axis=1) for side in (self.first, ~self.first))
        total = one + other
        self.part_of_first = np.where(total > 0.0, one / np.where(total > 0.0, total, 1.0), 0.5)

    def ease(self, pairs: Pairs, wanted: FloatArray, x: FloatArray) -> BoolArray:
        """Put the closest points of each pair on their sides and `wanted` (P,) [m] apart, in x (V, 3) [m]; which
        vertices were moved (V,)."""
        touched = np.zeros(len(x), dtype=np.bool_)
        for _ in range(PLANE_SWEEPS):
            weights = pairs.elsewhere(x).weights
            gap = np.einsum("pk,pki,pi->p", weights, pick(x, self.vertices), self.normal)
            lack = wanted - gap
            share = weights * self.give
            moves = np.einsum("pk,pk->p", share, weights)              # of the gap, by a unit of force
            able = moves > HELD**2 * highest(self.give)                # next to what is held it would fling the rest
            short = np.flatnonzero((lack > 1e-3 * wanted) & able)
            if len(short) == 0:
                break
            lift = (lack[short] / moves[short])[:, None] * share[short]
            _apply_largest(self.vertices[short], lift[:, :, None] * self.step[short], x, touched)
        return touched

    def _slab(self, corners: FloatArray, normal: FloatArray) -> FloatArray:
        """By how much the first primitive is in front of the second (P,) [m]."""
        height = np.einsum("pki,pi->pk", corners, normal)
        return lowest(np.where(self.first, height, np.inf)) - highest(np.where(self.first, -np.inf, height))

    def part(self, x: FloatArray) -> BoolArray:
        """Put both primitives of each pair on their sides, in x (V, 3) [m]; which vertices were moved (V,)."""
        touched = np.zeros(len(x), dtype=np.bool_)
        for _ in range(PLANE_SWEEPS):
            height = np.einsum("pki,pi->pk", pick(x, self.vertices), self.normal)
            low = lowest(np.where(self.first, height, np.inf))
            lack = CUT_DISTANCE * self.keep - (low - highest(np.where(self.first, -np.inf, height)))
            short = np.flatnonzero(lack > 1e-3 * CUT_DISTANCE * self.keep)
            if len(short) == 0:
                break
            floor = (low + lack * self.part_of_first)[short]
            ceiling = floor - CUT_DISTANCE * self.keep[short]
            lift = np.where(self.first[short], np.maximum(floor[:, None] - height[short], 0.0),
                            np.minimum(ceiling[:, None] - height[short], 0.0))
            change = lift[:, :, None] * self.step[short]
            _apply_largest(self.vertices[short], change, x, touched)
        return touched


def _apply_largest(vertices: IntArray, change: FloatArray, x: FloatArray, touched: BoolArray) -> None:
    """Move each vertex by the largest of its changes (P, 4, 3); of equals by the first."""
    vertex, change = vertices.ravel(), change.reshape(-1, 3)
    size = np.einsum("ni,ni->n", change, change)
    wanted = np.flatnonzero(size > 0.0)
    order = wanted[np.lexsort((-size[wanted], vertex[wanted]))]
    at, first = np.unique(vertex[order], return_index=True)
    x[at] += change[order[first]]
    touched[at] = True


def _stay_near(x: FloatArray, x0: FloatArray, farthest: float, some: BoolArray) -> None:
    """Shorten the motions of `some` vertices (V,) from x0 to x (V, 3) [m], in x, to at most `farthest` [m]."""
    rows = np.flatnonzero(some)
    away = x[rows] - x0[rows]
    size = length(away)
    far = size > farthest
    if far.any():
        x[rows[far]] = x0[rows[far]] + (farthest / size[far])[:, None] * away[far]


def _heaped(pairs: Pairs, meets: IntArray, parted: IntArray, x0: FloatArray, x: FloatArray, inverse_mass: FloatArray,
            moved: BoolArray, effort: Effort) -> Cut:
    """Bring heaps of what meets closer to their mean motion, round by round; `parted` met before."""
    x = x.copy()
    movable = inverse_mass > 0.0
    known = np.zeros(0, dtype=np.int64)
    for round_ in range(HEAP_ROUNDS):
        effort.round()
        before, known = len(known), np.union1d(known, meets)
        at_once = effort.out or round_ > HEAP_ROUNDS // 2
        if round_ and at_once and len(known) == before:            # the same heaps move as one already
            break
        heap = np.unique(pairs.vertices[known])
        links = np.searchsorted(heap, pairs.vertices[known])
        label = bodies(np.concatenate([links[:, [0, k]] for k in (1, 2, 3)]), len(heap))
        free, given = movable[heap], inverse_mass[heap]
        mass = np.where(free, 1.0 / np.where(free, given, 1.0), 0.0)
        pinned = np.bincount(label, ~free) > 0
        mass = np.where(pinned[label], ~free, mass)              # what cannot move says where the heap goes
        motion = as_one(x0[heap], x[heap], mass, label, pinned) - x0[heap]
        rest = SHRINK if round_ < HEAP_ROUNDS // 2 and not effort.out else 0.0
        change = (1.0 - rest) * (x0[heap] + motion - x[heap]) * free[:, None]
        x[heap] += change
        touched = np.zeros(len(x), dtype=np.bool_)
        touched[heap[free]] = True
        moved |= touched
        meets = _meeting_again(pairs, x0, x, touched, meets, effort)
        if len(meets) == 0:
            break
    return Cut(x, meets, moved, np.union1d(parted, known))


def _eased(pairs: Pairs, cut: Cut, x0: FloatArray, inverse_mass: FloatArray, free: ConstraintFilter,
           pins: ConstraintFilter, farthest: float, effort: Effort) -> Cut:
    """A cut that leaves nothing, where one is found by moving closest points alone; else the one that was.

    What turns comes nearer on its way than it is at both ends: what still meets is put twice as far apart.
    """
    x, moved, meets = cut.x.copy(), cut.moved.copy(), cut.left
    known, wanted, least = meets, CUT_DISTANCE * pairs.keep, 2 * len(meets)
    for _ in range(EASED):
        effort.round()
        known = np.union1d(known, meets)
        some = pairs[known]
        touched = _Planes(some, x0, x, inverse_mass, free, pins, effort).ease(some, wanted[known], x)
        _stay_near(x, x0, farthest, touched)
        moved |= touched
        meets = _meeting_again(pairs, x0, x, touched, meets, effort)
        if len(meets) == 0:
            return Cut(x, meets, moved, np.union1d(cut.parted, known))
        if len(meets) > least or effort.out:                       # there is no room for it
            break
        least = len(meets)
        wanted[meets] *= 2.0
    return cut


def as_one(x0: FloatArray, x1: FloatArray, mass: FloatArray, label: IntArray, turns: BoolArray) -> FloatArray:
    """Ends (N, 3) [m] of vertices at x0 that go where those with mass (N,) of their heap `label` (N,) on the whole go,
    x0 -> x1 (N, 3) [m]: by translation, and where the heap `turns` (H,), by the nearest rotation (Kabsch 1976)."""
    def mean(a: FloatArray) -> FloatArray:
        total = np.stack([np.bincount(label, mass * column) for column in a.T], axis=1)
        return np.asarray(total / np.bincount(label, mass)[:, None])

    start, end = mean(x0), mean(x1)
    arm = x0 - start[label]
    if turns.any():
        after = x1 - end[label]
        products = (mass[:, None, None] * after[:, :, None] * arm[:, None, :]).reshape(-1, 9)
        spread = np.stack([np.bincount(label, column) for column in products.T], axis=1).reshape(-1, 3, 3)
        size = np.bincount(label, mass * np.einsum("ni,ni->n", arm, arm))
        # a little of no rotation: what lies in a line does not say how it turns about it. Then a little of what that
        # gave: what turns in step after step would else lag behind, by a little each, into what carries it
        turn = np.broadcast_to(np.eye(3), spread.shape)
        for _ in range(2):
            u, _, v = np.linalg.svd(spread + 1e-9 * size[:, None, None] * turn)
            u[:, :, 2] *= np.sign(np.linalg.det(u @ v))[:, None]
            turn = np.where(turns[:, None, None], u @ v, np.eye(3))
        arm = np.einsum("nij,nj->ni", turn[label], arm)
    return np.asarray(end[label] + arm)

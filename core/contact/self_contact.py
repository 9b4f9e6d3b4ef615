# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth in contact with itself and with other cloth, in one implicit step.

All cloths are one surface. A step looks once for the pairs of primitives that may come close, takes those that are
close and face each other as contacts (`nearness`), lets them act as springs in the linear solve (`repulsion`), takes in
what the solution would make meet, and in the end cuts the motion where something still would (`truncation`).

Where cloth starts out crossing itself, the pairs around it are neither contacts nor held apart: they are pulled out of
each other (`untangling`). Whether anything crosses is looked up at the start of a simulation, and after that only while
something does, or after a step that could not keep everything apart.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..linear.modified_pcg import Operator
from ..topology import bodies
from .continuous import NEVER, Pairs, near_pairs
from .crossings import crossing_pairs
from .nearness import Features
from .repulsion import Contacts, Repulsion, make_contacts
from .triangle_surface import TriangleSurface
from .truncation import cut_motion
from .untangling import around, pull_apart

REACH = 1.5
"""Distance up to which a pair is a contact that may come to touch, over the thickness of both [-]."""
REST_SHARE = 0.5
"""Part of its distance in the rest shape that a pair keeps at most [-]: in a fold neighbours may come closer."""
THICKEST = 1.0
"""Largest thickness, over the mean edge length [-]: beyond that, everything would be near everything."""
CLOSEST = 0.2
"""Least distance within which pairs are looked for, over the mean edge length [-]."""
FAR = 0.1
"""Distance over the search radius beyond which what a pair has to keep does not grow [-]."""
SLACK = 0.15
"""How far from where it is expected the end of a vertex is at first taken to be, over the search radius [-]."""
LEAST, UNSURE = 0.05, 2.0
"""How far it may be without another search: at least, over the search radius, and over how far it was lately [-]."""
FORGET = 0.9
"""Part of that which is left after a step [-]."""
MOST = 0.45
"""How far at most, over the search radius [-]: two vertices of a pair together less than the radius."""
SEARCHES = 4
"""Searches for candidates after a cut that led out of the boxes of the search before."""


class SelfContact:
    """Contact of all cloths with themselves and each other, through all steps.

    Args:
        thickness (V,) [m], friction (V,) [-], mass (V,) [kg] of the vertices; body (V,): their connected pieces.
        rest, start: (V, 3) [m], the rest shape and where the simulation starts. triangles: (T, 3).
    """

    def __init__(self, thickness: FloatArray, friction: FloatArray, mass: FloatArray, body: IntArray, rest: FloatArray,
                 start: FloatArray, triangles: IntArray) -> None:
        self.friction, self.mass, self.body, self.rest = friction, mass, body, rest
        self.surface = TriangleSurface.build(start, triangles)
        self.features = Features(self.surface, len(mass))
        ends = self.surface.edges
        length, piece = np.linalg.norm(rest[ends[:, 1]] - rest[ends[:, 0]], axis=1), body[ends[:, 0]]
        edges = np.maximum(np.bincount(piece, minlength=int(body.max()) + 1), 1)
        mean = np.bincount(piece, weights=length, minlength=len(edges)) / edges
        self.thickness: FloatArray = np.minimum(thickness, THICKEST * mean[body])
        self.radius = max(REACH * 2.0 * float(self.thickness.max(initial=0.0)), CLOSEST * float(mean.max(initial=0.0)))
        self.tangled = True                                      # until somebody looked
        self.keys: IntArray = np.zeros(0, dtype=np.int64)        # of what touched in the last step, and how much
        self.pressing: FloatArray = np.zeros(0)
        self.holding: FloatArray = np.zeros((0, 3))
        self.gain: FloatArray | None = None                      # acceleration (V, 3) [m/s^2] in the last step
        self.missed: FloatArray = np.full(len(mass), SLACK * self.radius)       # by how much ends were not as expected
        self._seen: Surroundings | None = None

    def look(self, x0: FloatArray, x1: FloatArray) -> Surroundings:
        """What may meet on the way x0 -> x1 (V, 3) [m]; looked up once for what starts at the same x0."""
        if self._seen is None or self._seen.x0 is not x0:
            self._seen = Surroundings(self, x0, x1)
        self._seen.cover(x1)
        return self._seen

    def ahead(self, x0: FloatArray, v0: FloatArray, h: float) -> FloatArray:
        """Where vertices are h [s] later (V, 3) [m], if they gain speed as they did in the last step."""
        return x0 + h * (v0 if self.gain is None else v0 + h * self.gain)

    def learn(self, x1: FloatArray, gain: FloatArray) -> None:
        """Tell where a step has ended, x1 (V, 3) [m], and its mean acceleration (V, 3) [m/s^2]."""
        self.gain = gain
        if self._seen is not None:
            self.missed = np.maximum(FORGET * self.missed, self._seen.away(x1))

    def begin(self, x0: FloatArray, v0: FloatArray, expected: FloatArray, base: FloatArray, h: float,
              pins: ConstraintFilter) -> SelfContactStep:
        """A step of h [s] from x0 (V, 3) [m] and v0 (V, 3) [m/s]: `expected` (V, 3) [m/s] at its end as far as weight
        and pins say, positions then base + h u."""
        if self.gain is not None:
            expected = pins.project(v0 + h * self.gain) + expected - pins.project(expected)
        return SelfContactStep(self, self.look(x0, base + h * expected), v0, expected, base, h, pins)

    def thickness_of(self, pairs: Pairs) -> FloatArray:
        """Distance (P,) [m] that pairs keep."""
        i, j = pairs.vertices[:, 0], pairs.vertices[:, 3]
        both = self.thickness[i] + self.thickness[j]
        same = np.flatnonzero(self.body[i] == self.body[j])
        both[same] = np.minimum(both[same], REST_SHARE * pairs[same].elsewhere(self.rest).distance)
        return both


class Surroundings:
    """The pairs that may come near in a step from x0 (V, 3) [m], but those around a crossing.

    Attributes:
        x0: as given. pairs: what was found. crossings (N, 2): edges that pierce triangles at x0.
    """

    def __init__(self, owner: SelfContact, x0: FloatArray, x1: FloatArray) -> None:
        self._owner, self.x0 = owner, x0
        self.crossings: IntArray = np.zeros((0, 2), dtype=np.int64)
        self._involved: BoolArray | None = None
        if owner.tangled:
            surface = owner.surface.at(x0)
            self.crossings = crossing_pairs(surface, surface)
            owner.tangled = len(self.crossings) > 0
            self._involved = around(owner.surface, self.crossings, len(x0)) if owner.tangled else None
        self._close: Pairs | None = None
        self._loose = 1.0
        self._search(x1)

    def cover(self, x1: FloatArray) -> None:
        """Look again, and further around, if x1 (V, 3) [m] is not where what was searched for goes."""
        if not self.covers(x1):
            self._owner.missed = np.maximum(self._owner.missed, self.away(x1))
            self._loose *= 2.0
            self._search(x1)

    def covers(self, x1: FloatArray) -> bool:
        """Whether no pair can meet on the way to x1 (V, 3) [m] but those found: ends are as near as it takes to those
        of the search, whatever the motion that all have in common."""
        return bool((self.away(x1) <= self._slack).all())

    def away(self, x1: FloatArray) -> FloatArray:
        """How far x1 (V, 3) [m] is from the end searched for (V,) [m]."""
        away = (x1 - (x1 - self.x0).mean(axis=0)) - self._end
        distance: FloatArray = np.sqrt(np.einsum("vi,vi->v", away, away))
        return distance

    def close(self) -> Pairs:
        """Pairs that are close at the start and say something about it."""
        if self._close is None:
            i, j = self.pairs.vertices[:, 0], self.pairs.vertices[:, 3]
            reach = REACH * (self._owner.thickness[i] + self._owner.thickness[j])
            rows = np.flatnonzero((self.pairs.distance < reach) & (self.pairs.distance > 0.0))
            near = self.pairs[rows]
            self._close = near[self._owner.features.minima(near, self.x0)]
        return self._close

    def meeting(self, x1: FloatArray) -> tuple[Pairs, FloatArray]:
        """Pairs that meet on the way to x1 (V, 3) [m], and when (P,)."""
        self.cover(x1)
        times = self.pairs.meeting_times(self.x0, x1)
        rows = np.flatnonzero(times < NEVER)
        return self.pairs[rows], times[rows]

    def touches(self, x1: FloatArray) -> bool:
        """Whether anything is, or comes, too close on the way to x1 (V, 3) [m]."""
        if len(self.crossings) or len(self.meeting(x1)[0]):
            return True
        close = self.close()
        if len(close) == 0:
            return False
        gap = np.einsum("pk,pki,pi->p", close.weights, x1[close.vertices], close.normal)
        return bool((np.minimum(gap, close.distance) < self._owner.thickness_of(close)).any())

    def _search(self, x1: FloatArray) -> None:
        owner = self._owner
        self._end = x1 - (x1 - self.x0).mean(axis=0)
        self._slack = np.minimum(self._loose * (LEAST * owner.radius + UNSURE * owner.missed), MOST * owner.radius)
        self.pairs = near_pairs(owner.surface, self.x0, x1, owner.radius, self._slack, far=FAR * owner.radius)
        self._close = None
        if self._involved is not None:
            caught, first = self._involved[self.pairs.vertices], self.pairs.first
            keep = ~((caught & first).any(axis=1) & (caught & ~first).any(axis=1))
            self.pairs = self.pairs[np.flatnonzero(keep)]


class SelfContactStep:
    """Contact in one step."""

    def __init__(self, owner: SelfContact, around: Surroundings, v0: FloatArray, expected: FloatArray,
                 base: FloatArray, h: float, pins: ConstraintFilter) -> None:
        self._owner, self._around, self._base, self._h, self._v0 = owner, around, base, h, v0
        self._free: tuple[Pairs, FloatArray] | None = None       # where nothing of these pairs meets on the way to
        self._inverse_mass = np.where(pins.degrees_of_freedom(np.arange(len(base))) > 0, 1.0 / owner.mass, 0.0)
        self.repulsion = Repulsion(base, h, self._contacts(around.close()))
        if len(around.crossings):
            self.repulsion.add(pull_apart(owner.surface, around.crossings, owner.features, around.x0, owner.radius,
                                          self._inverse_mass, h))
        self.repulsion.begin(expected, *self._as_before(), v0)

    @property
    def active(self) -> bool:
        """Whether anything acts on the cloth."""
        return bool(self.repulsion.contacts.touches.any())

    def _contacts(self, pairs: Pairs) -> Contacts:
        owner = self._owner
        i, j = pairs.vertices[:, 0], pairs.vertices[:, 3]
        mu = np.sqrt(owner.friction[i] * owner.friction[j])
        return make_contacts(owner.features.keys(pairs), pairs.vertices, pairs.weights, pairs.normal,
                             owner.thickness_of(pairs), mu, self._around.x0, self._inverse_mass, self._h)

    def _as_before(self) -> tuple[BoolArray, FloatArray, FloatArray]:
        """Which contacts touched in the step before, their normal forces [N] and impulses of friction (C, 3) [N s]."""
        owner, key = self._owner, self.repulsion.contacts.key
        known, pressing, holding = np.zeros(len(key), dtype=np.bool_), np.zeros(len(key)), np.zeros((len(key), 3))
        if len(owner.keys):
            at = np.minimum(np.searchsorted(owner.keys, key), len(owner.keys) - 1)
            known = owner.keys[at] == key
            pressing[known], holding[known] = owner.pressing[at[known]], self._h * owner.holding[at[known]]
        return known, pressing, holding

    # ------------------------------------------------------------------ the solve

    def diagonal(self) -> FloatArray:
        """Diagonal blocks (V, 3, 3) [kg] of what contact adds to A."""
        return self.repulsion.diagonal()

    def beside(self, multiply: Operator) -> Operator:
        """d -> A d + C d, for a `multiply` of A that has the diagonal blocks already."""
        def both(x: FloatArray) -> FloatArray:
            result = multiply(x)
            self.repulsion.add_product(x, result)
            return result

        return both

    def impulse(self, velocity: FloatArray) -> FloatArray:
        """Impulses h f (V, 3) [N s] of contact at `velocity` (V, 3)."""
        return self.repulsion.impulse(velocity)

    def springs(self, velocity: FloatArray) -> FloatArray:
        """The part of `impulse` that presses cloth off cloth."""
        return self.repulsion.springs(velocity)

    def drags(self, velocity: FloatArray) -> FloatArray:
        """The part of `impulse` that is friction."""
        return self.repulsion.drags(velocity)

    def vertices(self) -> IntArray:
        """The vertices that contact acts on, or may."""
        return np.unique(self.repulsion.contacts.vertices)

    def energy(self, velocity: FloatArray) -> float:
        """Energy of the springs [J] at `velocity` (V, 3)."""
        return self.repulsion.energy(velocity)

    def bodies(self) -> IntArray:
        """Pieces of cloth (V,), those that touch as one."""
        c = self.repulsion.contacts
        links = self._owner.body[c.vertices[c.touches]]
        if len(links) == 0:
            return self._owner.body
        joined = bodies(links[:, [0, 3]], int(self._owner.body.max()) + 1)
        return joined[self._owner.body]

    def judge(self, u: FloatArray) -> bool:
        """Release what pulls, take in what would meet, by the solution u (V, 3); True if it should be solved again."""
        changed = self.repulsion.judge(u)
        return self._join(self._base + self._h * u) or changed

    def _join(self, x1: FloatArray) -> bool:
        """Take in what meets on the way to x1 (V, 3) [m], of every vertex the first."""
        pairs, times = self._around.meeting(x1)
        if len(pairs) == 0:
            self._free = self._around.pairs, x1
            return False
        earliest = np.full(len(x1), NEVER)
        np.minimum.at(earliest, pairs.vertices.ravel(), np.repeat(times, 4))
        first = np.flatnonzero((times[:, None] <= earliest[pairs.vertices]).any(axis=1))
        found = self._contacts(pairs[first].at_times(self._around.x0, x1, times[first]))
        known = self.repulsion.contacts
        found = found[~np.isin(found.key, known.key[known.touches])]
        found.touches[:] = True
        self.repulsion.add(found)
        return len(found) > 0

    # ------------------------------------------------------------------ the end

    def truncate(self, x1: FloatArray, free: ConstraintFilter) -> FloatArray:
        """x1 (V, 3) [m], changed in the directions that `free` leaves where something would pass through something."""
        x, done, around = x1, False, self._around
        for _ in range(SEARCHES):
            around.cover(x)
            movable = (self._inverse_mass > 0.0)[around.pairs.vertices].any(axis=1)
            pairs = around.pairs if movable.all() else around.pairs[np.flatnonzero(movable)]
            known = self._free[1] if self._free is not None and self._free[0] is around.pairs else None
            cut = cut_motion(pairs, around.x0, x, self._inverse_mass, free, known=known)
            x = cut.x
            if not cut.moved.any() or around.covers(x):
                done = len(cut.left) == 0
                break
        self._owner.tangled |= not done
        return x

    def remember(self, u: FloatArray) -> None:
        """Keep how contacts press at the solution u (V, 3), and what it gained, as the next step's first guess."""
        self._owner.learn(self._base + self._h * u, (u - self._v0) / self._h)
        touching = np.flatnonzero(self.repulsion.contacts.touches)
        keys, first = np.unique(self.repulsion.contacts.key[touching], return_index=True)
        self._owner.keys = keys
        self._owner.pressing = self.repulsion.pressing(u)[touching][first]
        self._owner.holding = self.repulsion.rubbing(u)[touching][first] / self._h

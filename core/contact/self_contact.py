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
FAR = 0.1
"""Distance over the search radius beyond which what a pair has to keep does not grow [-]."""
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
        self.thickness, self.friction, self.mass, self.body, self.rest = thickness, friction, mass, body, rest
        self.surface = TriangleSurface.build(start, triangles)
        self.features = Features(self.surface, len(mass))
        self.radius = REACH * 2.0 * float(self.thickness.max(initial=0.0))
        self.tangled = True                                      # until somebody looked
        self.keys: IntArray = np.zeros(0, dtype=np.int64)        # of what touched in the last step, and how much
        self.pressing: FloatArray = np.zeros(0)

    def begin(self, x0: FloatArray, v0: FloatArray, expected: FloatArray, base: FloatArray, h: float,
              pins: ConstraintFilter) -> SelfContactStep:
        """A step of h [s] from x0 (V, 3) [m] and v0 (V, 3) [m/s]: `expected` (V, 3) [m/s] at its end without contact,
        positions then base + h u."""
        return SelfContactStep(self, x0, v0, expected, base, h, pins)

    def thickness_of(self, pairs: Pairs) -> FloatArray:
        """Distance (P,) [m] that pairs keep."""
        i, j = pairs.vertices[:, 0], pairs.vertices[:, 3]
        both = self.thickness[i] + self.thickness[j]
        same = np.flatnonzero(self.body[i] == self.body[j])
        both[same] = np.minimum(both[same], REST_SHARE * pairs[same].elsewhere(self.rest).distance)
        return both

    def contacts(self, pairs: Pairs, x0: FloatArray, h: float, inverse_mass: FloatArray) -> Contacts:
        """Contacts of pairs, along their normals, in a step of h [s] from x0 (V, 3) [m]."""
        i, j = pairs.vertices[:, 0], pairs.vertices[:, 3]
        mu = np.sqrt(self.friction[i] * self.friction[j])
        return make_contacts(self.features.keys(pairs), pairs.vertices, pairs.weights, pairs.normal,
                             self.thickness_of(pairs), mu, x0, inverse_mass, h)


class SelfContactStep:
    """The same in one step."""

    def __init__(self, owner: SelfContact, x0: FloatArray, v0: FloatArray, expected: FloatArray, base: FloatArray,
                 h: float, pins: ConstraintFilter) -> None:
        self._owner, self._x0, self._base, self._h = owner, x0, base, h
        self._inverse_mass = np.where(pins.degrees_of_freedom(np.arange(len(x0))) > 0, 1.0 / owner.mass, 0.0)
        self._involved = self._look_for_crossings()
        self._pairs = self._search(base + h * expected)
        self.repulsion = Repulsion(base, h, self._near())
        if owner.tangled:
            self._add_pulls()
        touched, pressing = self._as_before()
        self.repulsion.begin(expected, touched, pressing, v0)

    @property
    def active(self) -> bool:
        """Whether anything acts on the cloth."""
        return bool(self.repulsion.contacts.touches.any())

    # ------------------------------------------------------------------ finding

    def _look_for_crossings(self) -> BoolArray | None:
        """Which vertices (V,) have to do with a crossing at the start; None if nothing crosses."""
        owner = self._owner
        if not owner.tangled:
            return None
        surface = owner.surface.at(self._x0)
        self._crossings = crossing_pairs(surface, surface)
        owner.tangled = len(self._crossings) > 0
        return around(owner.surface, self._crossings, len(self._x0)) if owner.tangled else None

    def _search(self, x1: FloatArray) -> Pairs:
        """Pairs that come near on the way to x1 (V, 3) [m], but those around a crossing."""
        self._searched = self._x0, x1
        pairs = near_pairs(self._owner.surface, self._x0, x1, self._owner.radius, far=FAR * self._owner.radius)
        movable = self._inverse_mass > 0.0
        keep = movable[pairs.vertices].any(axis=1)
        if self._involved is not None:
            caught = self._involved[pairs.vertices]
            keep &= ~((caught & pairs.first).any(axis=1) & (caught & ~pairs.first).any(axis=1))
        return pairs if keep.all() else pairs[np.flatnonzero(keep)]

    def _near(self) -> Contacts:
        """Contacts of the pairs that are close at the start."""
        owner = self._owner
        i, j = self._pairs.vertices[:, 0], self._pairs.vertices[:, 3]
        reach = REACH * (owner.thickness[i] + owner.thickness[j])
        close = self._pairs[np.flatnonzero((self._pairs.distance < reach) & (self._pairs.distance > 0.0))]
        meaning = close[owner.features.minima(close, self._x0)]
        return owner.contacts(meaning, self._x0, self._h, self._inverse_mass)

    def _as_before(self) -> tuple[BoolArray, FloatArray]:
        """Which contacts touched in the step before, and their normal forces [N]."""
        owner, key = self._owner, self.repulsion.contacts.key
        if len(owner.keys) == 0:
            return np.zeros(len(key), dtype=np.bool_), np.zeros(len(key))
        at = np.minimum(np.searchsorted(owner.keys, key), len(owner.keys) - 1)
        known = owner.keys[at] == key
        return known, np.where(known, owner.pressing[at], 0.0)

    # ------------------------------------------------------------------ the solve

    def diagonal(self) -> FloatArray:
        """Diagonal blocks (V, 3, 3) [kg] of what contact adds to A."""
        return self.repulsion.diagonal()

    def add_product(self, x: FloatArray, result: FloatArray) -> None:
        """result += (what contact adds to A, less its diagonal blocks) x."""
        self.repulsion.add_product(x, result)

    def impulse(self, velocity: FloatArray) -> FloatArray:
        """Impulses h f (V, 3) [N s] of contact at `velocity` (V, 3)."""
        return self.repulsion.impulse(velocity)

    def beside(self, multiply: Operator) -> Operator:
        """d -> A d + C d, for a `multiply` of A that has the diagonal blocks already."""
        def both(x: FloatArray) -> FloatArray:
            result = multiply(x)
            self.add_product(x, result)
            return result

        return both

    def judge(self, u: FloatArray) -> bool:
        """Release what pulls, take in what would meet, by the solution u (V, 3); True if it should be solved again."""
        changed = self.repulsion.judge(u)
        return self._join(self._base + self._h * u) or changed

    def _join(self, x1: FloatArray) -> bool:
        """Take in what meets on the way to x1 (V, 3) [m], of every vertex the first."""
        self._cover(x1)
        times = self._pairs.meeting_times(self._x0, x1)
        rows = np.flatnonzero(times < NEVER)
        if len(rows) == 0:
            return False
        pairs, times = self._pairs[rows], times[rows]
        earliest = np.full(len(x1), NEVER)
        np.minimum.at(earliest, pairs.vertices.ravel(), np.repeat(times, 4))
        first = np.flatnonzero((times[:, None] <= earliest[pairs.vertices]).any(axis=1))
        then = pairs[first].at_times(self._x0, x1, times[first])
        found = self._owner.contacts(then, self._x0, self._h, self._inverse_mass)
        found = found[~np.isin(found.key, self.repulsion.contacts.key[self.repulsion.contacts.touches])]
        found.touches[:] = True
        self.repulsion.add(found)
        return len(found) > 0

    def _cover(self, x1: FloatArray) -> None:
        """Search again if x1 (V, 3) [m] is outside of what was searched for."""
        if not self._covers(x1):
            self._pairs = self._search(x1)

    def _covers(self, x1: FloatArray) -> bool:
        """Whether no pair can meet on the way to x1 (V, 3) [m] but those found: ends are within half the radius of
        the boxes searched."""
        start, end = self._searched
        slack = 0.5 * self._owner.radius
        drift = (end - start).mean(axis=0)
        low, high = np.minimum(start, end - drift) - slack, np.maximum(start, end - drift) + slack
        return bool(((x1 - drift >= low) & (x1 - drift <= high)).all())

    # ------------------------------------------------------------------ the end

    def truncate(self, x1: FloatArray, free: ConstraintFilter) -> tuple[FloatArray, bool]:
        """x1 (V, 3) [m] changed in the directions that `free` leaves, so that nothing passes through anything, and
        whether that could be done."""
        x, done = x1, False
        for _ in range(SEARCHES):
            self._cover(x)
            cut = cut_motion(self._pairs, self._x0, x, self._inverse_mass, free)
            x = cut.x
            if not cut.moved.any() or self._covers(x):
                done = len(cut.left) == 0
                break
        self._owner.tangled |= not done
        return x, done

    def remember(self, u: FloatArray) -> None:
        """Keep how contacts press at the solution u (V, 3), as the next step's first guess."""
        touching = np.flatnonzero(self.repulsion.contacts.touches)
        keys, first = np.unique(self.repulsion.contacts.key[touching], return_index=True)
        self._owner.keys = keys
        self._owner.pressing = self.repulsion.pressing(u)[touching][first]

    def _add_pulls(self) -> None:
        self.repulsion.add(pull_apart(self._owner.surface, self._crossings, self._owner.features, self._x0,
                                      self._owner.radius, self._inverse_mass, self._h))

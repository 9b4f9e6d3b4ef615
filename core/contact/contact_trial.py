# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact of all cloths with themselves, each other and the colliders, while a step from one state is tried.

All tries of a step start at the same positions, so that the pairs that were found around them serve every step size.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import any_of
from ..state import ContactState
from .all_surfaces import Motion
from .contact_history import ContactHistory
from .contact_step import SelfContactStep
from .effort import Effort
from .face_contacts import FaceContacts
from .homes import HomePlaces, gathered, no_homes, noted, spread, with_foreign, without
from .pinch import Pinch, Resistance, connected, go_home, strayed
from .self_contact import SelfContact
from .surfaces import StepSurfaces, Touching
from .surroundings import Surroundings
from .untangling import around_each


class ContactTrial:
    """Contact on the way from one state, until a step from there is accepted.

    Args:
        fixed: geometry of all surfaces.
        before: memory of the state.
        effort: counts the work of the frame; a new one if it is not given.

    Attributes:
        fixed: as given. history: what was learned so far.
        pinched: (V,) vertices that colliders keep no room for in this try; None if there are none.
    """

    def __init__(self, fixed: SelfContact, before: ContactState | None = None, effort: Effort | None = None) -> None:
        self.fixed, self._effort = fixed, Effort() if effort is None else effort
        bounds = fixed.own_bounds, fixed.solid_bounds
        self.history = ContactHistory(ContactHistory.at_start(*bounds) if before is None else before, *bounds)
        self._found: Surroundings | None = None
        self.pinched: BoolArray | None = None
        self._outward: FloatArray | None = None                     # normals at the homes of what is astray (V, 3)

    def pinch(self, x0: FloatArray, h: float, touching: Touching | None, surfaces: StepSurfaces,
              resistance: Resistance, free: BoolArray, edges: IntArray, lengths: FloatArray) -> Pinch | None:
        """Find what is astray and how it goes home in a try of h [s] from x0 (V, 3) [m]; and which vertices have no
        contact with colliders from now on.

        Args:
            touching: contacts of the expected motion; None where they were not looked up.
            surfaces: the colliders.
            resistance: of the cloth. free: (V,) vertices that pins do not hold.
            edges: (E, 2) of the cloth. lengths: (E,) to which they reach [m].
        """
        history = self.history
        homes = no_homes(len(x0)) if history.homes_before is None else history.homes_before
        if history.through is not None:
            homes, free = without(homes, history.through), free & ~history.through
        (every, within), body = self._crossed(x0, surfaces), self.fixed.body[:len(x0)]
        crossed = every & (homes.number != 0) & ~connected(np.flatnonzero(every & ~free), every, edges)
        homes = with_foreign(strayed(homes, crossed, edges), every, edges, body)
        homes = noted(homes, x0, touching, surfaces, self.fixed.surface.triangles, body, ~free)
        homes = spread(homes, x0, surfaces, edges, ~free)
        homes = gathered(homes, surfaces, edges, lengths)
        found, homes = go_home(homes, crossed, within, x0, h, surfaces, resistance, edges)
        rows, self._outward = np.flatnonzero(homes.astray & (homes.number != 0)), None
        if len(rows):
            self._outward = np.zeros_like(x0)
            self._outward[rows] = HomePlaces.of(homes, rows, surfaces).normal
        history.see_homes(homes)
        self.pinched = _any_of(None if found is None else found.pinched, history.through)
        return found

    def _crossed(self, x0: FloatArray, surfaces: StepSurfaces) -> tuple[BoolArray, BoolArray]:
        """Return which vertices of cloth (V,) are inside of colliders at x0 (V, 3) [m], or belong to an edge or a face
        that crosses one; and which are inside (V,)."""
        every, motion, count = self.fixed.all, self.motion(surfaces), len(x0)
        result, within = np.zeros(every.total, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
        if self.history.stuck and motion is not None:
            crossings, inside = self.fixed.passages(motion, x0)
            within = inside.any(axis=0)
            result[:count] = within
            result[around_each(every, crossings)] = True
        return result[:count], within

    def motion(self, surfaces: StepSurfaces | None) -> Motion | None:
        """Return the motion of the colliders in a step."""
        return None if surfaces is None else self.fixed.all.motion(surfaces.moving, surfaces.number)

    def look(self, x0: FloatArray, x1: FloatArray, motion: Motion | None = None, *, itself: bool = True
             ) -> Surroundings:
        """Return the pairs that may meet on the way x0 -> x1 (V, 3) [m]; found once for the same start and motion.

        Args:
            motion: of the colliders. itself: whether cloth may meet cloth.
        """
        found, number = self._found, None if motion is None else motion.number
        if (found is None or found.motion_number != number or found.itself != itself
                or not np.array_equal(found.x0, x0) or not _equal(found.pinched, self.pinched)):
            found = Surroundings(self.fixed, self.history, x0, x1, motion, itself=itself, pinched=self.pinched,
                                 outward=self._outward, effort=self._effort)
        else:
            found.cover(x1)
        self._found = found
        return found

    def beside_solids(self) -> BoolArray:
        """Return which vertices of cloth (V,) belong to a pair with a collider that is close at the start."""
        count = len(self.fixed.mass)
        result = np.zeros(self.fixed.all.total, dtype=np.bool_)
        if self._found is not None:
            vertices = self._found.close().vertices
            result[vertices[any_of(vertices >= count)]] = True
        return result[:count]

    def ahead(self, x0: FloatArray, v0: FloatArray, h: float) -> FloatArray:
        """Return positions (V, 3) [m] after h [s] with the acceleration of the last step."""
        gain = self.history.warm_start.gain
        return x0 + h * (v0 if gain is None else v0 + h * gain)

    def learn(self, x1: FloatArray, gain: FloatArray) -> None:
        """Take the end x1 (V, 3) [m] and the mean acceleration (V, 3) [m/s^2] of a step without contact."""
        self.history.learn(gain)
        if self._found is not None:
            self._found.learn(x1)

    def begin(self, x0: FloatArray, v0: FloatArray, expected: FloatArray, base: FloatArray, h: float,
              pins: ConstraintFilter, motion: Motion | None = None, *, itself: bool = True,
              constrained: bool = False, end: float = 0.0,
              inertia: Callable[[], FloatArray] | None = None, faces: FaceContacts | None = None) -> SelfContactStep:
        """Begin a try of h [s] from x0 (V, 3) [m] and v0 (V, 3) [m/s].

        Args:
            expected: (V, 3) velocities at its end as far as weight and pins say [m/s]; positions are base + h u.
            motion, itself: as in `look`.
            constrained: whether constraints keep vertices of cloth off faces of colliders.
            end: time of the end of the step [s].
            inertia: returns (V,) as of `pair_contacts.make_contacts`; called if something needs it.
            faces: contacts of vertices with faces of colliders; None where these are pairs like others.
        """
        last = self.history.warm_start
        if last.gain is not None:
            expected = pins.project(v0 + h * last.gain) + expected - pins.project(expected)
        around = self.look(x0, base + h * expected, motion, itself=itself)
        return SelfContactStep(self.fixed, self.history, around, v0, expected, base, h, pins, constrained=constrained,
                               end=end, inertia=inertia, faces=faces)

    def kept_inside(self, around: Surroundings, touching: Touching) -> BoolArray:
        """Return which vertices are held inside each of the S colliders by pins nearby (S, V): they cannot be outside,
        or not where contact would put them."""
        fixed = self.fixed
        count = len(fixed.mass)
        within = around.within[:, :count]
        held, result = within & fixed.held[:count], np.zeros(within.shape, dtype=np.bool_)
        for solid in np.flatnonzero(held.any(axis=1)):
            deep, lacks = touching.depth(solid, count)
            result[solid] = within[solid] & fixed.pinned_inside.kept(held[solid], lacks)
            # a vertex outside, though it may be too near, only has to be on that side
            result[solid] |= fixed.pinned_inside.kept(held[solid], deep)
        return result


def _any_of(one: BoolArray | None, other: BoolArray | None) -> BoolArray | None:
    """Return the vertices (V,) of one mask or the other, None being an empty one."""
    return other if one is None else one if other is None else one | other


def _equal(one: BoolArray | None, other: BoolArray | None) -> bool:
    """Return whether two masks (V,) are the same, None being one of its own."""
    return one is other or one is not None and other is not None and np.array_equal(one, other)

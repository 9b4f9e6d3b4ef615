# SPDX-License-Identifier: GPL-3.0-or-later
"""Contact by pairs in one step: what acts in the linear solve, and the cut of the motion at the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..description.topology import bodies
from ..linear.constraint_filter import ConstraintFilter
from ..linear.products import Product, WithPairs
from ..row_ops import all_of, any_of, pick, total
from ..state import ContactWarmStart, Touch
from .bounds import of_pairs
from .contact_history import ContactHistory
from .continuous import NEVER, Pairs
from .face_contacts import FaceContacts
from .friction_modes import SLIP, STICK
from .friction_of_pieces import MomentumChange
from .half_spaces import HalfSpaces
from .moving_contacts import prescribed, turned
from .pair_contacts import make_contacts
from .piles import Pressing
from .repulsion import STIFFEST, Contacts, Repulsion
from .self_contact import SelfContact
from .surroundings import Surroundings
from .truncation import cut_motion
from .turns import turns
from .untangling import lift_out, pull_apart
from .warm_start import recalled

PAST = 1e-3
"""Part of the thickness by which a pair must be further apart than along its first normal to slide past a rim [-]."""
SEARCHES = 4
"""Searches for candidates after a cut that led out of the boxes of the search before."""


class SelfContactStep:
    """Contact in one step; arguments as of `ContactTrial.begin`."""

    def __init__(self, fixed: SelfContact, history: ContactHistory, around: Surroundings, v0: FloatArray,
                 expected: FloatArray, base: FloatArray, h: float, pins: ConstraintFilter, *, constrained: bool = False,
                 end: float = 0.0, inertia: Callable[[], FloatArray] | None = None,
                 faces: FaceContacts | None = None) -> None:
        self._end = end                                                                    # of the step [s]
        self._fixed, self._history, self._around = fixed, history, around
        self._base, self._h, self._v0 = base, h, v0
        self._pins, self._constrained = pins, constrained
        needed = around.motion is not None or len(around.crossings) > 0
        self._inertia = np.pad(inertia(), (0, len(around.start) - len(base))) if inertia and needed else None
        self._divided: tuple[Pairs | None, tuple[Pairs, Pairs, IntArray] | None] = None, None    # by `_movable`
        self.crosses = False                 # whether the cut left what passes through something, where nothing did
        self.presses = False                 # whether cloth presses on cloth, and may come to rest
        self.pressing = Pressing()           # cloth on cloth
        # vertices that solids hold, and by which normal forces [N]
        self.on_surfaces: tuple[IntArray, FloatArray] = np.zeros(0, dtype=np.int64), np.zeros(0)
        free = np.where(pins.degrees_of_freedom(np.arange(len(base))) > 0, 1.0 / fixed.mass, 0.0)
        still = np.zeros(len(around.start) - len(base))
        self._inverse_mass, self._unheld = (np.concatenate([a, still]) for a in (free, 1.0 / fixed.mass))
        self._solids_end = around.end(base)[len(base):]                                    # (W, 3) [m]
        close = around.close()
        thickness = fixed.thickness_of(close)
        going_on = self._going_on(close, thickness, base + h * expected)
        self._turn: tuple[IntArray, FloatArray] | None = None        # of contacts with faces, rows and rotations
        self.repulsion = Repulsion(base, h, self._contacts(going_on, thickness, faces=faces is None),
                                   fixed.body[:len(base)])
        if faces is not None and self._inertia is not None and around.motion is not None:
            rows, turn = faces.turns(fixed, around.motion, free)
            self._turn = len(self.repulsion.contacts) + rows, turn
            self.repulsion.add(faces.contacts(fixed, around.x0, free, self._inertia, h))
        crossings = around.crossings[~around.caught]
        if len(crossings):
            self.repulsion.add(self._prescribed(pull_apart(
                fixed.all, crossings, fixed.features, around.start, self._inverse_mass, h, self._unheld,
                fixed.layer, None if around.way is None else around.way[~around.caught], len(base), self._inertia,
                None if around.roomy is None else around.roomy[~around.caught])))
        if len(around.level):
            self.repulsion.add(lift_out(
                around.level, fixed.surface.edges, around.start, self._inverse_mass, h, self._unheld))
        if around.tears is not None:
            self.repulsion.add(around.tears.contacts(around.start, self._inverse_mass, h, self._unheld))
        known, pressing, holding, stiffness = self._as_before(self.repulsion.too_close(expected))
        self.repulsion.begin(expected, known, pressing, holding, v0, stiffness)
        if around.itself and not around.effort.out:
            self._foresee(base + h * expected)

    @property
    def touching(self) -> int:
        """How many pairs act on the cloth."""
        return int(np.count_nonzero(self.repulsion.contacts.touches))

    @property
    def on_solids(self) -> bool:
        """Whether a pair of cloth and a solid acts."""
        return bool((self.repulsion.contacts.touches & _with_solids(self.repulsion.contacts)).any())

    def _going_on(self, pairs: Pairs, thickness: FloatArray, x1: FloatArray) -> Pairs:
        """The pairs, that keep `thickness` (P,) [m], those that slide past a rim as they will be at x1 (V, 3) [m].

        Across the normal of the start a rim would be a wall to whatever slides under it. What is expected to come round
        it to the other side is still held on its own: were it pressed to there and hindered, it would be flung.
        """
        end, faces = self._around.end(x1), np.arange(len(pairs)) < pairs.faces
        gap = np.einsum("pi,pi->p", np.einsum("pk,pki->pi", pairs.weights, pick(end, pairs.vertices)), pairs.normal)
        row = np.flatnonzero(faces & any_of(pairs.weights == 0.0) & (gap < thickness))
        if len(row) == 0:
            return pairs
        some = pairs[row]
        then = some.elsewhere(end)
        past = then.distance > gap[row] + PAST * thickness[row]
        past &= np.einsum("pi,pi->p", then.normal, some.normal) > 0.0
        past &= some.meeting_times(self._around.start, end, self._around.effort) == NEVER
        row, then = row[past], then[np.flatnonzero(past)]
        weights, normal, distance = pairs.weights.copy(), pairs.normal.copy(), pairs.distance.copy()
        weights[row], normal[row], distance[row] = then.weights, then.normal, then.distance
        return replace(pairs, weights=weights, normal=normal, distance=distance)

    def _contacts(self, pairs: Pairs, thickness: FloatArray, *, faces: bool = True) -> Contacts:
        """Contacts of pairs that keep `thickness` (P,) [m]; without `faces`, none of vertices with faces of
        colliders."""
        fixed, count = self._fixed, len(self._base)
        if (self._constrained or not faces) and len(pairs):
            vertex = pairs.vertices[:, 0]
            there = (np.arange(len(pairs)) < pairs.faces) & (vertex < count) & (pairs.vertices[:, 3] >= count)
            rows = np.flatnonzero(~there)
            pairs, thickness = pairs[rows], thickness[rows]
        found = make_contacts(
            fixed.features.keys(pairs), pairs.vertices, pairs.weights, pairs.normal, thickness,
            fixed.friction_of(pairs, self._end), self._around.start, self._inverse_mass, self._h, self._unheld,
            self._inertia)
        if self._around.pinched is not None:                         # no stiffness makes room in a pinch
            there = any_of(pick(np.pad(self._around.pinched, (0, len(self._inverse_mass) - count)), found.vertices))
            found.stiffest[there] = STIFFEST * found.mass[there]
        return self._prescribed(self._turning(found))

    def _prescribed(self, contacts: Contacts) -> Contacts:
        """The contacts, what colliders do in them as known."""
        if self._around.motion is None:
            return contacts
        return prescribed(contacts, self._around.motion.x_t0, self._solids_end, len(self._base), self._h)

    def _turning(self, contacts: Contacts) -> Contacts:
        """Return the contacts, those with a face of a collider in the frame that turns with it."""
        if self._around.motion is None:
            return contacts
        start, end, count = self._around.motion.x_t0, self._solids_end, len(self._base)
        rows = np.flatnonzero((contacts.vertices[:, 0] < count) & all_of(contacts.vertices[:, 1:] >= count))
        corners = contacts.vertices[rows][:, 1:] - count
        moves = any_of(pick(any_of(start != end), corners))
        rows, corners = rows[moves], corners[moves]
        return turned(contacts, rows, turns(start[corners], end[corners]), self._around.start, self._h)

    def _as_before(self, near: BoolArray) -> tuple[BoolArray, FloatArray, FloatArray, FloatArray]:
        """Which contacts touched in the step before, their normal forces [N], impulses of friction (C, 3) [N s] and
        stiffness over the mass [-]."""
        known, pressing, holding, stiffness = recalled(
            self._history.warm_start, self.repulsion.contacts.key, near, self._fixed.features.vertex_of)
        if self._turn is None:
            return known, pressing, self._h * holding, stiffness
        rows, turn = self._turn
        holding[rows] = np.einsum("pij,pj->pi", turn, holding[rows])
        return known, pressing, self._h * holding, stiffness

    # ------------------------------------------------------------------ the solve

    def diagonal(self) -> FloatArray:
        """Diagonal blocks (V, 3, 3) [kg] of what contact adds to A."""
        return self.repulsion.diagonal()

    def beside(self, multiply: Product) -> Product:
        """d -> A d + C d, for a `multiply` of A that has the diagonal blocks already."""
        return WithPairs(multiply, self.repulsion)

    def impulse(self, velocity: FloatArray) -> FloatArray:
        """Impulses h f (V, 3) [N s] of contact at `velocity` (V, 3)."""
        return self.repulsion.impulse(velocity)

    def carried(self, velocity: FloatArray) -> FloatArray:
        """Return `velocity` (V, 3) [m/s], that of vertices which stick on solids by what carries them."""
        return self.repulsion.carried(velocity)

    def springs(self, velocity: FloatArray) -> FloatArray:
        """The part of `impulse` that presses cloth off cloth."""
        return self.repulsion.springs(velocity)

    def drags(self, velocity: FloatArray) -> FloatArray:
        """The part of `impulse` that is friction."""
        return self.repulsion.drags(velocity)

    def made_by_friction(self, velocity: FloatArray) -> float:
        """Return the energy [J] that friction makes in a step of `velocity` (V, 3), as it acts now."""
        return self.repulsion.made_by_friction(velocity)

    def only_brake(self, velocity: FloatArray) -> None:
        """Replace friction by dampers until the next solution is judged, as strong as it is at `velocity` (V, 3)."""
        self.repulsion.only_brake(velocity)

    def energy(self, velocity: FloatArray) -> float:
        """Energy of the springs [J] at `velocity` (V, 3)."""
        return self.repulsion.energy(velocity)

    def bodies(self) -> IntArray:
        """Pieces of cloth (V,), those that touch as one."""
        c, body = self.repulsion.contacts, self._fixed.body[:len(self._base)]
        rows = np.flatnonzero(c.touches)
        one, other = (body[c.vertices[rows, k]] for k in (0, 3))
        if (one == other).all():
            return body
        joined = bodies(np.column_stack([one, other]), int(body.max()) + 1)
        return joined[body]

    def free_groups(self) -> IntArray | None:
        """Return the group (V,) of each vertex, of pieces that have pairs near each other; None if a solid is near."""
        count = len(self._base)
        body, near = self._fixed.body[:count], self._around.pairs.vertices
        if (near >= count).any():
            return None
        joined: IntArray = bodies(body[near][:, [0, 3]], int(body.max()) + 1)[body] if len(near) else body
        return joined

    def covers(self, x1: FloatArray) -> bool:
        """Return whether no pairs but those that were found can meet on the way to x1 (V, 3) [m]."""
        return self._around.covers(x1)

    def judge(self, u: FloatArray, free: ConstraintFilter, before: FloatArray | None, fall: FloatArray) -> bool:
        """Correct what touches, and how it rubs, by the solution u (V, 3) in the directions that `free` leaves; nothing
        is taken in. Whether that changes so much that the step should be solved again.

        Args:
            u, free: as above.
            before: (V, 3) the solution before, None for the first one.
            fall: (V, 3) velocities that weight gives in the step [m/s].
        """
        momentum, fixed = None, self._fixed
        if before is not None and len(self.repulsion.contacts) and self._solids_stand:
            momentum = MomentumChange.of(u - before, fall, fixed.mass, fixed.body[:len(u)])
        return self.repulsion.judge(u, free, momentum)

    @cached_property
    def _solids_stand(self) -> bool:
        """Return whether no collider moves in the step.

        Friction carries cloth along with a collider that moves. An error of it moves the cloth locally, and the
        momentum of a whole piece does not show that.
        """
        motion = self._around.motion
        return motion is None or bool(np.array_equal(motion.x_t0, self._solids_end))

    @property
    def friction_settled(self) -> bool:
        """Return whether the friction of every piece of cloth was settled at the last solution that was judged."""
        return self.repulsion.settled

    def join(self, u: FloatArray) -> int:
        """Take in what the solution u (V, 3) [m/s] would make meet, nothing else; how many pairs."""
        return self._join(self._base + self._h * u)

    def _join(self, x1: FloatArray) -> int:
        """Take in what meets on the way to x1 (V, 3) [m], of every vertex the first; how many pairs."""
        pairs, times = self._around.meeting(x1)
        return self._take(pairs, times, x1) if len(pairs) else 0

    def _foresee(self, x1: FloatArray) -> None:
        """Take in cloth that would meet cloth on the way to x1 (V, 3) [m], which is expected: where that is known
        before the first solve there need not be another.

        Of solids that does not hold. Somebody else keeps cloth off their faces, and what is expected leads into them.
        """
        pairs, times = self._around.meeting(x1)
        row = np.flatnonzero(all_of(pairs.vertices < len(x1)))
        if len(row):
            self._take(pairs[row], times[row], x1)

    def _take(self, pairs: Pairs, times: FloatArray, x1: FloatArray) -> int:
        """Take in pairs that meet at `times` (P,) on the way to x1 (V, 3) [m], of every vertex the first; how many."""
        end = self._around.end(x1)
        earliest = np.full(len(end), NEVER)
        np.minimum.at(earliest, pairs.vertices.ravel(), np.repeat(times, 4))
        first = np.flatnonzero(any_of(times[:, None] <= pick(earliest, pairs.vertices)))
        met = pairs[first].at_times(self._around.start, end, times[first])
        found = self._contacts(met, self._fixed.thickness_of(met))
        self.repulsion.stiffen(found, (x1 - self._base) / self._h)
        found = found[~self.repulsion.touches(found.key)]
        found.touches[:] = True
        self.repulsion.add(found)
        return len(found)

    # ------------------------------------------------------------------ the end

    def bounds(self, x1: FloatArray) -> HalfSpaces:
        """What keeps pairs apart that would meet on the way to x1 (V, 3) [m]."""
        pairs, times = self._around.meeting(x1)
        if len(pairs) == 0:
            return HalfSpaces.none()
        end = self._around.end(x1)
        return of_pairs(pairs.at_times(self._around.start, end, times), end, len(x1))

    def truncate(self, x1: FloatArray, free: Callable[[], ConstraintFilter]) -> FloatArray:
        """Return x1 (V, 3) [m], changed in the directions that `free()` leaves where something would pass through
        something."""
        x, around, count = x1, self._around, len(x1)
        left = none = np.zeros((0, 4), dtype=np.int64)
        for _ in range(SEARCHES):
            around.cover(x)
            pairs, known = around.pairs, around.noted()
            if pairs is not self._divided[0]:
                self._divided = pairs, self._movable(pairs)
            movable = self._divided[1]
            if movable is not None:                                  # pins alone decide about the others
                pairs, others, place = movable
                self._notice(others, around.end(x))
                known = None if known is None else (known[0], place[known[1]][place[known[1]] >= 0])
            cut = cut_motion(pairs, around.start, around.end(x), self._inverse_mass, free, self._pins, known=known,
                             effort=around.effort)
            left = pairs.vertices[cut.left]
            if len(cut.left) and (pairs.vertices >= count).any():    # rather into a solid than through itself
                own = np.flatnonzero(all_of(pairs.vertices < count))
                mine = cut_motion(pairs[own], around.start, cut.x, self._inverse_mass, lambda: self._pins,
                                  effort=around.effort)
                left = np.concatenate([left[(left >= count).any(axis=1)], pairs.vertices[own[mine.left]]])
                cut = replace(mine, moved=cut.moved | mine.moved)
            elif pairs is around.pairs:
                around.note(cut.x, cut.left)
            if not cut.moved.any():
                break
            x = cut.x[:count]
            if around.covers(x):
                break
        else:
            left = around.pairs.vertices if len(around.pairs) else none
        solid = (left >= count).any(axis=1)
        self._history.see_stuck(bool(solid.any()))
        self._history.see_tangled(not solid.all())
        if around.pinched is not None:                               # between solids layers may pass
            left = left[~all_of(np.pad(around.pinched, (0, len(around.start) - count))[left])]
        left = left[~around.narrow(left)]
        self.crosses = len(left) > 0 and len(self._around.crossings) == 0
        return x

    def _movable(self, pairs: Pairs) -> tuple[Pairs, Pairs, IntArray] | None:
        """Return the pairs with a vertex that can be moved, the others, and the row of each pair (P,) among the former,
        -1 for the others; None where all can be moved. Each pair has a vertex of cloth."""
        if (self._inverse_mass[:len(self._v0)] > 0.0).all():
            return None
        movable = any_of(pick(self._inverse_mass > 0.0, pairs.vertices))
        if movable.all():
            return None
        place = np.where(movable, np.cumsum(movable) - 1, -1)
        return pairs[np.flatnonzero(movable)], pairs[np.flatnonzero(~movable)], place

    def _notice(self, given: Pairs, end: FloatArray) -> None:
        """Have the next step look for what crosses, where a motion to `end` (V + W, 3) [m] that is `given` crosses."""
        met = given.vertices[given.meeting_times(self._around.start, end, self._around.effort) < NEVER]
        solid = (met >= len(self._v0)).any(axis=1)
        self._history.see_stuck(bool(solid.any()))
        self._history.see_tangled(not solid.all())

    def touch(self, u: FloatArray) -> Touch:
        """Return how vertices touch faces of solids at the solution u (V, 3) [m/s]."""
        c, count = self.repulsion.contacts, len(self._base)
        alone = np.count_nonzero(c.weights, axis=1) == 1
        rows = np.flatnonzero(c.touches & alone & _with_solids(c))
        vertex = c.vertices[rows, np.argmax(c.weights[rows] != 0.0, axis=1)]
        sticks = (c.drag[rows] > 0.0) & ~any_of(c.across[rows] != 0.0)
        mode = np.where(np.bincount(vertex, minlength=count) > 0, STICK, 0)
        mode[(mode > 0) & (np.bincount(vertex, sticks, count) == 0.0)] = SLIP
        pressing = np.bincount(vertex, self.repulsion.pressing(u)[rows], count)
        return Touch(mode, pressing.astype(np.float64))

    def remember(self, u: FloatArray) -> None:
        """Keep how contacts press at the solution u (V, 3), and what it gained, as the next step's first guess."""
        contacts, gain = self.repulsion.contacts, (u - self._v0) / self._h
        touching = np.flatnonzero(contacts.touches)
        keys, first = np.unique(contacts.key[touching], return_index=True)
        rows = touching[first]
        solid = _with_solids(contacts)[touching]
        self._around.learn(self._base + self._h * u)
        pressing = self.repulsion.pressing(u)
        self._history.keep(ContactWarmStart(
            keys, pressing[rows], self.repulsion.rubbing(u)[rows] / self._h,
            (contacts.stiffness / contacts.mass)[rows], gain))
        self.presses = not solid.all()
        there = touching[solid]
        nearest = np.argmax(np.abs(contacts.weights[there]), axis=1)
        self.on_surfaces = contacts.vertices[there, nearest], pressing[there]
        own = touching[~solid]
        self.pressing = Pressing(contacts.vertices[own][:, [0, 3]], contacts.normal[own], pressing[own])


def _with_solids(contacts: Contacts) -> BoolArray:
    """Return which contacts (C,) are with solids, whose vertices have no weight; those of cloth add up to zero."""
    result: BoolArray = np.abs(total(contacts.weights)) > 0.5
    return result

# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on solids by velocity constraints: the contact of 001, sections 5 and 6.

A particle in contact loses the direction of the contact's normal: the solve may not change its velocity along it
except to what keeps it on the surface at the end of the step. From the solution the constraint force
lambda follows, and decides what the contact does next: it is released where it pulls (lambda . n < 0), and `friction`
decides whether it sticks. The step is solved again from where it was until hardly anything changes. A particle found
inside the thickness at the start is moved out by the position alteration y, which gives it no velocity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import any_of, length, pick, rank_of, tangential, tangents, unit
from ..state import Before, Touch
from .friction import ELASTIC, SLIP, STICK, Friction
from .half_spaces import HalfSpaces
from .planes import MAX_PER_VERTEX
from .sliding_path import STILL_NEAR, TOUCHING_OVERSHOOT, changes

if TYPE_CHECKING:
    from .pairs import Contacts
    from .surfaces import Touching

PUSH_RATE = 24.0
"""Thicknesses by which a particle that starts too close is moved out per second [1/s]."""
LAID = 1e-6
"""Part of the thickness by which a particle must be, or go, too close to count [-]: far above rounding, far below what
shows. A contact that pulled leaves its particle on the surface without a velocity along the normal, and free in the
next step: that must not hang on which side of the surface rounding left it."""
SAME_NORMAL = 0.9
"""Contacts of a vertex whose normals' cosine is above this are one contact [-]."""
FEW_NEW_CONTACTS = 0.02
"""Part of the contacts that may be new, and of the pressing that may pull, when a step is done [-]."""
SETTLED_FRICTION = 0.02
"""Part of the friction that may be wrong when a step is done [-]."""
OPPOSED = 0.4
"""Part of a normal that other contacts of the vertex must leave [-]: of two normals that face each other nothing is
left but a little across, and what two surfaces squeeze would be thrown out along that by what it lacks over that."""
UNSURE_HEIGHT = 0.2
"""Part of the thickness above its planes from which on a vertex is surely on the right side of what they touch [-]: the
surface may bend, and rise above them."""
NORMAL_SWEEPS = 8
"""Gauss-Seidel sweeps that share a vertex's force among its up to three normals."""


class ContactResponse:
    """The active contacts of one step.

    Args:
        x0, v0: (V, 3) [m], [m/s] at the start of the step.
        touch: how particles touched in the step before.
        step: h [s].
        thickness: (V,) [m]; mass: (V,) [kg].
        pins: directions that are taken already; contact moves nothing along them.
        gravity: (V, 3) [m/s^2], expected of particles that touch for the first time.
        body (V,): number of each vertex's piece of cloth.
        before: start of the last step, for paths of second order; None for those of implicit Euler.
    """

    def __init__(self, x0: FloatArray, v0: FloatArray, touch: Touch, step: float, thickness: FloatArray,
                 mass: FloatArray, pins: ConstraintFilter, gravity: FloatArray, body: IntArray,
                 before: Before | None = None) -> None:
        self._body, self._before = body, before
        self._x0, self._v0, self._touch, self._h = x0, v0, touch, step
        self._thickness, self._mass, self._pins, self._gravity = thickness, mass, pins, gravity
        self._free: BoolArray = np.ones(len(x0), dtype=np.bool_)
        self._free[pins.rows[pins.count == 3]] = False
        self._eased: BoolArray | None = None                         # who is let out slowly, where anybody is
        self._table: IntArray = np.full((MAX_PER_VERTEX, len(x0)), -1)    # contacts of each vertex, in columns
        self._forget()
        self.vertex: IntArray = np.zeros(0, dtype=np.int64)
        self.normal: FloatArray = np.zeros((0, 3))
        self.least: FloatArray = np.zeros(0)                         # lowest allowed normal velocity [m/s]
        self.carried: FloatArray = np.zeros((0, 3))                  # the surface's own velocity [m/s]
        self.pressing: FloatArray = np.zeros(0)                      # normal force at the last solution [N]
        self.held: BoolArray = np.zeros(0, dtype=np.bool_)           # False: released
        self.friction = Friction()
        self.alteration: FloatArray = np.zeros_like(x0)              # y [m]
        self.path: FloatArray = np.zeros_like(x0)                    # d of `sliding_path` [m]

    def __len__(self) -> int:
        return len(self.vertex)

    # ------------------------------------------------------------------ finding

    def leave(self, some: BoolArray) -> None:
        """Have nothing to do with `some` vertices (V,): springs keep them off solids, or pins in one."""
        self._free = self._free & ~some

    def ease(self, some: BoolArray) -> None:
        """Move `some` vertices (V,) out by no more than the alteration from any depth, not at once to their thickness:
        what has held them in a solid until now lets them out there."""
        self._eased = some if some.any() else None

    def predict(self, found: Touching) -> None:
        """Take in the contacts of the motion without forces: these alone may alter positions."""
        c = found.contacts
        inside = (c.gap_t0 < -LAID * found.distance) & self._free[c.vertex]
        rows = np.flatnonzero(inside)
        k = rows[rank_of(c.vertex[rows]) == 0]                           # the first of a vertex is the deepest
        pushed = c.vertex[k]
        push = np.minimum(-c.gap_t0[k], PUSH_RATE * self._h * self._thickness[pushed])
        self.alteration[pushed] = push[:, None] * c.normal[k]
        self.alteration = self._pins.project(self.alteration)
        again = (self._touch.mode[c.vertex] > 0) & (c.gap_t1 < STILL_NEAR * found.distance)
        # what is laid onto the thickness but for rounding touches: stuck neighbours would be judged without it
        near = -LAID if self._touch.mode.any() else TOUCHING_OVERSHOOT
        wanted = inside | again | (c.gap_t1 < near * found.distance)
        if self._eased is not None:
            pulled = (self._touch.mode > 0) & (self._touch.pressing <= 0.0)
            wanted &= ~(self._comes_out(c, self._eased) | (self._eased & pulled)[c.vertex])
        if self._before is not None:
            d = changes(found, np.flatnonzero(wanted & self._free[c.vertex]), self._touch.mode, self._before,
                        (self._x0, self._v0, self._gravity), self._h)
            self.path = self._pins.project(d)
        self._take(found, wanted)

    def add(self, found: Touching, anyway: bool, depth: float = 0.0) -> bool:
        """Take in the contacts of a solution that went through a surface; True if that changes anything.

        A few of many are left to `move_out` and the next step, unless the step is solved again `anyway`; and so are
        any number that went no deeper than `depth` thicknesses.
        """
        vertex = found.contacts.vertex
        through = (found.contacts.gap_t1 < -TOUCHING_OVERSHOOT * self._thickness[vertex]) & self._free[vertex]
        if self._eased is not None:
            through &= ~self._comes_out(found.contacts, self._eased)
        deep = through & (found.contacts.gap_t1 < -depth * self._thickness[vertex])
        if not anyway and int(deep.sum()) <= FEW_NEW_CONTACTS * int(self.held.sum()):
            return False
        return self._take(found, through)

    def _take(self, found: Touching, wanted: BoolArray) -> bool:
        changed = False
        vertex = found.contacts.vertex
        rows = np.flatnonzero(wanted & self._free[vertex])
        rank = rank_of(vertex[rows])
        for turn in range(int(rank.max(initial=-1)) + 1):              # one contact of each vertex at a time
            changed |= self._take_one_each(found, rows[rank == turn])
        return changed

    def _take_one_each(self, found: Touching, k: IntArray) -> bool:
        vertex, normal = found.contacts.vertex[k], pick(found.contacts.normal, k)
        known = self._table[:, vertex].T                                   # (n, 3)
        cosine = np.einsum("nsj,nj->ns", pick(self.normal, known), normal) if len(self) else np.zeros(known.shape)
        same = (known >= 0) & (cosine > SAME_NORMAL)
        again = same & ~self.held[known] if len(self) else same
        room = any_of(known < 0)
        new = ~any_of(same) & room
        self._append(found, k[new])
        back = any_of(again)
        if back.any():
            self._replace(found, k[back], known[back, np.argmax(again[back], axis=1)])
        return bool(new.any() or back.any())

    def _append(self, found: Touching, k: IntArray) -> None:
        first, n = len(self), len(k)
        vertex = found.contacts.vertex[k]
        self._table[np.argmax(self._table[:, vertex] < 0, axis=0), vertex] = np.arange(first, first + n)
        self.vertex = np.concatenate([self.vertex, vertex])
        self.normal, self.carried = (np.concatenate([a, np.zeros((n, 3))]) for a in (self.normal, self.carried))
        self.least, self.pressing = (np.concatenate([a, np.zeros(n)]) for a in (self.least, self.pressing))
        self.held = np.concatenate([self.held, np.zeros(n, dtype=np.bool_)])
        self.friction.grow(n)
        self._replace(found, k, slice(first, first + n))

    def _replace(self, found: Touching, k: IntArray, at: IntArray | slice) -> None:
        """Write contacts k of `found` into places `at`, with the first guess of their friction."""
        c = found.contacts
        vertex, n, mu = c.vertex[k], pick(c.normal, k), found.mu[k]
        x0, mass = pick(self._x0, vertex), self._mass[vertex]
        depth = np.maximum(0.0, -c.gap_t0[k])
        # n . (x0 + d + h u + y) = n . p1 + distance - depth + n . y: on the surface, or moved out by y alone
        gap = np.einsum("nj,nj->n", n, x0 + pick(self.path, vertex) - pick(c.point_t1, k)) - found.distance[k]
        carried, least = (pick(found.carried, k) - x0) / self._h, -(gap + depth) / self._h
        self.vertex[at], self.normal[at], self.held[at] = vertex, n, True
        self.carried[at], self.least[at] = carried, least
        self._forget()
        # as in the step before; at first touch by Coulomb's law for the particle alone, m times what stops it
        before, pressing, u = self._touch.mode[vertex], self._touch.pressing[vertex], pick(self._v0, vertex)
        first = np.flatnonzero(before == 0)
        u[first] += self._h * pick(self._gravity, vertex[first])
        stopped = np.maximum(0.0, least[first] - np.einsum("nj,nj->n", pick(n, first), pick(u, first)))
        pressing[first] = mass[first] * stopped / self._h
        slide, held = tangential(n, u - carried), tangential(n, pick(self._touch.held, vertex))
        against, limit = -pick(slide, first), mu[first] * pressing[first]
        slips = mass[first] * length(against) > limit * self._h
        before[first] = np.where(slips, SLIP, STICK)
        held[first] = np.where(slips, limit, 0.0)[:, None] * unit(against)
        self.friction.begin(at, mu, before, pressing, held, slide, ELASTIC * self._thickness[vertex] / self._h)

    # ------------------------------------------------------------------ solving

    def constrain(self, pins: ConstraintFilter, velocity: FloatArray) -> ConstraintFilter:
        """The filter of pins and contacts, with z = what takes `velocity` (V, 3) [m/s] to the prescribed one."""
        result = pins.copy()
        for slot in range(MAX_PER_VERTEX):                            # normals first: they hold whatever friction does
            at = self._active(slot)
            if len(at):
                vertex, normal = self.vertex[at], pick(self.normal, at)
                result.constrain(vertex, normal, self.least[at] - np.einsum(
                    "nj,nj->n", normal, pick(velocity, vertex)), OPPOSED)
        at, along = self._sticking()
        vertex = self.vertex[at]
        lags = pick(self.carried, at) - pick(velocity, vertex)
        for tangent in along:
            result.constrain(vertex, tangent, np.einsum("nj,nj->n", tangent, lags))
        return result

    def drag_blocks(self) -> FloatArray:
        """-df/dv of friction (V, 3, 3) [kg/s]."""
        return self.friction.drag_blocks(self._rubbing(), self.vertex, self.normal, len(self._x0))

    def friction_force(self, velocity: FloatArray) -> FloatArray:
        """Forces of friction that is no constraint, at `velocity` (V, 3) -> (V, 3) [N]."""
        return self.friction.forces(self._rubbing(), self.vertex, self.normal, self.carried, velocity)

    def work(self, impulse: FloatArray, u: FloatArray) -> float:
        """Work [J] of contacts' impulses (V, 3) [N s] at velocities u (V, 3) [m/s] beyond that of moving surfaces: none
        but what friction takes, if the solution is one. What it released at last has acted in it, too."""
        at = self._table[0]
        at = at[at >= 0]
        at = at[self._pins.degrees_of_freedom(self.vertex[at]) == 3]
        vertex = self.vertex[at]
        return float(np.einsum("nj,nj->", pick(impulse, vertex), pick(u, vertex) - pick(self.carried, at)))

    def judge(self, u: FloatArray, constraint_force: FloatArray) -> bool:
        """Release, stick or slip by the solution: velocities u (V, 3) and forces lambda (V, 3) [N].

        True if so much of what was held pulled, or friction holds so much more than it can, that the step should be
        solved again; how much of the friction was `wrong` may be another reason to.
        """
        if len(self) == 0:
            return False
        self.pressing, left = self._normal_forces(constraint_force)
        pulls, pressing = self.held & (self.pressing < 0.0), np.maximum(self.pressing, 0.0)
        primary = np.zeros(len(self), dtype=np.bool_)
        primary[self._active(0)] = True
        primary &= ~pulls
        self.friction.judge(
            primary, pressing, tangential(self.normal, pick(left, self.vertex)),
            tangential(self.normal, pick(u, self.vertex) - self.carried), self._body[self.vertex])
        self.held &= ~pulls
        self._forget()
        return self.friction.overloaded or float(-self.pressing[pulls].sum()) > FEW_NEW_CONTACTS * float(pressing.sum())

    def touch(self) -> Touch:
        """How each particle touches at the end of the step."""
        mode, pressing = np.zeros(len(self._x0), dtype=np.int64), np.zeros(len(self._x0))
        held = np.zeros_like(self._x0)
        at = self._active(0)
        vertex = self.vertex[at]
        mode[vertex], held[vertex] = self.friction.expected(at)
        pressing[vertex] = np.maximum(self.pressing[at], 0.0)
        return Touch(mode, pressing, held)

    def move_out(self, found: Touching, x: FloatArray) -> FloatArray:
        """x (V, 3) [m] with what the solve left beyond a surface put back onto it; velocities stay.

        A vertex that started too close comes no further out than `predict` allowed, and never deeper.
        """
        c = found.contacts
        beyond = np.where(self._free[c.vertex], self._beyond(found), 0.0)
        result = x.copy()
        lacking = np.flatnonzero(beyond > 0.0)
        place = rank_of(c.vertex)[lacking]
        for rank in range(MAX_PER_VERTEX):
            at = lacking[place == rank]
            on, normal = c.vertex[at], pick(c.normal, at)
            here = pick(result, on)
            # what an earlier contact of the vertex moved it along this normal already counts
            moved = np.einsum("nj,nj->n", here - pick(x, on), normal) if rank else 0.0
            result[on] = here + np.maximum(beyond[at] - moved, 0.0)[:, None] * normal
        return x + self._pins.project(result - x)

    def unsure(self, found: Touching, x: FloatArray, out: FloatArray) -> BoolArray:
        """Which vertices (V,) may be beyond a surface at `out` (V, 3) [m], to which `move_out` brought x (V, 3) [m].

        Those that are, or were, not clearly in front of all that was found: two surfaces that face each other may leave
        no room for it, and beyond a surface nobody looks for more of them, into which the way back out may lead. And
        those that were moved off one of several, which may bend up to them. What starts inside of a solid has no right
        side to be kept on.
        """
        c, moved = found.contacts, out - x
        room = self._thickness[c.vertex]
        before, aside = c.gap_t1 + found.distance, pick(moved, c.vertex)
        after = before + np.einsum("nj,nj->n", aside, c.normal)
        several = np.zeros(len(c), dtype=np.bool_)
        pair = c.vertex[1:] == c.vertex[:-1]                                # those of a vertex lie side by side
        several[1:] |= pair
        several[:-1] |= pair
        several &= np.einsum("nj,nj->n", aside, aside) > (TOUCHING_OVERSHOOT * room) ** 2
        result = np.zeros(len(x), dtype=np.bool_)
        result[c.vertex[several | (np.minimum(before, after) < UNSURE_HEIGHT * room)]] = True
        result[c.vertex[c.gap_t0 + found.distance < 0.0]] = False
        return result

    def bounds(self, found: Touching, x: FloatArray) -> HalfSpaces:
        """The half spaces that `move_out` brings x (V, 3) [m] into, of all that is near a surface."""
        k = np.flatnonzero(self._free[found.contacts.vertex])
        vertex, normal = found.contacts.vertex[k], pick(found.contacts.normal, k)
        least = np.einsum("nj,nj->n", pick(x, vertex), normal) + self._beyond(found)[k]
        return HalfSpaces.of_vertices(vertex, normal, least)

    # ------------------------------------------------------------------ parts

    @staticmethod
    def _comes_out(contacts: Contacts, eased: BoolArray) -> BoolArray:
        """Contacts (C,) that what is `eased` (V,) out needs not, because it comes out as it moves."""
        return eased[contacts.vertex] & (contacts.gap_t1 > contacts.gap_t0)

    def _beyond(self, found: Touching) -> FloatArray:
        """How far each contact's vertex is beyond where it may be (C,) [m], negative where it has room."""
        c = found.contacts
        deep = np.maximum(-c.gap_t0, 0.0)
        lack = np.minimum(deep, found.distance)                            # how deep it may stay
        if self._eased is not None:
            lack = np.where(self._eased[c.vertex], deep, lack)
        lack -= np.einsum("nj,nj->n", pick(self.alteration, c.vertex), c.normal)
        return np.asarray(-c.gap_t1 - np.maximum(lack, 0.0))

    def _forget(self) -> None:
        """Have what acts asked for again: it has changed."""
        self._acting: list[IntArray | None] = [None] * MAX_PER_VERTEX   # what each row of the table has held
        self._stuck: tuple[IntArray, tuple[FloatArray, FloatArray]] | None = None

    def _active(self, slot: int) -> IntArray:
        found = self._acting[slot]
        if found is None:
            at = self._table[slot]
            at = at[at >= 0]
            found = self._acting[slot] = at[self.held[at]]
        return found

    def _sticking(self) -> tuple[IntArray, tuple[FloatArray, FloatArray]]:
        """Contacts (n,) that stick, and two directions (n, 3) along the surface of each."""
        if self._stuck is None:
            at = self._active(0)
            at = at[self.friction.mode[at] == STICK]
            self._stuck = at, tangents(pick(self.normal, at))
        return self._stuck

    def _rubbing(self) -> IntArray:
        """Contacts with friction that is no constraint: the first ones of vertices, the only ones that are judged."""
        at = self._active(0)
        return at[self.friction.mode[at] != STICK]

    def _normal_forces(self, force: FloatArray) -> tuple[FloatArray, FloatArray]:
        """lambda_n of each contact [N]: the parts along the normals of a vertex that add up to its force; and what is
        left of that (V, 3) [N], along the surfaces."""
        parts = np.zeros(len(self))
        left = force.copy()
        for _ in range(NORMAL_SWEEPS):
            for slot in range(MAX_PER_VERTEX):
                at = self._active(slot)
                if slot and not len(at):
                    continue
                on, normal = self.vertex[at], pick(self.normal, at)
                here = pick(left, on)
                share = np.einsum("nj,nj->n", normal, here)
                parts[at] += share
                left[on] = here - share[:, None] * normal
            if not any(len(self._active(slot)) for slot in range(1, MAX_PER_VERTEX)):
                break
        return parts, left

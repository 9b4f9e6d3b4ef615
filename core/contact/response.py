# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on solids by velocity constraints: the contact of 001, sections 5 and 6.

A particle in contact loses the direction of the contact's normal: the solve may not change its velocity along it
except to what keeps it on the surface at the end of the step. From the solution the constraint force
lambda = (A dv - b) / h follows exactly, and decides what the contact does next:

    release   where it pulls (lambda . n < 0)
    stick     all three directions are taken while |lambda_t| <= mu lambda_n
    slip      only the normal is; a force mu lambda_n acts against the sliding
    stick     again where that force would turn the sliding round

and the step is solved again from where it was until nothing changes. A particle found inside the thickness at the start
is moved out by the position alteration y, which gives it no velocity.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter

if TYPE_CHECKING:
    from .surfaces import Touching

PUSH_PER_STEP = 0.5
"""Part of the thickness by which a particle that starts too close is moved out per step [-]."""
SETTLED = 0.02
"""Relative change of a friction force below which it counts as found [-]."""
TOUCHING = 0.01
"""Part of the thickness by which a solution may overshoot a contact before it counts as a new one [-]."""
SAME_NORMAL = 0.9
"""Contacts of a vertex whose normals' cosine is above this are one contact [-]."""
MAX_PER_VERTEX = 3
SWEEPS = 8
"""Gauss-Seidel sweeps that share a vertex's force among its up to three normals."""

RELEASED, STICK, SLIP = 0, 1, 2


class ContactResponse:
    """The active contacts of one step.

    Args:
        x0, v0: (V, 3) [m], [m/s] at the start of the step.
        step: h [s].
        thickness: (V,) [m]; mass: (V,) [kg].
        free: (V,) bool, False where a pin already takes all three directions.
        drift: (V, 3) [m/s^2], acceleration expected without contact (gravity).
    """

    def __init__(self, x0: FloatArray, v0: FloatArray, step: float, thickness: FloatArray, mass: FloatArray,
                 free: BoolArray, drift: FloatArray) -> None:
        self._x0, self._v0, self._h = x0, v0, step
        self._thickness, self._mass, self._free, self._drift = thickness, mass, free, drift
        self._table: IntArray = np.full((len(x0), MAX_PER_VERTEX), -1)    # contacts of each vertex
        self.vertex: IntArray = np.zeros(0, dtype=np.int64)
        self.normal: FloatArray = np.zeros((0, 3))
        self.least: FloatArray = np.zeros(0)                         # lowest allowed normal velocity [m/s]
        self.carried: FloatArray = np.zeros((0, 3))                  # the surface's own velocity [m/s]
        self.mu: FloatArray = np.zeros(0)
        self.mode: IntArray = np.zeros(0, dtype=np.int64)
        self.friction: FloatArray = np.zeros((0, 3))                 # on slipping particles [N]
        self.alteration: FloatArray = np.zeros_like(x0)              # y [m]

    def __len__(self) -> int:
        return len(self.vertex)

    # ------------------------------------------------------------------ finding

    def predict(self, found: Touching) -> None:
        """Take in the contacts of the motion without forces: these alone may alter positions."""
        c = found.contacts
        inside = (c.gap_t0 < 0.0) & self._free[c.vertex]
        rows = np.flatnonzero(inside)
        pushed, first = np.unique(c.vertex[rows], return_index=True)   # the first of a vertex is the deepest
        k = rows[first]
        push = np.minimum(-c.gap_t0[k], PUSH_PER_STEP * self._thickness[pushed])
        self.alteration[pushed] = push[:, None] * c.normal[k]
        self._take(found, inside | (c.gap_t1 < 0.0))

    def add(self, found: Touching) -> bool:
        """Take in the contacts of a solution that went through a surface; True if that changes anything."""
        return self._take(found, found.contacts.gap_t1 < -TOUCHING * self._thickness[found.contacts.vertex])

    def _take(self, found: Touching, wanted: BoolArray) -> bool:
        changed = False
        vertex = found.contacts.vertex
        rows = np.flatnonzero(wanted & self._free[vertex])
        while len(rows):
            _, one = np.unique(vertex[rows], return_index=True)        # one contact of each vertex at a time
            changed |= self._take_one_each(found, rows[one])
            rows = np.delete(rows, one)
        return changed

    def _take_one_each(self, found: Touching, k: IntArray) -> bool:
        vertex, normal = found.contacts.vertex[k], found.contacts.normal[k]
        known = self._table[vertex]                                        # (n, 3)
        cosine = np.einsum("nsj,nj->ns", self.normal[known], normal) if len(self) else np.zeros(known.shape)
        same = (known >= 0) & (cosine > SAME_NORMAL)
        again = same & (self.mode[known] == RELEASED) if len(self) else same
        room = (known < 0).any(axis=1)
        new = ~same.any(axis=1) & room
        self._append(found, k[new])
        back = again.any(axis=1)
        if back.any():
            self._replace(found, k[back], known[back, np.argmax(again[back], axis=1)])
        return bool(new.any() or back.any())

    def _append(self, found: Touching, k: IntArray) -> None:
        first, n = len(self), len(k)
        vertex = found.contacts.vertex[k]
        self._table[vertex, np.argmax(self._table[vertex] < 0, axis=1)] = np.arange(first, first + n)
        self.vertex = np.concatenate([self.vertex, vertex])
        for name in ("normal", "carried", "friction"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros((n, 3))]))
        for name in ("least", "mu"):
            setattr(self, name, np.concatenate([getattr(self, name), np.zeros(n)]))
        self.mode = np.concatenate([self.mode, np.zeros(n, dtype=np.int64)])
        self._replace(found, k, np.arange(first, first + n))

    def _replace(self, found: Touching, k: IntArray, at: IntArray) -> None:
        """Write contacts k of `found` into places `at`, with the first guess of stick or slip."""
        c = found.contacts
        vertex, n = c.vertex[k], c.normal[k]
        depth = np.maximum(0.0, -c.gap_t0[k])
        # n . (x0 + h u + y) = n . p1 + distance - depth + n . y: on the surface, or moved out by y alone
        gap = np.einsum("nj,nj->n", n, self._x0[vertex] - c.point_t1[k]) - found.distance[k]
        self.vertex[at], self.normal[at], self.mu[at] = vertex, n, found.mu[k]
        self.carried[at] = (c.point_t1[k] - c.point_t0[k]) / self._h
        self.least[at] = -(gap + depth) / self._h
        # Coulomb's law for the particle alone, as a guess: h lambda_n = m (what stops it), friction up to mu of that
        u = self._v0[vertex] + self._h * self._drift[vertex]
        impulse = self._mass[vertex] * np.maximum(0.0, self.least[at] - np.einsum("nj,nj->n", n, u))
        slide = self._tangential(n, u - self.carried[at])
        speed = np.linalg.norm(slide, axis=1)
        slips = self._mass[vertex] * speed > self.mu[at] * impulse
        self.mode[at] = np.where(slips, SLIP, STICK)
        pull = np.where(slips, self.mu[at] * impulse / self._h / np.maximum(speed, 1e-300), 0.0)
        self.friction[at] = -pull[:, None] * slide

    # ------------------------------------------------------------------ solving

    def constrain(self, pins: ConstraintFilter, velocity: FloatArray) -> ConstraintFilter:
        """The filter of pins and contacts, with z = what takes `velocity` (V, 3) [m/s] to the prescribed one."""
        result = pins.copy()
        for slot in range(MAX_PER_VERTEX):                            # normals first: they hold whatever friction does
            at = self._active(slot)
            v = velocity[self.vertex[at]]
            result.constrain(self.vertex[at], self.normal[at],
                             self.least[at] - np.einsum("nj,nj->n", self.normal[at], v))
        at = self._active(0)
        at = at[self.mode[at] == STICK]
        for tangent in _tangents(self.normal[at]):
            change = np.einsum("nj,nj->n", tangent, self.carried[at] - velocity[self.vertex[at]])
            result.constrain(self.vertex[at], tangent, change)
        return result

    def friction_force(self) -> FloatArray:
        """Forces of slipping contacts (V, 3) [N]."""
        total = np.zeros_like(self._x0)
        at = np.flatnonzero(self.mode == SLIP)
        np.add.at(total, self.vertex[at], self.friction[at])
        return total

    def judge(self, u: FloatArray, constraint_force: FloatArray) -> bool:
        """Release, slip or stick by the solution: velocities u (V, 3) and forces lambda (V, 3) [N]; True if changed."""
        if len(self) == 0:
            return False
        pressing = self._normal_forces(constraint_force)
        active = self.mode != RELEASED
        pulls = active & (pressing < 0.0)
        primary = np.zeros(len(self), dtype=bool)
        primary[self._active(0)] = True

        tangential = self._tangential(self.normal, constraint_force[self.vertex])
        size = np.linalg.norm(tangential, axis=1)
        limit = self.mu * np.maximum(pressing, 0.0)
        starts = active & ~pulls & primary & (self.mode == STICK) & (size > limit)

        slide = self._tangential(self.normal, u[self.vertex] - self.carried)
        speed = np.linalg.norm(slide, axis=1)
        slipping = active & ~pulls & (self.mode == SLIP)
        against = np.einsum("nj,nj->n", slide, self.friction)
        stops = slipping & primary & (against > 0.0) & (self.mu > 0.0)
        goes_on = slipping & ~stops
        new = np.where(starts[:, None], tangential * (limit / np.maximum(size, 1e-300))[:, None],
                       -slide * (limit / np.maximum(speed, 1e-300))[:, None])
        drifted = goes_on & (np.linalg.norm(new - self.friction, axis=1) > SETTLED * limit)

        self.friction[starts | goes_on] = new[starts | goes_on]
        self.friction[pulls | stops] = 0.0
        self.mode[pulls], self.mode[starts], self.mode[stops] = RELEASED, SLIP, STICK
        return bool((pulls | starts | stops | drifted).any())

    def move_out(self, found: Touching, x: FloatArray) -> FloatArray:
        """x (V, 3) [m] with what the solve left beyond a surface put back onto it; velocities stay.

        A vertex that started too close comes no further out than `predict` allowed, and never deeper.
        """
        c = found.contacts
        lack = np.minimum(np.maximum(-c.gap_t0, 0.0), found.distance)      # how deep it may stay
        lack -= np.einsum("nj,nj->n", self.alteration[c.vertex], c.normal)
        beyond = np.where(self._free[c.vertex], -c.gap_t1 - np.maximum(lack, 0.0), 0.0)
        result = x.copy()
        for rank in range(MAX_PER_VERTEX):
            at = np.flatnonzero(_rank(c.vertex) == rank)
            at = at[beyond[at] > 0.0]
            # what an earlier contact of the vertex moved it along this normal already counts
            moved = np.einsum("nj,nj->n", (result - x)[c.vertex[at]], c.normal[at])
            result[c.vertex[at]] += np.maximum(beyond[at] - moved, 0.0)[:, None] * c.normal[at]
        return result

    # ------------------------------------------------------------------ parts

    def _active(self, slot: int) -> IntArray:
        at = self._table[:, slot]
        at = at[at >= 0]
        return at[self.mode[at] != RELEASED]

    def _normal_forces(self, force: FloatArray) -> FloatArray:
        """lambda_n of each contact [N]: the parts along the normals of a vertex that add up to its force."""
        parts = np.zeros(len(self))
        left = force.copy()
        for _ in range(SWEEPS):
            for slot in range(MAX_PER_VERTEX):
                at = self._active(slot)
                if slot and not len(at):
                    continue
                share = np.einsum("nj,nj->n", self.normal[at], left[self.vertex[at]])
                parts[at] += share
                left[self.vertex[at]] -= share[:, None] * self.normal[at]
            if not len(self._active(1)):
                break
        return parts

    @staticmethod
    def _tangential(normal: FloatArray, vector: FloatArray) -> FloatArray:
        return vector - np.einsum("nj,nj->n", normal, vector)[:, None] * normal


def _tangents(normal: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors perpendicular to each unit normal (n, 3) and to each other."""
    axis = np.eye(3)[np.argmin(np.abs(normal), axis=1)] if len(normal) else normal
    first = np.cross(normal, axis)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normal, first)


def _rank(vertex: IntArray) -> IntArray:
    """Place of each contact among those of its vertex, for sorted `vertex` (C,)."""
    return np.arange(len(vertex)) - np.searchsorted(vertex, vertex)

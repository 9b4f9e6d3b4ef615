# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth on solids by velocity constraints: the contact of 001, sections 5 and 6.

A particle in contact loses the direction of the contact's normal: the solve may not change its velocity along it
except to what keeps it on the surface at the end of the step. From the solution the constraint force lambda follows,
and decides what the contact does next. It is released where it pulls, lambda . n < 0. It sticks, by two more
constraints along the surface, while |lambda_t| <= mu lambda_n. Else it slips, and is held back by a force of the size
mu lambda_n. What friction would turn round sticks. The step is solved again until hardly anything changes.

`face_contacts` says where contacts are, and moves out what starts too close.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import length, pick, rank_of, tangential, tangents, unit
from ..state import Touch
from .friction_modes import SLIP, STICK
from .planes import MAX_PER_VERTEX
from .sliding_path import STILL_NEAR, TOUCHING_OVERSHOOT
from .surfaces import Touching

FEW_CHANGES = 0.02
"""Largest fraction of the contacts that may change, and of the normal forces that may pull, after the last solve of a
step [-]."""
OPPOSED = 0.4
"""Least length of the part of a unit normal that is orthogonal to the constraints of its vertex so far [-]. Of a normal
that faces another one only a short part is left. A constraint along that would throw the vertex out."""
NORMAL_SWEEPS = 8
"""Gauss-Seidel sweeps that share a vertex's force among its up to three normals."""


class Constraints:
    """The C contacts of one step.

    Args:
        found: contacts of the expected motion.
        base: (V, 3) where a step without velocity ends [m].
        start: (V, 3) positions and velocities at the start [m], [m/s].
        touch: how particles touched in the step before.
        h: step [s].
        mass: (V,) [kg].
        pins: directions that are taken already.
        gravity: (V, 3) [m/s^2], expected of particles that touch for the first time.

    Attributes:
        vertex: (C,). normal: (C, 3). carried: (C, 3) velocity of the surface [m/s].
        held: (C,) whether the contact acts. sticks: (C,) whether it sticks.
        pressing: (C,) normal force at the last solution [N].
    """

    def __init__(self, found: Touching, base: FloatArray, start: tuple[FloatArray, FloatArray], touch: Touch, h: float,
                 mass: FloatArray, pins: ConstraintFilter, gravity: FloatArray) -> None:
        (x0, v0), c = start, found.contacts
        self._pins, self._count, self._h = pins, len(x0), h
        self.vertex, self.normal, self._mu = c.vertex, c.normal, found.mu
        self._rank = rank_of(c.vertex)
        self.carried: FloatArray = (found.carried - pick(x0, c.vertex)) / h
        gap = np.einsum("ni,ni->n", pick(base, c.vertex) - c.point_t1, c.normal) - found.distance
        lack = np.maximum(-c.gap_t0 - np.einsum("ni,ni->n", pick(base - x0, c.vertex), c.normal), 0.0)
        self._least = -(gap + lack) / h                              # on the surface, or as deep as it was
        self._overshoot = TOUCHING_OVERSHOOT * found.distance / h
        self._free: BoolArray = pins.degrees_of_freedom(c.vertex) > 0
        again = (touch.mode[c.vertex] > 0) & (c.gap_t1 < STILL_NEAR * found.distance)
        self.held: BoolArray = self._free & (again | (c.gap_t1 < TOUCHING_OVERSHOOT * found.distance))
        # as in the step before; at first touch by Coulomb's law for the particle alone, m times what stops it
        u, mode, m = pick(v0, c.vertex), touch.mode[c.vertex], mass[c.vertex]
        first = mode == 0
        u[first] += h * pick(gravity, c.vertex[first])
        stopped = m * np.maximum(0.0, self._least - np.einsum("ni,ni->n", self.normal, u)) / h
        self.pressing: FloatArray = np.where(first, stopped, touch.pressing[c.vertex])
        slide = tangential(self.normal, u - self.carried)
        slips = np.where(first, m * length(slide) > h * self._mu * stopped, mode == SLIP)
        self.sticks: BoolArray = ~slips & (self._mu > 0.0)
        self._along: FloatArray = unit(slide)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.held))

    # ------------------------------------------------------------------ solving

    def constrain(self, pins: ConstraintFilter, velocity: FloatArray) -> ConstraintFilter:
        """Return the filter of pins and contacts, with z = what takes `velocity` (V, 3) [m/s] to the prescribed one."""
        result = pins.copy()
        for rank in range(MAX_PER_VERTEX):                           # normals first: they hold whatever friction does
            at = self._acting(rank)
            vertex, normal = self.vertex[at], pick(self.normal, at)
            result.constrain(vertex, normal, self._least[at] - np.einsum("ni,ni->n", normal, pick(velocity, vertex)),
                             OPPOSED)
        at = self._acting(0)
        at = at[self.sticks[at]]
        lags = pick(self.carried, at) - pick(velocity, self.vertex[at])
        for tangent in tangents(pick(self.normal, at)):
            result.constrain(self.vertex[at], tangent, np.einsum("ni,ni->n", tangent, lags))
        return result

    def friction_force(self) -> FloatArray:
        """Return the forces (V, 3) [N] on what slips."""
        at = self._acting(0)
        at = at[~self.sticks[at]]
        result = np.zeros((self._count, 3))
        size = self._mu[at] * np.maximum(self.pressing[at], 0.0)
        result[self.vertex[at]] = -size[:, None] * pick(self._along, at)
        return result

    def work(self, impulse: FloatArray, u: FloatArray) -> float:
        """Return the work [J] of contacts' impulses (V, 3) [N s] at velocities u (V, 3) [m/s] beyond that of moving
        surfaces: none but what friction takes, if the solution is one."""
        at = self._acting(0)
        at = at[self._pins.degrees_of_freedom(self.vertex[at]) == 3]
        vertex = self.vertex[at]
        return float(np.einsum("ni,ni->", pick(impulse, vertex), pick(u, vertex) - pick(self.carried, at)))

    def judge(self, u: FloatArray, force: FloatArray) -> bool:
        """Correct the contacts by a solution: velocities u (V, 3) [m/s] and constraint forces lambda (V, 3) [N].

        Returns:
            whether so much changed that the step should be solved again.
        """
        if len(self.vertex) == 0:
            return False
        there = pick(u, self.vertex)
        self.pressing, left = self._normal_forces(force)
        pulls = self.held & (self.pressing < 0.0)
        beyond = self._least - np.einsum("ni,ni->n", self.normal, there) > self._overshoot
        enters = ~self.held & self._free & beyond
        slide = tangential(self.normal, there - self.carried)
        primary = np.zeros(len(self.vertex), dtype=np.bool_)
        primary[self._acting(0)] = True
        holding = tangential(self.normal, pick(left, self.vertex))
        limit = self._mu * np.maximum(self.pressing, 0.0)
        lets_go = primary & self.sticks & (length(holding) > limit)
        turned = primary & ~self.sticks & (np.einsum("ni,ni->n", slide, self._along) < 0.0) & (self._mu > 0.0)
        self._along = np.where(lets_go[:, None], -unit(holding),
                               np.where((primary & ~self.sticks & ~turned)[:, None], unit(slide), self._along))
        self.sticks = (self.sticks & ~lets_go) | turned
        self.held = (self.held & ~pulls) | enters
        total = float(np.maximum(self.pressing, 0.0)[self.held].sum())
        changed = int(np.count_nonzero(enters | lets_go | turned))
        return changed > FEW_CHANGES * len(self) or float(-self.pressing[pulls].sum()) > FEW_CHANGES * total

    def touch(self) -> Touch:
        """Return how each particle touches at the end of the step."""
        mode, pressing = np.zeros(self._count, dtype=np.int64), np.zeros(self._count)
        at = self._acting(0)
        mode[self.vertex[at]] = np.where(self.sticks[at], STICK, SLIP)
        pressing[self.vertex[at]] = np.maximum(self.pressing[at], 0.0)
        return Touch(mode, pressing)

    # ------------------------------------------------------------------ parts

    def _acting(self, rank: int) -> IntArray:
        """Return the contacts that act and are number `rank` of their vertex."""
        return np.flatnonzero(self.held & (self._rank == rank))

    def _normal_forces(self, force: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lambda_n of each contact [N], the parts along the normals of a vertex that add up to its force; and
        what is left of that (V, 3) [N], along the surfaces."""
        parts, left = np.zeros(len(self.vertex)), force.copy()
        acting = [at for at in map(self._acting, range(MAX_PER_VERTEX)) if len(at)]
        for _ in range(NORMAL_SWEEPS if len(acting) > 1 else 1):
            for at in acting:
                on, normal = self.vertex[at], pick(self.normal, at)
                share = np.einsum("ni,ni->n", normal, pick(left, on))
                parts[at] += share
                left[on] -= share[:, None] * normal
        return parts, left

# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices that start inside of solids come out in front of the nearest face.

A position alteration y of the step (001) moves them out at a bounded rate and gives them no velocity. A pair with the
place on the surface keeps them from going deeper again, and friction there takes them along with the solid. A vertex at
a depth D below its distance is to end at n . (x1 - p1) = d - D + n . y or above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import pick
from .friction import ELASTIC
from .pair_contacts import STIFFNESS
from .repulsion import Contacts
from .surfaces import Touching

PUSH_RATE = 24.0
"""Thicknesses by which a particle that starts too close is moved out per second [1/s]."""


@dataclass(frozen=True)
class WayOut:
    """The n vertices inside of solids in one step, each with its deepest contact.

    Attributes:
        found: their contacts.
        alteration: (V, 3) position alteration y of all vertices [m].
    """

    found: Touching
    alteration: FloatArray

    @staticmethod
    def of(found: Touching, some: BoolArray, thickness: FloatArray, pins: ConstraintFilter, h: float) -> WayOut | None:
        """Return the way out of `some` vertices (V,) in a step of h [s]; None if none of them is inside of a solid.

        Args:
            found: contacts of a motion from the start of the step.
            thickness: (V,) of the vertices [m].
            pins: directions that are taken already.
        """
        c = found.contacts
        rows = np.flatnonzero((c.gap_t0 + found.distance < 0.0) & some[c.vertex])
        if len(rows) == 0:
            return None
        rows = rows[np.unique(c.vertex[rows], return_index=True)[1]]         # the first of a vertex is the deepest
        deep = found[rows]
        vertex = deep.contacts.vertex
        alteration = np.zeros((len(some), 3))
        push = np.minimum(-deep.contacts.gap_t0, PUSH_RATE * h * thickness[vertex])
        alteration[vertex] = push[:, None] * deep.contacts.normal
        return WayOut(deep, pins.project(alteration))

    def contacts(self, x0: FloatArray, mass: FloatArray, inertia: FloatArray, h: float) -> Contacts:
        """Return the pairs that keep the vertices at their depth, less the alteration, in a step from x0 (V, 3) [m].

        Args:
            mass, inertia: (V,) of the vertices [kg], as of `make_contacts`.
            h: step [s].
        """
        c, distance = self.found.contacts, self.found.distance
        count, vertex = len(c), c.vertex
        least = distance + c.gap_t0 + np.einsum("ni,ni->n", pick(self.alteration, vertex), c.normal)
        stiffness, none, zero = np.maximum(STIFFNESS * mass[vertex], inertia[vertex]), np.zeros((count, 3)), np.zeros(count)
        weights = np.zeros((count, 4))
        weights[:, 0] = 1.0
        vertices: IntArray = np.repeat(vertex[:, None], 4, axis=1)
        return Contacts(-1 - np.arange(count), vertices, weights, c.normal, least, stiffness, zero, none, none, none,
                        self.found.mu, mass[vertex], np.full(count, -np.inf), zero, stiffness, ELASTIC * distance,
                        np.zeros(count, dtype=np.bool_), -c.point_t1, -(self.found.carried - pick(x0, vertex)) / h)

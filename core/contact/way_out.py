# SPDX-License-Identifier: GPL-3.0-or-later
"""Vertices that start inside of solids, or beside a place where cloth crosses one, and the faces that hold them.

There no pair of the surroundings says on which side of a face a vertex belongs. The nearest place of the surface does.
A position alteration y of the step (001) moves them out at a bounded rate and gives them no velocity. A pair with the
place on the surface keeps them from going deeper again, and friction there takes them along with the solid: a vertex at
a depth D below its distance d is to end at n . (x1 - p1) = d - D + n . y or above. What is outside keeps its distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import pick
from .continuous import Pairs
from .friction import ELASTIC
from .pair_contacts import LIFTED, RECOVERY, STIFFNESS
from .repulsion import Contacts
from .self_contact import SelfContact
from .surfaces import Touching

PUSH_RATE = 24.0
"""Thicknesses by which a particle that starts too close is moved out per second [1/s]."""


@dataclass(frozen=True)
class WayOut:
    """The n vertices inside of solids, or beside crossings with them, in one step, each with its deepest contact.

    Attributes:
        found: their contacts.
        alteration: (V, 3) position alteration y of all vertices [m].
    """

    found: Touching
    alteration: FloatArray

    @staticmethod
    def of(found: Touching, some: BoolArray, beside: BoolArray | None, thickness: FloatArray, pins: ConstraintFilter,
           h: float) -> WayOut | None:
        """Return the way out of `some` vertices (V,) in a step of h [s]; None if none of them is inside of a solid.

        Args:
            found: contacts of a motion from the start of the step.
            beside: (V,) vertices beside a crossing with a solid; None if there are none.
            thickness: (V,) of the vertices [m].
            pins: directions that are taken already.
        """
        c = found.contacts
        wanted = c.gap_t0 + found.distance < 0.0
        if beside is not None:
            wanted |= beside[c.vertex]
        rows = np.flatnonzero(wanted & some[c.vertex])
        if len(rows) == 0:
            return None
        rows = rows[np.unique(c.vertex[rows], return_index=True)[1]]         # the first of a vertex is the deepest
        deep = found[rows]
        vertex = deep.contacts.vertex
        alteration = np.zeros((len(some), 3))
        inside = deep.contacts.gap_t0 + deep.distance < 0.0
        push = np.where(inside, np.minimum(-deep.contacts.gap_t0, PUSH_RATE * h * thickness[vertex]), 0.0)
        alteration[vertex] = push[:, None] * deep.contacts.normal
        return WayOut(deep, pins.project(alteration))

    def contacts(self, fixed: SelfContact, x0: FloatArray, inertia: FloatArray, h: float) -> Contacts:
        """Return the pairs that keep the vertices at their depth, less the alteration, in a step from x0 (V, 3) [m].

        Args:
            fixed: geometry of all surfaces.
            inertia: (V,) of the vertices [kg], as of `make_contacts`.
            h: step [s].
        """
        c, distance = self.found.contacts, self.found.distance
        count, vertex = len(c), c.vertex
        start = distance + c.gap_t0
        outside = np.clip(start, 0.0, distance)
        least = np.where(start < 0.0, start + np.einsum("ni,ni->n", pick(self.alteration, vertex), c.normal),
                         outside + min(1.0, h * RECOVERY) * (distance - outside))
        mass, zero, none = fixed.mass[vertex], np.zeros(count), np.zeros((count, 3))
        stiffness = np.maximum(STIFFNESS * mass, inertia[vertex])
        weights = np.zeros((count, 4))
        weights[:, 0] = 1.0
        vertices: IntArray = np.repeat(vertex[:, None], 4, axis=1)
        return Contacts(self._keys(fixed), vertices, weights, c.normal, least, stiffness, zero, none, none, none,
                        self.found.mu, mass, np.full(count, -np.inf), np.where(start < 0.0, 0.0, LIFTED * distance),
                        stiffness, ELASTIC * distance, np.zeros(count, dtype=np.bool_), -c.point_t1,
                        -(self.found.carried - pick(x0, vertex)) / h)

    def _keys(self, fixed: SelfContact) -> IntArray:
        """Return the numbers (n,) of the pairs of vertices with places of the surface."""
        c, surfaces = self.found.contacts, fixed.all
        triangle = np.array([solid.first_triangle for solid in surfaces.solids])[c.collider] + c.triangle
        primitives = np.column_stack([c.vertex, triangle])
        vertices = np.column_stack([c.vertex, surfaces.triangles[triangle]])
        weights = np.column_stack([np.ones(len(c)), -c.barycentric])
        return fixed.features.keys(Pairs(vertices, primitives, len(c), weights, c.normal, c.gap_t0, c.gap_t0))

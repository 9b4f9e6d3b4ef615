# SPDX-License-Identifier: GPL-3.0-or-later
"""Contacts of vertices of cloth with faces of solids in one step, where the motion is expected to end.

The normal of a contact is that of the place where the vertex is expected at the end of the step. With the normal of its
start, what slides round a drum by an angle would be held back by that angle, as by so much more friction.

A vertex that starts too close, or inside of a solid, is moved out in front of the nearest face: by a position
alteration y of the step (001), at a bounded rate, which gives it no velocity. It is not to go deeper again. One that
lacks D of its distance d is to end at n . (x1 - p1) = d - D + n . y or above. What lacks no more than springs give is
not moved.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..linear.constraint_filter import ConstraintFilter
from ..row_ops import any_of, pick
from .all_surfaces import Motion
from .continuous import Pairs
from .friction_modes import ELASTIC
from .half_spaces import HalfSpaces
from .pair_contacts import LIFTED, RECOVERY, STIFFNESS
from .repulsion import Contacts
from .self_contact import SelfContact
from .surfaces import Touching
from .turns import turns

PUSH_RATE = 24.0
"""Thicknesses by which a particle that starts too close is moved out per second [1/s]."""
GIVEN = 2.0
"""Lack of distance that is not moved out, over what springs give [-]."""


@dataclass(frozen=True)
class FaceContacts:
    """The n contacts of vertices with faces in one step.

    Attributes:
        found: where.
        alteration: (V, 3) position alteration y of all vertices [m]; None if none is too close.
    """

    found: Touching
    alteration: FloatArray | None

    @staticmethod
    def of(found: Touching, some: BoolArray, thickness: FloatArray, pins: ConstraintFilter, h: float) -> FaceContacts:
        """Return the contacts of `some` vertices (V,) in a step of h [s].

        Args:
            found: contacts of the expected motion.
            thickness: (V,) of the vertices [m].
            pins: directions that are taken already.
        """
        kept = found if some.all() else found[np.flatnonzero(some[found.contacts.vertex])]
        c = kept.contacts
        lack = -c.gap_t0 - GIVEN * ELASTIC * kept.distance
        close = np.flatnonzero(lack > 0.0)
        if len(close) == 0:
            return FaceContacts(kept, None)
        close = close[np.lexsort((-lack[close], c.vertex[close]))]
        rows = close[np.unique(c.vertex[close], return_index=True)[1]]       # of each vertex what lacks most
        vertex, alteration = c.vertex[rows], np.zeros((len(some), 3))
        push = np.minimum(lack[rows], PUSH_RATE * h * thickness[vertex])
        alteration[vertex] = push[:, None] * c.normal[rows]
        return FaceContacts(kept, pins.project(alteration))

    def bounds(self, x: FloatArray) -> HalfSpaces:
        """Return the half spaces in which vertices at x (V, 3) [m] keep their distance, or the height that they have if
        that is less."""
        c = self.found.contacts
        height = np.einsum("ni,ni->n", pick(x, c.vertex), c.normal)
        surface = np.einsum("ni,ni->n", c.point_t1, c.normal)
        return HalfSpaces.of_vertices(c.vertex, c.normal, np.minimum(height, surface + self.found.distance))

    def contacts(self, fixed: SelfContact, x0: FloatArray, inverse_mass: FloatArray, inertia: FloatArray, h: float
                 ) -> Contacts:
        """Return the pairs of a step of h [s] from x0 (V, 3) [m].

        Args:
            fixed: geometry of all surfaces.
            inverse_mass: (V,) of the vertices, 0 of those that pins hold [1/kg].
            inertia: (V,) of the vertices [kg], as of `make_contacts`.
        """
        c, distance = self.found.contacts, self.found.distance
        count, vertex = len(c), c.vertex
        start = distance + c.gap_t0
        least = np.minimum(start, distance)
        if self.alteration is not None:
            outward = np.einsum("ni,ni->n", pick(self.alteration, vertex), c.normal)
            least = np.minimum(least + np.maximum(outward, 0.0), distance)
        least += min(1.0, h * RECOVERY) * np.clip(distance - least, 0.0, GIVEN * ELASTIC * distance)
        mass, zero, none = fixed.mass[vertex], np.zeros(count), np.zeros((count, 3))
        roomy = ~self.found.squeezed
        stiffness = np.where(roomy, np.maximum(STIFFNESS * mass, inertia[vertex]), STIFFNESS * mass)
        weights = np.zeros((count, 4))
        weights[:, 0] = 1.0
        vertices: IntArray = np.repeat(vertex[:, None], 4, axis=1)
        lift, give = np.where(start < 0.0, 0.0, LIFTED * distance), np.where(roomy, ELASTIC * distance, 0.0)
        all_ = Contacts(self._keys(fixed), vertices, weights, c.normal, least, stiffness, zero, none, none, none,
                        self.found.mu, mass, np.full(count, -np.inf), np.full(count, np.inf), lift, stiffness, give,
                        np.zeros(count, dtype=np.bool_), -c.point_t1, -(self.found.carried - pick(x0, vertex)) / h)
        moves = inverse_mass[vertex] > 0.0
        return all_ if moves.all() else all_[moves]

    def turns(self, fixed: SelfContact, motion: Motion, inverse_mass: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return which of `contacts` (n,) are on faces that move, and the rotations of these (n, 3, 3)."""
        rows = np.flatnonzero(inverse_mass[self.found.contacts.vertex] > 0.0)
        corners = fixed.all.triangles[self._triangles(fixed)[rows]] - fixed.all.count
        moving = np.flatnonzero(any_of(pick(any_of(motion.x_t0 != motion.x_t1), corners)))
        return moving, turns(motion.x_t0[corners[moving]], motion.x_t1[corners[moving]])

    def _triangles(self, fixed: SelfContact) -> IntArray:
        """Return the triangle (n,) of each contact, among all."""
        c = self.found.contacts
        first = np.array([solid.first_triangle for solid in fixed.all.solids])
        triangles: IntArray = first[c.collider] + c.triangle
        return triangles

    def _keys(self, fixed: SelfContact) -> IntArray:
        """Return the numbers (n,) of the pairs of vertices with places of the surface."""
        c, triangle = self.found.contacts, self._triangles(fixed)
        primitives = np.column_stack([c.vertex, triangle])
        vertices = np.column_stack([c.vertex, fixed.all.triangles[triangle]])
        weights = np.column_stack([np.ones(len(c)), -c.barycentric])
        return fixed.features.keys(Pairs(vertices, primitives, len(c), weights, c.normal, c.gap_t0, c.gap_t0))

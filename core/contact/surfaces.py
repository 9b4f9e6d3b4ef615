# SPDX-License-Identifier: GPL-3.0-or-later
"""All colliders of a scene during one step: where cloth touches them, and with which friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray
from ..collider import Collider
from .colliders import MovingSurface, SurfaceShape
from .pairs import Contacts, find_contacts


@dataclass(frozen=True)
class Touching:
    """Contacts with what the two materials say of them.

    Attributes:
        contacts: where. distance (C,) [m]: kept from the surface. mu (C,) [-]: the geometric mean of the fabric's
            and the collider's friction, so that either alone can make a contact smooth.
        carried (C, 3) [m]: where the vertex would be at the end, had it moved and turned with the contact's triangle.
            Not the motion of the contact's own point: that is near the vertex's end, and the difference, of third
            order in the angle turned, would be strain to a stiff sheet.
    """

    contacts: Contacts
    mu: FloatArray
    distance: FloatArray
    carried: FloatArray


class SurfaceSet:
    """The colliders of a simulation; `set_step` says between which times.

    Args:
        colliders: at least one.
        thickness (V,) [m] and friction (V,) [-] of the cloth's vertices: the first of all particles, contact does not
            see any others.
    """

    def __init__(self, colliders: Sequence[Collider], thickness: FloatArray, friction: FloatArray) -> None:
        self._colliders, self._thickness, self._friction = colliders, thickness, friction
        self._shapes = [SurfaceShape.build(c.at(0.0), c.triangles) for c in colliders]
        self._moving: list[MovingSurface] = []
        self._times = (np.nan, np.nan)

    def set_step(self, start: float, end: float) -> None:
        """Look at the colliders between two times [s]."""
        if (start, end) == self._times:
            return
        # a step that follows the last one starts where that ended; still colliders stay as they are
        follows = start == self._times[1]
        fresh = not self._moving
        for number, (collider, shape) in enumerate(zip(self._colliders, self._shapes, strict=True)):
            if fresh or collider.moves:
                x_t0 = self._moving[number].x_t1 if follows else collider.at(start)
                x_t1 = collider.at(end) if collider.moves else x_t0
                if np.array_equal(x_t0, x_t1):                       # rests, for now
                    if follows and self._moving[number].x_t0 is x_t0:
                        continue
                    x_t1 = x_t0
                surface = shape.moving(x_t0, x_t1, thickness=collider.thickness, friction=collider.friction,
                                       before=self._moving[number] if follows else None)
                if fresh:
                    self._moving.append(surface)
                else:                                                # another list: this one may be somebody's
                    self._moving = [*self._moving[:number], surface, *self._moving[number + 1:]]
        self._times = (start, end)

    @property
    def moving(self) -> Sequence[MovingSurface]:
        """The colliders in this step; the same sequence as long as nothing about them changes."""
        return self._moving

    def find(self, x0: FloatArray, x1: FloatArray) -> Touching:
        """Contacts of the motion x0 -> x1 (V, 3) [m]."""
        count = len(self._thickness)
        found = find_contacts(x0[:count], x1[:count], self._moving, self._thickness)
        solid = np.array([s.friction for s in self._moving])[found.collider]
        extra = np.array([s.thickness for s in self._moving])[found.collider]
        return Touching(found, np.sqrt(self._friction[found.vertex] * solid), self._thickness[found.vertex] + extra,
                        self._carried(x0, found))

    def _carried(self, x0: FloatArray, found: Contacts) -> FloatArray:
        result = x0[found.vertex]
        for number, surface in enumerate(self._moving):
            at = np.flatnonzero(found.collider == number)
            if len(at) and surface.x_t0 is not surface.x_t1:
                corners = surface.shape.triangles[found.triangle[at]]
                before, after = _frames(surface.x_t0[corners]), _frames(surface.x_t1[corners])
                arm = np.einsum("nij,nj->ni", before, result[at] - found.point_t0[at])
                result[at] = found.point_t1[at] + np.einsum("nij,ni->nj", after, arm)
        return result


def _frames(corners: FloatArray) -> FloatArray:
    """Orthonormal axes (n, 3, 3), as rows, that triangles (n, 3, 3) [m] take along when they move and turn."""
    first = corners[:, 1] - corners[:, 0]
    normal = np.cross(first, corners[:, 2] - corners[:, 0])
    axes = np.stack([first, np.cross(normal, first), normal], axis=1)
    size = np.linalg.norm(axes, axis=2, keepdims=True)
    axes /= np.where(size > 0.0, size, 1.0)
    return axes

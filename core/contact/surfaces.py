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
    """

    contacts: Contacts
    mu: FloatArray
    distance: FloatArray


class SurfaceSet:
    """The colliders of a simulation; `set_step` says between which times.

    Args:
        colliders: at least one.
        thickness (V,) [m] and friction (V,) [-] of the cloth's vertices.
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
                surface = shape.moving(x_t0, x_t1, thickness=collider.thickness, friction=collider.friction)
                if fresh:
                    self._moving.append(surface)
                else:
                    self._moving[number] = surface
        self._times = (start, end)

    def find(self, x0: FloatArray, x1: FloatArray) -> Touching:
        """Contacts of the motion x0 -> x1 (V, 3) [m]."""
        found = find_contacts(x0, x1, self._moving, self._thickness)
        solid = np.array([s.friction for s in self._moving])[found.collider]
        extra = np.array([s.thickness for s in self._moving])[found.collider]
        return Touching(found, np.sqrt(self._friction[found.vertex] * solid), self._thickness[found.vertex] + extra)

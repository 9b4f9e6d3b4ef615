# SPDX-License-Identifier: GPL-3.0-or-later
"""Find piles: pieces of cloth, pressing on cloth, that come to rest in short steps only.

A piece is one if cloth carries a part of its weight that counts, or if it hangs in folds that no solid holds up. Long
steps would keep it trembling. A piece that a solid holds up, and that touches itself in a few places, comes to rest in
steps of any length.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..arrays import FloatArray, IntArray

CARRIES, SQUEEZES = 0.1, 1.0
"""Part of a cloth's weight that cloth must carry of it to be a pile, or by which in all it must be pressed together in
whatever direction [-]: where folds that hang down touch, a thirtieth is carried, and a quarter presses."""
LIES = 0.5
"""Part of its weight with which solids are pressed by cloth that lies on them [-]. The folds of a silk curtain that
barely touched kept it swaying at 15 cm/s, in steps twice as long as those in which it came to rest."""


@dataclass(frozen=True)
class Pressing:
    """P pairs of cloth that press on each other.

    Attributes:
        vertices (P, 2): one of either side. normal (P, 3): along which they press. force (P,) [N].
    """

    vertices: IntArray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    normal: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    force: FloatArray = field(default_factory=lambda: np.zeros(0))

    def __len__(self) -> int:
        return len(self.force)


class Piles:
    """The pieces of cloth and their weights.

    Args:
        body (V,): number of each vertex's piece. mass (V,) [kg]. gravity (3,) [m/s^2].
    """

    def __init__(self, body: IntArray, mass: FloatArray, gravity: FloatArray) -> None:
        strength = float(np.linalg.norm(gravity))
        self._body, self._weight = body, strength * np.bincount(body, mass)                                       # [N]
        self._down = gravity / (strength or 1.0)

    def has(self, pressing: Pressing, vertex: IntArray, held: FloatArray) -> bool:
        """Whether there is a piece that comes to rest in short steps alone; solids hold each `vertex` (C,) with a force
        `held` (C,) [N]."""
        return self._is_heavy(pressing) or not self._lies(pressing, vertex, held)

    def _is_heavy(self, pressing: Pressing) -> bool:
        """Whether cloth carries a part of a piece's weight that counts, or squeezes it with more than that."""
        one, other = self._body[pressing.vertices].T
        itself = one == other                                                             # what counts once
        for force, part in ((pressing.force * np.abs(pressing.normal @ self._down), CARRIES),
                            (pressing.force, SQUEEZES)):
            total = self._sum(one, force) + self._sum(other, np.where(itself, 0.0, force))
            if (total > part * self._weight).any():
                return True
        return False

    def _lies(self, pressing: Pressing, vertex: IntArray, held: FloatArray) -> bool:
        """Whether solids hold up every piece that presses on cloth."""
        enough = self._sum(self._body[vertex], held) > LIES * self._weight
        return bool(enough[self._body[pressing.vertices]].all())

    def _sum(self, piece: IntArray, force: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(piece, force, len(self._weight)), dtype=np.float64)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Seams and buttons as springs, whose lengths at rest shrink to zero until the closing time."""

from __future__ import annotations

from ..description.seams import Sewing
from ..stencils.springs.seam_spring import SeamSpring
from ..stencils.stencil import ElementForce, Stencil


class SeamForce:
    """The springs of seams, or of buttons, of one cloth.

    Args:
        sewing: their pairs of points.
        first: number of the cloth's first vertex among those of all cloths.
    """

    def __init__(self, sewing: Sewing, first: int = 0) -> None:
        self._sewing = sewing
        self._stencil = Stencil(sewing.vertices + first, sewing.weights[:, :, None])

    def at(self, time: float) -> ElementForce:
        """Return the springs at `time` [s]."""
        sewing = self._sewing
        return ElementForce(self._stencil, SeamSpring(), (sewing.stiffness, sewing.lengths(time), sewing.most))

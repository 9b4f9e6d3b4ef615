# SPDX-License-Identifier: GPL-3.0-or-later
"""A painted rest shape is taken on little by little, within the closing time T of seams and buttons.

Cloth that at once wants to be half as large starts with the energy of all of that stretch: it is thrown together, runs
through itself and crumples, where it would have shrunk smoothly. So an element of scale e is at first as large as it is
modelled:

    s_e(t) = 1 + (e - 1) s^2 (3 - 2 s),    s = min(t / T, 1),         F_c(t) = e / s_e(t)  F_c                    [-]

All columns of its stencil are those of an element with lengths at rest of s_e over 1, not e over 1: that holds for
whatever a law makes of them, and leaves angles alone. Masses are those of the end.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..stencils.stencil import ElementForce, Stencil


class Easing:
    """Of one cloth's forces.

    Args:
        forces: of the system, of which `places` are the cloth's; those whose stiffness is constant stay as they are,
            with what completes them.
        scale: (V,) of all particles [-]. time: T [s].
    """

    def __init__(self, forces: MutableSequence[ElementForce], places: range, scale: FloatArray, time: float) -> None:
        self._forces, self._time, self._part = forces, time, 1.0
        self._places = [place for place in places if not forces[place].law.constant_tangent
                        and not getattr(forces[place].law, "completes_constant_law", False)]
        self._last: dict[int, Stencil] = {id(forces[p].stencil): forces[p].stencil for p in self._places}
        self._of = {place: id(forces[place].stencil) for place in self._places}
        self._scale = {key: _means(stencil, scale) for key, stencil in self._last.items()}

    def set(self, time: float) -> bool:
        """Make the forces those at `time` [s]; whether that changes them."""
        s = min(max(time / self._time, 0.0), 1.0) if self._time else 1.0
        part = s * s * (3.0 - 2.0 * s)
        if part == self._part:
            return False
        self._part = part
        stencils = self._last if part == 1.0 else {
            key: replace(stencil, weights=stencil.weights / self.longer(e)[:, None, None])
            for (key, stencil), e in zip(self._last.items(), self._scale.values(), strict=True)}
        for place in self._places:
            self._forces[place] = replace(self._forces[place], stencil=stencils[self._of[place]])
        return True

    def longer(self, scale: FloatArray) -> FloatArray:
        """Lengths at rest now over those of the end, s_e / e, of what has these scales e (N,) [-]."""
        now: FloatArray = (1.0 + (scale - 1.0) * self._part) / scale
        return now


def _means(stencil: Stencil, scale: FloatArray) -> FloatArray:
    """The mean scale of each element's vertices (E,) [-]."""
    there = stencil.weights.any(axis=2)
    count = there.sum(axis=1)
    return np.where(count, (scale[stencil.vertices] * there).sum(axis=1), 1.0) / np.maximum(count, 1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted rest shapes are reached gradually, within the closing time T of seams and buttons.

Cloth whose rest shape is at once half as large starts with all the energy of that stretch: it crumples and passes
through itself. So an element whose scale is e is at first as large as it is modelled:

    s_e(t) = 1 + (e - 1) s^2 (3 - 2 s),    s = min(t / T, 1),         F_c(t) = e / s_e(t)  F_c                    [-]

The columns of its stencil are then those of an element with lengths at rest s_e instead of e. This holds for every law,
and leaves angles unchanged. Masses are those of the final shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..stencils.stencil import ElementForce, Stencil
from .force_families import families


class RestShapeRamp:
    """The ramp of one cloth.

    Args:
        forces: of the cloth's model, in the final rest shape. Those of constant stiffness, and those that complete
            them, keep that shape.
        scale: (V,) scale of all particles [-].
        time: T [s].
    """

    def __init__(self, forces: Sequence[ElementForce], scale: FloatArray, time: float) -> None:
        self._time = time
        grouped = families(force for force in forces if not force.law.constant_tangent
                           and not getattr(force.law, "completes_constant_law", False))
        self._places = [[place for place, force in enumerate(forces) if any(force is other for other in family)]
                        for family in grouped]
        self._scales = [_means(family[0].stencil, scale) for family in grouped]

    def part(self, time: float) -> float:
        """Return the part of the change of shape that is done at `time` [s], 0 to 1 [-]."""
        s = min(max(time / self._time, 0.0), 1.0) if self._time > 0.0 else 1.0
        return s * s * (3.0 - 2.0 * s)

    def at(self, time: float, forces: Sequence[ElementForce], now: FloatArray | None = None) -> list[ElementForce]:
        """Return `forces`, in the order of those given and in their final shape, at `time` [s].

        now: (V,) scale that is final at this time [-], where it changes.
        """
        part, result = self.part(time), list(forces)
        if part == 1.0 and now is None:
            return result
        for places, scale in zip(self._places, self._scales, strict=True):
            old = forces[places[0]].stencil
            stencil = old.reweighted(old.weights / over_final(
                scale, part, scale if now is None else _means(old, now))[:, None, None])
            for place in places:
                result[place] = replace(forces[place], stencil=stencil)
        return result


def over_final(scale: FloatArray, part: float, now: FloatArray) -> FloatArray:
    """Return s_e / e (N,) [-], lengths at rest over the final ones, for scales e (N,) when `part` of the change is
    done, to the scales `now` (N,) that may differ from e."""
    ratio: FloatArray = (1.0 + (now - 1.0) * part) / scale
    return ratio


def _means(stencil: Stencil, scale: FloatArray) -> FloatArray:
    """Return the mean scale (E,) [-] of the vertices of each element that have a weight."""
    there = stencil.weights.any(axis=2)
    count = there.sum(axis=1)
    return np.where(count, (scale[stencil.vertices] * there).sum(axis=1), 1.0) / np.maximum(count, 1)

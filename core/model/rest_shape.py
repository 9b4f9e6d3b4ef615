# SPDX-License-Identifier: GPL-3.0-or-later
"""The rest shape of one cloth over time: positions that it follows, and the gradual start of a painted scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..stencils.stencil import ElementForce
from .curved_patches import CurvedPatches
from .force_families import families
from .rest_motion import RestMotion
from .rest_shape_ramp import RestShapeRamp, over_final


class RestShape:
    """The rest shape of one cloth over time.

    Args:
        cloth: the cloth.
        forces: those of its model, in the numbering of all particles.
        scale: (N,) painted scale of all particles [-].
        first: number of its first particle.
        bends: as `CurvedPatches` takes them.

    Attributes:
        moves: whether the rest shape changes with time.
    """

    def __init__(self, cloth: Cloth, forces: Sequence[ElementForce], scale: FloatArray, first: int,
                 bends: Sequence[tuple[float, float]] = ()) -> None:
        self._cloth = cloth
        self._motion: RestMotion | None = None
        if cloth.rest_motion is not None:
            self._patches = CurvedPatches(cloth, forces, bends, first)
            self._motion = RestMotion(cloth, forces, self._patches, first)
        gradual = cloth.maps.rest_scale is not None and cloth.closing_time > 0.0
        self._ramp = RestShapeRamp(self.final(forces), scale, cloth.closing_time) if gradual else None
        self.moves = self._motion is not None or self._ramp is not None

    def final(self, forces: Sequence[ElementForce]) -> list[ElementForce]:
        """Return `forces` of the model in the final rest shape, that of time 0 where it moves. A rest shape that moves
        has further forces."""
        return list(forces) if self._motion is None else self._patches.completed(forces, self._patches.rest)

    def at(self, time: float, forces: Sequence[ElementForce]) -> list[ElementForce]:
        """Return `forces` of the model at `time` [s], in the order of `final`."""
        result = list(forces)
        if self._motion is not None:
            for family in families(result):
                places = [place for place, force in enumerate(result) if any(force is other for other in family)]
                for place, force in zip(places, self._motion.changed(family, time), strict=True):
                    result[place] = force
            result = self._patches.completed(result, [
                rest + gain for rest, gain in zip(self._patches.rest, self._motion.curvatures(time), strict=True)])
        return result if self._ramp is None else self._ramp.at(time, result)

    def key(self, time: float) -> float:
        """Return a number that is equal at two times [s] only if the rest shape is the same."""
        if self._motion is not None:
            return time
        return 1.0 if self._ramp is None else self._ramp.part(time)

    def edge_ratios(self, time: float) -> FloatArray:
        """Return the rest lengths of the cloth's edges at `time` [s] over the final ones (E,) [-]."""
        mesh, moved = self._cloth.mesh, self.motion_ratios(time)
        ratios = np.ones(len(mesh.edges)) if moved is None else moved
        if self._ramp is None:
            return ratios
        return ratios * over_final(mesh.scale[mesh.edges].mean(axis=1), self._ramp.part(time))

    def motion_ratios(self, time: float) -> FloatArray | None:
        """Return `edge_ratios` without those of a gradual start, None if the rest shape follows no positions."""
        return None if self._motion is None else self._motion.edge_ratios(time)

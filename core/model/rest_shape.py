# SPDX-License-Identifier: GPL-3.0-or-later
"""The rest shape of one cloth over time: positions that it follows, its plastic part, and the gradual start of a
painted scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..stencils.stencil import ElementForce
from .curved_patches import CurvedPatches
from .force_families import families
from .plastic_flow import PlasticFlow, settings_of
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
        moves: whether the rest shape changes with time, or flows.
        plastic_start: (n,) plastic part at the start, empty for a rest shape that does not flow.
    """

    def __init__(self, cloth: Cloth, forces: Sequence[ElementForce], scale: FloatArray, first: int,
                 bends: Sequence[tuple[float, float]] = ()) -> None:
        self._cloth = cloth
        self._motion: RestMotion | None = None
        self._flow: PlasticFlow | None = None
        self._patches: CurvedPatches | None = None
        if cloth.rest_motion is not None or settings_of(cloth) is not None:
            self._patches = CurvedPatches(cloth, forces, bends, first)
        if cloth.rest_motion is not None and self._patches is not None:
            self._motion = RestMotion(cloth, forces, self._patches, first)
        if settings_of(cloth) is not None and self._patches is not None:
            self._flow = PlasticFlow(cloth, forces, self._patches)
        self._scale, self._own = scale, slice(first, first + len(cloth.positions))
        gradual = cloth.maps.rest_scale is not None and (cloth.closing_time > 0.0 or cloth.maps.rest_scale_changes)
        self._ramp = RestShapeRamp(self.final(forces), scale, cloth.closing_time) if gradual else None
        self.moves = self._motion is not None or self._flow is not None or self._ramp is not None
        self.plastic_start: FloatArray = np.zeros(0) if self._flow is None else self._flow.start

    def final(self, forces: Sequence[ElementForce]) -> list[ElementForce]:
        """Return `forces` of the model in the final rest shape, that of time 0 where it moves. A rest shape that moves
        or flows has further forces."""
        return list(forces) if self._patches is None else self._patches.completed(forces, self._patches.rest)

    def at(self, time: float, forces: Sequence[ElementForce], plastic: FloatArray) -> list[ElementForce]:
        """Return `forces` of the model at `time` [s], with their `plastic` part (n,), in the order of `final`."""
        result = list(forces) if self._patches is None else self._patches.completed(
            self._changed(time, forces, plastic), self._curvatures(time, plastic))
        return result if self._ramp is None else self._ramp.at(time, result, self._scale_at(time))

    def flowed(self, time: float, forces: Sequence[ElementForce], x: FloatArray, h: float, plastic: FloatArray
               ) -> FloatArray:
        """Return the plastic part (n,) after a step of h [s] to x (V, 3) [m] at `time` [s]."""
        if self._flow is None:
            return plastic
        now = self._changed(time, forces, plastic)
        if self._ramp is not None:
            assert self._patches is not None
            now = self._ramp.at(time, self._patches.completed(now, self._curvatures(time, plastic)),
                                self._scale_at(time))
        return self._flow.flowed(time, now, self._curvatures(time, None), x, h, plastic)

    def _changed(self, time: float, forces: Sequence[ElementForce], plastic: FloatArray) -> list[ElementForce]:
        """Return forces of the model with their rest shape at `time` [s], those of patches left out."""
        result = list(forces)
        for family in families(forces):
            places = [place for place, force in enumerate(forces) if any(force is other for other in family)]
            changed = list(family)
            if self._motion is not None:
                changed = self._motion.changed(changed, time)
            if self._flow is not None:
                changed = self._flow.changed(changed, places, forces, plastic)
            for place, force in zip(places, changed, strict=True):
                result[place] = force
        return result

    def _curvatures(self, time: float, plastic: FloatArray | None) -> list[FloatArray]:
        """Return the rest curvatures of each force of flat patches at `time` [s], without plastic ones for None."""
        assert self._patches is not None
        result = self._patches.rest
        if self._motion is not None:
            result = [rest + gain for rest, gain in zip(result, self._motion.curvatures(time), strict=True)]
        if self._flow is not None and plastic is not None:
            result = [rest + flow for rest, flow in zip(result, self._flow.curvatures(plastic), strict=True)]
        return result

    def key(self, time: float) -> float:
        """Return a number that is equal at two times [s] only if the rest shape is the same but for its plastic part.
        """
        if self._motion is not None or self._cloth.maps.rest_scale_changes:
            return time
        return 1.0 if self._ramp is None else self._ramp.part(time)

    def edge_ratios(self, time: float, plastic: FloatArray) -> FloatArray:
        """Return the rest lengths of the cloth's edges at `time` [s] over the final ones (E,) [-]."""
        mesh, moved = self._cloth.mesh, self._moved_ratios(time, plastic)
        ratios = np.ones(len(mesh.edges)) if moved is None else moved
        if self._ramp is None:
            return ratios
        final = mesh.scale[mesh.edges].mean(axis=1)
        scale = self._scale_at(time)
        now = final if scale is None else scale[self._own][mesh.edges].mean(axis=1)
        return ratios * over_final(final, self._ramp.part(time), now)

    def lasting_ratios(self, time: float, plastic: FloatArray) -> FloatArray | None:
        """Return `edge_ratios` without those of a gradual start, None if the rest shape does not change besides."""
        moved, scale, edges = self._moved_ratios(time, plastic), self._scale_at(time), self._cloth.mesh.edges
        if scale is None:
            return moved
        ratios: FloatArray = scale[self._own][edges].mean(axis=1) / self._scale[self._own][edges].mean(axis=1)
        return ratios if moved is None else moved * ratios

    def _moved_ratios(self, time: float, plastic: FloatArray) -> FloatArray | None:
        """Return `edge_ratios` without those of a painted scale, None if the rest shape neither moves nor flows."""
        moved = None if self._motion is None else self._motion.edge_ratios(time)
        if self._flow is None:
            return moved
        flowed = self._flow.edge_ratios(plastic)
        return flowed if moved is None else moved * flowed

    def _scale_at(self, time: float) -> FloatArray | None:
        """Return the painted scale of all particles (N,) [-] at `time` [s], None if that of the cloth never changes."""
        maps = self._cloth.maps
        if not maps.rest_scale_changes:
            return None
        now, first = maps.rest_scale_at(time), maps.rest_scale
        assert now is not None and first is not None
        scale = self._scale.copy()
        scale[self._own] *= now / first
        return scale

# SPDX-License-Identifier: GPL-3.0-or-later
"""The element forces of all cloths as a function of time.

Four kinds of force change with time: soft pins follow their targets, seams and buttons close, rest shapes move or are
reached gradually, and keyed fabrics change their stiffness and damping. The vertices of elements never change, so that
matrices keep their patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..stencils.springs.edge_damping import dashpots
from ..stencils.stencil import ElementForce, Stencil
from .keyed_fabric import KeyedFabric
from .rest_shape import RestShape
from .seam_forces import SeamForce
from .soft_pins import SoftPinForce


class ForcesInTime:
    """The forces of all cloths: of their models, of damping along edges, of soft pins, seams and buttons.

    Args:
        cloths: the cloths.
        slices: range of each cloth's vertices among all particles.
        models: forces of each cloth's model, in the numbering of all particles.
        scale: (N,) painted scale of all particles [-].
        carried: (N,) mass that soft pins take hold of [kg].
        fabrics: per cloth the forces that follow its keyed fabric, None if that never changes.

    Attributes:
        final: forces with the final rest shapes, and with soft pins, seams and fabrics as at the start.
        shapes: per cloth its rest shape.
    """

    def __init__(self, cloths: Sequence[Cloth], slices: Sequence[slice], models: Sequence[Sequence[ElementForce]],
                 scale: FloatArray, carried: FloatArray, fabrics: Sequence[KeyedFabric | None]) -> None:
        self.final: list[ElementForce] = []
        self._base: list[ElementForce] = []                        # as `final`, with the base values of keyed fabrics
        self.shapes: list[RestShape] = []
        self._moving: list[tuple[int, SoftPinForce | SeamForce]] = []
        self._shaped: list[tuple[slice, RestShape]] = []
        self._keyed: list[tuple[slice, KeyedFabric]] = []
        for cloth, span, model, fabric in zip(cloths, slices, models, fabrics, strict=True):
            first = len(self.final)
            shape = RestShape(cloth, model, scale, span.start)
            if shape.moves:
                self._shaped.append((slice(first, first + len(shape.forces)), shape))
            self.shapes.append(shape)
            self.final += shape.forces
            self.final += [replace(damper, stencil=Stencil(damper.stencil.vertices + span.start,
                                                           damper.stencil.weights))
                           for damper in (dashpots(cloth.mesh, cloth.material) if fabric is None else fabric.dashpots)]
            self._base += self.final[first:]
            if fabric is not None and fabric.changes:
                own = slice(first, len(self.final))
                self._keyed.append((own, fabric))
                self.final[own] = fabric.at(fabric.values(0.0), self.final[own])
            if len(cloth.pins.pulled):
                self._add_moving(SoftPinForce(cloth.pins, carried[span], span.start))
            for sewing in cloth.sewing:
                self._add_moving(SeamForce(sewing, span.start))

    @property
    def change(self) -> bool:
        """Return whether any force changes with time."""
        return len(self._moving) + len(self._shaped) + len(self._keyed) > 0

    def fabric_values(self, time: float) -> tuple[tuple[float, ...], ...]:
        """Return the constants of keyed fabrics that forces depend on, at `time` [s]; empty without any."""
        return tuple(fabric.values(time) for _, fabric in self._keyed)

    def at(self, time: float) -> list[ElementForce]:
        """Return the forces at `time` [s], in the order of `final`."""
        result = list(self._base)
        for places, shape in self._shaped:
            result[places] = shape.at(time)
        for places, fabric in self._keyed:
            result[places] = fabric.at(fabric.values(time), result[places])
        for place, force in self._moving:
            result[place] = force.at(time)
        return result

    def _add_moving(self, force: SoftPinForce | SeamForce) -> None:
        self._moving.append((len(self.final), force))
        self.final.append(force.at(0.0))
        self._base.append(self.final[-1])

# SPDX-License-Identifier: GPL-3.0-or-later
"""The element forces of all cloths as a function of time.

Three kinds of force change with time: soft pins follow their targets, seams and buttons close, and rest shapes move or
are reached gradually. The vertices of elements, and the stiffness of laws with a constant tangent, never change, so
that matrices keep their patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..stencils.springs.edge_damping import dashpots
from ..stencils.stencil import ElementForce, Stencil
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

    Attributes:
        final: forces with the final rest shapes, and with soft pins and seams as at the start.
        shapes: per cloth its rest shape.
    """

    def __init__(self, cloths: Sequence[Cloth], slices: Sequence[slice], models: Sequence[Sequence[ElementForce]],
                 scale: FloatArray, carried: FloatArray) -> None:
        self.final: list[ElementForce] = []
        self.shapes: list[RestShape] = []
        self._moving: list[tuple[int, SoftPinForce | SeamForce]] = []
        self._shaped: list[tuple[slice, RestShape]] = []
        for cloth, span, model in zip(cloths, slices, models, strict=True):
            shape = RestShape(cloth, model, scale, span.start)
            if shape.moves:
                self._shaped.append((slice(len(self.final), len(self.final) + len(shape.forces)), shape))
            self.shapes.append(shape)
            self.final += shape.forces
            self.final += [replace(damper, stencil=Stencil(damper.stencil.vertices + span.start,
                                                           damper.stencil.weights))
                           for damper in dashpots(cloth.mesh, cloth.material)]
            if len(cloth.pins.pulled):
                self._add_moving(SoftPinForce(cloth.pins, carried[span], span.start))
            for sewing in cloth.sewing:
                self._add_moving(SeamForce(sewing, span.start))

    @property
    def change(self) -> bool:
        """Return whether any force changes with time."""
        return len(self._moving) + len(self._shaped) > 0

    def at(self, time: float) -> list[ElementForce]:
        """Return the forces at `time` [s], in the order of `final`."""
        result = list(self.final)
        for places, shape in self._shaped:
            result[places] = shape.at(time)
        for place, force in self._moving:
            result[place] = force.at(time)
        return result

    def _add_moving(self, force: SoftPinForce | SeamForce) -> None:
        self._moving.append((len(self.final), force))
        self.final.append(force.at(0.0))

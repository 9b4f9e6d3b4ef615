# SPDX-License-Identifier: GPL-3.0-or-later
"""The element forces of all cloths as a function of time.

Four kinds of force change with time: soft pins follow their targets, seams and buttons close, rest shapes move, flow or
are reached gradually, and keyed fabrics change their stiffness and damping. The vertices of elements never change, so
that matrices keep their patterns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..stencils.springs.edge_damping import dashpots
from ..stencils.stencil import ElementForce, Stencil
from .internal_springs import springs_at
from .keyed_fabric import KeyedFabric
from .rest_shape import RestShape
from .seam_forces import SeamForce
from .soft_pins import SoftPinForce


@dataclass(frozen=True)
class _Model:
    """The forces of one cloth's model and of damping along its edges.

    Attributes:
        first: place of the first of them among all forces.
        count: number of those of the model, as it was built.
        forces: those of the model and of damping, with the base values of a keyed fabric.
        keyed: forces that follow a keyed fabric, None if that never changes.
        shape: the rest shape.
        cloth: the cloth.
    """

    first: int
    count: int
    forces: list[ElementForce]
    keyed: KeyedFabric | None
    shape: RestShape
    cloth: Cloth

    @property
    def changes(self) -> bool:
        """Whether any of the forces changes with time."""
        return self.keyed is not None or self.shape.moves or self._springs_change

    @property
    def _springs_change(self) -> bool:
        springs = self.cloth.internal_springs
        return springs is not None and springs.changes

    def final(self) -> list[ElementForce]:
        """Return the forces in the final rest shape, with a keyed fabric as at the start."""
        forces = self._of_fabric(0.0)
        return [*self.shape.final(forces[:self.count]), *forces[self.count:]]

    def at(self, time: float, plastic: FloatArray) -> list[ElementForce]:
        """Return the forces at `time` [s] with their `plastic` part, in the order of `final`."""
        forces = self._of_fabric(time)
        return [*self.shape.at(time, forces[:self.count], plastic), *forces[self.count:]]

    def flowed(self, time: float, x: FloatArray, h: float, plastic: FloatArray) -> FloatArray:
        """Return the plastic part after a step of h [s] to x (V, 3) [m] at `time` [s]."""
        return self.shape.flowed(time, self._of_fabric(time)[:self.count], x, h, plastic)

    def _of_fabric(self, time: float) -> list[ElementForce]:
        forces = self.forces if self.keyed is None else self.keyed.at(self.keyed.values(time), self.forces)
        if self._springs_change:                                                   # the last force of the model
            place = self.count - 1
            forces = [*forces[:place], springs_at(forces[place], self.cloth, time), *forces[self.count:]]
        return forces


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
        self.shapes: list[RestShape] = []
        self._moving: list[tuple[int, SoftPinForce | SeamForce]] = []
        self._models: list[_Model] = []
        self._soft_pins: list[SoftPinForce] = []
        for cloth, span, model, fabric in zip(cloths, slices, models, fabrics, strict=True):
            shape = RestShape(cloth, model, scale, span.start, () if fabric is None else fabric.bends)
            self.shapes.append(shape)
            dampers = [replace(damper, stencil=Stencil(damper.stencil.vertices + span.start, damper.stencil.weights))
                       for damper in (dashpots(cloth.mesh, cloth.material) if fabric is None else fabric.dashpots)]
            keyed = fabric if fabric is not None and fabric.changes else None
            made = _Model(len(self.final), len(model), [*model, *dampers], keyed, shape, cloth)
            self._models.append(made)
            self.final += made.final()
            if len(cloth.pins.pulled):
                self._soft_pins.append(SoftPinForce(cloth.pins, carried[span], span.start))
                self._add_moving(self._soft_pins[-1])
            for sewing in cloth.sewing:
                self._add_moving(SeamForce(sewing, span.start))

    @property
    def change(self) -> bool:
        """Return whether any force changes with time."""
        return len(self._moving) > 0 or any(model.changes for model in self._models)

    def fabric_values(self, time: float) -> tuple[tuple[float, ...], ...]:
        """Return the constants of keyed fabrics that forces depend on, at `time` [s]; empty without any."""
        return tuple(model.keyed.values(time) for model in self._models if model.keyed is not None)

    @property
    def constants_change(self) -> bool:
        """Return whether the stiffness or damping of laws with a constant tangent may change with time."""
        return any(model.keyed is not None for model in self._models) or any(pins.changes for pins in self._soft_pins)

    def constant_key(self, time: float) -> tuple[object, ...]:
        """Return a key that is equal at times [s] at which these are the same."""
        return *self.fabric_values(time), *(pins.key(time) for pins in self._soft_pins)

    @property
    def plastic_start(self) -> FloatArray | None:
        """Return the plastic part of all rest shapes at the start (n,), None if none flows."""
        found = np.concatenate([shape.plastic_start for shape in self.shapes])
        return found if len(found) else None

    def plastic_parts(self, plastic: FloatArray | None) -> list[FloatArray]:
        """Return the plastic part of each cloth's rest shape; that of the start for None."""
        if plastic is None:
            return [shape.plastic_start for shape in self.shapes]
        return np.split(plastic, np.cumsum([len(shape.plastic_start) for shape in self.shapes])[:-1])

    def flowed(self, time: float, x: FloatArray, h: float, plastic: FloatArray) -> FloatArray:
        """Return the plastic part of all rest shapes after a step of h [s] to x (V, 3) [m] at `time` [s]."""
        return np.concatenate([model.flowed(time, x, h, part) for model, part in zip(
            self._models, self.plastic_parts(plastic), strict=True)])

    def at(self, time: float, plastic: FloatArray | None = None) -> list[ElementForce]:
        """Return the forces at `time` [s] with the `plastic` part of rest shapes, in the order of `final`."""
        result = list(self.final)
        for model, part in zip(self._models, self.plastic_parts(plastic), strict=True):
            if model.changes:
                forces = model.at(time, part)
                result[model.first:model.first + len(forces)] = forces
        for place, force in self._moving:
            result[place] = force.at(time)
        return result

    def _add_moving(self, force: SoftPinForce | SeamForce) -> None:
        self._moving.append((len(self.final), force))
        self.final.append(force.at(0.0))

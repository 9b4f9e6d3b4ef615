# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins and attachments: which vertices are held, and which positions they follow.

A pin of weight 1 holds a vertex exactly; a pin of a weight w below 1 pulls it like a spring. An attachment holds a
vertex in one, two or three directions.

Weights may be a function of time: a pin lets go of its vertex as its weight falls, and catches it as it rises. A
vertex that is caught away from its target is drawn to it.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import LARGEST, SINGLE_PRECISION, BoolArray, FloatArray, IntArray, float_array, is_series, is_whole, takes
from ..did_you_mean import names_arguments_of
from ..errors import PinError
from .keyed import Setting, check_setting, checked_number_at
from .vertex_values import shown, target_point, vectors

PointTrajectory = Callable[[float], Any]
"""Time [s] -> position (3,) [m]."""
MeshTrajectory = Callable[[float], Any]
"""Time [s] -> positions (V, 3) [m]."""

PINS_ARE = "to hold some vertices where they are, write pins={0: None, 4: None}"
"""What a message suggests for a list of vertices in the place of weights."""


@names_arguments_of(PinError)
@dataclass(frozen=True)
class Attachment:
    """Holds a vertex in 1, 2 or 3 directions (001, section 5.1).

    Attributes:
        vertex: index.
        directions: (n, 3) with n = 1, 2 or 3 independent directions, any length.
        target: where to hold it along them: None for where it starts, a point (3,) [m] or a trajectory.
    """

    vertex: int
    directions: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    target: Any = None


class Pins:
    """The pins and attachments of one cloth, checked.

    Args:
        pins, pin_targets, attachments: as `Cloth` takes them.
        start: (V, 3) positions at the start [m].
        name: of the cloth, for messages.
        always: (V,) vertices that are held exactly in any case.
        stiffness: as `pin_stiffness` of `Cloth`.

    Attributes:
        weights: (V,) in 0..1, at time 0.
        varies: whether weights are a function of time.
        held: (n,) vertices of weight 1 at all times.
        pulled: (m,) vertices of a weight between 0 and 1, of weights that vary all but those `held`.
        changes: whether the stiffness of pins is a function of time.
        attachments: as given.
    """

    def __init__(self, pins: Any, pin_targets: MeshTrajectory | None, attachments: Sequence[Attachment],
                 start: FloatArray, name: str, always: BoolArray, stiffness: Setting = 1.0) -> None:
        self._start, self._name, self._always = start, name, always
        check_setting(stiffness, "pin_stiffness", name, least=0.0, most=LARGEST, error=PinError)
        self._stiffness = stiffness
        if pin_targets is not None and not (callable(pin_targets) and takes(pin_targets, 1)):
            raise PinError(f"pin_targets is {shown(pin_targets)}, it must be a function of the time alone, t [s] -> "
                           "(V, 3) [m]", object_name=name)
        self._targets = pin_targets
        self._trajectories: dict[int, PointTrajectory] = {}
        self.varies = callable(pins)
        if self.varies and not takes(pins, 1):
            raise PinError(f"pins is {shown(pins)}, it must be a function of the time alone, t [s] -> weights (V,)",
                           object_name=name)
        self._weights = pins
        if self.varies:
            self.weights = self._checked_weights(pins(0.0), 0.0)
        elif isinstance(pins, Mapping):
            self.weights = self._weights_of_mapping(pins)
        else:
            self.weights = np.zeros(len(start)) if pins is None else self._checked_weights(pins)
        if always.any():
            self.weights = np.where(always, 1.0, self.weights)
        self.held: IntArray = np.flatnonzero(always if self.varies else self.weights == 1.0)
        self.pulled: IntArray = np.flatnonzero(~always if self.varies else (self.weights > 0.0) & (self.weights < 1.0))
        self.changes = self.varies or callable(stiffness)
        if not is_series(attachments) or not all(isinstance(a, Attachment) for a in attachments):
            raise PinError(f"attachments is {attachments!r}, it must be a list of Attachment", object_name=name)
        self.attachments = tuple(self._checked_attachment(a) for a in attachments)

    def weights_at(self, time: float) -> FloatArray:
        """Return the weights (V,) in 0..1 at `time` [s]; those that differ from 1 by rounding are 1.

        Raises:
            PinError: their function returns something else.
        """
        if not self.varies:
            return self.weights
        weights = self._checked_weights(self._weights(time), time)
        return np.where(self._always | (weights >= 1.0 - SINGLE_PRECISION), 1.0, weights)

    def caught(self, time: float) -> IntArray:
        """Return the vertices (n,) of weight 1 at `time` [s] that are not `held` at all times."""
        if not self.varies:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero((self.weights_at(time) == 1.0) & ~self._always)

    def stiffness_at(self, time: float) -> float:
        """Return the stiffness of pins of a weight below 1 at `time` [s], over the usual one [-]."""
        return checked_number_at(self._stiffness, time, "pin_stiffness", self._name, least=0.0, most=LARGEST,
                                 error=PinError)

    def positions(self, vertices: IntArray, time: float) -> FloatArray:
        """Return the positions (n, 3) [m] that the pins of `vertices` (n,) follow at `time` [s]."""
        if self._targets is not None:
            targets = vectors(self._targets(time), len(self._start), f"pin targets at {time:.4f} s", self._name,
                              PinError)[vertices]
        else:
            targets = self._start[vertices]
        if self._trajectories:
            targets = targets.copy()
            for row, vertex in enumerate(vertices):
                trajectory = self._trajectories.get(int(vertex))
                if trajectory is not None:
                    targets[row] = target_point(trajectory(time), int(vertex), time, self._name)
        return targets

    def attachment_target(self, attachment: Attachment, time: float) -> FloatArray:
        """Return the position (3,) [m] that the vertex of `attachment` follows at `time` [s]."""
        if attachment.target is None:
            return self._start[attachment.vertex]
        target = attachment.target(time) if callable(attachment.target) else attachment.target
        return target_point(target, attachment.vertex, time, self._name)

    @property
    def fixed(self) -> IntArray:
        """Vertices (n,) that pins hold exactly, or an attachment in all three directions."""
        attached = [a.vertex for a in self.attachments if len(a.directions) == 3]
        return np.union1d(self.held, np.array(attached, dtype=np.int64))

    def _weights_of_mapping(self, pins: Mapping[Any, Any]) -> FloatArray:
        """Return weights (V,) of pins {vertex: None or trajectory}, and keep the trajectories."""
        weights = np.zeros(len(self._start))
        for vertex, trajectory in pins.items():
            self._check_vertex(vertex, "pin")
            if trajectory is not None and not (callable(trajectory) and takes(trajectory, 1)):
                raise PinError(f"pin of vertex {vertex} must be None or a function of time alone, not "
                               f"{shown(trajectory)}; to hold it at one place, write {vertex}: lambda t: "
                               "(x, y, z)", object_name=self._name)
            weights[int(vertex)] = 1.0
            if trajectory is not None:
                self._trajectories[int(vertex)] = trajectory
        return weights

    def _checked_weights(self, given: Any, time: float | None = None) -> FloatArray:
        count, when = len(self._start), "" if time is None else f" at {time:.4f} s"
        try:
            weights = float_array(given)
        except ValueError as error:
            raise PinError(f"pin weights{when}: {error}; {PINS_ARE}", object_name=self._name) from None
        if weights.shape != (count,):
            raise PinError(f"pin weights{when} have shape {weights.shape}, expected ({count},), one per vertex; "
                           + PINS_ARE, object_name=self._name)
        bad = ~((weights >= 0.0) & (weights <= 1.0))
        if bad.any():
            vertex = int(np.argmax(bad))
            raise PinError(f"pin weight of vertex {vertex} is {weights[vertex]}{when}, it must be in 0..1",
                           object_name=self._name)
        return weights

    def _check_vertex(self, vertex: Any, what: str) -> None:
        if not is_whole(vertex, 0, len(self._start) - 1):
            raise PinError(f"{what} on vertex {reprlib.repr(vertex)}, it must be a whole number in "
                           f"0..{len(self._start) - 1}", object_name=self._name)

    def _checked_attachment(self, attachment: Attachment) -> Attachment:
        vertex, target = attachment.vertex, attachment.target
        self._check_vertex(vertex, "attachment")
        try:
            directions = np.atleast_2d(float_array(attachment.directions))
        except ValueError:
            directions = np.zeros((0, 3))
        if directions.shape not in ((1, 3), (2, 3), (3, 3)) or not np.isfinite(directions).all() \
                or np.linalg.matrix_rank(directions) < len(directions):
            raise PinError(f"attachment of vertex {vertex} needs 1 to 3 independent directions, got "
                           f"{attachment.directions!r}", object_name=self._name)
        if callable(target) and not takes(target, 1):
            raise PinError(f"the target of vertex {vertex} is {shown(target)}, it must be a function of the time "
                           "alone", object_name=self._name)
        if target is not None and not callable(target):
            target = target_point(target, vertex, 0.0, self._name)
        return Attachment(vertex, directions, target)

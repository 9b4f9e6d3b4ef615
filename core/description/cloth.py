# SPDX-License-Identifier: GPL-3.0-or-later
"""One piece of cloth in a scene: mesh, fabric, model, pins and initial state."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import (
    FARTHEST,
    BoolArray,
    FloatArray,
    IntArray,
    float_array,
    float_rows,
    is_number,
    is_series,
    is_whole,
    takes,
    too_far,
)
from ..did_you_mean import names_arguments_of, perhaps
from ..errors import ClothError, PinError
from ..stencils import registry
from ..stencils.models.built_model import BuiltModel
from .material import Material
from .mesh import ClothMesh
from .paint_maps import Maps
from .seams import Sewing, button_up, buttoned, check_closing, seam_edges, sew

PointTrajectory = Callable[[float], Any]
"""Time [s] -> position (3,) [m]."""
MeshTrajectory = Callable[[float], Any]
"""Time [s] -> positions (V, 3) [m]."""

PINS_ARE = "to hold some vertices where they are, write pins={0: None, 4: None}"
"""What to do, for a list of vertices where weights are wanted."""
SOFT_PIN_FREQUENCY = 5.0
"""A pin of weight 1/2 pulls a free particle to its target with this frequency [Hz]."""

THICKNESS_PER_EDGE = 0.2
"""Default distance that cloth keeps from solids, in mean edge lengths [-]."""
THICKNESS_PER_SIDE = 0.4
"""The most it is, over the shortest side of the median triangle [-]: rows of long thin ones would lie nearer to each
other than cloth keeps from cloth, and all of it touch at rest."""
LEAST_THICKNESS = 0.005
"""Part of the default that is kept even where less is asked for [-], a thousandth of an edge: nobody sees it, and at a
distance of nothing rounding says on which side of a surface a vertex is."""


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


@names_arguments_of(ClothError)
class Cloth:
    """A mesh made of a fabric.

    Args:
        mesh: rest shape and connectivity.
        material: the fabric.
        model: a name out of `models()`, "baraff_witkin", "mass_spring" or "rope" among them.
        pins: {vertex: None | trajectory} holds these vertices where they start or on a trajectory
            t [s] -> (3,) [m]; or weights (V,) in 0..1, where 1 holds exactly and less pulls like a spring.
        velocities: (V, 3) [m/s] at the start, zero if not given.
        births: times (V,) [s] until which vertices are held where they start; there from the start if not given.
        positions: (V, 3) [m] at the start, the mesh's own if not given.
        pin_targets: t [s] -> (V, 3) [m], where weighted pins go; where they start if not given.
        attachments: Attachment records.
        thickness: distance kept from solids, and with that of the other from cloth [m]; as `usual_thickness` if not
            given, and never less than a thousandth of an edge.
        name: what errors call this cloth; the mesh's name if not given.
        max_elongation: part of its length by which an edge may be longer after a step, 0.1 for a tenth; no limit if not
            given.
        sewing: True for all loose edges between faces, or pairs of vertices (S, 2): seams, that are pulled shut.
        sewing_force: the largest of them [N per metre of seam]; no limit if not given.
        sewing_time: from the start until seams and buttons are closed, and rest_scale is taken on [s].
        buttons: pairs (vertex, vertex) or (vertex, (triangle, (a, b, c))), points that are pulled together; a loose
            edge that is one of them is neither seam nor thread.
        rest_scale, rest_curvature, curl_angle, stretch_scale, shear_scale, bend_scale: painted values; see `Maps`.
        model_options: keyword arguments of the model.
    """

    def __init__(self, mesh: ClothMesh, material: Material, model: str = "baraff_witkin", pins: Any = None,
                 velocities: Any = None, *, births: Any = None, positions: Any = None,
                 pin_targets: MeshTrajectory | None = None, attachments: Sequence[Attachment] = (),
                 thickness: float | None = None, max_elongation: float | None = None, name: str | None = None,
                 sewing: Any = False, sewing_force: float | None = None, sewing_time: float = 1.0,
                 buttons: Sequence[Any] = (), rest_scale: Any = None, rest_curvature: Any = None,
                 curl_angle: float = 0.0, stretch_scale: Any = None, shear_scale: Any = None, bend_scale: Any = None,
                 **model_options: Any) -> None:
        for what, given, kind in (("mesh", mesh, ClothMesh), ("material", material, Material)):
            if not isinstance(given, kind):
                shown = f"a {type(given).__name__}" if isinstance(given, (ClothMesh, Material)) else reprlib.repr(given)
                raise ClothError(f"{what} is {shown}, it must be a {kind.__name__}" + (
                    f", such as Material.preset({given!r})" if what == "material" and isinstance(given, str) else ""))
        if not (name is None or isinstance(name, str)):
            raise ClothError(f"name is {name!r}, it must be text", object_name=mesh.name)
        self.name = name or mesh.name
        check_closing(sewing_force, sewing_time, self.name)
        self.maps = Maps(mesh, rest_scale=rest_scale, rest_curvature=rest_curvature, curl_angle=curl_angle,
                         stretch=stretch_scale, shear=shear_scale, bend=bend_scale)
        mesh = self.maps.rest_shape(mesh).without_loose(buttoned(buttons, mesh.name))
        self.seams: IntArray = seam_edges(mesh, sewing)
        mesh = mesh.without_loose(self.seams)
        self.mesh, self.material, self.model, self.model_options = mesh, material, model, model_options
        self.positions = self._rows(mesh.positions if positions is None else positions, "positions")
        self.velocities = self._rows(np.zeros_like(mesh.positions) if velocities is None else velocities, "velocities")
        usual = usual_thickness(mesh) if len(mesh.edges) else 0.5 * material.thread_width
        self._least_thickness = LEAST_THICKNESS * usual                # particles are as wide as a thread
        if thickness is None:
            thickness = usual
        if not (is_number(thickness) and 0.0 <= thickness <= FARTHEST):
            raise ClothError(f"thickness is {thickness!r} m, it must be a number, 0 or more and {FARTHEST:g} at most",
                             object_name=self.name)
        self.thickness = float(thickness)
        if max_elongation is not None and not (is_number(max_elongation) and max_elongation > 0.0):
            raise ClothError(f"max_elongation is {max_elongation!r}, it must be a number above 0, such as 0.1, or None "
                             "for no limit", object_name=self.name)
        self.max_elongation = np.inf if max_elongation is None else float(max_elongation)
        self.births = self._times(births)
        if pin_targets is not None and not (callable(pin_targets) and takes(pin_targets, 1)):
            raise PinError(f"pin_targets is {_named(pin_targets)}, it must be a function of the time alone, t [s] -> "
                           "(V, 3) [m]", object_name=self.name)
        self._pin_targets = pin_targets
        self._read_pins(pins)
        if not is_series(attachments) or not all(isinstance(a, Attachment) for a in attachments):
            raise PinError(f"attachments is {attachments!r}, it must be a list of Attachment", object_name=self.name)
        self.closing_time = float(sewing_time)
        self.attachments = tuple(self._checked(a) for a in attachments)
        self.sewing: tuple[Sewing, ...] = ()
        if len(self.seams):
            self.sewing += (sew(mesh, material, self.seams, self.positions, sewing_force, sewing_time),)
        if len(buttons):
            self.sewing += (button_up(mesh, material, buttons, self.positions, sewing_time),)
        self._check_model()

    def body(self) -> BuiltModel:
        """What its model makes of it, with what is painted; without seams and buttons, which change with time."""
        made = registry.find(self.model, object_name=self.name)(self.mesh, self.material, **self.model_options)
        body = made if isinstance(made, BuiltModel) else BuiltModel(made)
        return replace(body, forces=self.maps.stiffened(body.forces))

    @property
    def distance(self) -> float:
        """What contact keeps from solids [m]: the thickness, or a trace of its default where that is less."""
        return max(self.thickness, self._least_thickness)

    @property
    def fixed(self) -> IntArray:
        """Vertices (n,) that pins hold exactly, or an attachment in all three directions."""
        attached = [a.vertex for a in self.attachments if len(a.directions) == 3]
        return np.union1d(self.held, np.array(attached, dtype=np.int64))

    @property
    def options(self) -> dict[str, Any]:
        """The options of its model with their values, also those that were not given."""
        arguments = inspect.signature(registry.find(self.model)).bind(self.mesh, self.material, **self.model_options)
        arguments.apply_defaults()
        return dict(list(arguments.arguments.items())[2:])

    # ------------------------------------------------------------------ pins

    def _read_pins(self, pins: Any) -> None:
        count = len(self.positions)
        self.pin_weights: FloatArray = np.zeros(count)
        self._trajectories: dict[int, PointTrajectory] = {}
        if isinstance(pins, Mapping):
            for vertex, trajectory in pins.items():
                self._check_vertex(vertex, "pin")
                if trajectory is not None and not (callable(trajectory) and takes(trajectory, 1)):
                    raise PinError(f"pin of vertex {vertex} must be None or a function of time alone, not "
                                   f"{_named(trajectory)}; to hold it at one place, write {vertex}: lambda t: "
                                   "(x, y, z)", object_name=self.name)
                self.pin_weights[int(vertex)] = 1.0
                if trajectory is not None:
                    self._trajectories[int(vertex)] = trajectory
        elif pins is not None:
            try:
                weights = float_array(pins)
            except ValueError as error:
                raise PinError(f"pin weights: {error}; {PINS_ARE}", object_name=self.name) from None
            if weights.shape != (count,):
                raise PinError(f"pin weights have shape {weights.shape}, expected ({count},), one per vertex; "
                               + PINS_ARE, object_name=self.name)
            bad = ~((weights >= 0.0) & (weights <= 1.0))
            if bad.any():
                vertex = int(np.argmax(bad))
                raise PinError(f"pin weight of vertex {vertex} is {weights[vertex]}, it must be in 0..1",
                               object_name=self.name)
            self.pin_weights = weights
        self.held: IntArray = np.flatnonzero(self.pin_weights == 1.0)
        self.pulled: IntArray = np.flatnonzero((self.pin_weights > 0.0) & (self.pin_weights < 1.0))

    def pin_positions(self, vertices: IntArray, time: float) -> FloatArray:
        """Where the pins of `vertices` (n,) want them at `time` [s] -> (n, 3) [m]."""
        if self._pin_targets is not None:
            targets = self._rows(self._pin_targets(time), f"pin targets at {time:.4f} s", PinError)[vertices]
        else:
            targets = self.positions[vertices]
        if self._trajectories:
            targets = targets.copy()
            for row, vertex in enumerate(vertices):
                trajectory = self._trajectories.get(int(vertex))
                if trajectory is not None:
                    targets[row] = self._point(trajectory(time), int(vertex), time)
        return targets

    def attachment_target(self, attachment: Attachment, time: float) -> FloatArray:
        """Where `attachment` wants its vertex at `time` [s] -> (3,) [m]."""
        if attachment.target is None:
            return self.positions[attachment.vertex]
        target = attachment.target(time) if callable(attachment.target) else attachment.target
        return self._point(target, attachment.vertex, time)

    def soft_pin_stiffness(self, masses: FloatArray) -> FloatArray:
        """k of the springs on `pulled` [N/m]: w / (1 - w) m (2 pi f)^2, so that weights mean the same on any mesh."""
        weights = self.pin_weights[self.pulled]
        return weights / (1.0 - weights) * masses[self.pulled] * (2.0 * np.pi * SOFT_PIN_FREQUENCY) ** 2

    # ------------------------------------------------------------------ checks

    def _check_model(self) -> None:
        """An unknown name or option fails here, not in the first step."""
        build = registry.find(self.model, object_name=self.name)
        try:
            inspect.signature(build).bind(self.mesh, self.material, **self.model_options)
        except TypeError as error:
            options = list(inspect.signature(build).parameters)[2:]
            known = [*list(inspect.signature(Cloth).parameters)[2:-1], *options]
            near = (perhaps(wrong, known) for wrong in self.model_options if wrong not in options)
            raise ClothError(f"model '{self.model}': {error}{next(filter(None, near), '')}; its options are: "
                             f"{', '.join(options) or 'none'}", object_name=self.name) from None

    def _check_vertex(self, vertex: Any, what: str) -> None:
        if not is_whole(vertex, 0, len(self.positions) - 1):
            raise PinError(f"{what} on vertex {vertex!r}, but vertices are whole numbers from 0 to "
                           f"{len(self.positions) - 1}", object_name=self.name)

    def _rows(self, values: Any, what: str, error_type: type[ClothError] = ClothError) -> FloatArray:
        try:
            rows = float_rows(values, 3)
        except ValueError as error:
            raise error_type(f"{what}: {error}", object_name=self.name) from None
        if len(rows) != len(self.mesh.positions):
            raise error_type(f"{what} has {len(rows)} rows, the mesh has {len(self.mesh.positions)} vertices",
                             object_name=self.name)
        bad: BoolArray = ~np.isfinite(rows).all(axis=1)
        if bad.any():
            vertex = int(np.argmax(bad))
            raise error_type(f"{what} of vertex {vertex} is {rows[vertex].tolist()}, which is not a number",
                             object_name=self.name)
        far = too_far(rows)
        if far.any():
            vertex = int(np.argmax(far))
            raise error_type(f"{what} of vertex {vertex} is {rows[vertex].tolist()}, it must be within {FARTHEST:g}",
                             object_name=self.name)
        return rows

    def _times(self, values: Any) -> FloatArray:
        count = len(self.mesh.positions)
        try:
            times = np.zeros(count) if values is None else float_array(values)
        except ValueError as error:
            raise ClothError(f"births: {error}", object_name=self.name) from None
        if times.shape != (count,):
            raise ClothError(f"births has shape {times.shape}, expected ({count},), one per vertex",
                             object_name=self.name)
        bad = ~(np.isfinite(times) & (times >= 0.0))
        if bad.any():
            vertex = int(np.argmax(bad))
            raise ClothError(f"births of vertex {vertex} is {times[vertex]} s, it must be 0 or more",
                             object_name=self.name)
        return times

    def _point(self, value: Any, vertex: int, time: float) -> FloatArray:
        try:
            point = float_array(value)
        except ValueError:
            point = np.zeros(0)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise PinError(f"the target of vertex {vertex} is {value!r} at {time:.4f} s, expected 3 numbers",
                           object_name=self.name)
        return point

    def _checked(self, attachment: Attachment) -> Attachment:
        vertex, target = attachment.vertex, attachment.target
        self._check_vertex(vertex, "attachment")
        try:
            directions = np.atleast_2d(float_array(attachment.directions))
        except ValueError:
            directions = np.zeros((0, 3))
        if directions.shape not in ((1, 3), (2, 3), (3, 3)) or not np.isfinite(directions).all() \
                or np.linalg.matrix_rank(directions) < len(directions):
            raise PinError(f"attachment of vertex {vertex} needs 1 to 3 independent directions, got "
                           f"{attachment.directions!r}", object_name=self.name)
        if callable(target) and not takes(target, 1):
            raise PinError(f"the target of vertex {vertex} is {_named(target)}, it must be a function of the time "
                           "alone", object_name=self.name)
        if target is not None and not callable(target):
            target = self._point(target, vertex, 0.0)
        return Attachment(vertex, directions, target)


def usual_thickness(mesh: ClothMesh) -> float:
    """Distance [m] that cloth of this mesh, which has edges, keeps from solids unless told otherwise: a fifth of the
    mean edge, and on triangles no more than two fifths of the median of their shortest sides."""
    usual = THICKNESS_PER_EDGE * mesh.mean_edge
    if len(mesh.triangles) == 0:
        return usual
    shortest = np.linalg.norm(mesh.uv - np.roll(mesh.uv, 1, axis=1), axis=2).min(axis=1)
    return min(usual, THICKNESS_PER_SIDE * float(np.median(shortest)))


def _named(given: Any) -> str:
    """What was given, a function by what it takes."""
    return f"a function of {inspect.signature(given)}" if callable(given) else repr(given)

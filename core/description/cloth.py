# SPDX-License-Identifier: GPL-3.0-or-later
"""One piece of cloth in a scene: mesh, fabric, model, pins and initial state."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import FARTHEST, FloatArray, IntArray, is_flag, is_number, takes
from ..did_you_mean import names_arguments_of
from ..errors import ClothError
from ..number_text import number_text
from .arguments import keeps_arguments
from .cloth_contact import ClothContact
from .force_fields import FieldWeights
from .internal_springs import InternalSprings
from .keyed import Setting, check_setting, checked_number_at, number_at
from .keyed_material import KeyedMaterial
from .material import Material
from .mesh import ClothMesh
from .models import model_options as checked_options
from .paint_maps import PaintMaps
from .pins import Attachment, MeshTrajectory, Pins
from .plasticity import Plasticity
from .pressure import Pressure
from .seams import Sewing, button_up, buttoned, check_closing, seam_edges, sew
from .tearing import Tearing, check_tearing
from .vertex_values import birth_times, shown, vectors

THICKNESS_PER_EDGE = 0.2
"""Default distance from solids, over the mean edge length [-]."""
THICKNESS_PER_SIDE = 0.4
"""Largest default distance from solids, over the shortest side of the median triangle [-]: a larger one would put
neighbouring rows of long thin triangles in contact at rest."""
LEAST_THICKNESS = 0.005
"""Smallest distance from solids, over the default one [-]: at a distance of 0, rounding would decide on which side of
a surface a vertex is."""


@names_arguments_of(ClothError)
@keeps_arguments
class Cloth:
    """A mesh made of a fabric.

    Args:
        mesh: rest shape and connectivity.
        material: the fabric, a `Material`, or a `KeyedMaterial` if it changes over time.
        model: one of `models()`, such as "baraff_witkin", "mass_spring" or "rope".
        pins: {vertex: None | trajectory} holds these vertices where they start or on a trajectory
            t [s] -> (3,) [m]; or weights (V,) in 0..1, where 1 holds exactly and less pulls like a spring, or a
            function of the time t [s] -> weights: pins let go and catch.
        velocities: (V, 3) at the start [m/s], zero if not given.
        births: times (V,) [s] until which vertices are held where they start; 0 if not given.
        positions: (V, 3) at the start [m], the mesh's own if not given.
        pin_targets: t [s] -> (V, 3) [m], positions that weighted pins follow; where they start if not given.
        pin_stiffness: stiffness of pins of a weight below 1, over the usual one, by which a vertex of weight 1/2 swings
            at 5 Hz [-]; a number or a function of the time.
        attachments: Attachment records.
        thickness: distance kept from solids, and together with the thickness of other cloth from that [m];
            `usual_thickness` if not given, and less where cloth with faces starts nearer to a collider, down to half of
            that; never less than a thousandth of an edge.
        name: of this cloth in messages; the mesh's name if not given.
        max_elongation: largest elongation of an edge after a step, over its length, 0.1 for a tenth; a number or a
            function of the time; no limit if not given.
        sewing: True for all loose edges between faces, or pairs of vertices (S, 2): seams, that are pulled shut.
        sewing_force: largest force of a seam [N per metre of seam]; no limit if not given.
        sewing_time: from the start until seams and buttons are closed, and rest_scale is reached [s].
        closing_gravity: whether gravity acts until seams and buttons are closed; without, panels stay in place.
        buttons: pairs (vertex, vertex) or (vertex, (triangle, (a, b, c))), points that are pulled together; a loose
            edge that is one of them is neither seam nor thread.
        rest_scale, rest_curvature, curl_angle, stretch_scale, shear_scale, bend_scale: painted values; see `PaintMaps`.
        field_weights: factors on gravity and force fields; 1 if not given.
        rest_motion: t [s] -> (V, 3) [m], positions whose deformation since time 0 the rest shape follows; it stands
            still if not given.
        plasticity: when stretch and folds stay; never if not given.
        internal_springs: springs through the inside of the mesh; none if not given.
        contact: what it collides with, and how it keeps off cloth; with everything, as off solids, if not given.
        pressure: of the gas or fluid inside; None for none.
        tearing: strength at which edges of a split mesh tear; they never do if not given.
        model_options: keyword arguments of the model.

    Attributes:
        mesh, material, model, model_options, name, thickness: as given or by default, the material at time 0. The mesh
            is without the loose edges that are seams or buttons, and has the painted rest shape.
        pressure: as given.
        keyed_material: the material as given if it changes over time, None otherwise.
        options: all options of the model, with their default values where none were given.
        positions, velocities: (V, 3) at the start [m], [m/s].
        births: (V,) [s].
        max_elongation: at time 0; infinite where there is no limit.
        maps: painted values.
        pins: pins and attachments.
        seams: (S, 2) pairs of vertices.
        sewing: seams and buttons, those of one kind as one `Sewing`.
        closing_time: `sewing_time` [s].
        weightless_until: time until which gravity does not act [s], 0 if it always does.
        field_weights: as given or by default.
        rest_motion, internal_springs, plasticity, tearing: as given.
        contact: as given, or the default one. has_usual_thickness: whether no thickness is given.
    """

    def __init__(self, mesh: ClothMesh, material: Material | KeyedMaterial, model: str = "baraff_witkin",
                 pins: Any = None, velocities: Any = None, *, births: Any = None, positions: Any = None,
                 pin_targets: MeshTrajectory | None = None, attachments: Sequence[Attachment] = (),
                 thickness: float | None = None, max_elongation: Setting | None = None, name: str | None = None,
                 sewing: Any = False, sewing_force: float | None = None, sewing_time: float = 1.0,
                 closing_gravity: bool = True, buttons: Sequence[Any] = (), rest_scale: Any = None,
                 rest_curvature: Any = None, curl_angle: float = 0.0, stretch_scale: Any = None,
                 shear_scale: Any = None, bend_scale: Any = None,
                 field_weights: FieldWeights | None = None, rest_motion: MeshTrajectory | None = None,
                 internal_springs: InternalSprings | None = None, plasticity: Plasticity | None = None,
                 contact: ClothContact | None = None, pressure: Pressure | None = None, pin_stiffness: Setting = 1.0,
                 tearing: Tearing | None = None, **model_options: Any) -> None:
        self.keyed_material = material if isinstance(material, KeyedMaterial) else None
        material = material.at(0.0) if isinstance(material, KeyedMaterial) else material
        for what, given, kind in (("mesh", mesh, ClothMesh), ("material", material, Material)):
            if not isinstance(given, kind):
                found = f"a {type(given).__name__}" if isinstance(given, (ClothMesh, Material)) else reprlib.repr(given)
                raise ClothError(f"{what} is {found}, it must be a {kind.__name__}" + (
                    f", such as Material.preset({given!r})" if what == "material" and isinstance(given, str) else ""))
        if not (name is None or isinstance(name, str)):
            raise ClothError(f"name is {name!r}, it must be text", object_name=mesh.name)
        if not (field_weights is None or isinstance(field_weights, FieldWeights)):
            raise ClothError(f"field_weights is {reprlib.repr(field_weights)}, it must be a FieldWeights",
                             object_name=mesh.name)
        self.name = name or mesh.name
        self.field_weights = field_weights or FieldWeights()
        check_closing(sewing_force, sewing_time, self.name)
        self.maps = PaintMaps(mesh, rest_scale=rest_scale, rest_curvature=rest_curvature, curl_angle=curl_angle,
                              stretch=stretch_scale, shear=shear_scale, bend=bend_scale)
        mesh = self.maps.rest_shape(mesh).without_loose(buttoned(buttons, mesh.name))
        self.seams: IntArray = seam_edges(mesh, sewing)
        mesh = mesh.without_loose(self.seams)
        self.mesh, self.material, self.model, self.model_options = mesh, material, model, model_options
        count = len(mesh.positions)
        self.positions = vectors(mesh.positions if positions is None else positions, count, "positions", self.name)
        self.velocities = vectors(np.zeros_like(mesh.positions) if velocities is None else velocities, count,
                                  "velocities", self.name)
        self.has_usual_thickness = thickness is None
        usual = usual_thickness(mesh) if len(mesh.edges) else 0.5 * material.thread_width
        self._least_thickness = LEAST_THICKNESS * usual                # particles are as wide as a thread
        if thickness is None:
            thickness = usual
        if not (is_number(thickness) and 0.0 <= thickness <= FARTHEST):
            raise ClothError(f"thickness is {thickness!r} m, it must be a number, 0 or more and "
                             f"{number_text(FARTHEST)} at most",
                             object_name=self.name)
        self.thickness = float(thickness)
        if callable(max_elongation):
            check_setting(max_elongation, "max_elongation", self.name, least=float(np.finfo(float).tiny))
        elif max_elongation is not None and not (is_number(max_elongation) and max_elongation > 0.0):
            raise ClothError(f"max_elongation is {max_elongation!r}, it must be a number above 0, such as 0.1, or None "
                             "for no limit", object_name=self.name)
        self._max_elongation = np.inf if max_elongation is None else max_elongation
        self.max_elongation = number_at(self._max_elongation, 0.0)
        if not (contact is None or isinstance(contact, ClothContact)):
            raise ClothError(f"contact is {contact!r}, it must be a ClothContact", object_name=self.name)
        self.contact = ClothContact() if contact is None else contact
        self.contact.check(count, self.name)
        self.births = birth_times(births, count, self.name)
        if not (rest_motion is None or callable(rest_motion) and takes(rest_motion, 1)):
            raise ClothError(f"rest_motion is {shown(rest_motion)}, it must be a function of the time alone, t [s] -> "
                             "(V, 3) [m]", object_name=self.name)
        self.rest_motion = rest_motion
        if not (internal_springs is None or isinstance(internal_springs, InternalSprings)):
            raise ClothError(f"internal_springs is {reprlib.repr(internal_springs)}, it must be InternalSprings",
                             object_name=self.name)
        self.internal_springs = internal_springs
        if not (plasticity is None or isinstance(plasticity, Plasticity)):
            raise ClothError(f"plasticity is {reprlib.repr(plasticity)}, it must be a Plasticity",
                             object_name=self.name)
        self.plasticity = plasticity
        check_tearing(tearing, mesh, model, self.name,
                      plastic_hinges=plasticity is not None and model_options.get("bending") == "hinge")
        self.tearing = tearing
        self.pins = Pins(pins, pin_targets, attachments, self.positions, self.name, mesh.kept_loose, pin_stiffness)
        self.pressure = _checked_pressure(pressure, mesh, self.name)
        self.closing_time = float(sewing_time)
        self.sewing: tuple[Sewing, ...] = ()
        if len(self.seams):
            self.sewing += (sew(mesh, material, self.seams, self.positions, sewing_force, sewing_time),)
        if len(buttons):
            self.sewing += (button_up(mesh, material, buttons, self.positions, sewing_time),)
        if not is_flag(closing_gravity):
            raise ClothError(f"closing_gravity is {closing_gravity!r}, it must be True or False", object_name=self.name)
        self.weightless_until = 0.0 if closing_gravity or not self.sewing else self.closing_time
        arguments = list(inspect.signature(Cloth).parameters)[2:-1]
        self.options = checked_options(model, model_options, arguments, self.name)

    def rest_positions(self, time: float) -> FloatArray:
        """Return the positions (V, 3) [m] that the rest shape follows, at `time` [s].

        Raises:
            ClothError: they are no positions of the cloth's vertices.
        """
        assert self.rest_motion is not None
        return vectors(self.rest_motion(time), len(self.positions), f"rest_motion at {time:.4f} s", self.name)

    @property
    def distance(self) -> float:
        """Distance that contact keeps from solids [m]: the thickness, or a small part of its default if larger."""
        return max(self.thickness, self._least_thickness)

    @property
    def distance_from_cloth(self) -> float:
        """Its part of the distance that contact keeps from cloth [m]: half of that between two of its layers."""
        own = self.contact.self_distance
        return self.distance if own is None else max(0.5 * own, self._least_thickness)

    def max_elongation_at(self, time: float) -> float:
        """Return the largest elongation of an edge after a step, over its length [-], at `time` [s]."""
        return checked_number_at(self._max_elongation, time, "max_elongation", self.name,
                                 least=float(np.finfo(float).tiny))

    def friction_at(self, time: float) -> tuple[float, float]:
        """Return the coefficients of friction on colliders and on cloth [-] at `time` [s]."""
        fabric = self.material if self.keyed_material is None else self.keyed_material.at(time)
        own = self.contact.self_friction
        return fabric.friction, fabric.friction if own is None else checked_number_at(
            own, time, "self_friction", self.name, least=0.0, most=FARTHEST)


def _checked_pressure(pressure: Any, mesh: ClothMesh, name: str) -> Pressure | None:
    """Return the pressure in a mesh.

    Raises:
        ClothError: it is no Pressure, its weights do not fit, or the mesh has no faces.
    """
    if pressure is None:
        return None
    if not isinstance(pressure, Pressure):
        raise ClothError(f"pressure is {reprlib.repr(pressure)}, it must be a Pressure, such as Pressure(500.0)",
                         object_name=name)
    pressure.checked_weights(len(mesh.positions), name)
    if len(mesh.triangles) == 0:
        raise ClothError("has a pressure but no faces for it to act on; add faces, or leave the pressure out",
                         object_name=name)
    return pressure


def usual_thickness(mesh: ClothMesh) -> float:
    """Return the default distance of a mesh with edges from solids [m].

    It is a fifth of the mean edge, and on triangles at most two fifths of the median of their shortest sides.
    """
    usual = THICKNESS_PER_EDGE * mesh.mean_edge
    if len(mesh.triangles) == 0:
        return usual
    shortest = np.linalg.norm(mesh.uv - np.roll(mesh.uv, 1, axis=1), axis=2).min(axis=1)
    return min(usual, THICKNESS_PER_SIDE * float(np.median(shortest)))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a bake as plain records in SI. Only this file reads them from Blender's property groups.

Lengths, velocities and accelerations are stored in Blender units and converted to metres here. Settings that curves or
drivers set have their default values here, so that a record is the same at every frame; read/keyed_settings.py reads
them at every frame.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import bpy

from ... import core
from .air_settings import AirSettings, air_settings_of
from .compression_settings import CompressionSettings, buckles, compression_settings_of
from .contact_settings import ContactSettings, contact_settings_of
from .enum_items import backend_name, chosen
from .field_weights_settings import FieldWeightsSettings, field_weights_of
from .internal_springs_settings import InternalSpringsSettings, internal_springs_settings_of
from .model_options import model_of, model_options
from .pin_settings import PinSettings, pin_settings_of
from .plasticity_settings import PlasticitySettings, plasticity_settings_of
from .pressure_settings import PressureSettings, pressure_settings_of
from .rest_settings import RestSettings, rest_settings_of
from .tearing_settings import TearingSettings, tearing_settings_of
from .unkeyed_values import keyed_names, unkeyed_values

KEYED_OF_SCENES = frozenset(("speed",))
"""Settings of the scene that may be keyed and have no part of their own in fingerprints and reports, as wind has."""


@dataclass(frozen=True, kw_only=True)
class GarmentSettings:
    """Seams, pattern and painted maps of one cloth object. Groups are names, "" for none.

    Attributes:
        sewing: whether loose edges are seams.
        sewing_force: largest force of a seam [N/m], None for no limit.
        sewing_time: time from the start until seams and buttons are closed [s].
        buttons: vertex group of the ends of buttons.
        pattern: whether the UV map is the rest shape.
        pattern_size: side of the UV square [m], None to give the pattern the area of the mesh.
        shrink_group, shrink: vertex group or attribute, and shrinkage at weight 0 and at weight 1 [-].
        wrinkle_group, wrinkle_curvature: vertex group or attribute, and rest curvature at weight 1 [1/m].
        wrinkle_angle: direction of that curvature from the warp [rad].
        stiffness: vertex group or attribute, and factor at weight 1 [-], of "stretch", "shear" and "bend".
    """

    sewing: bool
    sewing_force: float | None
    sewing_time: float
    buttons: str
    pattern: bool
    pattern_size: float | None
    shrink_group: str
    shrink: tuple[float, float]
    wrinkle_group: str
    wrinkle_curvature: float
    wrinkle_angle: float
    stiffness: dict[str, tuple[str, float]]


@dataclass(frozen=True, kw_only=True)
class ClothSettings:
    """Settings of one cloth object.

    Attributes:
        thickness: distance kept from other surfaces [m], None to let the core choose it.
        max_elongation: largest elongation of an edge, over its rest length [-], None for no limit.
        model_options: keyword arguments of `core.Cloth` for the model, apart from buckling.
        buckling: whether faces buckle, for models with that option.
        keyed: names of the settings that curves or drivers set; here they have their default values.

    Stiffness, damping and drag are those of `core.Material`, in the same units.
    """

    areal_density: float
    stretch: tuple[float, float]
    shear: float
    bend: tuple[float, float]
    damping: float
    friction: float
    viscous_drag: float
    isotropic_damping: float
    spring_damping: float
    model: str
    pin_group: str
    grain: str
    uv_map: str
    thickness: float | None
    max_elongation: float | None
    garment: GarmentSettings
    rest: RestSettings
    air: AirSettings
    compression: CompressionSettings
    field_weights: FieldWeightsSettings
    contact: ContactSettings
    internal_springs: InternalSpringsSettings
    plasticity: PlasticitySettings
    tearing: TearingSettings
    pressure: PressureSettings
    model_options: dict[str, Any]
    pins: PinSettings = PinSettings()
    keyed: tuple[str, ...] = ()
    closing_gravity: bool = True
    buckling: bool = False

    def cloth_options(self) -> dict[str, Any]:
        """Return the keyword arguments of `core.Cloth` for the model."""
        return {**self.model_options, "buckling": True} if self.buckling else self.model_options

    def material(self, name: str) -> core.Material:
        """Return the core's material, called `name` in messages."""
        return core.Material(
            areal_density=self.areal_density, stretch=self.stretch, shear=self.shear, bend=self.bend,
            damping=self.damping, friction=self.friction, viscous_drag=self.viscous_drag,
            isotropic_damping=self.isotropic_damping, spring_damping=self.spring_damping, name=name,
            **self.air.material_options(), **self.compression.material_options())


@dataclass(frozen=True, kw_only=True)
class ColliderSettings:
    """Settings of one collider: coefficient of friction [-], distance added to the cloth's thickness [m], and part of
    force fields that it absorbs [-]; vertex group that is left out."""

    friction: float
    thickness: float
    absorption: float
    left_out_group: str = ""


@dataclass(frozen=True, kw_only=True)
class SceneSettings:
    """Settings of the scene: frames, solver, gravity and wind.

    Attributes:
        first, last: first and last frame of the bake.
        preroll: number of frames that are simulated before the first.
        preroll_from_rest: whether armatures move from their rest pose to that of the first frame meanwhile.
        coarse_frames: number of frames of the pre-roll on coarser meshes.
        motion_samples: number of times per frame at which motion is read, 0 for as many as it needs.
        frame_rate: frames per second of simulated time [1/s], with the scene's Time Stretching and Speed Multiplier; a
            keyed one is read at every frame.
        time_ratio: time at which Blender evaluates animation, over the frame number [-]; not 1 with Time Stretching.
        metres_per_unit: length of one Blender unit [m].
        gravity: (3,) [m/s^2].   wind: (3,) [m/s].   air_density: [kg/m^3].
        integrator, solid_contact, projective_solve, verlet_kd: as `core.Solver` names them.
        backend: "numpy", "numba", or None for the fastest that runs here.
        keyed: names of the settings that curves or drivers set, and that are read at every frame.
    """

    first: int
    last: int
    preroll: int
    preroll_from_rest: bool
    coarse_frames: int
    motion_samples: int
    frame_rate: float
    time_ratio: float
    metres_per_unit: float
    gravity: tuple[float, float, float]
    wind: tuple[float, float, float]
    air_density: float
    self_collision: bool
    resolve_start: bool
    solid_contact: str
    integrator: str
    projective_solve: str
    verlet_kd: float
    steps_per_frame: int
    newton_iterations: int | None
    tolerance: float
    backend: str | None
    keyed: tuple[str, ...] = ()

    @property
    def start(self) -> int:
        """The first simulated frame."""
        return self.first - self.preroll

    def solver(self) -> core.Solver:
        """Return the core's solver settings."""
        return core.Solver(
            integrator=self.integrator, steps_per_frame=self.steps_per_frame, frame_rate=self.frame_rate,
            self_collision=self.self_collision, resolve_start=self.resolve_start,
            solid_contact=self.solid_contact, tolerance=self.tolerance,
            newton_iterations=self.newton_iterations, projective_solve=self.projective_solve,
            verlet_kd=self.verlet_kd, backend=self.backend, coarse_frames=self.coarse_frames)


def metres_per_unit(scene: bpy.types.Scene) -> float:
    """Return the length of one Blender unit [m]. Without a unit system it is one metre."""
    units = scene.unit_settings
    return 1.0 if units.system == "NONE" else float(units.scale_length)


def kind_of_settings(values: Any) -> str:
    """Return the type that is stored in an object's settings. A number of another version counts as NONE."""
    return values.kind or "NONE"


def kind_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Return NONE, CLOTH or COLLIDER: the object's type, or COLLIDER for meshes of the scene's collider collection."""
    kind = kind_of_settings(obj.muslin)
    chosen = scene.muslin.collider_collection
    if kind == "NONE" and obj.type == "MESH" and chosen is not None and obj.name in chosen.all_objects:
        return "COLLIDER"
    return kind


def settings_of(obj: bpy.types.Object, scene: bpy.types.Scene, model: str | None = None,
                integrator: str | None = None) -> ClothSettings:
    """Return the settings of a cloth object, with `model` and `integrator` instead of the object's and the scene's own
    where they are given."""
    values = unkeyed_values(obj)
    unit = metres_per_unit(scene)
    if model is None:
        chosen(values, "model")
        model = model_of(obj)
    thickness = float(values.thickness) * unit
    return ClothSettings(
        areal_density=float(values.areal_density),
        stretch=(float(values.stretch_warp), float(values.stretch_weft)),
        shear=float(values.shear),
        bend=(float(values.bend_warp), float(values.bend_weft)),
        damping=float(values.damping), friction=float(values.friction), air=air_settings_of(values),
        viscous_drag=float(values.viscous_drag), isotropic_damping=float(values.isotropic_damping),
        spring_damping=float(values.spring_damping),
        model=model, pin_group=values.pin_group, grain=chosen(values, "grain"), uv_map=values.uv_map,
        thickness=thickness if thickness > 0.0 else None,
        max_elongation=float(values.max_elongation) / 100.0 if values.use_max_elongation else None,
        garment=_garment_of(values, unit), rest=rest_settings_of(values),
        compression=compression_settings_of(values, model),
        field_weights=field_weights_of(values),
        contact=contact_settings_of(values, unit),
        internal_springs=internal_springs_settings_of(values, unit),
        plasticity=plasticity_settings_of(values, model), tearing=tearing_settings_of(values, model),
        pressure=pressure_settings_of(values, unit),
        model_options=model_options(values, model, unit), pins=pin_settings_of(values),
        keyed=tuple(sorted(keyed_names(obj))), closing_gravity=bool(values.closing_gravity),
        buckling=buckles(values, model, integrator or scene.muslin.integrator.lower()))


def _garment_of(values: Any, unit: float) -> GarmentSettings:
    force, size = float(values.sewing_force), float(values.pattern_size) * unit
    return GarmentSettings(
        sewing=bool(values.use_sewing), sewing_force=force if force > 0.0 else None,
        sewing_time=float(values.sewing_time), buttons=values.button_group,
        pattern=chosen(values, "rest_shape") == "UV", pattern_size=size if size > 0.0 else None,
        shrink_group=values.shrink_group, shrink=(float(values.shrink_min), float(values.shrink_max)),
        wrinkle_group=values.wrinkle_group, wrinkle_curvature=float(values.wrinkle_curvature),
        wrinkle_angle={"WARP": 0.0, "WEFT": 0.5 * math.pi}[chosen(values, "wrinkle_direction")],
        stiffness={what: (getattr(values, f"{what}_group"), float(getattr(values, f"{what}_factor")))
                   for what in ("stretch", "shear", "bend")})


def collider_settings_of(obj: bpy.types.Object, scene: bpy.types.Scene) -> ColliderSettings:
    """Return the settings of a collider object."""
    values = unkeyed_values(obj)
    return ColliderSettings(friction=float(values.friction), thickness=float(values.thickness) * metres_per_unit(scene),
                            absorption=float(values.absorption), left_out_group=values.left_out_group)


def scene_settings_of(scene: bpy.types.Scene, frames: tuple[int, int] | None = None,
                      backend: str | None = None) -> SceneSettings:
    """Return the settings of the scene. `frames` (first, last) and `backend` override the scene's."""
    values = unkeyed_values(scene)
    if frames is None:
        frames = ((values.frame_start, values.frame_end) if values.use_custom_range
                  else (scene.frame_start, scene.frame_end))
    unit = metres_per_unit(scene)
    ratio = scene.render.frame_map_old / scene.render.frame_map_new
    return SceneSettings(
        first=int(frames[0]), last=int(frames[1]),
        preroll=int(values.preroll), preroll_from_rest=bool(values.preroll and values.preroll_from_rest),
        coarse_frames=min(int(values.coarse_frames), int(values.preroll)), motion_samples=int(values.motion_samples),
        frame_rate=scene.render.fps / scene.render.fps_base / ratio / float(values.speed), time_ratio=ratio,
        metres_per_unit=unit,
        gravity=_in_metres(scene.gravity, unit) if scene.use_gravity else (0.0, 0.0, 0.0),
        wind=_in_metres(values.wind, unit), air_density=float(values.air_density),
        self_collision=bool(values.use_self_collision), resolve_start=bool(values.resolve_start),
        solid_contact=chosen(values, "solid_contact").lower(),
        integrator=chosen(values, "integrator").lower(), projective_solve=chosen(values, "projective_solve").lower(),
        verlet_kd=float(values.verlet_kd),
        steps_per_frame=int(values.steps_per_frame),
        newton_iterations=(int(values.projective_iterations) or None if values.integrator == "PROJECTIVE_DYNAMICS"
                           else int(values.newton_iterations)), tolerance=float(values.tolerance),
        backend=backend or backend_name(chosen(values, "backend")),
        keyed=tuple(sorted(keyed_names(scene) & KEYED_OF_SCENES)))


def _in_metres(vector: Any, unit: float) -> tuple[float, float, float]:
    x, y, z = (float(component) * unit for component in vector)
    return x, y, z

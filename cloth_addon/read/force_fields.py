# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as the core's: which objects act, their records, and what is left out.

All numbers of a field are read at every frame. Choices that the core takes once, such as *Shape*, have one record for
each value where they are keyed, and only that one which is chosen at a time has an influence.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.animation_curves import animated_paths
from .field_fluid import FieldFluid, domain_settings
from .field_shapes import FieldShape
from .field_texture import FieldTexture, Reach
from .field_values import FieldValues, chord_error, places_of
from .frame_window import FrameWindow, evaluated_object
from .motion_sampling import ChordError
from .noise_table import noise_table

FloatArray = NDArray[np.float64]
Samples = dict[str, Callable[[], FloatArray]]
KINDS = {"FORCE": "force", "WIND": "wind", "VORTEX": "vortex", "MAGNET": "magnetic", "HARMONIC": "harmonic",
         "TURBULENCE": "turbulence", "DRAG": "drag", "TEXTURE": "texture", "FLUID_FLOW": "fluid_flow"}
"""Blender's types of fields that act on cloth, and the core's kinds."""
FLAGS = {"gravitation": "use_gravity_falloff", "global_coordinates": "use_global_coords",
         "two_dimensional": "use_2d_force", "absorption": "use_absorption"}
"""Flags of the core's field, and the settings of Blender's."""
FLAGS_OF_KIND = {"gravitation": "FORCE", "global_coordinates": "TURBULENCE", "two_dimensional": "TEXTURE"}
"""Types of fields that have a flag; the others share its bit for another setting."""
CHOICES = ("shape", "falloff_type", "z_direction", *FLAGS.values())
"""Settings that the core takes once, and that may be keyed."""
READ_ONCE = ("type", "seed")
"""Settings of which only the value at the first frame counts."""
INFLUENCE = places_of("influence")[0]
"""Place of the influence in the numbers of a field."""
MOST_RECORDS = 16
"""Largest number of records for the keyed choices of one field."""


class ForceField:
    """One field object during a bake.

    Args:
        obj: the field.   name: that of its records.
        view_layer: with the dependency graph that evaluates it.
        unit: length of one Blender unit [m].
        reach: where the cloth is at the first frame.
    """

    def __init__(self, obj: bpy.types.Object, name: str, view_layer: bpy.types.ViewLayer, unit: float, reach: Reach
                 ) -> None:
        self.obj, self.name = obj, name
        self._view_layer = view_layer
        self._settings: Any = obj.field
        self._values = FieldValues(obj, view_layer, unit)
        self._variants = _variants(obj)
        self._shapes = {shape: FieldShape(obj, shape, view_layer, unit)
                        for shape in sorted({variant["shape"] for variant in self._variants})}
        self._lattice: FieldTexture | FieldFluid | None = None
        if self._settings.type == "TEXTURE":
            self._lattice = FieldTexture(obj, view_layer, unit, reach)
        elif self._settings.type == "FLUID_FLOW":
            self._lattice = FieldFluid(obj, view_layer, unit)

    def samples(self) -> Samples:
        """Return the functions for the frame window that read the field."""
        found: Samples = {self._sample("values", number): self._reader(number) for number in range(len(self._variants))}
        for shape in self._shapes.values():
            found |= shape.samples(self._sample("vertices"), self._sample("normals"))
        if self._lattice is not None:
            found |= self._lattice.samples(self._sample("lattice"), self._sample("map"))
        return found

    def records(self, window: FrameWindow) -> list[core.ForceField]:
        """Return the core's fields, one for each variant, with their samples in `window`, at its first frame."""
        for shape in self._shapes.values():
            shape.begin()
        return [self._record(number, variant, window) for number, variant in enumerate(self._variants)]

    def errors(self) -> dict[str, ChordError]:
        """Return the errors of interpolation, by the names of the samples. Fields on a lattice are read at whole frames
        if nothing else moves fast: their samples take long."""
        if self._lattice is not None:
            return {}
        return {self._sample("values", number): chord_error for number in range(len(self._variants))}

    def note(self) -> str:
        """Return a note on samples that are too coarse, empty if there is none."""
        return self._lattice.note() if isinstance(self._lattice, FieldTexture) else ""

    def _record(self, number: int, variant: dict[str, Any], window: FrameWindow) -> core.ForceField:
        kind, shape = self._settings.type, self._shapes[variant["shape"]]

        def of(what: str, given: bool, place: int = 0) -> core.Trajectory | None:
            return window.trajectory(self._sample(what, place)) if given else None

        values = of("values", True, number)
        assert values is not None
        flags = {flag: bool(variant[setting]) for flag, setting in FLAGS.items()
                 if FLAGS_OF_KIND.get(flag, kind) == kind}
        return core.ForceField(
            KINDS[kind], values, shape=shape.name, falloff=variant["falloff_type"].lower(),
            z_direction=variant["z_direction"].lower(), seed=int(self._settings.seed), name=self.name, **flags,
            curve=self.obj.type == "CURVE" and shape.name == "surface",
            vertices=of("vertices", shape.name in ("surface", "points")), triangles=shape.triangles, edges=shape.edges,
            normals=of("normals", shape.name == "points"),
            lattice=noise_table() if kind == "TURBULENCE" else of("lattice", self._lattice is not None),
            lattice_map=of("map", self._lattice is not None), noise_rate=window.motion.clock)

    def _reader(self, number: int) -> Callable[[], FloatArray]:
        """Return the function that reads the numbers of a variant, without influence while it is not chosen."""
        variant = self._variants[number]
        if len(self._variants) == 1:
            return self._values

        def read() -> FloatArray:
            row = self._values()
            field = evaluated_object(self.obj, self._view_layer).field
            if any(getattr(field, name) != value for name, value in variant.items()):
                row[INFLUENCE] = 0.0
            return row

        return read

    def _sample(self, what: str, number: int = 0) -> str:
        """Return the name of a sample in the frame window, which no object has."""
        return f"\0{what} {number} of the force field {self.name}"


class ForceFields:
    """The force fields of a scene during a bake.

    Args:
        objects: of the fields, as `acting_objects` returns them.
        view_layer: with the dependency graph that evaluates them.
        unit: length of one Blender unit [m].
        reach: where the cloth is at the first frame.
    """

    def __init__(self, objects: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer, unit: float, reach: Reach
                 ) -> None:
        names = field_names(objects)
        self._fields = [ForceField(obj, names[obj], view_layer, unit, reach) for obj in objects if _is_complete(obj)]

    @property
    def objects(self) -> list[bpy.types.Object]:
        """The objects whose fields act, and the fluid domains that they name."""
        fields = [field.obj for field in self._fields]
        domains = [obj.field.source_object for obj in fields if obj.field.type == "FLUID_FLOW"]
        return [*fields, *(obj for obj in domains if obj not in fields)]

    def samples(self) -> Samples:
        """Return the functions for the frame window that read the fields."""
        return {name: read for field in self._fields for name, read in field.samples().items()}

    def records(self, window: FrameWindow) -> list[core.ForceField]:
        """Return the core's fields, with their samples in `window`."""
        return [record for field in self._fields for record in field.records(window)]

    def errors(self) -> dict[str, ChordError]:
        """Return the errors of interpolation, by the names of the samples."""
        return {name: error for field in self._fields for name, error in field.errors().items()}

    def notes(self) -> list[str]:
        """Return notes on samples that are too coarse."""
        return [note for note in (field.note() for field in self._fields) if note]


def field_objects(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Return the objects of the scene whose fields act on cloth, switched on or not, sorted by name."""
    return sorted((obj for obj in scene.objects if obj.field is not None and obj.field.type in KINDS),
                  key=lambda obj: obj.name_full)


def acting_objects(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    """Return the objects of the scene whose fields act on cloth and are switched on, sorted by name."""
    return [obj for obj in field_objects(scene) if obj.evaluated_get(view_layer.depsgraph).is_evaluated]


def field_names(objects: Sequence[bpy.types.Object]) -> dict[bpy.types.Object, str]:
    """Return the names of the fields for the core: full names where objects of two files are called alike."""
    names = [obj.name for obj in objects]
    return {obj: obj.name if names.count(obj.name) == 1 else obj.name_full for obj in objects}


def _variants(obj: bpy.types.Object) -> list[dict[str, Any]]:
    """Return the combinations of choices that a field may have during a bake: all values of those that are keyed."""
    field: Any = obj.field
    keyed = keyed_settings(obj, CHOICES)
    chosen = {name: getattr(field, name) for name in CHOICES}
    values = [[item.identifier for item in field.bl_rna.properties[name].enum_items]
              if field.bl_rna.properties[name].type == "ENUM" else [False, True] for name in keyed]
    if math.prod(len(options) for options in values) > MOST_RECORDS:
        return [chosen]
    return [chosen | dict(zip(keyed, combination, strict=True)) for combination in itertools.product(*values)]


def is_split(obj: bpy.types.Object) -> bool:
    """Return whether the keyed choices of a field are followed, because they are few."""
    return len(_variants(obj)) > 1


def keyed_settings(obj: Any, names: Sequence[str]) -> list[str]:
    """Return those of the field's settings `names` that a curve, strip or driver sets."""
    paths = {path for path, _ in animated_paths(obj)}
    return [name for name in names if f"field.{name}" in paths]


def _is_complete(obj: Any) -> bool:
    """Return whether a field has the texture or the domain that it needs."""
    kind = obj.field.type
    return not (kind == "TEXTURE" and obj.field.texture is None
                or kind == "FLUID_FLOW" and domain_settings(obj.field.source_object) is None)

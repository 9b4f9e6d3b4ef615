# SPDX-License-Identifier: GPL-3.0-or-later
"""A Blender scene as the core's scene at the first frame of a bake: cloths, colliders, gravity, wind and fields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.settings import SceneSettings, settings_of
from . import (
    blender_collision,
    cloth_contact,
    colliders,
    field_notes,
    field_weights,
    force_fields,
    keyed_shrink,
    likely_mistakes,
    mesh_data,
    read_cloth,
    scene_loads,
    start_velocity,
    unbaked_state,
)
from .frame_window import FrameWindow, evaluated_object, to_world
from .instances import InstancedColliders
from .motion_sampling import MotionSampling, chord_error
from .pins import PinSamples, targets_name


@dataclass(frozen=True)
class SimulationInput:
    """The core's scene, and the Blender objects it was read from.

    Attributes:
        sources: the cloth objects.   cloths: the core's cloth, one for each source.
        collider_objects: Blender's objects of `scene.colliders`, each once.
        field_objects: objects of the force fields that act.
        window: positions of all animated objects; read the next frame into it before the solver needs it.
        scene: the core's scene.
        notes: sentences for the user: objects that look like a part of the simulation and are ignored, and settings
            that are probably a mistake.
    """

    sources: list[read_cloth.ClothSource]
    collider_objects: list[bpy.types.Object]
    window: FrameWindow
    cloths: list[core.Cloth]
    scene: core.Scene
    field_objects: list[bpy.types.Object]
    notes: list[str]


def read_scene(scene: bpy.types.Scene, settings: SceneSettings, objects: Sequence[bpy.types.Object] | None,
               view_layer: bpy.types.ViewLayer, model: str | None = None) -> SimulationInput:
    """Read the scene with the cloth `objects`, or all of its cloth.

    `model` replaces the model of every cloth where it is given.

    Raises:
        core.ClothError: something cannot be simulated. It names the object, the element, the value and what to do.
    """
    scene.frame_set(settings.first if settings.preroll_from_rest else settings.start)
    loads = scene_loads.SceneLoads(scene, view_layer, settings)
    objects = read_cloth.cloth_objects(scene, objects)
    collider_objects = read_cloth.objects_of_kind(scene, "COLLIDER")
    hidden = [obj for obj in (*objects, *collider_objects, *force_fields.field_objects(scene))
              if unbaked_state.hidden_by_keys(obj)]
    with unbaked_state.shown(hidden):
        if hidden:
            view_layer.update()
        return _read_shown(scene, settings, objects, collider_objects, hidden, view_layer, model, loads)


def _read_shown(scene: bpy.types.Scene, settings: SceneSettings, objects: Sequence[bpy.types.Object],
                collider_objects: list[bpy.types.Object], hidden: Sequence[bpy.types.Object],
                view_layer: bpy.types.ViewLayer, model: str | None, loads: scene_loads.SceneLoads) -> SimulationInput:
    """Read the scene while the `hidden` objects are switched on."""
    sources = [read_cloth.read_source(obj, scene, view_layer) for obj in objects]
    if model is not None or settings.integrator != scene.muslin.integrator.lower():
        sources = [replace(source, settings=settings_of(source.obj, scene, model, settings.integrator))
                   for source in sources]
    for obj in collider_objects:
        colliders.check_collider(obj, view_layer)
    field_objects = force_fields.acting_objects(scene, view_layer)
    fields = force_fields.ForceFields(field_objects, view_layer, settings.metres_per_unit,
                                      lambda: _reach(objects, view_layer, settings.metres_per_unit))
    instanced = InstancedColliders(scene, view_layer, settings.metres_per_unit)
    with_instances = {obj.name_full for obj in instanced.owners.values()}
    sources_settings = [(source.obj, source.settings) for source in sources]
    pins = PinSamples(sources_settings, view_layer, settings.metres_per_unit)
    window = FrameWindow(scene, view_layer,
                         {source.obj: source.generative for source in sources} | dict.fromkeys(collider_objects),
                         first=settings.start, frame_rate=settings.frame_rate,
                         metres_per_unit=settings.metres_per_unit,
                         extra_samples=(instanced.samples() | loads.samples() | fields.samples()
                                        | pins.samples() | keyed_shrink.samples(sources_settings, view_layer)),
                         extra_objects=[*fields.objects, *pins.targets],
                         posed_from=settings.first if settings.preroll_from_rest else None)
    solid_objects = [obj for obj in collider_objects
                     if obj.name_full not in with_instances or colliders.has_faces(obj, view_layer)]
    others = {obj.name: obj for obj in (*objects, *solid_objects, *instanced.owners.values())}
    contacts = [cloth_contact.contact_of(source.obj, source.settings.contact, others, window.settings(source.obj))
                for source in sources]
    cloths = [read_cloth.read_cloth(source, window, contact, pins, field_objects)
              for source, contact in zip(sources, contacts, strict=True)]
    notes = notes_on_ignored(scene, view_layer)
    for source, contact in zip(sources, contacts, strict=True):
        notes += cloth_contact.notes(source.obj, contact, source.settings.contact)
    for source in sources:
        notes += field_weights.notes(source.obj, source.settings.field_weights, field_objects)
        notes += read_cloth.notes_on_weight_modifiers(source)
    notes += [likely_mistakes.note_on_hidden(obj) for obj in hidden]
    notes += [start_velocity.note(source.obj) for source in sources
              if start_velocity.attribute_name(source.obj.data) == start_velocity.EARLIER_NAME]
    notes += fields.notes()
    window.sampling = _sampling(settings.motion_samples, sources, cloths, [
        *(obj.name_full for obj in solid_objects), *instanced.owners], fields, pins)
    window.pinned = _pinned(sources, cloths)
    solids = [colliders.read_collider(obj, scene, window, view_layer) for obj in solid_objects]
    solids += colliders.read_instances(instanced, scene, window)
    collider_objects = solid_objects + [obj for obj in instanced.owners.values() if obj not in solid_objects]
    notes += likely_mistakes.notes(sources, cloths, solids, collider_objects, window)
    return SimulationInput(sources, collider_objects, window, cloths, core.Scene(
        cloths, solids, gravity=loads.gravity(window.motion), wind=loads.wind(window.motion),
        fields=fields.records(window), air_density=settings.air_density), field_objects, notes)


def _reach(objects: Sequence[bpy.types.Object], view_layer: bpy.types.ViewLayer, unit: float) -> NDArray[np.float64]:
    """Return the smallest and the largest corner (2, 3) [m] of the place of all cloth at the scene's frame."""
    evaluated = [evaluated_object(obj, view_layer) for obj in objects]
    x = np.concatenate([to_world(mesh_data.positions(obj.data), obj, unit) for obj in evaluated])
    return np.array([x.min(axis=0), x.max(axis=0)])


def _sampling(samples: int, sources: Sequence[read_cloth.ClothSource], cloths: Sequence[core.Cloth],
              moving: Sequence[str], fields: force_fields.ForceFields, pins: PinSamples) -> MotionSampling:
    """Return how often motion is read: so that colliders, pinned vertices and fields follow their paths.

    `moving` are the names of the colliders' samples.
    """
    thickness = min(cloth.distance for cloth in cloths)
    errors = {name: chord_error(thickness) for name in moving}
    for source, cloth in zip(sources, cloths, strict=True):
        pinned = np.flatnonzero(cloth.pins.weights > 0.0)
        if len(pinned):
            followed = targets_name(source.name) if pins.has_target(source.name) else source.name
            errors[followed] = chord_error(thickness, pinned)
    return MotionSampling(samples, errors | fields.errors())


def _pinned(sources: Sequence[read_cloth.ClothSource], cloths: Sequence[core.Cloth]
            ) -> dict[str, tuple[NDArray[np.integer[Any]], float]]:
    """Return the pinned vertices of each cloth that has some, and the size of the cloth [m]."""
    found: dict[str, tuple[NDArray[np.integer[Any]], float]] = {}
    for source, cloth in zip(sources, cloths, strict=True):
        vertices = np.flatnonzero(cloth.pins.weights > 0.0)
        size = float(np.linalg.norm(np.ptp(cloth.positions, axis=0)))
        if len(vertices) and size > 0.0:
            found[source.name] = vertices, size
    return found


def notes_on_ignored(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Return notes that name the objects of the scene that a bake ignores. Fast enough for drawing a panel."""
    return (field_notes.notes_on_ignored(scene, view_layer) + colliders.notes_on_ignored(scene)
            + blender_collision.notes(scene))

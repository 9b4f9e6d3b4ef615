# SPDX-License-Identifier: GPL-3.0-or-later
"""Cloth objects as the core's cloth: which objects take part, checks, mesh, pins, grain, velocities.

Cloth is read as it is evaluated at the first frame, in world space and metres, with shape keys, deforming modifiers,
parents and scale, and on the mesh's own vertices. That shape is the rest shape, unless a shape key is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.record_schema import MOST
from ..properties.settings import ClothSettings, kind_of, settings_of
from . import (
    field_weights,
    garments,
    internal_springs,
    keyed_fabric,
    keyed_shrink,
    mesh_data,
    plasticity,
    pressure,
    rest_shape,
    start_velocity,
    tearing,
    unbaked_state,
)
from .coincident_vertices import separate_coincident_vertices
from .editable_checks import check_editable
from .frame_window import FrameWindow, evaluated_object, matrix_name, vector_text
from .keyed_settings import KeyedSettings
from .pins import PinSamples, weights_vary

EARLIEST_FRAME, LATEST_FRAME = -1048574, 1048574
"""Smallest and largest number of a frame in Blender."""

BIRTH = "birth"
"""Name of the points' attribute of birth time [s]."""

LEAST_AREA = 1e-8
"""Area of a triangle over its longest side squared, below which it has no direction of u [-]."""


@dataclass(frozen=True)
class ClothSource:
    """A cloth object that can be baked.

    Attributes:
        obj, name, settings: the object, its name, and its settings.
        generative: names of the modifiers that are switched off while it is read.
        deforms: whether other modifiers or the parent move vertices.
        own_keys: names of the user's shape keys, those of a bake left out.
    """

    obj: bpy.types.Object
    name: str
    settings: ClothSettings
    generative: list[str]
    deforms: bool
    own_keys: list[str]


def objects_of_kind(scene: bpy.types.Scene, kind: str) -> list[bpy.types.Object]:
    """Return the scene's objects of `kind`, CLOTH or COLLIDER, sorted by name, so that results are reproducible."""
    return sorted((obj for obj in scene.objects if kind_of(obj, scene) == kind), key=lambda obj: obj.name)


def cloth_objects(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None) -> list[bpy.types.Object]:
    """Return the given cloth objects sorted by name, or all of the scene.

    Raises:
        core.SceneError: there is none, or an object is not in the scene or not cloth.
    """
    found = objects_of_kind(scene, "CLOTH")
    if not objects and not found:
        raise core.SceneError(f"scene '{scene.name}' has no cloth; choose Cloth as an object's type in "
                              "Properties > Physics > Muslin (in Python: object.muslin.kind = \"CLOTH\")")
    if objects is None:
        return found
    if not objects:
        raise core.SceneError("no objects were given to bake; give cloth objects, or None for all of the scene")
    for obj in objects:
        if obj.name not in scene.objects:
            raise core.SceneError(f"is not in scene '{scene.name}'; link it to the scene, or leave it out",
                                  object_name=obj.name)
        if kind_of(obj, scene) != "CLOTH":
            raise core.SceneError("is not cloth; choose Cloth as its type in Properties > Physics > Muslin",
                                  object_name=obj.name)
    return [obj for obj in found if obj in objects]


def check_frames(first: int, last: int, start: int | None = None) -> None:
    """Raise SceneError for a frame range that is reversed, has one frame or too many, or is outside of Blender's.

    `start` is the first simulated frame, `first` if it is None.
    """
    if last < first:
        raise core.SceneError(f"the frame range {first} to {last} is reversed; the end must come after the start: "
                              "set Start and End in Output Properties, or with Custom Range in the Bake panel")
    if last == first:
        raise core.SceneError(f"the frame range {first} to {last} is one frame, and a bake needs at least 2 frames: "
                              "set Start and End in Output Properties, or with Custom Range in the Bake panel")
    if first < EARLIEST_FRAME or last > LATEST_FRAME:
        raise core.SceneError(f"the frame range {first} to {last} is outside of Blender's, {EARLIEST_FRAME} to "
                              f"{LATEST_FRAME}; choose frames inside of it")
    if last - first >= MOST:
        raise core.SceneError(f"the frame range {first} to {last} has {last - first + 1} frames, and a bake can have "
                              f"{MOST}; bake it in parts")
    if start is not None and start < EARLIEST_FRAME:
        raise core.SceneError(f"a pre-roll of {first - start} frames before frame {first} would start at frame "
                              f"{start}, and Blender's first is {EARLIEST_FRAME}; shorten Pre-Roll in the Bake panel")


def read_source(obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> ClothSource:
    """Check a cloth object, and return it with its settings.

    Raises:
        core.ClothError: it cannot be baked.
    """
    check_editable(obj)
    if not len(obj.data.vertices):
        raise core.MeshError("has no vertices; give its mesh faces, or take it out of Muslin's simulation",
                             object_name=obj.name)
    unbaked_state.check_modifiers(obj)
    evaluated_object(obj, view_layer)
    generative = unbaked_state.generative_modifiers(obj, view_layer)
    return ClothSource(obj, obj.name, settings_of(obj, scene), generative, unbaked_state.deforms(obj, generative),
                       unbaked_state.users_shape_keys(obj))


def read_cloth(source: ClothSource, window: FrameWindow, contact: core.ClothContact, pin_samples: PinSamples,
               fields: Sequence[bpy.types.Object] = ()) -> core.Cloth:
    """Return the core's cloth at the window's frame, the first of the bake, with what it collides with and the
    samples of its pins. `fields` are the scene's force fields."""
    obj, settings = source.obj, source.settings
    if not len(obj.data.edges) and settings.model != "particles":       # possible in a comparison
        raise core.MeshError("has no edges, and vertices alone can only be particles; take that model, or give the "
                             "mesh edges or faces", object_name=obj.name)
    matrix = window.at(matrix_name(source.name), 0.0)
    positions = separate_coincident_vertices(window.at(source.name, 0.0), obj.data)
    rest = rest_shape.rest_positions(obj, settings.rest, matrix)
    rest = None if rest is None else separate_coincident_vertices(rest, obj.data)
    split = tearing.is_split(obj, settings.tearing)
    if split:
        positions = tearing.joined(positions, obj.data)
        rest = None if rest is None else tearing.joined(rest, obj.data)
    mirrored = np.linalg.det(matrix[:3, :3]) < 0.0
    turned = mesh_data.turned_over(obj.data) if mirrored else None      # Blender displays the same outer side
    points, faces = settings.model == "particles", mesh_data.faces(obj.data, turned)
    shared: dict[str, Any] = {"name": source.name, "points": points, "keep_loose": not points, "split": split,
                              "ngon_triangles": _ngon_triangles(obj.data, positions, turned)}
    mesh = core.ClothMesh(positions if rest is None else rest, faces=faces, edges=mesh_data.edges(obj.data),
                          grain=matrix[:3, 0].tolist(), **shared)
    if (settings.garment.pattern or settings.grain == "UV") and len(mesh.triangles):
        layer = _uv_layer(obj, settings.uv_map)
        corners = mesh_data.uv(obj.data, layer, turned).astype(np.float64)[mesh.corners]     # (T, 3, 2)
        uv = (garments.pattern(obj, layer, corners, mesh, settings.garment.pattern_size) if settings.garment.pattern
              else _along_uv(obj, layer, corners, mesh))
        # from the faces, not the triangles, so that quads stay quads
        mesh = core.ClothMesh(mesh.positions, faces=faces, edges=mesh.loose_edges, uv=uv, **shared)
    group = settings.pin_group
    pins = pin_samples.weights(source.name, _pin_weights(obj, group, may_be_empty=weights_vary(obj, group)), window)
    keyed = window.settings(obj)
    return core.Cloth(mesh, keyed_fabric.material_of(source.name, settings, keyed), model=settings.model, pins=pins,
                      pin_targets=(pin_samples.follow(source.name, window)
                                   if pins is not None or mesh.kept_loose.any() else None),
                      pin_stiffness=keyed.setting("pin_stiffness"),
                      thickness=settings.thickness, max_elongation=_longest(settings, keyed), name=source.name,
                      contact=contact,
                      velocities=_velocities(obj, matrix), births=_births(obj),
                      positions=None if rest is None else positions,
                      **rest_shape.motion_options(source.name, settings.rest, window),
                      field_weights=field_weights.field_weights(obj, settings.field_weights, fields, window),
                      **internal_springs.internal_springs_options(obj, settings.internal_springs, keyed),
                      **plasticity.plasticity_options(settings.plasticity, keyed),
                      **tearing.tearing_options(obj, settings.tearing, keyed),
                      **pressure.pressure_options(obj, settings.pressure, keyed), **settings.cloth_options(),
                      closing_gravity=settings.closing_gravity,
                      **(garments.garment_options(obj, settings.garment, mesh)
                         | keyed_shrink.options(source.name, window)))


def _ngon_triangles(mesh: mesh_data.Mesh, positions: NDArray[np.float64], turned: NDArray[np.int32] | None
                    ) -> NDArray[np.int32] | None:
    """Return the triangles (N, 3) of faces of five corners or more as Blender displays them, in numbers of corners.

    None if one has no area at `positions` (V, 3) [m]: then the core cuts these faces. `turned` is the order of the
    corners (C,) if the faces are turned over.
    """
    triangles = mesh_data.ngon_triangles(mesh)
    a, b, c = (positions[mesh_data.corner_vertices(mesh)[triangles[:, k]]] for k in range(3))
    longest = np.maximum.reduce([((b - a) ** 2).sum(1), ((c - b) ** 2).sum(1), ((a - c) ** 2).sum(1)])
    if not (np.linalg.norm(np.cross(b - a, c - a), axis=1) > LEAST_AREA * longest).all():
        return None
    return triangles if turned is None else turned[triangles][:, ::-1]


def _longest(settings: ClothSettings, keyed: KeyedSettings) -> float | core.Keyed | None:
    """Return the largest elongation of edges [-], as a function of the time if it is keyed; None for no limit."""
    limit = settings.max_elongation
    return None if limit is None else keyed.keyed_or("max_elongation", limit, 0.01)


def _velocities(obj: bpy.types.Object, matrix: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the initial velocities (V, 3) [m/s] in world space from the mesh's attribute, None without one.

    `matrix` (4, 4) is that from the object's space [Blender units] to the world [m].
    """
    name = start_velocity.attribute_name(obj.data)
    values = mesh_data.point_values(obj.data, name, "FLOAT_VECTOR")
    if values is not None:
        _check_values(obj, name, values, np.isfinite(values).all(axis=1), "no number")
    return None if values is None else values.astype(np.float64) @ matrix[:3, :3].T


def _births(obj: bpy.types.Object) -> NDArray[np.float32] | None:
    """Return the birth times (V,) [s], before which vertices do not move; None without the attribute."""
    values = mesh_data.point_values(obj.data, BIRTH, "FLOAT")
    if values is not None:
        _check_values(obj, BIRTH, values[:, None], values >= 0.0, "no number of seconds from 0 on")     # nan fails too
    return values


def _check_values(obj: bpy.types.Object, name: str, values: NDArray[np.float32], valid: NDArray[np.bool_], what: str
                  ) -> None:
    """Raise MeshError for the first row of `values` (V, n) that is not `valid` (V,)."""
    if not valid.all():
        vertex = int(np.argmin(valid))
        raise core.MeshError(f"its attribute '{name}' is {vector_text(values[vertex])} at vertex {vertex}, which is "
                             f"{what}; correct it, or delete the attribute (Object Data > Attributes)",
                             object_name=obj.name)


def _pin_weights(obj: bpy.types.Object, name: str, *, may_be_empty: bool) -> NDArray[np.float32] | None:
    """Return the painted pin weights (V,) in 0..1 of the vertex group `name`, None without a name."""
    if not name:
        return None
    group = obj.vertex_groups.get(name)
    if group is None:
        raise core.PinError(f"has no vertex group '{name}' to pin; choose another one in Muslin's panel, or none",
                            object_name=obj.name)
    weights = mesh_data.group_weights(obj.data, group.index)
    if not np.isfinite(weights).all():
        vertex = int(np.argmin(np.isfinite(weights)))
        raise core.PinError(f"the weight of vertex {vertex} in its pin group '{name}' is {weights[vertex]}, which is "
                            "no number; assign it a weight from 0 to 1", object_name=obj.name)
    if not (weights.any() or may_be_empty):
        raise core.PinError(f"no vertex has a weight in its pin group '{name}'; assign vertices to it, or choose none",
                            object_name=obj.name)
    return weights


def notes_on_weight_modifiers(source: ClothSource) -> list[str]:
    """Return notes that name modifiers which change weights that the cloth uses: weights are read from the mesh."""
    garment = source.settings.garment
    used = {garment.buttons, garment.wrinkle_group,
            source.settings.pressure.group, source.settings.tearing.group, *source.settings.contact.groups,
            *(group for group, _ in garment.stiffness.values())} - {""}
    notes = []
    for modifier in source.obj.modifiers:
        if modifier.show_viewport and modifier.type.startswith("VERTEX_WEIGHT_"):
            kind: Any = modifier
            group = kind.vertex_group_a if modifier.type == "VERTEX_WEIGHT_MIX" else kind.vertex_group
            if group in used:
                notes.append(f"{source.name}: the modifier '{modifier.name}' of the weights of '{group}' is ignored: "
                             "weights are used as painted. Apply the modifier to use its weights in the bake")
    return notes


def _uv_layer(obj: bpy.types.Object, name: str) -> str:
    """Return the name of the UV map `name`, or of the active one. Raise MeshError if there is none."""
    layers = obj.data.uv_layers
    layer = layers.get(name) if name else layers.active
    if layer is None:
        raise core.MeshError(f"has no UV map{f' {name!r}' if name else ''} for its grain; unwrap it, or choose Object "
                             "X as the grain and As Modelled as the rest shape", object_name=obj.name)
    return str(layer.name)


def _along_uv(obj: bpy.types.Object, layer: str, uv: NDArray[np.float64], mesh: core.ClothMesh) -> NDArray[np.float64]:
    """Return rest coordinates (T, 3, 2) [m]: each triangle as modelled, turned so that u runs as in the UV map.

    `uv` (T, 3, 2) holds the corners of the triangles in the UV map `layer`.
    """
    a, b, c = (mesh.positions[mesh.triangles[:, i]] for i in range(3))
    d1, d2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    twice_area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    longest = np.maximum.reduce([(d1 ** 2).sum(1), (d2 ** 2).sum(1), ((d2 - d1) ** 2).sum(1)])
    flat = ~(np.abs(twice_area) > LEAST_AREA * longest)
    if flat.any():
        t = int(np.argmax(flat))
        raise core.MeshError(f"triangle {t} (vertices {mesh.triangles[t].tolist()}) has no area in UV map "
                             f"'{layer}' ({int(flat.sum())} such); unwrap it again or choose Object X as the "
                             "grain", object_name=obj.name)
    u = ((b - a) * d2[:, 1:] - (c - a) * d1[:, 1:]) * np.sign(twice_area)[:, None]  # dx/du times a positive factor
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(np.cross(b - a, c - a), u)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    sides = np.stack([np.zeros_like(a), b - a, c - a], axis=1)
    return np.stack([np.einsum("tij,tj->ti", sides, u), np.einsum("tij,tj->ti", sides, v)], axis=-1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender objects into the core's scene: what takes part, whether it can be simulated, and as what.

Cloth is read as it is evaluated at the first frame, in world space and metres: with its shape keys, its deforming
modifiers, its parents and its scale, on the mesh's own vertices. That shape is its rest shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.settings import ClothSettings, kind_of, metres_per_unit, settings_of
from ..write import shape_keys
from . import garments, mesh_data, unbaked_state
from .coincident_vertices import drawn_apart
from .frame_window import FrameWindow, as_text, evaluated_object

FLAT_SCALE = 1e-6
"""Smallest over largest scale of an object's axes, below which it has no inverse in single precision [-]."""

VELOCITY, BIRTH = "velocity", "birth"
"""Names of a mesh's attributes of points: how fast they start, in the object's space [Blender units per second], and
when [s]."""

FLAT_UV = 1e-8
"""A triangle's area in the UV map over its longest side squared, below which it shows no direction [-]."""


@dataclass(frozen=True)
class ClothSource:
    """A cloth object that can be baked.

    `generative` names its modifiers that are off while it is read; `deforms` says whether the others move vertices;
    `own_keys` names the shape keys that are no bake's.
    """

    obj: bpy.types.Object
    name: str
    settings: ClothSettings
    generative: list[str]
    deforms: bool
    own_keys: list[str]


def objects_of_kind(scene: bpy.types.Scene, kind: str) -> list[bpy.types.Object]:
    """The scene's objects that are CLOTH or COLLIDER, by name, which fixes the order of everything after."""
    return sorted((obj for obj in scene.objects if kind_of(obj, scene) == kind), key=lambda obj: obj.name)


def cloth_objects(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object] | None) -> list[bpy.types.Object]:
    """The given cloths, or all of the scene's."""
    found = objects_of_kind(scene, "CLOTH")
    if objects is None:
        if not found:
            raise core.SceneError(f"scene '{scene.name}' has no cloth; choose Cloth as an object's type in "
                                  "Properties > Physics > Muslin")
        return found
    if not objects:
        raise core.SceneError("no objects were given to bake")
    for obj in objects:
        if obj.name not in scene.objects:
            raise core.SceneError(f"is not in scene '{scene.name}'", object_name=obj.name)
        if kind_of(obj, scene) != "CLOTH":
            raise core.SceneError("is no cloth; choose Cloth as its type in Properties > Physics > Muslin",
                                  object_name=obj.name)
    return [obj for obj in found if obj in objects]


def check_frames(first: int, last: int) -> None:
    if last < first:
        raise core.SceneError(f"the frame range {first} to {last} is reversed; the end must come after the start: "
                              "set Start and End in Output Properties, or with Custom Range in the Bake panel")
    if last == first:
        raise core.SceneError(f"the frame range {first} to {last} is one frame, and a bake needs at least 2 frames: "
                              "set Start and End in Output Properties, or with Custom Range in the Bake panel")


def check_editable(obj: bpy.types.Object) -> None:
    """Raises SceneError where a bake may not write to `obj`. Asked again before writing."""
    def refuse(message: str) -> None:
        raise core.SceneError(message, object_name=obj.name)

    if obj.type != "MESH":
        refuse(f"is a {obj.type.lower()}, not a mesh; convert it (Object > Convert > Mesh)")
    mesh = obj.data
    check_of_this_file(obj)
    if obj.mode == "EDIT" or mesh.is_editmode:
        refuse("is in Edit Mode; leave it (Tab) and bake again")
    if obj.use_dynamic_topology_sculpting:
        refuse("is sculpted with Dyntopo, which keeps no shape keys; switch Dyntopo off, or leave Sculpt Mode, and "
               "bake again")
    users = mesh.users - int(mesh.use_fake_user)
    if users > 1:
        refuse(f"shares its mesh '{mesh.name}' with {users - 1} other(s); make it single-user "
               "(Object > Relations > Make Single User > Object & Data)")
    shape_keys.check_writable(obj)


def check_of_this_file(obj: bpy.types.Object) -> None:
    """Raises SceneError where the object or its mesh belongs to another file."""
    for what, item in (("it", obj), ("its mesh", obj.data)):
        if item.library is not None:
            raise core.SceneError(f"{what} is linked from {item.library.filepath} and cannot be changed here; make it "
                                  "local (Object > Relations > Make Local)", object_name=obj.name)
        if item.override_library is not None:
            raise core.SceneError(f"{what} is a library override; make it local (Object > Relations > Make Local)",
                                  object_name=obj.name)


def read_source(obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> ClothSource:
    check_editable(obj)
    if not len(obj.data.vertices):
        raise core.MeshError("has no vertices; give its mesh faces, or take it out of Muslin's simulation",
                             object_name=obj.name)
    unbaked_state.check_modifiers(obj)
    evaluated_object(obj, view_layer)
    generative = unbaked_state.generative_modifiers(obj, view_layer)
    return ClothSource(obj, obj.name, settings_of(obj, scene), generative, unbaked_state.deforms(obj, generative),
                       shape_keys.users_keys(obj))


def world_matrix(obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> NDArray[np.float64]:
    """(4, 4) of the evaluated object, with an inverse."""
    matrix = np.array(evaluated_object(obj, view_layer).matrix_world, np.float64)
    scale = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    if not scale[2] > FLAT_SCALE * scale[0]:
        axes = np.linalg.norm(matrix[:3, :3], axis=0)
        raise core.SceneError(f"its scale in world space is zero along an axis (x {axes[0]:.3g}, y {axes[1]:.3g}, "
                              f"z {axes[2]:.3g}) at frame {scene.frame_current}; give it another scale",
                              object_name=obj.name)
    return matrix


def read_cloth(source: ClothSource, window: FrameWindow, scene: bpy.types.Scene,
               view_layer: bpy.types.ViewLayer) -> core.Cloth:
    """The cloth at the window's frame, which is the bake's first."""
    obj, settings = source.obj, source.settings
    if not len(obj.data.edges) and settings.model != "particles":       # as a comparison may ask for
        raise core.MeshError("has no edges, and vertices alone can only be particles; take that model, or give the "
                             "mesh edges or faces", object_name=obj.name)
    matrix = world_matrix(obj, scene, view_layer)
    positions, points = drawn_apart(window.at(source.name, 0.0), obj.data), settings.model == "particles"
    faces = mesh_data.faces(obj.data)
    mesh = core.ClothMesh(positions, faces=faces, edges=mesh_data.edges(obj.data),
                          name=source.name, grain=matrix[:3, 0].tolist(), points=points)
    if (settings.garment.pattern or settings.grain == "UV") and len(mesh.triangles):
        layer = _uv_layer(obj, settings.uv_map)
        corners = mesh_data.uv(obj.data, layer).astype(np.float64)[mesh.corners]     # (T, 3, 2)
        uv = (garments.pattern(obj, layer, corners, mesh, settings.garment.pattern_size) if settings.garment.pattern
              else _along_uv(obj, layer, corners, mesh))
        # of the same faces, so that what was quads stays quads
        mesh = core.ClothMesh(mesh.positions, faces=faces, edges=mesh.loose_edges, uv=uv, name=source.name,
                              points=points)
    pins = _pin_weights(obj, settings.pin_group)
    return core.Cloth(mesh, settings.material(source.name), model=settings.model, pins=pins,
                      pin_targets=None if pins is None else window.trajectory(source.name),
                      thickness=settings.thickness, max_elongation=settings.max_elongation, name=source.name,
                      velocities=_velocities(obj, matrix, metres_per_unit(scene)), births=_births(obj),
                      **settings.model_options, **garments.options(obj, settings.garment, mesh))


def _velocities(obj: bpy.types.Object, matrix: NDArray[np.float64], unit: float) -> NDArray[np.float64] | None:
    """(V, 3) [m/s] in world space at the start, out of the mesh's attribute; None without one."""
    values = mesh_data.point_values(obj.data, VELOCITY, "FLOAT_VECTOR")
    if values is not None:
        _check_values(obj, VELOCITY, values, np.isfinite(values).all(axis=1), "no number")
    return None if values is None else unit * (values.astype(np.float64) @ matrix[:3, :3].T)


def _births(obj: bpy.types.Object) -> NDArray[np.float32] | None:
    """Times (V,) [s] until which vertices wait where they are; None without such an attribute."""
    values = mesh_data.point_values(obj.data, BIRTH, "FLOAT")
    if values is not None:
        _check_values(obj, BIRTH, values[:, None], values >= 0.0, "no number of seconds from 0 on")     # nan fails too
    return values


def _check_values(obj: bpy.types.Object, name: str, values: NDArray[np.float32], good: NDArray[np.bool_], what: str
                  ) -> None:
    if not good.all():
        vertex = int(np.argmin(good))
        raise core.MeshError(f"its attribute '{name}' is {as_text(values[vertex])} at vertex {vertex}, which is "
                             f"{what}; correct it, or delete the attribute (Object Data > Attributes)",
                             object_name=obj.name)


def _pin_weights(obj: bpy.types.Object, name: str) -> NDArray[np.float32] | None:
    """(V,) in 0..1, None where the cloth is not pinned."""
    if not name:
        return None
    group = obj.vertex_groups.get(name)
    if group is None:
        raise core.PinError(f"has no vertex group '{name}' to pin; choose another one in Muslin's panel, or none",
                            object_name=obj.name)
    weights = mesh_data.group_weights(obj.data, group.index)
    if not weights.any():
        raise core.PinError(f"no vertex has a weight in its pin group '{name}'; assign vertices to it, or choose none",
                            object_name=obj.name)
    return weights


def weights_as_painted(source: ClothSource) -> list[str]:
    """Sentences that name modifiers which change weights that count: they are read off the mesh itself."""
    garment = source.settings.garment
    used = {source.settings.pin_group, garment.buttons, garment.shrink_group, garment.wrinkle_group,
            *(group for group, _ in garment.stiffness.values())} - {""}
    notes = []
    for modifier in source.obj.modifiers:
        if modifier.show_viewport and modifier.type.startswith("VERTEX_WEIGHT_"):
            kind: Any = modifier
            group = kind.vertex_group_a if modifier.type == "VERTEX_WEIGHT_MIX" else kind.vertex_group
            if group in used:
                notes.append(f"{source.name}: what the modifier '{modifier.name}' makes of the weights of '{group}' is "
                             "left out: they count as painted. Apply the modifier to have it in the bake")
    return notes


def _uv_layer(obj: bpy.types.Object, name: str) -> str:
    """The UV map of this name, or the active one."""
    layers = obj.data.uv_layers
    layer = layers.get(name) if name else layers.active
    if layer is None:
        raise core.MeshError(f"has no UV map{f' {name!r}' if name else ''} for its grain; unwrap it, or choose Object "
                             "X as the grain and As Modelled as the rest shape", object_name=obj.name)
    return str(layer.name)


def _along_uv(obj: bpy.types.Object, layer: str, uv: NDArray[np.float64], mesh: core.ClothMesh) -> NDArray[np.float64]:
    """Rest coordinates (T, 3, 2) [m]: each triangle as modelled, turned so that u runs as in the UV map `layer`, of
    which these are the triangles' corners (T, 3, 2)."""
    a, b, c = (mesh.positions[mesh.triangles[:, i]] for i in range(3))
    d1, d2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    twice_area = d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0]
    longest = np.maximum.reduce([(d1 ** 2).sum(1), (d2 ** 2).sum(1), ((d2 - d1) ** 2).sum(1)])
    flat = ~(np.abs(twice_area) > FLAT_UV * longest)
    if flat.any():
        t = int(np.argmax(flat))
        raise core.MeshError(f"triangle {t} (vertices {mesh.triangles[t].tolist()}) has no area in UV map "
                             f"'{layer}' ({int(flat.sum())} such); unwrap it again or choose Object X as the "
                             "grain", object_name=obj.name)
    u = ((b - a) * d2[:, 1:] - (c - a) * d1[:, 1:]) * np.sign(twice_area)[:, None]  # dx/du, up to its length
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(np.cross(b - a, c - a), u)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    sides = np.stack([np.zeros_like(a), b - a, c - a], axis=1)
    return np.stack([np.einsum("tij,tj->ti", sides, u), np.einsum("tij,tj->ti", sides, v)], axis=-1)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pins of a cloth object over time: weights that modifiers change, and targets on the surface of another object.

Weights are read from the evaluated mesh at every frame if a modifier may change them: one of the Vertex Weight
modifiers of the pin group, or geometry nodes that write it. All others are the painted ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.animation_curves import animated_paths
from ..properties.settings import ClothSettings
from . import mesh_data
from .frame_window import FrameWindow, evaluated_object, to_world
from .surface_binding import SurfaceBinding

FloatArray = NDArray[np.float64]


class PinSamples:
    """Samples of the pins of cloth objects for the frame window.

    Args:
        objects: cloth objects and their settings.
        view_layer: with the dependency graph that evaluates them.
        metres_per_unit: length of one Blender unit [m].

    Attributes:
        targets: the objects whose surfaces pins follow.

    Raises:
        core.PinError: a target is no mesh, or cloth of this bake.
    """

    def __init__(self, objects: Sequence[tuple[bpy.types.Object, ClothSettings]], view_layer: bpy.types.ViewLayer,
                 metres_per_unit: float) -> None:
        self._view_layer, self._unit = view_layer, metres_per_unit
        self._bound: dict[str, tuple[SurfaceBinding, int]] = {}
        self._weights: dict[str, Callable[[], FloatArray]] = {}
        self._targets: dict[str, Callable[[], FloatArray]] = {}
        self.targets: list[bpy.types.Object] = []
        cloths = [obj for obj, _ in objects]
        for obj, settings in objects:
            target = obj.muslin.pin_target
            if not settings.pin_group:
                continue
            if weights_vary(obj, settings.pin_group):
                self._weights[obj.name] = lambda obj=obj, group=settings.pin_group: evaluated_weights(
                    obj, view_layer, group)
            if target is not None:
                _check_target(obj, target, cloths)
                self.targets.append(target)
                self._targets[obj.name] = lambda name=obj.name, obj=obj, target=target: self._read_targets(
                    name, obj, target)

    def samples(self) -> dict[str, Callable[[], FloatArray]]:
        """Return the functions for the frame window: weights (V,) and targets (V, 3) [m] by cloth."""
        return ({_weights_name(name): read for name, read in self._weights.items()}
                | {targets_name(name): read for name, read in self._targets.items()})

    def weights(self, name: str, painted: Any, window: FrameWindow) -> Any:
        """Return the weights of the cloth `name`: `painted`, or a function of the time where modifiers change them."""
        return window.trajectory(_weights_name(name)) if name in self._weights else painted

    def follow(self, name: str, window: FrameWindow) -> core.Trajectory:
        """Return the positions (V, 3) [m] over time that pins of the cloth `name` follow."""
        return window.trajectory(targets_name(name) if name in self._targets else name)

    def has_target(self, name: str) -> bool:
        """Return whether the pins of the cloth `name` follow another object."""
        return name in self._targets

    def _read_targets(self, name: str, obj: bpy.types.Object, target: bpy.types.Object) -> FloatArray:
        """Return positions (V, 3) [m] at the scene's frame: bound to the target, from the first frame on.

        `name` is that of the cloth `obj` at the first frame: it may have been renamed since.
        """
        shown = evaluated_object(target, self._view_layer)
        surface = to_world(mesh_data.positions(shown.data), shown, self._unit)
        if name not in self._bound:
            cloth = evaluated_object(obj, self._view_layer)
            own = to_world(mesh_data.positions(cloth.data), cloth, self._unit)
            try:
                binding = SurfaceBinding(own, surface, mesh_data.triangles(shown.data))
            except ValueError:
                raise core.PinError(f"its Pin Target '{target.name}' has no face of any area to follow; choose a mesh "
                                    "with faces, or none", object_name=obj.name) from None
            self._bound[name] = binding, len(surface)
        binding, count = self._bound[name]
        if len(surface) != count:
            scene: Any = self._view_layer.id_data
            raise core.PinError(f"its Pin Target '{target.name}' has {len(surface)} vertices at frame "
                                f"{scene.frame_current} and had {count} at the first; switch off "
                                "the modifier that changes their number, or choose another target",
                                object_name=obj.name)
        return binding.at(surface)


def weights_vary(obj: bpy.types.Object, group: str) -> bool:
    """Return whether a modifier that is on at any time may change the weights of a vertex group of an object."""
    paths = {path for path, _ in animated_paths(obj)}
    for modifier in obj.modifiers:
        path = f'modifiers["{bpy.utils.escape_identifier(modifier.name)}"].show_viewport'
        if (modifier.show_viewport or path in paths) and _writes(modifier, group):
            return True
    return False


def evaluated_weights(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, group: str) -> FloatArray:
    """Return the weights (V,) of a vertex group after all modifiers, at the scene's frame."""
    mesh, found = evaluated_object(obj, view_layer).data, obj.vertex_groups.get(group)
    if found is None:
        raise core.ClothError(f"has no vertex group '{group}'; choose another one in Muslin's panel, or none",
                              object_name=obj.name)
    weights: FloatArray = mesh_data.group_weights(mesh, found.index).astype(np.float64)
    return np.minimum(weights, 1.0)


def targets_name(cloth: str) -> str:
    """Return the name in the frame window of the targets of a cloth's pins. No object has that name."""
    return f"\0pin targets of {cloth}"


def _weights_name(cloth: str) -> str:
    return f"\0pin weights of {cloth}"


def _writes(modifier: Any, group: str) -> bool:
    if modifier.type == "VERTEX_WEIGHT_MIX":
        return bool(modifier.vertex_group_a == group)
    if modifier.type.startswith("VERTEX_WEIGHT_"):
        return bool(modifier.vertex_group == group)
    return modifier.type == "NODES" and modifier.node_group is not None and (
        any(value == group for value in _texts(modifier)) or _stores_attributes(modifier.node_group, set()))


def _texts(modifier: Any) -> list[str]:
    """Return the texts that are set in a modifier of geometry nodes, names of output attributes among them.

    They are properties in newer versions of Blender, and items in older ones.
    """
    properties = getattr(modifier, "properties", None)
    if properties is None:
        return [value for value in dict(modifier).values() if isinstance(value, str)]
    found: list[str] = []
    for part in (getattr(properties, "outputs", None), getattr(properties, "inputs", None)):
        for prop in part.bl_rna.properties if part is not None else ():
            if prop.type == "POINTER" and prop.identifier != "rna_type":
                value = getattr(part, prop.identifier)
                found += [getattr(value, name) for name in ("attribute_name", "value")
                          if isinstance(getattr(value, name, None), str)]
    return found


def _stores_attributes(tree: Any, seen: set[str]) -> bool:
    """Return whether a node of a tree, or of a group in it, stores named attributes."""
    if tree.name_full in seen:
        return False
    seen.add(tree.name_full)
    return any(node.bl_idname == "GeometryNodeStoreNamedAttribute" or (
        getattr(node, "node_tree", None) is not None and _stores_attributes(node.node_tree, seen))
        for node in tree.nodes)


def _check_target(obj: bpy.types.Object, target: bpy.types.Object, cloths: Sequence[bpy.types.Object]) -> None:
    """Raise PinError if pins of a cloth object cannot follow a target."""
    if target == obj or target.type != "MESH":
        raise core.PinError(f"its Pin Target '{target.name}' is not another mesh object; choose one, or none",
                            object_name=obj.name)
    if target in cloths:
        raise core.PinError(f"its Pin Target '{target.name}' is cloth of the same bake, whose place is not known yet; "
                            "bake that one first, and then this one by itself", object_name=obj.name)
    if target.data.is_editmode:
        raise core.PinError(f"its Pin Target '{target.name}' is in Edit Mode; leave it (Tab) and bake again",
                            object_name=obj.name)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Instances of colliders: of collections, on vertices and faces, and of geometry nodes.

Cloth collides with every instance that the viewport shows of a collider. It also collides with all instances that a
collider's own geometry nodes make, and with those of an object in the scene's Collider Collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.number_text import number_text
from ..properties.settings import kind_of
from . import mesh_data

Positions = NDArray[np.float64]


@dataclass
class _Shown:
    """The instances that belong to one collider, at one time.

    Attributes:
        positions: of each instance (V, 3) in world space [m].
        corners: vertices of the face corners of each instance.
    """

    positions: list[Positions] = field(default_factory=list)
    corners: list[NDArray[np.int32]] = field(default_factory=list)


class InstancedColliders:
    """The colliders' instances, at the first frame and then at every frame that is read.

    Args:
        scene, view_layer: the scene, which stands at the first frame.
        metres_per_unit: length of one Blender unit [m].

    Attributes:
        owners: by the names of the window's samples, the colliders that have instances.
        triangles: by the same names, (T, 3) triangles of all instances of that collider.
    """

    def __init__(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, metres_per_unit: float) -> None:
        self._scene, self._view_layer, self._unit = scene, view_layer, metres_per_unit
        self._latest: tuple[float, dict[str, _Shown]] | None = None
        self.owners: dict[str, bpy.types.Object] = {}
        self._names: dict[int, str] = {}                            # by session_uid: owners may be renamed later
        self.triangles: dict[str, NDArray[np.int32]] = {}
        count: dict[str, int] = {}
        for owner, instance in self._instances():
            name = self._names.setdefault(owner.session_uid, sample_name(owner))
            self.owners[name] = owner
            mesh = instance.object.data
            triangles = mesh_data.triangles(mesh)
            if np.linalg.det(np.array(instance.matrix_world, np.float64)[:3, :3]) < 0.0:
                triangles = triangles[:, ::-1]                  # keep normals outwards where the instance is mirrored
            before = self.triangles.get(name, np.zeros((0, 3), np.int32))
            self.triangles[name] = np.concatenate([before, triangles + count.get(name, 0)])
            count[name] = count.get(name, 0) + len(mesh.vertices)
        self._first = self._shown()

    def samples(self) -> dict[str, Callable[[], Positions]]:
        """Return the samples for the frame window: positions (V, 3) [m] of all instances of each collider."""
        return {name: lambda name=name: self._sample(name) for name in self.owners}

    def _sample(self, name: str) -> Positions:
        time = self._scene.frame_current_final
        if self._latest is None or self._latest[0] != time:
            self._latest = time, self._shown()
        first, now = self._first[name], self._latest[1].get(name, _Shown())
        owner, frame = self.owners[name].name, number_text(time, 10)
        if len(now.positions) != len(first.positions):
            raise core.ColliderError(f"has {len(now.positions)} instances at frame {frame} and had "
                                     f"{len(first.positions)} at the first frame; a collider must keep its instances: "
                                     "show as many at all frames, or make them real (Object > Apply)",
                                     object_name=owner)
        for number, (here, before) in enumerate(zip(now.corners, first.corners, strict=True)):
            if not np.array_equal(here, before) or now.positions[number].shape != first.positions[number].shape:
                raise core.ColliderError(f"its instance {number} has other faces at frame {frame} than at the first "
                                         "frame; a collider must keep its faces: switch off the modifier or node that "
                                         "rebuilds them", object_name=owner)
        return np.concatenate(now.positions)

    def _shown(self) -> dict[str, _Shown]:
        """Return the instances of each collider, at the scene's frame."""
        found: dict[str, _Shown] = {}
        for owner, instance in self._instances():
            name = self._names.get(owner.session_uid, "")            # "": no owner at the first frame
            shown, mesh = found.setdefault(name, _Shown()), instance.object.data
            matrix = np.array(instance.matrix_world, np.float64)
            local = mesh_data.positions(mesh).astype(np.float64)
            shown.positions.append((local @ matrix[:3, :3].T + matrix[:3, 3]) * self._unit)
            shown.corners.append(mesh_data.corner_vertices(mesh))
        return found

    def _instances(self) -> Iterator[tuple[bpy.types.Object, Any]]:
        """Yield the instances with faces that belong to colliders, each with its collider. Each is valid until the
        next."""
        for instance in self._view_layer.depsgraph.object_instances:
            if instance.is_instance and instance.object.type == "MESH" and len(instance.object.data.polygons):
                owner = self._owner(instance)
                if owner is not None:
                    yield owner, instance

    def _owner(self, instance: Any) -> bpy.types.Object | None:
        """Return the collider that an instance belongs to, None if it belongs to none."""
        shown, by = instance.object.original, instance.parent.original
        if kind_of(shown, self._scene) == "CLOTH":
            return None
        if kind_of(shown, self._scene) == "COLLIDER":
            return shown
        chosen = self._scene.muslin.collider_collection
        made_by_nodes = by.instance_type == "NONE" and kind_of(by, self._scene) == "COLLIDER"
        listed = by.instance_type == "COLLECTION" and chosen is not None and by.name in chosen.all_objects
        return shown if listed else by if made_by_nodes else None


def sample_name(owner: bpy.types.Object) -> str:
    """Return the name in the frame window of the positions of a collider's instances."""
    return f"instances {owner.name_full}"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Key coordinates that play back as simulated.

Between a shape key and what is seen stand the user's own shape keys, the deforming modifiers, and the object's
place in the world. With the user's keys adding m (V, 3), modifiers D and world matrix W, all at one frame,

    seen = W D(m + key - basis),   so   key = basis + D^-1(W^-1 x) - m    for simulated positions x.

D is asked, never imitated: a copy of the object with one shape key of its own goes through Blender's evaluation and
is removed again at once. D^-1 is Newton's method, with a 3 x 3 derivative per vertex from three more evaluations;
it is exact in one step for what moves each vertex linearly, as an armature does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..read import mesh_data
from ..read.frame_window import as_text
from ..read.read_cloth import ClothSource, world_matrix
from . import baked_record
from .shape_keys import users_keys

Coordinates = NDArray[np.float64]
PROBE = 0.05        # offset for the derivative, in the mesh's extent: large, because single precision is coarse
STILL = 1e-4        # size of a vertex's derivative below which it does not follow its key, but only rounding [-]
SINGULAR = 1e-4     # its determinant over its size cubed, below which it has no inverse [-]
EXACT = 1e-6        # residual at which Newton's method ends, in the mesh's extent
ITERATIONS = 12


class Playback:
    """Turns world positions of one cloth into key coordinates at the frame where the scene stands.

    Attributes:
        error: largest distance between simulated and played back positions so far [m], apart from rounding.
    """

    def __init__(self, source: ClothSource, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer,
                 metres_per_unit: float) -> None:
        self._source, self._scene, self._view_layer = source, scene, view_layer
        self._metres_per_unit = metres_per_unit
        self._has_users_keys = bool(users_keys(source.obj))
        self._basis = _basis(source.obj)
        self.error = 0.0

    def key_coordinates(self, world: Coordinates) -> NDArray[np.float32]:
        """world (V, 3) [m] -> (V, 3) [Blender units] in the object's space."""
        matrix = world_matrix(self._source.obj, self._scene, self._view_layer)
        inverse = np.linalg.inv(matrix)
        local = (world / self._metres_per_unit) @ inverse[:3, :3].T + inverse[:3, 3]
        if self._source.deforms:
            local, residual = self._undeformed(local)
            stretch = float(np.linalg.norm(matrix[:3, :3], ord=2))
            self.error = max(self.error, residual * stretch * self._metres_per_unit)
        if self._has_users_keys:
            local = self._basis + (local - self._users_shape())
        with np.errstate(over="ignore"):
            keys = local.astype(np.float32)
        there = np.isfinite(keys).all(axis=1)
        if not there.all():
            vertex = int(np.argmin(there))
            raise core.SceneError(f"vertex {vertex} would be at {as_text(world[vertex])} m at frame "
                                  f"{self._scene.frame_current}, which no shape key can hold; raise Steps per Frame, "
                                  "or give the object a scale nearer to 1", object_name=self._source.name)
        return keys

    def _undeformed(self, wanted: Coordinates) -> tuple[Coordinates, float]:
        """y with D(y) = wanted, and the largest |D(y) - wanted| that is left."""
        extent = float(np.ptp(self._basis, axis=0).max())
        with self._probe() as deform:
            y = self._basis
            here = deform(y)
            derivative = _derivative(deform, y, here, PROBE * extent)
            self._check(derivative)
            best, smallest = y, float(np.linalg.norm(wanted - here, axis=1).max())
            for _ in range(ITERATIONS):
                if smallest <= EXACT * extent:
                    break
                y = y + np.linalg.solve(derivative, (wanted - here)[:, :, None])[:, :, 0]
                here = deform(y)
                residual = float(np.linalg.norm(wanted - here, axis=1).max())
                if residual > 0.5 * smallest:
                    if residual <= 10.0 * EXACT * extent or not np.isfinite(residual):
                        break
                    derivative = _derivative(deform, y, here, PROBE * extent)
                    self._check(derivative)
                if residual < smallest:
                    best, smallest = y, residual
        return best, smallest

    def _check(self, derivative: Coordinates) -> None:
        size = np.sqrt(np.einsum("vij,vij->v", derivative, derivative) / 3.0)        # (V,), 1 where nothing deforms
        bad = ~((size > STILL) & (np.abs(np.linalg.det(derivative)) > SINGULAR * size ** 3))
        if bad.any():
            obj = self._source.obj
            names = ", ".join(f"'{m.name}'" for m in obj.modifiers
                              if m.show_viewport and m.name not in self._source.generative) or f"'{obj.parent.name}'"
            raise core.SceneError(f"no shape key can move vertex {int(np.argmax(bad))} freely ({int(bad.sum())} such) "
                                  f"at frame {self._scene.frame_current}, because a deformation decides where it is: "
                                  f"of {names}, switch off in the viewport what follows other surfaces or a cache, or "
                                  "shrinks to nothing there", object_name=obj.name)

    @contextmanager
    def _probe(self) -> Iterator[Callable[[Coordinates], Coordinates]]:
        """Blender's own evaluation from key coordinates to the object's space."""
        with _copy_in_scene(self._source.obj, self._scene) as copy:
            for modifier in [copy.modifiers.get(name) for name in self._source.generative]:
                if modifier is not None:                            # it may have been taken away meanwhile
                    copy.modifiers.remove(modifier)
            keys = copy.data.shape_keys
            if keys is None:
                copy.shape_key_add(name="Basis", from_mix=False)
                keys = copy.data.shape_keys
            keys.animation_data_clear()
            for block in [block for block in keys.key_blocks if block != keys.reference_key]:
                copy.shape_key_remove(block)
            key = copy.shape_key_add(name="Probe", from_mix=False)
            key.value = 1.0
            keys.use_relative = True
            copy.show_only_shape_key = False

            def deform(coordinates: Coordinates) -> Coordinates:
                key.points.foreach_set("co", coordinates.astype(np.float32).ravel())
                copy.data.update_tag()
                return self._evaluated(copy)

            yield deform

    def _users_shape(self) -> Coordinates:
        """(V, 3) that the user's shape keys give at this frame."""
        with _copy_in_scene(self._source.obj, self._scene) as copy:
            copy.modifiers.clear()
            copy.parent = None
            record = baked_record.load(copy)
            for block in copy.data.shape_keys.key_blocks:           # some may have been renamed or deleted by hand
                if record is not None and block.name in record.keys:
                    block.mute = True
            copy.data.shape_keys.use_relative = True
            return self._evaluated(copy)

    def _evaluated(self, obj: bpy.types.Object) -> Coordinates:
        self._view_layer.update()
        mesh = obj.evaluated_get(self._view_layer.depsgraph).data
        return mesh_data.positions(mesh).astype(np.float64)


def _derivative(deform: Callable[[Coordinates], Coordinates], y: Coordinates, here: Coordinates,
                offset: float) -> Coordinates:
    """(V, 3, 3): column j is how each vertex answers to all moving along axis j."""
    return np.stack([(deform(y + offset * axis) - here) / offset for axis in np.eye(3)], axis=-1)


def _basis(obj: bpy.types.Object) -> Coordinates:
    keys = obj.data.shape_keys
    if keys is None:
        return mesh_data.positions(obj.data).astype(np.float64)
    points = np.empty(len(obj.data.vertices) * 3, np.float32)
    keys.reference_key.points.foreach_get("co", points)
    return points.reshape(-1, 3).astype(np.float64)


@contextmanager
def _copy_in_scene(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """A copy of the object with a mesh of its own, gone afterwards."""
    copy = obj.copy()
    mesh: Any = obj.data.copy()
    try:
        copy.data = mesh
        scene.collection.objects.link(copy)
        yield copy
    finally:
        bpy.data.batch_remove((copy, mesh))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Shape key coordinates by which a bake is displayed as it was simulated.

Blender applies the user's own shape keys, the deforming modifiers and the world matrix to a shape key. Let m (V, 3) be
the shape of the user's keys, D the deformation by modifiers and W the world matrix, all at one frame. Then

    displayed = W D(m + key - basis),   so   key = basis + D^-1(W^-1 x) - m    for simulated positions x.

D is evaluated by Blender itself, on a copy of the object with one shape key, which is removed at once. D^-1 is computed
by Newton's method with a 3 x 3 derivative per vertex, from finite differences of three more evaluations. One step is
exact for deformations that move each vertex linearly, such as an armature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties import baked_record
from ..read import mesh_data
from ..read.frame_window import vector_text, world_matrix
from ..read.read_cloth import ClothSource
from ..read.unbaked_state import GENERATIVE, shown, users_shape_keys

Coordinates = NDArray[np.float64]
PROBE_OFFSET = 0.05
"""Offset of the finite differences, over the mesh's extent [-]. Large, because Blender is in single precision."""
LEAST_DERIVATIVE = 1e-4
"""Norm of a vertex's derivative below which the vertex does not follow its key [-]."""
LEAST_DETERMINANT = 1e-4
"""Determinant of a vertex's derivative over its norm cubed, below which it has no inverse [-]."""
NEWTON_TOLERANCE = 1e-6
"""Residual at which Newton's method ends, over the mesh's extent [-]."""
MAX_NEWTON_ITERATIONS = 12


class KeyFitter:
    """Computes the key coordinates of one cloth from its displayed positions, at the current frame of the scene.

    Attributes:
        is_needed: whether key coordinates differ from displayed positions: the object has other shape keys or deforms.
        error: largest distance between simulated and displayed positions so far [m], apart from rounding.
    """

    def __init__(self, source: ClothSource, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer,
                 metres_per_unit: float) -> None:
        self._source, self._scene, self._view_layer = source, scene, view_layer
        self._metres_per_unit = metres_per_unit
        self._has_users_keys = bool(users_shape_keys(source.obj))
        self.is_needed = source.deforms or self._has_users_keys
        self._basis = _basis(source.obj)
        self.error = 0.0

    def key_coordinates(self, displayed: NDArray[Any]) -> NDArray[np.float32]:
        """Return the key coordinates (V, 3) of `displayed` positions (V, 3), in the object's space [Blender units]."""
        with shown([self._source.obj]) as was_hidden:
            if was_hidden:
                self._view_layer.update()
            return self._key_coordinates(displayed.astype(np.float64))

    def _key_coordinates(self, local: Coordinates) -> NDArray[np.float32]:
        """Return the key coordinates while the object is switched on."""
        displayed = local
        if self._source.deforms:
            matrix = world_matrix(self._source.obj, self._scene, self._view_layer)
            local, residual = self._undeformed(local)
            stretch = float(np.linalg.norm(matrix[:3, :3], ord=2))
            self.error = max(self.error, residual * stretch * self._metres_per_unit)
        if self._has_users_keys:
            local = self._basis + (local - self._users_shape())
        with np.errstate(over="ignore"):
            keys = local.astype(np.float32)
        finite = np.isfinite(keys).all(axis=1)
        if not finite.all():
            vertex = int(np.argmin(finite))
            raise core.SceneError(f"vertex {vertex} would be at {vector_text(displayed[vertex])} in its own space at "
                                  f"frame {self._scene.frame_current}, which no shape key can hold; raise Steps per "
                                  "Frame, or give the object a scale nearer to 1", object_name=self._source.name)
        return keys

    def _undeformed(self, wanted: Coordinates) -> tuple[Coordinates, float]:
        """Return y (V, 3) with D(y) = wanted, and the largest remaining |D(y) - wanted| [Blender units]."""
        extent = float(np.ptp(self._basis, axis=0).max())
        with self._probe() as deform:
            y = self._basis
            here = deform(y)
            derivative = _derivative(deform, y, here, PROBE_OFFSET * extent)
            self._check(derivative)
            best, smallest = y, float(np.linalg.norm(wanted - here, axis=1).max())
            for _ in range(MAX_NEWTON_ITERATIONS):
                if smallest <= NEWTON_TOLERANCE * extent:
                    break
                y = y + np.linalg.solve(derivative, (wanted - here)[:, :, None])[:, :, 0]
                here = deform(y)
                residual = float(np.linalg.norm(wanted - here, axis=1).max())
                if residual > 0.5 * smallest:
                    if residual <= 10.0 * NEWTON_TOLERANCE * extent or not np.isfinite(residual):
                        break
                    derivative = _derivative(deform, y, here, PROBE_OFFSET * extent)
                    self._check(derivative)
                if residual < smallest:
                    best, smallest = y, residual
        return best, smallest

    def _check(self, derivative: Coordinates) -> None:
        """Raise SceneError if the derivative (V, 3, 3) of a vertex has no inverse."""
        size = np.sqrt(np.einsum("vij,vij->v", derivative, derivative) / 3.0)        # (V,), 1 where nothing deforms
        bad = ~((size > LEAST_DERIVATIVE) & (np.abs(np.linalg.det(derivative)) > LEAST_DETERMINANT * size ** 3))
        if bad.any():
            obj = self._source.obj
            names = ", ".join(f"'{m.name}'" for m in obj.modifiers
                              if m.show_viewport and m.name not in self._source.generative) or f"'{obj.parent.name}'"
            raise core.SceneError(f"no shape key can move vertex {int(np.argmax(bad))} freely ({int(bad.sum())} such) "
                                  f"at frame {self._scene.frame_current}, because a deformation fixes its place: "
                                  f"choose the result Mesh Cache, or, of {names}, switch off in the viewport those "
                                  "that follow another surface or a cache, shrink to nothing there, or deform by the "
                                  "size of the whole mesh, as Simple Deform does", object_name=obj.name)

    @contextmanager
    def _probe(self) -> Iterator[Callable[[Coordinates], Coordinates]]:
        """Yield the function D: key coordinates (V, 3) -> positions (V, 3) in the object's space, by Blender."""
        with _copy_in_scene(self._source.obj, self._scene) as copy:
            for modifier in list(copy.modifiers):                   # the user may have added one during the bake
                if (modifier.name in self._source.generative or modifier.type in GENERATIVE
                        or baked_record.is_own(modifier)):
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
        """Return the shape (V, 3) of the user's shape keys at this frame [Blender units]."""
        with _copy_in_scene(self._source.obj, self._scene) as copy:
            copy.modifiers.clear()
            copy.parent = None
            record = baked_record.load(copy)
            keys = copy.data.shape_keys
            for name in baked_record.own_keys(keys, record) if record is not None else ():
                keys.key_blocks[name].mute = True
            keys.use_relative = True
            return self._evaluated(copy)

    def _evaluated(self, obj: bpy.types.Object) -> Coordinates:
        self._view_layer.update()
        mesh = obj.evaluated_get(self._view_layer.depsgraph).data
        return mesh_data.positions(mesh).astype(np.float64)


def _derivative(deform: Callable[[Coordinates], Coordinates], y: Coordinates, here: Coordinates,
                offset: float) -> Coordinates:
    """Return the derivative (V, 3, 3) of each vertex's position: column j for an offset of all keys along axis j."""
    return np.stack([(deform(y + offset * axis) - here) / offset for axis in np.eye(3)], axis=-1)


def _basis(obj: bpy.types.Object) -> Coordinates:
    """Return the basis shape (V, 3) in the object's space [Blender units]."""
    keys = obj.data.shape_keys
    if keys is None:
        return mesh_data.positions(obj.data).astype(np.float64)
    points = np.empty(len(obj.data.vertices) * 3, np.float32)
    keys.reference_key.points.foreach_get("co", points)
    return points.reshape(-1, 3).astype(np.float64)


@contextmanager
def _copy_in_scene(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[bpy.types.Object]:
    """Yield a copy of the object with a mesh of its own, which is removed at the end."""
    copy = obj.copy()
    mesh: Any = obj.data.copy()
    try:
        copy.data = mesh
        scene.collection.objects.link(copy)
        yield copy
    finally:
        bpy.data.batch_remove((copy, mesh))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where animated objects are, at any time between two neighbouring frames.

Blender can be asked for whole frames, the solver asks for times in between. The window holds the world positions
of two neighbouring frames and is moved along by the bake, so that each frame is read once, nothing else is kept,
and the solver touches no Blender data. In between, every vertex moves straight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from . import mesh_data
from .unbaked_state import as_authored

Positions = NDArray[np.float64]
ROUNDING = 1e-6     # of a frame: how far outside the window a time may fall by rounding
CUTTING = frozenset(("NODES", "TRIANGULATE"))
"""Modifiers that may cut the same faces by other diagonals as they bend: to a collider it is the same surface."""
FARTHEST = 1e9
"""Beyond this no place is meant [m]: in Blender's single precision places out there are 64 m apart."""


class FrameWindow:
    """Samples of `objects` by full name, in world space [m].

    Args:
        objects: cloths and colliders, with the names of the modifiers that are off while a cloth is read, and
            None for a collider, which is taken as it stands.
        first: the frame at time 0; frame_rate [1/s]; metres_per_unit [m].
        more: numbers by name that are to be read at every frame besides, and to be interpolated likewise.
    """

    def __init__(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer,
                 objects: dict[bpy.types.Object, list[str] | None], *, first: int, frame_rate: float,
                 metres_per_unit: float, more: dict[str, Callable[[], Positions]] | None = None) -> None:
        self._scene, self._view_layer = scene, view_layer
        self._objects = {obj.name_full: (obj, off) for obj, off in objects.items()}
        self._counts: dict[str, tuple[int, int]] = {}               # vertices and faces
        self._corners: dict[str, NDArray[np.int32]] = {}            # of faces that must stay as they are
        self._first, self._frame_rate, self._metres_per_unit = first, frame_rate, metres_per_unit
        self._more = more or {}
        self._before: dict[str, Positions] = {}
        self._after: dict[str, Positions] = {}
        self.frame = first
        self.read(first)
        self._before = self._after

    def read(self, frame: int) -> None:
        """Moves the scene to `frame` and the window to `frame` - 1 .. `frame`."""
        after: dict[str, Positions] = {}
        try:
            with as_authored({obj: off for obj, off in self._objects.values() if off is not None}):
                self._scene.frame_set(frame)
                for name, (obj, off) in self._objects.items():
                    after[name] = self._sample(obj, off is not None, frame)
                for name, take in self._more.items():
                    after[name] = take()
        except ReferenceError:
            gone = next((name for name, (obj, _) in self._objects.items() if not _exists(obj)), "a force field")
            raise core.SceneError(f"was removed while the bake ran (frame {frame}); undo that and bake again",
                                  object_name=gone) from None
        if frame != self._first:
            for name, here in self._after.items():
                if np.array_equal(here, after[name]):
                    after[name] = here                  # the very array: what stands still is seen to stand still
            self._before = self._after
        self._after, self.frame = after, frame

    def at(self, name: str, time: float) -> Positions:
        """Positions (V, 3) [m] of the object `name` at `time` [s] after the first frame."""
        before, after = self._before[name], self._after[name]
        if before is after:
            return after
        w = time * self._frame_rate + self._first - (self.frame - 1)
        if not -ROUNDING <= w <= 1.0 + ROUNDING:
            raise RuntimeError(f"time {time} s is outside the frames {self.frame - 1}..{self.frame} that are held")
        if w >= 1.0 - ROUNDING:
            return after
        return before if w <= ROUNDING else (1.0 - w) * before + w * after

    def trajectory(self, name: str) -> Callable[[float], Positions]:
        return lambda time: self.at(name, time)

    def _sample(self, obj: bpy.types.Object, cloth: bool, frame: int) -> Positions:
        if obj.data.is_editmode:        # then what is evaluated has no arrays
            kind = core.SceneError if cloth else core.ColliderError
            raise kind(f"is in Edit Mode at frame {frame}; leave it (Tab) and bake again", object_name=obj.name)
        evaluated = evaluated_object(obj, self._view_layer)
        local = mesh_data.positions(evaluated.data)
        here = len(local), len(evaluated.data.polygons)
        count = self._counts.setdefault(obj.name_full, (len(obj.data.vertices), 0) if cloth else here)
        if cloth and here[0] != count[0]:
            raise core.SceneError(f"has {here[0]} vertices at frame {frame}, its mesh has {count[0]}; switch off in "
                                  "the viewport the modifier that changes their number", object_name=obj.name)
        if not cloth and here != count:
            raise _count_changed(obj.name, frame, here, self._first, count)
        if not cloth and not any(m.type in CUTTING and m.show_viewport for m in obj.modifiers):
            corners = mesh_data.corner_vertices(evaluated.data)
            if not np.array_equal(corners, self._corners.setdefault(obj.name_full, corners)):
                raise core.ColliderError(
                    f"has other faces at frame {frame} than at frame {self._first}, though as many; a collider must "
                    "keep its faces: switch off in the viewport the modifier that makes them anew, such as Decimate or "
                    "Boolean, or move it above those that animate the mesh", object_name=obj.name)
        positions = to_world(local, evaluated, self._metres_per_unit)
        there = (np.abs(positions) <= FARTHEST).all(axis=1)         # nan is nowhere, too
        if not there.all():
            raise _nowhere(evaluated, positions, int(np.argmin(there)), frame,
                           core.MeshError if cloth else core.ColliderError)
        return positions


def _count_changed(name: str, frame: int, here: tuple[int, int], first: int, count: tuple[int, int]
                   ) -> core.ColliderError:
    what, which = ("vertices", 0) if here[0] != count[0] else ("faces", 1)
    return core.ColliderError(f"has {here[which]} {what} at frame {frame} and had {count[which]} at frame {first}; a "
                              f"collider must keep its {what}: switch off in the viewport the modifier that changes "
                              "their number", object_name=name)


def _nowhere(evaluated: bpy.types.Object, positions: Positions, vertex: int, frame: int,
             kind: type[core.ClothError]) -> core.ClothError:
    """The error of `kind` that says what has no place: the object, or one vertex of it."""
    matrix = np.array(evaluated.matrix_world, np.float64)
    if not (np.abs(matrix[:3, 3]) <= FARTHEST).all():
        what = f"its location is {as_text(matrix[:3, 3])}", "correct it, with its keys and constraints"
    elif not (np.abs(matrix) <= FARTHEST).all():
        what = "has a rotation or scale", "correct them, with their keys and constraints"
    else:
        what = (f"vertex {vertex} is at {as_text(positions[vertex])} m",
                "move or delete that vertex, or switch off the modifier or shape key that puts it there")
    return kind(f"{what[0]} at frame {frame}, which is no number or above {FARTHEST:g}; {what[1]}",
                object_name=evaluated.name)


def as_text(numbers: Iterable[float]) -> str:
    """`(1, nan, 3.4e+38)`"""
    return f"({', '.join(f'{number:.4g}' for number in numbers)})"


def evaluated_object(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> bpy.types.Object:
    """The object with animation and modifiers applied, at the frame where its scene stands."""
    evaluated = obj.evaluated_get(view_layer.depsgraph)
    if not evaluated.is_evaluated:
        raise core.SceneError(f"is switched off in view layer '{view_layer.name}', so Blender does not compute where "
                              "it is; show it (monitor icon in the Outliner, or its collection's check box) and, to "
                              "keep it out of sight, hide it with the eye icon", object_name=obj.name)
    return evaluated


def to_world(local: NDArray[np.float32], evaluated: bpy.types.Object, metres_per_unit: float) -> Positions:
    """(V, 3) in the object's space [Blender units] -> (V, 3) in world space [m]."""
    matrix = np.array(evaluated.matrix_world, np.float64)
    return (local.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]) * metres_per_unit


def _exists(obj: bpy.types.Object) -> bool:
    try:
        return bool(obj.name)
    except ReferenceError:
        return False

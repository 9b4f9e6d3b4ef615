# SPDX-License-Identifier: GPL-3.0-or-later
"""Positions of animated objects at any time between two neighbouring frames.

The solver needs positions at times between frames. The bake advances the window frame by frame, so that the solver does
not access Blender's data; core/description/motion.py interpolates. Times between the frames are read where the motion
needs it (motion_sampling.py), after the frame at their end: Blender's own simulations, of rigid bodies for example, may
be played from frame to frame only, and interpolate between frames that they have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ..properties.number_text import number_text
from . import mesh_data
from .keyed_settings import KeyedSettings, settings_sample
from .motion_sampling import MotionSampling, sample_times
from .rest_pose import towards_rest_pose
from .unbaked_state import shown, unbaked

Positions = NDArray[np.float64]
RETRIANGULATING = frozenset(("NODES", "TRIANGULATE"))
"""Types of modifiers that may triangulate the same faces differently as these bend, which a collider may do."""
LARGEST_COORDINATE = 1e9
"""Largest valid coordinate [m]. Numbers in single precision are 64 m apart there."""
FARTHEST_MOVE = 1e4
"""Largest motion of a pinned vertex in a frame, over the size of its cloth [-] (docs/decisions/0041-thrown-pins.md)."""
SPEED_SAMPLE = "\0speed"
"""Name in the window of a keyed *Speed Multiplier*, which no object has."""
LEAST_SCALE_RATIO = 1e-6
"""Smallest over largest scale of an object's axes, below which it has no inverse in single precision [-]."""


class FrameWindow:
    """World positions [m] of `objects`, by their full names, from one frame to the next.

    For each cloth there is also the matrix from its space to the world, see `matrix_name`. Names are those that objects
    have at the beginning; they may be renamed later.

    Args:
        objects: cloths, each with the names of the modifiers to switch off while it is read; colliders, each with None.
        first: the frame at time 0.
        frame_rate: frames per second of simulated time [1/s], at speed 1 if the scene's *Speed Multiplier* is keyed.
        metres_per_unit: length of one Blender unit [m].
        extra_samples: functions that return further arrays to read at every frame and to interpolate, by name.
        extra_objects: the objects that these functions read.
        posed_from: the frame at which armatures stand in their pose. Before it they move there from their rest pose,
            and the rest of the scene stays at that frame. The animation is read at all frames if it is not given.

    Attributes:
        motion: the window of the core that holds the positions.
        sampling: how often motion is read in a frame.
        pinned: by the names of cloths, the pinned vertices and the size of the cloth [m].
    """

    def __init__(self, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer,
                 objects: dict[bpy.types.Object, list[str] | None], *, first: int, frame_rate: float,
                 metres_per_unit: float, extra_samples: dict[str, Callable[[], Positions]] | None = None,
                 extra_objects: Sequence[bpy.types.Object] = (), posed_from: int | None = None) -> None:
        self._scene, self._view_layer = scene, view_layer
        self._objects = {obj.name_full: (obj, off) for obj, off in objects.items()}
        self._counts: dict[str, tuple[int, int]] = {}               # numbers of vertices and faces at the first frame
        self._corners: dict[str, NDArray[np.int32]] = {}            # vertices of face corners at the first frame
        self._first, self._metres_per_unit = first, metres_per_unit
        self._settings: dict[bpy.types.Object | bpy.types.Scene, KeyedSettings] = {
            owner: KeyedSettings(owner, settings_sample(owner), view_layer) for owner in (scene, *objects)}
        self._extra_samples = dict(extra_samples or {})
        speed = KeyedSettings(scene, SPEED_SAMPLE, view_layer, ("speed",))
        for settings in (*self._settings.values(), speed):
            self._extra_samples |= settings.samples()
        self._shown = [*objects, *extra_objects]
        self._posed_from = first if posed_from is None else posed_from
        self.sampling = MotionSampling()
        self.pinned: dict[str, tuple[NDArray[np.integer[Any]], float]] = {}
        self._latest = self._values(first)
        self.motion = core.MotionWindow(first, frame_rate, self._latest, SPEED_SAMPLE if speed.names else None)
        for settings in self._settings.values():
            settings.begin(self.motion)

    @property
    def frame(self) -> int:
        """The last frame in the window."""
        return self.motion.frame

    def read(self, frame: int) -> list[tuple[float, dict[str, Positions]]]:
        """Move the scene to `frame` and the window from the frame before to it. Return the samples that were read.

        If the window does not end at the frame before, it is set to `frame` alone: a bake continues from there.
        """
        start, end = self._latest, self._values(frame)
        samples = [(float(frame), end)]
        if frame == self.motion.frame + 1:
            self._check_pins(frame, start, end)
            samples = [*self._between(frame, start, end), *samples]
            self.motion.advance(samples)
        else:
            self.motion.jump(frame, end)
        self._latest = end
        return samples

    def _check_pins(self, frame: int, start: dict[str, Positions], end: dict[str, Positions]) -> None:
        """Raise PinError if a pinned vertex moves too far from the frame before to `frame`."""
        for name, (vertices, size) in self.pinned.items():
            far = np.linalg.norm(end[name][vertices] - start[name][vertices], axis=1)
            i = int(np.argmax(far))
            if far[i] > FARTHEST_MOVE * size:
                raise core.PinError(
                    f"pinned vertex {int(vertices[i])} moves {number_text(far[i], 3)} m from frame {frame - 1} to "
                    f"frame {frame}, more than {number_text(FARTHEST_MOVE)} times the size of the cloth "
                    f"({number_text(size, 3)} m); correct the keys, drivers or parents that throw it there, or start "
                    "the bake after that frame",
                    object_name=self._objects[name][0].name)

    def _between(self, frame: int, start: dict[str, Positions], end: dict[str, Positions]
                 ) -> list[tuple[float, dict[str, Positions]]]:
        """Return the samples between the frame before and `frame`, with values `start` and `end`."""
        read: dict[float, dict[str, Positions]] = {}
        samples = self.sampling.samples
        if not samples:
            samples = 1
            if self.sampling.moves(start, end):
                middle = read[frame - 0.5] = self._values(frame - 0.5)
                samples = self.sampling.number(start, middle, end)
        times = sample_times(frame, samples)
        for time in times:
            if time not in read:
                read[time] = self._values(time)
        if read:
            self._set_frame(frame)
        return [(time, read[time]) for time in times]

    def _set_frame(self, time: float) -> None:
        """Move the scene to the frame, or time between frames, at which the animation is read for `time` [frames]."""
        frame = max(time, self._posed_from)
        whole = math.floor(frame)
        self._scene.frame_set(whole, subframe=frame - whole)

    @contextmanager
    def _evaluated_at(self, time: float) -> Iterator[None]:
        """Move the scene to `time` [frames], and pose armatures for a pre-roll from rest as long as the context."""
        self._set_frame(time)
        if time < self._posed_from:
            posed = (time - self._first) / (self._posed_from - self._first)
            with towards_rest_pose(self._scene, self._view_layer, posed):
                yield
        else:
            yield

    def _values(self, time: float) -> dict[str, Positions]:
        """Move the scene to `time` [frames], and return the positions of all objects there."""
        values: dict[str, Positions] = {}
        frame = number_text(time, 10)
        try:
            with (unbaked({obj: off for obj, off in self._objects.values() if off is not None}), shown(self._shown),
                  self._evaluated_at(time)):
                for name, (obj, off) in self._objects.items():
                    values[name] = self._sample(name, obj, off is not None, frame)
                    if off is not None:
                        values[matrix_name(name)] = self._matrix(obj)
                for name, sample in self._extra_samples.items():
                    values[name] = sample()
        except ReferenceError:
            removed = next((name for name, (obj, _) in self._objects.items() if not _exists(obj)), "a force field")
            raise core.SceneError(f"was removed while the bake ran (frame {frame}); undo that and bake again",
                                  object_name=removed) from None
        return values

    def at(self, name: str, time: float) -> Positions:
        """Return the positions (V, 3) [m] of the object `name` at `time` [s] after the first frame."""
        return self.motion.at(name, time)

    def trajectory(self, name: str) -> core.Trajectory:
        """Return the function time [s] -> positions (V, 3) [m] of the object `name`."""
        return self.motion.trajectory(name)

    def settings(self, owner: bpy.types.Object | bpy.types.Scene) -> KeyedSettings:
        """Return the settings of one of the `objects`, or of the scene, as numbers and functions of the time.

        Those of any other object are numbers.
        """
        found = self._settings.get(owner)
        return KeyedSettings(owner, settings_sample(owner), self._view_layer, ()) if found is None else found

    def _matrix(self, obj: bpy.types.Object) -> Positions:
        """Return the matrix (4, 4) from the object's space [Blender units] to the world [m], at the scene's frame."""
        matrix = world_matrix(obj, self._scene, self._view_layer)
        matrix[:3] *= self._metres_per_unit
        return matrix

    def _sample(self, name: str, obj: bpy.types.Object, cloth: bool, frame: str) -> Positions:
        """Return the evaluated positions (V, 3) [m] of an object at the scene's frame, after checking them.

        `name` is its full name when the window was made: it may have been renamed since.
        """
        if obj.data.is_editmode:        # the evaluated mesh has no arrays then
            kind = core.SceneError if cloth else core.ColliderError
            raise kind(f"is in Edit Mode at frame {frame}; leave it (Tab) and bake again", object_name=obj.name)
        evaluated = evaluated_object(obj, self._view_layer)
        local = mesh_data.positions(evaluated.data)
        here = len(local), len(evaluated.data.polygons)
        count = self._counts.setdefault(name, (len(obj.data.vertices), 0) if cloth else here)
        if cloth and here[0] != count[0]:
            raise core.SceneError(f"has {here[0]} vertices at frame {frame}, its mesh has {count[0]}; switch off in "
                                  "the viewport the modifier that changes their number", object_name=obj.name)
        if not cloth and here != count:
            raise _count_changed(obj.name, frame, here, self._first, count)
        if not cloth and not any(m.type in RETRIANGULATING and m.show_viewport for m in obj.modifiers):
            corners = mesh_data.corner_vertices(evaluated.data)
            if not np.array_equal(corners, self._corners.setdefault(name, corners)):
                raise core.ColliderError(
                    f"has other faces at frame {frame} than at frame {self._first}, though as many; a collider must "
                    "keep its faces: switch off in the viewport the modifier that rebuilds them, such as Decimate or "
                    "Boolean, or move it above those that animate the mesh", object_name=obj.name)
        positions = to_world(local, evaluated, self._metres_per_unit)
        valid = (np.abs(positions) <= LARGEST_COORDINATE).all(axis=1)           # False for nan, too
        if not valid.all():
            raise _invalid_position(evaluated, positions, int(np.argmin(valid)), frame,
                                    core.MeshError if cloth else core.ColliderError)
        return positions


def _count_changed(name: str, frame: str, here: tuple[int, int], first: int, count: tuple[int, int]
                   ) -> core.ColliderError:
    what, which = ("vertices", 0) if here[0] != count[0] else ("faces", 1)
    return core.ColliderError(f"has {here[which]} {what} at frame {frame} and had {count[which]} at frame {first}; a "
                              f"collider must keep its {what}: switch off in the viewport the modifier that changes "
                              "their number", object_name=name)


def _invalid_position(evaluated: bpy.types.Object, positions: Positions, vertex: int, frame: str,
                      kind: type[core.ClothError]) -> core.ClothError:
    """Return the error of `kind` that names the cause: location, rotation or scale of the object, or one vertex."""
    matrix = np.array(evaluated.matrix_world, np.float64)
    if not (np.abs(matrix[:3, 3]) <= LARGEST_COORDINATE).all():
        what = f"its location is {vector_text(matrix[:3, 3])}", "correct it, with its keys and constraints"
    elif not (np.abs(matrix) <= LARGEST_COORDINATE).all():
        what = "has a rotation or scale", "correct them, with their keys and constraints"
    else:
        what = (f"vertex {vertex} is at {vector_text(positions[vertex])} m",
                "move or delete that vertex, or switch off the modifier or shape key that puts it there")
    return kind(f"{what[0]} at frame {frame}, which is no number or above {number_text(LARGEST_COORDINATE)}; {what[1]}",
                object_name=evaluated.name)


def vector_text(numbers: Iterable[float]) -> str:
    """Return numbers for a message: `(1, nan, 3.4e+38)`."""
    return f"({', '.join(number_text(number, 4) for number in numbers)})"


def evaluated_object(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer, *, and_then: str = "") -> bpy.types.Object:
    """Return the object with animation and modifiers applied, at the current frame of its scene.

    Raises:
        core.SceneError: it is switched off in the view layer. `and_then` is a sentence on what to do once it is shown.
    """
    evaluated = obj.evaluated_get(view_layer.depsgraph)
    if not evaluated.is_evaluated:
        raise core.SceneError(f"is switched off in view layer '{view_layer.name}', so Blender does not compute where "
                              "it is; show it (monitor icon in the Outliner, or its collection's check box) and, to "
                              f"keep it out of sight, hide it with the eye icon{and_then and f'. {and_then}'}",
                              object_name=obj.name)
    return evaluated


def matrix_name(cloth: str) -> str:
    """Return the name in the window of the matrix (4, 4) from a cloth's space [Blender units] to the world [m]."""
    return f"matrix {cloth}"


def world_matrix(obj: bpy.types.Object, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> NDArray[np.float64]:
    """Return the world matrix (4, 4) of the evaluated object. Raise SceneError if it has no inverse."""
    matrix = np.array(evaluated_object(obj, view_layer).matrix_world, np.float64)
    if not (np.abs(matrix) <= LARGEST_COORDINATE).all():                                # nan fails too
        raise core.SceneError(f"its place, rotation or scale at frame {scene.frame_current} is no number or above "
                              f"{number_text(LARGEST_COORDINATE)} (location {vector_text(matrix[:3, 3])}); correct "
                              "them, with their keys and constraints", object_name=obj.name)
    scale = np.linalg.svd(matrix[:3, :3], compute_uv=False)
    if not scale[2] > LEAST_SCALE_RATIO * scale[0]:
        axes = np.linalg.norm(matrix[:3, :3], axis=0)
        raise core.SceneError(f"its scale in world space is zero along an axis (x {number_text(axes[0], 3)}, y "
                              f"{number_text(axes[1], 3)}, z {number_text(axes[2], 3)}) at frame "
                              f"{scene.frame_current}; give it another scale",
                              object_name=obj.name)
    return matrix


def to_world(local: NDArray[np.float32], evaluated: bpy.types.Object, metres_per_unit: float) -> Positions:
    """Return positions (V, 3) in the object's space [Blender units] as positions (V, 3) in world space [m]."""
    matrix = np.array(evaluated.matrix_world, np.float64)
    return (local.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]) * metres_per_unit


def _exists(obj: bpy.types.Object) -> bool:
    try:
        return bool(obj.name)
    except ReferenceError:
        return False

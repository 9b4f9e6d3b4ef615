# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins: copies of baked cloth in a scene of their own, with a Basis and one relative shape key per frame.

glTF and FBX know a mesh that deforms only as a basis and relative shapes with animated weights. The basis of a stand-in
is the evaluated mesh at the first frame, with its modifiers applied. Key f is the evaluated shape at frame f, and its
value is 1 at f and 0 at the other frames, linear between them, so that their sum is linear between frames.

An object that stands still keeps its location, rotation and scale, and so its origin. Otherwise the stand-in stays
where the object is at the first frame, and the motion is in the keys:

    key = W(first)^-1 W(f) x(f)   for the evaluated positions x and world matrices W.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import mathutils
import numpy as np
from numpy.typing import NDArray

from .... import core
from ...read import mesh_data
from .evaluation import evaluated_frames, frames_of_all, world_matrix

MATRIX_TOLERANCE = 1e-6
"""Largest difference between a matrix and its location, rotation and scale, over its largest number [-]. Shear has
more."""
LINEAR = 1
"""Number of LINEAR in Keyframe.interpolation, as `foreach_set` takes it."""


class _Shape:
    """The evaluated mesh of one object at its first frame, and its positions at all frames in the stand-in's space."""

    def __init__(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> None:
        source = obj.evaluated_get(depsgraph)
        self.obj = obj
        self.mesh: Any = bpy.data.meshes.new_from_object(source, preserve_all_data_layers=True, depsgraph=depsgraph)
        self.corners = mesh_data.corners(source.data)
        self.matrix = _placement(world_matrix(obj, depsgraph))
        self.inverse = np.linalg.inv(self.matrix)
        self.positions: list[NDArray[np.float32]] = []

    def read(self, frame: int, depsgraph: bpy.types.Depsgraph) -> None:
        """Append the positions at `frame`. Raise SceneError if the vertices or faces are not those of the first."""
        mesh = self.obj.evaluated_get(depsgraph).data
        positions = mesh_data.positions(mesh)
        here = mesh_data.corners(mesh)
        if len(positions) != len(self.mesh.vertices) or any(
                not np.array_equal(a, b) for a, b in zip(here, self.corners, strict=True)):
            raise core.SceneError(f"has {len(self.mesh.vertices)} vertices at the first frame and {len(positions)} at "
                                  f"frame {frame}, or other faces, which shape keys cannot hold; switch off Modifiers "
                                  "in the export's options, switch off the modifier that changes them, or export "
                                  "Alembic", object_name=self.obj.name)
        world = world_matrix(self.obj, depsgraph)
        if not np.array_equal(world, self.matrix):
            to_local = self.inverse @ world
            positions = (positions.astype(np.float64) @ to_local[:3, :3].T + to_local[:3, 3]).astype(np.float32)
        self.positions.append(positions)


@contextmanager
def stand_ins(context: bpy.types.Context, objects: Sequence[bpy.types.Object], scene_name: str
              ) -> Iterator[bpy.types.Scene]:
    """Yield a temporary scene with stand-ins of `objects`, which have the names of the objects.

    The scene has the frame rate and units of the context's scene, and the range of the bakes. Scenes cannot start below
    frame 0: a bake that does begins at frame 0 in the temporary scene. At the end everything is removed, also after
    an error.
    """
    frames = frames_of_all(objects)
    shapes: list[_Shape] = []
    made: list[Any] = []                                        # meshes, objects and actions
    with ExitStack() as stack:
        stack.callback(_remove, made)
        for frame, depsgraph in evaluated_frames(context, frames):
            if not shapes:
                for obj in objects:
                    shapes.append(_Shape(obj, depsgraph))
                    made.append(shapes[-1].mesh)
            for shape in shapes:
                shape.read(frame, depsgraph)
        scene = _scene(context.scene, scene_name, frames)
        stack.callback(bpy.data.scenes.remove, scene)
        names = [(obj.name, obj.data.name) for obj in objects]
        for obj in objects:
            stack.enter_context(_freed_name(obj))
            stack.enter_context(_freed_name(obj.data))
        stack.callback(_remove, made)                           # before the originals get their names back
        for shape, (name, mesh_name) in zip(shapes, names, strict=True):
            shape.mesh.name = mesh_name
            stand_in = bpy.data.objects.new(name, shape.mesh)
            made.append(stand_in)
            stand_in.matrix_world = mathutils.Matrix(shape.matrix.tolist())
            scene.collection.objects.link(stand_in)
            made.append(_add_keys(stand_in, shape.positions, frames, scene.frame_start))
        yield scene


def _add_keys(stand_in: bpy.types.Object, positions: Sequence[NDArray[np.float32]], frames: range,
              start: int) -> bpy.types.Action:
    """Add the basis, one key for each later frame, and the action of their values, and return the action.

    Args:
        positions: positions (V, 3) at each of `frames`.
        start: frame of the first keyframe.
    """
    stand_in.shape_key_clear()
    stand_in.data.attributes["position"].data.foreach_set("vector", positions[0].ravel())
    stand_in.shape_key_add(name="Basis", from_mix=False).points.foreach_set("co", positions[0].ravel())
    keys = stand_in.data.shape_keys
    keys.use_relative = True
    action = bpy.data.actions.new(stand_in.name)
    keys.animation_data_create().action = action
    fade = np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    for i in range(1, len(frames)):
        block = stand_in.shape_key_add(name=f"Frame {frames[i]:04d}", from_mix=False)
        block.points.foreach_set("co", positions[i].ravel())
        block.value = 0.0
        points = (fade + [start + i, 0.0])[:3 if i + 1 < len(frames) else 2]        # the last shape stays
        curve = action.fcurve_ensure_for_datablock(keys, f'key_blocks["{block.name}"].value', index=0)
        curve.keyframe_points.add(len(points))
        curve.keyframe_points.foreach_set("co", points.astype(np.float32).ravel())
        curve.keyframe_points.foreach_set("interpolation", np.full(len(points), LINEAR, np.int32))
        curve.update()
    return action


def _placement(world: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `world` if a location, rotation and scale make it and it has an inverse, else the identity (4, 4)."""
    parts: Any = mathutils.Matrix(world.tolist()).decompose()
    rebuilt = np.array(mathutils.Matrix.LocRotScale(*parts))
    size = np.abs(world[:3, :3]).max()
    exact = np.abs(rebuilt - world)[:3, :3].max() <= MATRIX_TOLERANCE * size
    return world if exact and abs(np.linalg.det(world[:3, :3])) > MATRIX_TOLERANCE * size ** 3 else np.eye(4)


def _scene(original: bpy.types.Scene, name: str, frames: range) -> bpy.types.Scene:
    """Return a new scene with the frame rate and units of `original`, which starts at the first of `frames` or 0."""
    scene = bpy.data.scenes.new(name)
    scene.render.fps, scene.render.fps_base = original.render.fps, original.render.fps_base
    scene.unit_settings.system = original.unit_settings.system
    scene.unit_settings.scale_length = original.unit_settings.scale_length
    scene.frame_start = max(0, frames[0])
    scene.frame_end = scene.frame_start + len(frames) - 1
    return scene


def _remove(made: list[Any]) -> None:
    """Remove data-blocks from the file, and empty the list."""
    if made:
        bpy.data.batch_remove(made)
    made.clear()


@contextmanager
def _freed_name(item: Any) -> Iterator[None]:
    """Give a local data-block another name; restore its name at the end. Names of linked ones block no other."""
    name = item.name
    try:
        if item.library is None:
            item.name = "Muslin Original"
        yield
    finally:
        if item.library is None:
            item.name = name

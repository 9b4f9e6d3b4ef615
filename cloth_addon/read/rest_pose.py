# SPDX-License-Identifier: GPL-3.0-or-later
"""Armatures between their rest pose and the pose of the scene's frame, for a pre-roll that starts from rest.

A bone stands in its pose by its own channels, by drivers and by constraints, such as inverse kinematics. The matrix of
the pose relative to the parent bone, in the bone's space, has all of these. It is interpolated from the identity, which
is the rest pose: location and scale linearly, rotation by slerp; shear, which constraints may cause, is left out.
Meanwhile constraints and drivers of bones are off. All that is changed is the user's, and is restored at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from mathutils import Matrix, Quaternion, Vector

CHANNELS = ("location", "rotation_quaternion", "rotation_euler", "rotation_axis_angle", "scale")
"""Properties of a pose bone that its matrix sets."""
DRIVEN = re.compile(r'pose\.bones\[".*"\]\.(location|rotation_\w+|scale|constraints\[".*"\]\.mute)')
"""Data paths of drivers that would set the channels again, or switch constraints on."""


@contextmanager
def towards_rest_pose(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer, posed: float) -> Iterator[None]:
    """Pose the armatures of the scene between rest and their pose; restore them at the end.

    The scene stands at the frame of the pose. The view layer is updated at the start, and not at the end.

    Args:
        posed: part of the way from the rest pose (0) to the pose (1); the motion starts and ends slowly.
    """
    ease = posed * posed * (3.0 - 2.0 * posed)
    undo: list[tuple[Any, str, Any]] = []

    def change(owner: Any, name: str, value: Any) -> None:
        before = getattr(owner, name)
        undo.append((owner, name, before if isinstance(before, bool) else tuple(before)))
        setattr(owner, name, value)

    try:
        view_layer.update()                     # the pose may have been restored since the last update
        poses = [(rig, _local_matrices(rig, view_layer)) for rig in _armatures(scene, view_layer)]
        for rig, _ in poses:
            _switch_off(rig, change)
        if poses:
            view_layer.update()                 # drivers that are switched off may evaluate the animation once more
        for rig, matrices in poses:
            for bone in rig.pose.bones:
                undo += [(bone, name, tuple(getattr(bone, name))) for name in CHANNELS]
                bone.matrix_basis = _interpolated(matrices[bone.name], ease)
        if poses:
            view_layer.update()
        yield
    finally:
        for owner, name, before in reversed(undo):
            setattr(owner, name, before)


def _armatures(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[Any]:
    """Return the armatures of the scene that are evaluated and that show their pose."""
    found: list[Any] = [obj for obj in scene.objects if obj.type == "ARMATURE"]
    return [obj for obj in found if obj.pose is not None and obj.data.pose_position == "POSE"
            and obj.evaluated_get(view_layer.depsgraph).is_evaluated]


def _local_matrices(rig: Any, view_layer: bpy.types.ViewLayer) -> dict[str, Matrix]:
    """Return the pose of each bone relative to its parent, in the bone's space, with constraints."""
    evaluated = rig.evaluated_get(view_layer.depsgraph)
    return {bone.name: evaluated.convert_space(pose_bone=bone, matrix=bone.matrix, from_space="POSE",
                                               to_space="LOCAL").copy() for bone in evaluated.pose.bones}


def _switch_off(rig: Any, change: Any) -> None:
    """Switch off the constraints and drivers of the bones, by `change(owner, property, value)`."""
    animation = rig.animation_data
    for driver in animation.drivers if animation is not None else ():
        if DRIVEN.fullmatch(driver.data_path) and not driver.mute:
            change(driver, "mute", True)
    for bone in rig.pose.bones:
        for constraint in bone.constraints:
            if not constraint.mute:
                change(constraint, "mute", True)


def _interpolated(matrix: Matrix, ease: float) -> Matrix:
    """Return the matrix between the identity (0) and `matrix` (1)."""
    location, rotation, scale = matrix.decompose()
    parts: Any = ease * location, Quaternion().slerp(rotation, ease), Vector((1.0, 1.0, 1.0)).lerp(scale, ease)
    return Matrix.LocRotScale(*parts)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of surfaces, threads and points in arrays, rendered by Blender's Workbench, whatever scene is open.

A scene, meshes and a camera are created for the picture and removed again. Threads are drawn as tubes and points as
octahedra, because Blender does not render loose edges and vertices.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]
Point = tuple[float, float, float]

CLOTH_COLOUR, COLLIDER_COLOUR = (0.72, 0.16, 0.14), (0.55, 0.58, 0.6)
BACKGROUND_COLOUR = (0.94, 0.94, 0.94)
TUBE_SIDES = 8
"""Number of sides of a tube."""
RESULT = "Render Result"
"""Blender's name for the image of a render."""


@dataclass(frozen=True)
class DrawnMesh:
    """One mesh in the picture.

    Attributes:
        positions: (V, 3) [m].
        triangles: (T, 3), drawn as a surface.   edges: (E, 2), drawn as tubes.   points: (P,), drawn as octahedra.
        colour: red, green and blue, 0 to 1.
        smooth: whether the surface is shaded smooth.
    """

    positions: FloatArray
    triangles: IntArray
    edges: IntArray = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    points: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    colour: tuple[float, float, float] = CLOTH_COLOUR
    smooth: bool = True


@dataclass(frozen=True, kw_only=True)
class View:
    """The camera and the size of the picture.

    Attributes:
        eye, target: position of the camera and the point it looks at [m].
        lens: focal length [mm].
        thickness: diameter of threads and points [m].
        size: width and height [pixels].
    """

    eye: Point
    target: Point
    lens: float = 50.0
    thickness: float = 0.01
    size: tuple[int, int] = (480, 440)


def view_around(positions: FloatArray, size: tuple[int, int] = (480, 440)) -> View:
    """Return a view from the front right and above in which all positions (V, 3) [m] are visible."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    middle, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-6)
    lens, direction = 50.0, np.array([0.45, -0.8, 0.4]) / np.linalg.norm([0.45, -0.8, 0.4])
    half_angle = math.atan(18.0 / lens * min(1.0, size[1] / size[0]))        # of view; the sensor is 36 mm wide
    eye = middle + direction * radius / math.sin(half_angle)
    return View(eye=tuple(eye.tolist()), target=tuple(middle.tolist()), lens=lens, size=size, thickness=0.01 * radius)


def draw(drawn_meshes: Sequence[DrawnMesh], view: View, path: Path) -> None:
    """Write a PNG of the meshes."""
    created: list[tuple[Any, Any]] = []                 # data-blocks, each with the collection that it is in
    scene: Any = bpy.data.scenes.new("Muslin Snapshot")
    try:
        for drawn in drawn_meshes:
            created += _add(scene, drawn, view.thickness)
        created += _add_camera(scene, view)
        _set_up(scene, view, path)
        with _no_new_image(), _quiet():
            bpy.ops.render.render(write_still=True, scene=scene.name)
    finally:
        bpy.data.scenes.remove(scene)
        for blocks, block in created:
            blocks.remove(block)


def _add(scene: Any, drawn: DrawnMesh, thickness: float) -> list[tuple[Any, Any]]:
    """Add a mesh to the scene, and return the created data-blocks, each with its collection."""
    parts = [(drawn.positions, drawn.triangles), tubes(drawn.positions, drawn.edges, thickness / 2),
             octahedra(drawn.positions[drawn.points], thickness / 2)]
    start = np.cumsum([0, *(len(x) for x, _ in parts)])
    x = np.concatenate([x for x, _ in parts])
    triangles = np.concatenate([t + s for (_, t), s in zip(parts, start, strict=False)]).astype(np.int32)
    mesh = bpy.data.meshes.new("Muslin Snapshot")
    mesh.vertices.add(len(x))
    mesh.vertices.foreach_set("co", x.astype(np.float32).ravel())
    mesh.loops.add(triangles.size)
    mesh.loops.foreach_set("vertex_index", triangles.ravel())
    mesh.polygons.add(len(triangles))
    mesh.polygons.foreach_set("loop_start", np.arange(0, triangles.size, 3, dtype=np.int32))
    mesh.polygons.foreach_set("use_smooth", np.full(len(triangles), drawn.smooth))
    mesh.update(calc_edges=True)
    obj: Any = bpy.data.objects.new("Muslin Snapshot", mesh)
    obj.color = (*drawn.colour, 1.0)
    scene.collection.objects.link(obj)
    return [(bpy.data.objects, obj), (bpy.data.meshes, mesh)]


def tubes(positions: FloatArray, edges: IntArray, radius: float) -> tuple[FloatArray, IntArray]:
    """Return prisms around the edges (E, 2): vertices (V, 3) [m] and triangles (T, 3)."""
    if not len(edges):
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    ends = positions[edges]                                                        # (E, 2, 3)
    along = ends[:, 1] - ends[:, 0]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-30)
    helper = np.where(np.abs(along[:, 2:]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    side = np.cross(along, helper)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(along, side)
    n = TUBE_SIDES
    angle = 2.0 * np.pi * np.arange(n) / n
    ring = radius * (np.cos(angle)[:, None] * side[:, None] + np.sin(angle)[:, None] * up[:, None])    # (E, n, 3)
    x = (ends[:, :, None] + ring[:, None]).reshape(-1, 3)
    i = np.arange(n)
    j = (i + 1) % n
    prism = np.concatenate([np.stack([i, i + n, j], axis=1), np.stack([j, i + n, j + n], axis=1)])
    return x, (prism + 2 * n * np.arange(len(edges))[:, None, None]).reshape(-1, 3)


def octahedra(points: FloatArray, radius: float) -> tuple[FloatArray, IntArray]:
    """Return octahedra at the points (P, 3) [m]: vertices (V, 3) [m] and triangles (T, 3)."""
    corners = np.concatenate([np.eye(3), -np.eye(3)])
    faces = np.array([[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]])
    x = (points[:, None] + radius * corners).reshape(-1, 3)
    return x, (faces + 6 * np.arange(len(points))[:, None, None]).reshape(-1, 3)


def _add_camera(scene: Any, view: View) -> list[tuple[Any, Any]]:
    """Add camera and background, and return the created data-blocks, each with its collection."""
    data = bpy.data.cameras.new("Muslin Snapshot")
    data.lens, data.clip_start, data.clip_end = view.lens, 1e-3, 1e6
    camera = bpy.data.objects.new("Muslin Snapshot", data)
    camera.location = view.eye
    camera.rotation_euler = (Vector(view.target) - Vector(view.eye)).to_track_quat("-Z", "Y").to_euler()
    scene.collection.objects.link(camera)
    scene.camera = camera
    world = bpy.data.worlds.new("Muslin Snapshot")
    world.color = BACKGROUND_COLOUR
    scene.world = world
    return [(bpy.data.objects, camera), (bpy.data.cameras, data), (bpy.data.worlds, world)]


def _set_up(scene: Any, view: View, path: Path) -> None:
    """Set the scene to render `path` by Workbench."""
    render, shading = scene.render, scene.display.shading
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y = view.size
    render.resolution_percentage = 100
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    render.filepath, render.use_file_extension = str(path), False
    scene.view_settings.view_transform = "Standard"
    scene.display.render_aa = "8"
    shading.light, shading.color_type = "STUDIO", "OBJECT"
    shading.show_cavity = shading.show_shadows = True


@contextmanager
def _no_new_image() -> Iterator[None]:
    """Remove the image of the render at the end, unless there was one before, which any render replaces."""
    images: Any = bpy.data.images
    existed = RESULT in images
    try:
        yield
    finally:
        if not existed and RESULT in images:
            images.remove(images[RESULT])


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress what Blender prints while it renders, which does not go through Python's `sys.stdout`."""
    sys.stdout.flush()
    stdout, devnull = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(devnull)
        os.close(stdout)

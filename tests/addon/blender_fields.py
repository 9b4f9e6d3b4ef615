# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields of Blender, and the acceleration that its own particles get from them.

A particle of mass 1 in free space is moved by one step of explicit Euler from frame 1 to frame 2, which takes
PARTICLE_STEP for particles whatever the frame rate. The change of its velocity over that time is the field's force.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from mathutils import Euler, Matrix, Vector

PARTICLE_STEP = 0.04
"""Time of a frame for Blender's particles [s]."""
SIDE = 4
"""Number of vertices along a side of the mesh of a field."""


@dataclass(frozen=True)
class Motion:
    """Particles at frame 1: positions x and velocities v (V, 3), and their acceleration a (V, 3) by the fields."""

    x: np.ndarray
    v: np.ndarray
    a: np.ndarray


def add_field(kind: str, matrix: Any = None, data: Any = None, name: str = "Field", **settings: Any) -> Any:
    """Add an object with a force field of Blender's type `kind`, and return it."""
    obj = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    if obj.field is None or obj.field.type == "NONE":
        bpy.ops.object.forcefield_toggle()
    obj.matrix_world = Matrix() if matrix is None else matrix
    obj.field.type = kind
    for setting, value in settings.items():
        setattr(obj.field, setting, value)
    bpy.context.view_layer.update()
    return obj


def placed(rng: np.random.Generator) -> Matrix:
    """Return a random place, rotation and scale."""
    return Matrix.LocRotScale(Vector(rng.uniform(-1.0, 1.0, 3)), Euler(rng.uniform(-3.0, 3.0, 3)),
                              Vector(rng.uniform(0.5, 2.0, 3)))


def bumpy_mesh(rng: np.random.Generator) -> Any:
    """Return a mesh of triangles over a square, of random heights."""
    side = np.linspace(-1.0, 1.0, SIDE)
    vertices = [(x, y, rng.uniform(-0.4, 0.4)) for y in side for x in side]
    corners = [a for j in range(SIDE - 1) for a in range(j * SIDE, j * SIDE + SIDE - 1)]
    faces = [face for a in corners for face in ((a, a + 1, a + SIDE + 1), (a, a + SIDE + 1, a + SIDE))]
    mesh = bpy.data.meshes.new("Bumps")
    mesh.from_pydata(vertices, [], faces)
    return mesh


def particles(points: np.ndarray, speed: float = 0.0, along: Any = (0.0, 0.0, 0.0)) -> Any:
    """Add an emitter of one particle at each of the points (3 n, 3), and return it.

    Each three points are a triangle, along whose normal its particles start with `speed`, besides the velocity `along`.
    """
    mesh = bpy.data.meshes.new("Emitter")
    mesh.from_pydata([tuple(point) for point in points], [], [(i, i + 1, i + 2) for i in range(0, len(points), 3)])
    obj = bpy.data.objects.new("Emitter", mesh)
    bpy.context.scene.collection.objects.link(obj)
    obj.modifiers.new("Particles", "PARTICLE_SYSTEM")
    settings = obj.particle_systems[0].settings
    for name, value in {"count": len(points), "frame_start": 1, "frame_end": 1, "lifetime": 100, "emit_from": "VERT",
                        "use_emit_random": False, "physics_type": "NEWTON", "integrator": "EULER", "mass": 1.0,
                        "normal_factor": speed, "object_align_factor": along, "drag_factor": 0.0,
                        "brownian_factor": 0.0, "damping": 0.0}.items():
        setattr(settings, name, value)
    settings.effector_weights.gravity = 0.0
    return obj


def motion(emitter: Any) -> Motion:
    """Return the motion of the particles of an emitter from frame 1 to frame 2; the scene stands at frame 1 then."""
    scene = bpy.context.scene
    scene.frame_set(1)
    x, v = _state(emitter)
    scene.frame_set(2)
    _, after = _state(emitter)
    scene.frame_set(1)
    return Motion(x, v, (after - v) / PARTICLE_STEP)


def _state(emitter: Any) -> list[np.ndarray]:
    found = emitter.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles
    arrays = []
    for name in ("location", "velocity"):
        values = np.empty(3 * len(found), np.float32)
        found.foreach_get(name, values)
        arrays.append(values.reshape(-1, 3).astype(np.float64))
    return arrays

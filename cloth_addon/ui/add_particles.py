# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Particles: a mesh of vertices with velocities, out of one of the core's emitters."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty

from ... import core
from ..bake.modal_operator import Settled
from ..properties.settings import metres_per_unit
from ..read.read_cloth import BIRTH, VELOCITY
from . import fabric_menu

KINDS = [
    ("fountain", "Fountain", "Upwards from one point, with a little spread"),
    ("waterfall", "Waterfall", "Level from one point above, in all directions"),
    ("semi_sphere", "Semi-Sphere", "From the upper half of a ball outwards"),
    ("explosion", "Explosion", "From a small ball outwards"),
]


def new_particles(scene: bpy.types.Scene, kind: str, count: int, *, speed: float | None = None,
                  size: float | None = None, seed: int = 0, duration: float = 0.0) -> bpy.types.Object:
    """An object of `count` vertices as the emitter has them: speed [m/s], size [m], born over `duration` [s]."""
    unit = metres_per_unit(scene)
    positions, velocities = core.emit(kind, count, speed=speed, size=size, seed=seed)
    mesh: Any = bpy.data.meshes.new(fabric_menu.title(kind))
    mesh.vertices.add(count)
    mesh.attributes["position"].data.foreach_set("vector", (positions / unit).astype(np.float32).ravel())
    velocity = mesh.attributes.new(VELOCITY, "FLOAT_VECTOR", "POINT")
    velocity.data.foreach_set("vector", (velocities / unit).astype(np.float32).ravel())
    if duration > 0.0:
        births = duration * np.arange(count, dtype=np.float32) / count
        mesh.attributes.new(BIRTH, "FLOAT", "POINT").data.foreach_set("value", births)
    mesh.update()
    thing = bpy.data.objects.new(mesh.name, mesh)
    thing.muslin.kind, thing.muslin.model = "CLOTH", "particles"
    fabric_menu.fill(thing.muslin, thing.muslin.fabric)
    return thing


class MUSLIN_OT_particles_add(Settled, bpy.types.Operator):
    """Add vertices with velocities, which Muslin simulates as particles"""
    bl_idname = "muslin.particles_add"
    bl_label = "Add Particles"
    bl_options = {"REGISTER", "UNDO"}
    lacks = "Objects are added in Object Mode only"
    of_active = False

    kind: EnumProperty(
        name="Emitter", description="Where particles start, and which way", items=KINDS, default="fountain",
    )
    count: IntProperty(name="Count", description="Number of particles", default=500, min=1, max=1_000_000,
                       soft_max=20_000)
    speed: FloatProperty(
        name="Speed", description="Of the particles. 0 means: 10 m/s for a fountain, 1 m/s for a waterfall, else 5 m/s",
        default=0.0, min=0.0, soft_max=50.0, unit="VELOCITY",
    )
    size: FloatProperty(
        name="Size", description="Radius of the ball, or height of the waterfall. 0 means: 1 m, 1 cm for an explosion, "
        "10 m for a waterfall", default=0.0, min=0.0, soft_max=20.0, subtype="DISTANCE", unit="LENGTH",
    )
    duration: FloatProperty(
        name="Duration", description="Time over which particles start one after the other, in seconds. 0: all at once",
        default=0.0, min=0.0, soft_max=10.0, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
    )
    seed: IntProperty(name="Seed", description="Another number gives other random directions", default=0, min=0)

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return getattr(context, "scene", None) is not None and context.mode == "OBJECT"

    def execute(self, context: bpy.types.Context) -> set[str]:
        unit = metres_per_unit(context.scene)
        thing = new_particles(
            context.scene, self.kind, self.count, speed=self.speed * unit or None, size=self.size * unit or None,
            seed=self.seed, duration=self.duration)
        context.collection.objects.link(thing)
        thing.location = context.scene.cursor.location
        for other in context.selected_objects:
            other.select_set(False)
        thing.select_set(True)
        context.view_layer.objects.active = thing
        return {"FINISHED"}


def draw_menu(menu: Any, context: Any) -> None:
    """In Add > Mesh."""
    menu.layout.operator_menu_enum("muslin.particles_add", "kind", text="Muslin Particles", icon="PARTICLE_DATA")


classes = (MUSLIN_OT_particles_add,)


def attach() -> None:
    menu: Any = bpy.types.VIEW3D_MT_mesh_add
    menu.append(draw_menu)


def detach() -> None:
    menu: Any = bpy.types.VIEW3D_MT_mesh_add
    menu.remove(draw_menu)

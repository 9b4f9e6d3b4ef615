# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Particles: a mesh of vertices with initial velocities, from one of the core's emitters."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty

from ... import core
from ..bake.idle_operator import IdleOperator
from ..properties.enum_items import title
from ..properties.fabric_presets import load_preset
from ..properties.settings import metres_per_unit
from ..read import start_velocity
from ..read.read_cloth import BIRTH

EMITTER_ITEMS = [
    ("fountain", "Fountain", "Upwards from one point, with a little spread"),
    ("waterfall", "Waterfall", "Horizontally from one point above, in all directions"),
    ("semi_sphere", "Semi-Sphere", "Outwards from the upper half of a ball"),
    ("explosion", "Explosion", "Outwards from a small ball"),
]


def new_particles(scene: bpy.types.Scene, kind: str, count: int, *, speed: float | None = None,
                  size: float | None = None, seed: int = 0, duration: float = 0.0) -> bpy.types.Object:
    """Return a new object of `count` particles of the emitter `kind`.

    Args:
        speed: initial speed [m/s], None for the emitter's own.
        size: radius of the ball or height of the waterfall [m], None for the emitter's own.
        seed: seed of the random directions.
        duration: time over which the particles are born, one after the other [s].
    """
    unit = metres_per_unit(scene)
    positions, velocities = core.emit(kind, count, speed=speed, size=size, seed=seed)
    mesh: Any = bpy.data.meshes.new(title(kind))
    mesh.vertices.add(count)
    mesh.attributes["position"].data.foreach_set("vector", (positions / unit).astype(np.float32).ravel())
    velocity = mesh.attributes.new(start_velocity.NAME, "FLOAT_VECTOR", "POINT")
    velocity.data.foreach_set("vector", (velocities / unit).astype(np.float32).ravel())
    if duration > 0.0:
        births = duration * np.arange(count, dtype=np.float32) / count
        mesh.attributes.new(BIRTH, "FLOAT", "POINT").data.foreach_set("value", births)
    mesh.update()
    obj = bpy.data.objects.new(mesh.name, mesh)
    obj.muslin.kind, obj.muslin.model = "CLOTH", "particles"
    load_preset(obj.muslin, obj.muslin.fabric)
    return obj


class MUSLIN_OT_particles_add(IdleOperator, bpy.types.Operator):
    """Add vertices with initial velocities, which Muslin simulates as particles"""
    bl_idname = "muslin.particles_add"
    bl_label = "Add Particles"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "Objects are added in Object Mode only"
    uses_active_object = False

    kind: EnumProperty(
        name="Emitter", description="Places and directions in which particles start", items=EMITTER_ITEMS,
        default="fountain",
    )
    count: IntProperty(name="Count", description="Number of particles", default=500, min=1, max=1_000_000,
                       soft_max=20_000)
    speed: FloatProperty(
        name="Speed", description="Initial speed. 0 means: 10 m/s for a fountain, 1 m/s for a waterfall, else 5 m/s",
        default=0.0, min=0.0, soft_max=50.0, unit="VELOCITY",
    )
    size: FloatProperty(
        name="Size", description="Radius of the ball, or height of the waterfall. 0 means: 1 cm for an explosion, 10 m "
        "for a waterfall, else 1 m", default=0.0, min=0.0, soft_max=20.0, subtype="DISTANCE", unit="LENGTH",
    )
    duration: FloatProperty(
        name="Duration", description="Time over which particles start one after the other, in seconds. 0 means: all "
        "at once",
        default=0.0, min=0.0, soft_max=10.0, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE",
    )
    seed: IntProperty(name="Seed", description="Seed of the random directions", default=0, min=0)

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return getattr(context, "scene", None) is not None and context.mode == "OBJECT"

    def execute(self, context: bpy.types.Context) -> set[str]:
        unit = metres_per_unit(context.scene)
        obj = new_particles(
            context.scene, self.kind, self.count, speed=self.speed * unit or None, size=self.size * unit or None,
            seed=self.seed, duration=self.duration)
        context.collection.objects.link(obj)
        obj.location = context.scene.cursor.location
        for other in context.selected_objects:
            other.select_set(False)
        obj.select_set(True)
        context.view_layer.objects.active = obj
        return {"FINISHED"}


def draw_menu(menu: Any, context: Any) -> None:
    """Draw the submenu in Add > Mesh."""
    menu.layout.operator_menu_enum("muslin.particles_add", "kind", text="Muslin Particles", icon="PARTICLE_DATA")


classes = (MUSLIN_OT_particles_add,)


def attach() -> None:
    """Add the submenu to Add > Mesh."""
    menu: Any = bpy.types.VIEW3D_MT_mesh_add
    menu.append(draw_menu)


def detach() -> None:
    """Remove the submenu."""
    menu: Any = bpy.types.VIEW3D_MT_mesh_add
    menu.remove(draw_menu)

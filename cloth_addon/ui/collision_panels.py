# SPDX-License-Identifier: GPL-3.0-or-later
"""The Collisions panel with Object Collisions and Self Collisions, as Blender's cloth has them. Panels only draw."""

from __future__ import annotations

from typing import Any

import bpy

from .panel_layout import PhysicsTab, paragraph, remark, with_label_above


class MUSLIN_PT_collisions(PhysicsTab, bpy.types.Panel):
    bl_label = "Collisions"
    bl_parent_id = "MUSLIN_PT_muslin"

    def draw(self, context: bpy.types.Context) -> None:
        col = self.column(context)
        col.prop(context.object.muslin, "layer")
        col.prop(context.scene.muslin, "resolve_start")
        col.operator("muslin.fit_to_body", icon="MOD_SHRINKWRAP")


class MUSLIN_PT_object_collisions(PhysicsTab, bpy.types.Panel):
    bl_label = "Object Collisions"
    bl_parent_id = "MUSLIN_PT_collisions"
    bl_options = set()

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_collision", text="")

    def draw(self, context: bpy.types.Context) -> None:
        obj: Any = context.object
        col, muslin = self.column(context), obj.muslin
        distance = col.column()                             # those of the self collisions follow these two
        distance.active = muslin.use_collision or muslin.use_self_collision and muslin.self_distance == 0.0
        draw_thickness(distance, muslin, context.region.width, text="Distance")
        friction = col.column()
        friction.active = muslin.use_collision or muslin.use_self_collision and not muslin.use_self_friction
        friction.prop(muslin, "friction")
        others = col.column()
        others.active = muslin.use_collision
        draw_group(others, obj, "object_collision_group")
        with_label_above(others, muslin, "collision_collection")


class MUSLIN_PT_self_collisions(PhysicsTab, bpy.types.Panel):
    bl_label = "Self Collisions"
    bl_parent_id = "MUSLIN_PT_collisions"
    bl_options = set()

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_self_collision", text="")

    def draw(self, context: bpy.types.Context) -> None:
        obj: Any = context.object
        muslin = obj.muslin
        if not context.scene.muslin.use_self_collision:
            paragraph(self.layout.column(align=True), "Contact of cloth with cloth is off in the whole scene",
                      context.region.width, icon="ERROR")
            self.column(context).prop(context.scene.muslin, "use_self_collision")
        col = self.column(context)
        col.active = context.scene.muslin.use_self_collision
        row = col.row(heading="Friction")
        row.use_property_decorate = False
        row.prop(muslin, "use_self_friction", text="")
        value = row.row()
        value.active = muslin.use_self_friction
        value.prop(muslin, "self_friction", text="")
        row.prop_decorator(muslin, "self_friction")
        col.prop(muslin, "self_distance", text="Distance")
        if muslin.self_distance == 0.0:
            remark(col, "Automatic, twice that from objects", context.region.width)
        within = col.column()
        within.active = muslin.use_self_collision
        draw_group(within, obj, "self_collision_group")


def draw_thickness(col: Any, muslin: Any, width: int, text: str = "Thickness") -> None:
    """Draw the thickness, with a remark if it is automatic. `width` is that of the region [pixels]."""
    col.prop(muslin, "thickness", text=text)
    if muslin.kind == "CLOTH" and muslin.thickness == 0.0:
        remark(col, "Automatic, from the edge length and the start" if len(muslin.id_data.data.edges)
               else "Automatic, half a thread", width)


def draw_group(col: Any, obj: Any, prop: str, text: str = "Vertex Group") -> None:
    """Draw a field for a vertex group, red if the object does not have it."""
    name = getattr(obj.muslin, prop)
    row = col.row()
    row.alert = bool(name) and name not in obj.vertex_groups
    row.prop_search(obj.muslin, prop, obj, "vertex_groups", text=text)


classes = (MUSLIN_PT_collisions, MUSLIN_PT_object_collisions, MUSLIN_PT_self_collisions)

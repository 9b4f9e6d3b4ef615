# SPDX-License-Identifier: GPL-3.0-or-later
"""The Muslin panel in Properties > Physics, and the order of all panels."""

from __future__ import annotations

from typing import Any

import bpy

from ..properties import baked_record
from ..properties.model_options import model_of
from ..properties.settings import kind_of_settings
from ..read import blender_collision
from . import (
    bake_panels,
    collision_panels,
    compression_panels,
    fabric_panels,
    field_weights_panel,
    garment_panels,
    hints,
    internal_springs_panel,
    pinning_panel,
    plasticity_panel,
    pressure_panel,
    quality_panel,
    tearing_panel,
)
from .panel_layout import PhysicsTab, paragraph, remark


class MUSLIN_PT_muslin(PhysicsTab, bpy.types.Panel):
    bl_label = "Muslin"
    bl_options = set()
    kinds = {"NONE", "CLOTH", "COLLIDER"}

    def draw(self, context: bpy.types.Context) -> None:
        muslin = context.object.muslin
        if kind_of_settings(muslin) != "CLOTH":
            draw_left_bake(self.layout, context)
        flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
        if kind_of_settings(muslin) == "NONE":
            flow.column().operator("muslin.cloth_add", text="Muslin Cloth", icon="MESH_GRID")
            flow.column().operator("muslin.collider_add", text="Muslin Collider", icon="MESH_UVSPHERE")
            if blender_collision.has_collision(context.object):
                col = self.layout.column(align=True)
                paragraph(col, "Blender's Collision stops no Muslin cloth", context.region.width)
                col.operator("muslin.collision_use").only_active = True
            self.layout.operator_menu_enum("muslin.particles_add", "kind", icon="PARTICLE_DATA")
            return
        kind = muslin.bl_rna.properties["kind"].enum_items[muslin.kind].name
        flow.operator("muslin.remove", text=f"Muslin {kind}", icon="X")
        col = self.column(context)
        if muslin.kind == "CLOTH":
            chosen = col.row()
            chosen.active = model_of(context.object) == muslin.model
            chosen.prop(muslin, "model")
            on_model = hints.model_remark(context.object)
            if on_model:
                remark(col, on_model, context.region.width)
        else:
            col.prop(muslin, "friction")
            collision_panels.draw_thickness(col, muslin, context.region.width)
            col.prop(muslin, "absorption", slider=True)
            collision_panels.draw_group(col, context.object, "left_out_group", "Leave Out")


def draw_left_bake(layout: Any, context: bpy.types.Context) -> None:
    """Draw that an object which is no cloth has a bake, if it has one, with the button that deletes it."""
    obj, width = context.object, context.region.width
    record, problem = baked_record.known(obj), baked_record.problem_of(obj)
    if problem:
        paragraph(layout.column(align=True), f"'{obj.name}': {problem}", width, icon="ERROR")
        layout.operator("muslin.bake_forget")
    elif record is not None:
        paragraph(layout.column(align=True), f"This object is no cloth now, and its bake of frames {record.first} to "
                  f"{record.last} still moves it. Delete the bake, or make the object cloth again", width)
        layout.operator("muslin.bake_delete")


classes = (                                                         # in the order of Blender's Cloth
    MUSLIN_PT_muslin, *fabric_panels.classes, *compression_panels.classes, *plasticity_panel.classes,
    *tearing_panel.classes, *internal_springs_panel.classes, *pressure_panel.classes,
    *bake_panels.classes[:1], *quality_panel.classes, *bake_panels.classes[1:],     # Quality stands first below Bake
    *pinning_panel.classes, *garment_panels.classes[:-1], *collision_panels.classes, *garment_panels.classes[-1:],
    *field_weights_panel.classes,
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The Shape panel with pins; Sewing and Rest Shape stand below it. Panels only draw."""

from __future__ import annotations

import bpy

from .panel_layout import PhysicsTab, paragraph


class MUSLIN_PT_pinning(PhysicsTab, bpy.types.Panel):
    bl_label = "Shape"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        col = self.column(context)
        missing = bool(obj.muslin.pin_group) and obj.muslin.pin_group not in obj.vertex_groups
        row = col.row()
        row.alert = missing
        row.prop_search(obj.muslin, "pin_group", obj, "vertex_groups")
        if missing:
            paragraph(col.column(align=True), "The object has no such vertex group", context.region.width, icon="ERROR")
        more = col.column()
        more.active = bool(obj.muslin.pin_group)
        more.prop(obj.muslin, "pin_stiffness")
        more.prop(obj.muslin, "pin_target")


classes = (MUSLIN_PT_pinning,)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The Internal Springs panel. Panels only draw."""

from __future__ import annotations

import bpy

from ..properties.model_options import model_of
from .panel_layout import PhysicsTab, with_unit


class MUSLIN_PT_internal_springs(PhysicsTab, bpy.types.Panel):
    bl_label = "Internal Springs"
    bl_parent_id = "MUSLIN_PT_muslin"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) not in ("jelly", "particles", "rope")

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_internal_springs", text="")

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        col, muslin = self.column(context), obj.muslin
        col.active = muslin.use_internal_springs
        col.prop(muslin, "internal_spring_max_length", text="Max Length")
        col.prop(muslin, "internal_spring_max_diversion", text="Max Diversion")
        col.prop(muslin, "internal_spring_normal_check")
        with_unit(col, muslin, "internal_tension", "kPa")
        with_unit(col, muslin, "internal_compression", "kPa")
        col.prop_search(muslin, "internal_group", obj, "vertex_groups", results_are_suggestions=True)
        factor = col.column()
        factor.active = bool(muslin.internal_group)
        factor.prop(muslin, "internal_factor")


classes = (MUSLIN_PT_internal_springs,)

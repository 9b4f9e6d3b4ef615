# SPDX-License-Identifier: GPL-3.0-or-later
"""The Pressure panel. Panels only draw."""

from __future__ import annotations

import bpy

from ..properties.model_options import model_of
from .panel_layout import PhysicsTab, with_unit


class MUSLIN_PT_pressure(PhysicsTab, bpy.types.Panel):
    bl_label = "Pressure"
    bl_parent_id = "MUSLIN_PT_muslin"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) not in ("particles", "rope")

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_pressure", text="")

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        col, muslin = self.column(context), obj.muslin
        col.active = muslin.use_pressure
        col.prop(muslin, "uniform_pressure_force")
        col.prop(muslin, "use_pressure_volume")
        target = col.column()
        target.active = muslin.use_pressure_volume
        target.prop(muslin, "target_volume")
        with_unit(col, muslin, "pressure_factor", "kPa")
        with_unit(col, muslin, "fluid_density", "kg/l")
        col.prop_search(muslin, "pressure_group", obj, "vertex_groups", results_are_suggestions=True)


classes = (MUSLIN_PT_pressure,)

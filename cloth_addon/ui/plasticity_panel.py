# SPDX-License-Identifier: GPL-3.0-or-later
"""The Plasticity panel. Panels only draw."""

from __future__ import annotations

import bpy

from ..properties.model_options import model_of
from ..properties.plasticity_settings import PLASTIC_MODELS
from .panel_layout import PhysicsTab, with_unit


class MUSLIN_PT_plasticity(PhysicsTab, bpy.types.Panel):
    bl_label = "Plasticity"
    bl_parent_id = "MUSLIN_PT_fabric"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) in PLASTIC_MODELS

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_plasticity", text="")

    def draw(self, context: bpy.types.Context) -> None:
        col, muslin = self.column(context), context.object.muslin
        col.active = muslin.use_plasticity
        col.prop(muslin, "use_plastic_stretch")
        stretch = col.column()
        stretch.active = muslin.use_plastic_stretch
        stretch.prop(muslin, "stretch_yield")
        col.prop(muslin, "use_plastic_bending")
        bending = col.column()
        bending.active = muslin.use_plastic_bending
        with_unit(bending, muslin, "bend_yield", "1/m")
        col.separator()
        col.prop(muslin, "plastic_time")
        col.prop(muslin, "hardening")


classes = (MUSLIN_PT_plasticity,)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The Compression and Separate Damping panels. Panels only draw."""

from __future__ import annotations

import bpy

from ..properties.compression_settings import TWO_SIDED_MODELS
from ..properties.model_options import model_of
from .panel_layout import PhysicsTab, with_unit


class MUSLIN_PT_compression(PhysicsTab, bpy.types.Panel):
    bl_label = "Compression"
    bl_parent_id = "MUSLIN_PT_stiffness"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) in TWO_SIDED_MODELS

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_compression", text="")

    def draw(self, context: bpy.types.Context) -> None:
        col, muslin = self.column(context), context.object.muslin
        pair = col.column(align=True)
        pair.active = muslin.use_compression
        with_unit(pair, muslin, "compression_warp", "N/m", text="Warp")
        with_unit(pair, muslin, "compression_weft", "N/m")


class MUSLIN_PT_separate_damping(PhysicsTab, bpy.types.Panel):
    bl_label = "Separate Damping"
    bl_parent_id = "MUSLIN_PT_damping"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) not in ("jelly", "particles")

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_separate_damping", text="")

    def draw(self, context: bpy.types.Context) -> None:
        col, muslin = self.column(context), context.object.muslin
        times = col.column(align=True)
        times.active = muslin.use_separate_damping
        if model_of(context.object) in TWO_SIDED_MODELS:
            times.prop(muslin, "compression_damping")
        times.prop(muslin, "shear_damping")
        times.prop(muslin, "bend_damping")


classes = (MUSLIN_PT_compression, MUSLIN_PT_separate_damping)

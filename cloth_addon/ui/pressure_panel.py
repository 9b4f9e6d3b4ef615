# SPDX-License-Identifier: GPL-3.0-or-later
"""The Pressure panel. Panels only draw."""

from __future__ import annotations

from typing import Any

import bpy

from ..properties.model_options import model_of
from ..properties.number_text import number_text
from .panel_layout import PhysicsTab, paragraph, with_unit


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
        if balance := volume_in_balance(muslin):
            paragraph(col.column(align=True), balance, context.region.width)
        with_unit(col, muslin, "pressure_factor", "kPa")
        with_unit(col, muslin, "fluid_density", "kg/l")
        col.prop_search(muslin, "pressure_group", obj, "vertex_groups", results_are_suggestions=True)


def volume_in_balance(muslin: Any) -> str:
    """Return for the user at which volume the pressure inside is that outside; empty where there is none."""
    pressure, target = muslin.uniform_pressure_force, muslin.target_volume
    if not muslin.use_pressure or pressure >= 1.0 or muslin.fluid_density != 0.0:
        return ""
    if muslin.use_pressure_volume and target == 0.0:
        return "No pressure: raise Pressure or Target Volume" if pressure == 0.0 else ""
    if pressure == 0.0:
        return "Fills to the Target Volume" if muslin.use_pressure_volume else "Keeps the volume at the start"
    volume = "the Target Volume" if muslin.use_pressure_volume else "the volume at the start"
    return f"Fills to {number_text(1.0 / (1.0 - pressure), 3)} x {volume}"


classes = (MUSLIN_PT_pressure,)

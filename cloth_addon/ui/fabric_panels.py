# SPDX-License-Identifier: GPL-3.0-or-later
"""The Body and Physical Properties panels, with Stiffness and Damping. Panels only draw."""

from __future__ import annotations

from typing import Any

import bpy

from ..properties.compression_settings import BUCKLING_MODELS, may_buckle
from ..properties.model_options import fabric_settings_used, model_of
from . import fabric_choice
from .panel_layout import PhysicsTab, with_unit

STIFFNESS_ROWS = ((("stretch_warp", "N/m"), ("stretch_weft", "N/m")), (("shear", "N/m"),),
                  (("bend_warp_micro", "µN m"), ("bend_weft_micro", "µN m")))
"""Groups of properties that are drawn without a gap, each property with its unit."""


class MUSLIN_PT_body(PhysicsTab, bpy.types.Panel):
    bl_label = "Body"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) in ("jelly", "particles", "projective")

    def draw(self, context: bpy.types.Context) -> None:
        muslin, col = context.object.muslin, self.column(context)
        if model_of(context.object) == "jelly":
            col.prop(muslin, "jelly_structure")
            with_unit(col, muslin, "young_modulus", "kPa")
            if muslin.jelly_structure == "TETRAHEDRA":
                col.prop(muslin, "poisson_ratio")
            with_unit(col, muslin, "density", "kg/m³")
            col.prop(muslin, "jelly_cells")
            col.prop(muslin, "damping")
            return
        if model_of(context.object) == "projective":
            col.prop(muslin, "use_moduli")
            chosen = col.column()
            chosen.active = muslin.use_moduli
            with_unit(chosen, muslin, "young_modulus", "kPa")
            chosen.prop(muslin, "poisson_ratio")
            with_unit(chosen, muslin, "sheet_thickness", "mm")
            return
        with_unit(col, muslin, "particle_mass", "kg")
        col.prop(muslin, "neighbour_radius")
        col.prop(muslin, "neighbour_count")
        with_unit(col, muslin, "neighbour_stiffness", "N/m")
        with_unit(col, muslin, "neighbour_damping", "N s/m")


class MUSLIN_PT_fabric(PhysicsTab, bpy.types.Panel):
    bl_label = "Physical Properties"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) != "jelly"

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        muslin = obj.muslin
        col = self.column(context)
        fabric_choice.draw_choice(col, muslin)
        col.separator()
        used = fabric_settings_used(obj)
        if "areal_density" in used:
            with_unit(col, muslin, "areal_density", "kg/m²")
        if "air_law" in used:
            _draw_air(col, muslin)
        if "max_elongation" in used:
            row = col.row(align=True, heading="Limit Stretch")
            row.use_property_decorate = False
            row.prop(muslin, "use_max_elongation", text="")
            value = row.row(align=True)
            value.active = muslin.use_max_elongation
            value.prop(muslin, "max_elongation", text="")
            row.prop_decorator(muslin, "max_elongation")
        if "grain" in used:
            col.separator()
            col.prop(muslin, "grain")
            if muslin.grain == "UV":
                col.prop_search(muslin, "uv_map", obj.data, "uv_layers", icon="GROUP_UVS")


def _draw_air(col: Any, muslin: Any) -> None:
    """Draw the law by which the air drags the fabric, and its coefficients."""
    air = col.column(align=True)
    air.prop(muslin, "air_law")
    if muslin.air_law == "LINEAR":
        with_unit(air, muslin, "air_drag", "kg/m²s")
        return
    air.prop(muslin, "drag_coefficient")
    air.prop(muslin, "skin_friction")
    with_unit(air, muslin, "slow_drag_speed", "m/s")


class MUSLIN_PT_stiffness(PhysicsTab, bpy.types.Panel):
    bl_label = "Stiffness"
    bl_parent_id = "MUSLIN_PT_fabric"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and "shear" in fabric_settings_used(context.object)

    def draw(self, context: bpy.types.Context) -> None:
        col = self.column(context)
        for group in STIFFNESS_ROWS:
            pair = col.column(align=True)
            for prop, unit in group:
                with_unit(pair, context.object.muslin, prop, unit)
        model = model_of(context.object)
        if model in BUCKLING_MODELS:
            row = col.row()
            row.active = may_buckle(context.object.muslin, model, context.scene.muslin.integrator.lower())
            row.prop(context.object.muslin, "use_buckling")


class MUSLIN_PT_damping(PhysicsTab, bpy.types.Panel):
    bl_label = "Damping"
    bl_parent_id = "MUSLIN_PT_fabric"

    def draw(self, context: bpy.types.Context) -> None:
        col, muslin = self.column(context), context.object.muslin
        if "damping" in fabric_settings_used(context.object):
            col.prop(muslin, "damping")
        for prop, unit in (("spring_damping", "kg/s"), ("isotropic_damping", "kg/s"), ("viscous_drag", "kg/m²s")):
            if prop in fabric_settings_used(context.object):
                with_unit(col, muslin, prop, unit)


classes = (MUSLIN_PT_body, MUSLIN_PT_fabric, MUSLIN_PT_stiffness, MUSLIN_PT_damping)

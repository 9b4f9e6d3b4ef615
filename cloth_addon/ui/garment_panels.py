# SPDX-License-Identifier: GPL-3.0-or-later
"""The Sewing, Rest Shape and Property Weights panels: seams, pattern and painted maps. Panels only draw."""

from __future__ import annotations

from typing import Any

import bpy

from .panel_layout import PhysicsTab, remark, with_unit


class MUSLIN_PT_garment(PhysicsTab, bpy.types.Panel):
    bl_label = "Sewing"
    bl_parent_id = "MUSLIN_PT_pinning"
    dots = False

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_sewing", text="")

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        muslin = obj.muslin
        col = self.column(context)
        force = col.column()
        force.active = muslin.use_sewing
        with_unit(force, muslin, "sewing_force", "N/m")
        col.prop_search(muslin, "button_group", obj, "vertex_groups")
        time = col.column()
        shrinks = muslin.shrink_min != 0.0 or muslin.shrink_max != 0.0
        time.active = muslin.use_sewing or bool(muslin.button_group) or shrinks
        time.prop(muslin, "sewing_time")
        gravity = col.column()
        gravity.active = muslin.use_sewing or bool(muslin.button_group)
        gravity.prop(muslin, "closing_gravity")


class MUSLIN_PT_rest_shape(PhysicsTab, bpy.types.Panel):
    bl_label = "Rest Shape"
    bl_parent_id = "MUSLIN_PT_pinning"
    dots = False

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        muslin = obj.muslin
        col = self.column(context)
        col.prop(muslin, "rest_shape")
        if muslin.rest_shape == "UV":
            col.prop_search(muslin, "uv_map", obj.data, "uv_layers", icon="GROUP_UVS")
            col.prop(muslin, "pattern_size")
            if muslin.pattern_size == 0.0:
                remark(col, "Automatic, from the mesh's area", context.region.width)
        else:
            if obj.data.shape_keys is not None:
                col.prop(muslin, "rest_shape_key", icon="SHAPEKEY_DATA")
        col.prop(muslin, "use_dynamic_mesh")


class MUSLIN_PT_maps(PhysicsTab, bpy.types.Panel):
    bl_label = "Property Weights"
    bl_parent_id = "MUSLIN_PT_muslin"

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        muslin = obj.muslin
        col = self.column(context)
        _draw_map(col, obj, "shrink_group")
        pair = col.column(align=True)
        pair.prop(muslin, "shrink_min")
        pair.prop(muslin, "shrink_max")
        col.separator()
        _draw_map(col, obj, "wrinkle_group")
        chosen = col.column()
        chosen.active = bool(muslin.wrinkle_group)
        with_unit(chosen, muslin, "wrinkle_curvature", "1/m")
        chosen.prop(muslin, "wrinkle_direction")
        for what in ("stretch", "shear", "bend"):
            col.separator()
            _draw_map(col, obj, f"{what}_group")
            factor = col.column()
            factor.active = bool(getattr(muslin, f"{what}_group"))
            factor.prop(muslin, f"{what}_factor")


def _draw_map(col: Any, obj: Any, prop: str) -> None:
    """Draw a field for a vertex group, which also takes the name of an attribute."""
    col.prop_search(obj.muslin, prop, obj, "vertex_groups", results_are_suggestions=True)


classes = (MUSLIN_PT_garment, MUSLIN_PT_rest_shape, MUSLIN_PT_maps)

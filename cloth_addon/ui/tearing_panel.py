# SPDX-License-Identifier: GPL-3.0-or-later
"""The Tearing panel, and its operators, which split a mesh along its possible tears and join it again."""

from __future__ import annotations

import bpy

from ... import core
from ..bake.idle_operator import NO_CLOTH, IdleOperator, editable_mesh_object
from ..properties.model_options import model_of
from ..properties.tearing_settings import TEARING_MODELS
from ..read.tearing import ORIGIN
from ..write import split_mesh
from .panel_layout import PhysicsTab, paragraph, with_unit


class MUSLIN_OT_tear_split(IdleOperator, bpy.types.Operator):
    """Give the mesh all vertices that a tear may need: split the edges between its faces, or those in the vertex \
group. They stay together until they tear. Shape keys, UV maps and weights are kept"""
    bl_idname = "muslin.tear_split"
    bl_label = "Split for Tearing"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = NO_CLOTH

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and context.object.muslin.kind == "CLOTH"

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            count = split_mesh.split(context.object)
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{count} vertices added")
        return {"FINISHED"}


class MUSLIN_OT_tear_join(IdleOperator, bpy.types.Operator):
    """Join the vertices that Split for Tearing has divided, where they are still at one place"""
    bl_idname = "muslin.tear_join"
    bl_label = "Join Again"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The mesh of the active object was not split for tearing"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        return obj is not None and obj.muslin.kind == "CLOTH" and ORIGIN in obj.data.attributes

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            count = split_mesh.join(context.object)
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, f"{count} vertices joined")
        return {"FINISHED"}


class MUSLIN_PT_tearing(PhysicsTab, bpy.types.Panel):
    bl_label = "Tearing"
    bl_parent_id = "MUSLIN_PT_fabric"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and model_of(context.object) in TEARING_MODELS

    def draw_header(self, context: bpy.types.Context) -> None:
        self.layout.prop(context.object.muslin, "use_tearing", text="")

    def draw(self, context: bpy.types.Context) -> None:
        obj = context.object
        col, muslin = self.column(context), obj.muslin
        col.active = muslin.use_tearing
        with_unit(col, muslin, "tear_strength", "N/m")
        col.prop_search(muslin, "tear_group", obj, "vertex_groups", results_are_suggestions=True)
        if muslin.use_tearing and ORIGIN not in obj.data.attributes:
            paragraph(col.column(align=True), "Split the mesh first: a bake adds no vertices", context.region.width)
        row = col.row(align=True)
        row.operator("muslin.tear_split")
        row.operator("muslin.tear_join")


classes = (MUSLIN_OT_tear_split, MUSLIN_OT_tear_join, MUSLIN_PT_tearing)

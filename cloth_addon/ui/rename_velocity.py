# SPDX-License-Identifier: GPL-3.0-or-later
"""Rename Attribute: the start velocity of files of earlier versions, whose name spoils motion blur."""

from __future__ import annotations

from typing import Any

import bpy

from ..bake.idle_operator import IdleOperator
from ..read import start_velocity
from .panel_layout import paragraph


class MUSLIN_OT_velocity_rename(IdleOperator, bpy.types.Operator):
    """Rename the attribute velocity of all cloth to start_velocity, so that motion blur of bakes is right.
    Muslin's versions before this one do not read the new name"""
    bl_idname = "muslin.velocity_rename"
    bl_label = "Rename Attribute"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "No cloth of the scene starts with an attribute called velocity"
    uses_active_object = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(start_velocity.with_earlier_name(context.scene))

    def execute(self, context: bpy.types.Context) -> set[str]:
        found: list[Any] = start_velocity.with_earlier_name(context.scene)
        skipped = [obj.name for obj in found if not obj.data.is_editable or obj.data.is_editmode]
        for obj in found:
            if obj.name not in skipped and start_velocity.attribute_name(obj.data) == start_velocity.EARLIER_NAME:
                start_velocity.rename(obj)
        if skipped:
            self.report({"WARNING"}, f"Linked or in Edit Mode, left as they are: {', '.join(skipped)}")
        return {"FINISHED"} if len(skipped) < len(found) else {"CANCELLED"}


def draw(layout: Any, context: bpy.types.Context) -> None:
    """Draw the note on the first cloth whose attribute has the earlier name, and the button, if there is one."""
    found = start_velocity.with_earlier_name(context.scene)
    if found:
        paragraph(layout.column(align=True), start_velocity.note(found[0]), context.region.width)
        layout.operator("muslin.velocity_rename")


classes = (MUSLIN_OT_velocity_rename,)

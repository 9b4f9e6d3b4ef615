# SPDX-License-Identifier: GPL-3.0-or-later
"""The Field Weights panel: how much gravity and force fields act on the cloth. Panels only draw."""

from __future__ import annotations

import bpy

from ..properties.field_weights_settings import FIELD_WEIGHTS
from .panel_layout import PhysicsTab, with_label_above


class MUSLIN_PT_field_weights(PhysicsTab, bpy.types.Panel):
    bl_label = "Field Weights"
    bl_parent_id = "MUSLIN_PT_muslin"

    def draw(self, context: bpy.types.Context) -> None:
        muslin = context.object.muslin
        col = self.column(context)
        with_label_above(col, muslin, "effector_collection")
        col.separator()
        for number, name in enumerate(FIELD_WEIGHTS):
            col.prop(muslin, f"weight_{name}", slider=True)
            if number == 1:
                col.separator()


classes = (MUSLIN_PT_field_weights,)

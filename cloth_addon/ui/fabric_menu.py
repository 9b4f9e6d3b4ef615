# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of fabric presets."""

from __future__ import annotations

import bpy

from ..properties.fabric_presets import readable_presets


class MUSLIN_MT_fabric(bpy.types.Menu):
    bl_label = "Fabric"
    bl_description = "Fill in the values of a fabric, with its Friction and its drags, over those that are set"

    def draw(self, context: bpy.types.Context) -> None:
        names, problems = readable_presets()
        for name in names:
            self.layout.prop_enum(context.object.muslin, "fabric", name)
        if problems:
            self.layout.label(text=problems, icon="ERROR")


classes = (MUSLIN_MT_fabric,)

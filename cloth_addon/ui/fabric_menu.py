# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu of fabric presets."""

from __future__ import annotations

import bpy

from ... import core


class MUSLIN_MT_fabric(bpy.types.Menu):
    bl_label = "Fabric"
    bl_description = "Fill in the values of a fabric"

    def draw(self, context: bpy.types.Context) -> None:
        for name in core.Material.presets():
            self.layout.prop_enum(context.object.muslin, "fabric", name)


classes = (MUSLIN_MT_fabric,)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What Muslin's panels have in common: their tab, its two-column form, values with units, and text in lines."""

from __future__ import annotations

import textwrap
from typing import Any

import bpy

from ..bake import bake_job
from ..write import baked_record


class PhysicsTab:
    layout: Any
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options = {"DEFAULT_CLOSED"}
    kinds = {"CLOTH"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        thing = context.object
        return thing is not None and thing.type == "MESH" and thing.muslin.kind in cls.kinds

    def column(self, context: bpy.types.Context) -> Any:
        """Blender's two-column form; dim once baked, locked while a bake runs."""
        col = self.layout.column()
        col.use_property_split = True
        col.use_property_decorate = False
        col.active = not baked_record.has_bake(context.object)
        col.enabled = bake_job.current() is None
        return col


def with_unit(col: Any, muslin: Any, prop: str, unit: str) -> None:
    """A value whose unit Blender does not know: the unit stands behind the field."""
    row = col.row(align=True)
    row.prop(muslin, prop)
    behind = row.row()
    behind.ui_units_x = 2.6
    behind.label(text=unit)


def paragraph(col: Any, text: str, width: int) -> None:
    """Blender breaks no lines: `width` is the region's, in pixels."""
    letters = max(20, int(width / (6.5 * bpy.context.preferences.system.ui_scale)) - 8)
    for i, line in enumerate(textwrap.wrap(text, letters)):
        col.label(text=line, icon="INFO" if i == 0 else "BLANK1")

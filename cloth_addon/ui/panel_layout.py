# SPDX-License-Identifier: GPL-3.0-or-later
"""Layout that Muslin's panels share: their tab, two columns, values with units, and wrapped text."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import bpy

from ..bake import bake_job, session
from ..properties.settings import kind_of_settings

OF_PREVIOUS = "Of the previous bake:"
"""Label of figures of the bake in use, while another bake of the cloth runs."""


class PhysicsTab:
    """Base of the panels in Properties > Physics.

    `kinds` are the types of objects that a panel is drawn for; `dots` says whether any of its settings may be keyed.
    """

    layout: Any
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options = {"DEFAULT_CLOSED"}
    kinds = {"CLOTH"}
    dots = True

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = context.object
        return obj is not None and obj.type == "MESH" and kind_of_settings(obj.muslin) in cls.kinds

    def column(self, context: bpy.types.Context) -> Any:
        """Return a column with Blender's split layout, with a dot behind each setting that may be keyed.

        Settings may be changed at any time: a running bake has read them, and after a bake a change shows as such.
        """
        col = self.layout.column()
        col.use_property_split = True
        col.use_property_decorate = self.dots               # without them, there is more room for names
        col.enabled = bake_job.current() is None or session.running() is not None
        return col


def with_unit(col: Any, muslin: Any, prop: str, unit: str, **options: Any) -> None:
    """Draw a property with its unit behind the field, for units that Blender does not have."""
    row = col.row(align=True)
    row.prop(muslin, prop, **options)
    behind = row.row()
    behind.ui_units_x = 2.6
    behind.label(text=unit)


def with_label_above(col: Any, data: Any, prop: str) -> None:
    """Draw a property below its name, for names that are too long to stand beside the field."""
    named = col.column(align=True)
    named.use_property_split = False
    named.label(text=data.bl_rna.properties[prop].name)
    named.prop(data, prop, text="")


def paragraph(col: Any, text: str, width: int, icon: str = "INFO") -> None:
    """Draw text in several lines, which Blender does not do. `width` is that of the region [pixels]."""
    letters = max(20, int(width / (6.5 * (bpy.context.preferences.system.ui_scale or 1.0))) - 8)
    for i, line in enumerate(_Wrapper(letters).wrap(text)):
        col.label(text=line, icon=icon if i == 0 or icon == "NONE" else "BLANK1")


class _Wrapper(textwrap.TextWrapper):
    """Breaks lines at spaces and hyphens, and paths behind the name of a folder."""

    def _split(self, text: str) -> list[str]:
        found: list[str] = []
        for word in re.split(r"(\s+)", text):
            found += re.split(r"(?<=[/\\])", word) if re.search(r"[/\\]", word) else super()._split(word)
        return [part for part in found if part]

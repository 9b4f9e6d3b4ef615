# SPDX-License-Identifier: GPL-3.0-or-later
"""Layout that Muslin's panels share: their tab, two columns, values with units, and wrapped text."""

from __future__ import annotations

from typing import Any

import bpy

from ..bake import bake_job, session
from ..properties.settings import kind_of_settings
from . import wrapped_text

OF_PREVIOUS = "Of the previous bake:"
"""Label of figures of the bake in use, while another bake of the cloth runs."""
NO_BREAK = "\u00a0"
"""A space between a number and its unit, at which no line ends."""
MARGINS = 46.0
"""Width of a region beside the text of a label in a box in a panel [pixels at an interface of scale 1]."""
UNIT = 20.0
"""Width of a unit of the interface, which is the height of a button [pixels at an interface of scale 1]."""
ICON = 24.0
"""Width of the icon before a label [pixels at an interface of scale 1]."""


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


def paragraph(col: Any, text: str, width: int, icon: str = "INFO", *, icon_value: int = 0) -> None:
    """Draw text in as many lines as it needs, which Blender does not do.

    `width` is that of the region [pixels], `icon_value` the number of a picture instead of the `icon`.
    """
    beside = MARGINS + (0 if icon == "NONE" else ICON)
    for i, line in enumerate(wrapped_text.lines(text, width - beside * wrapped_text.ui_scale())):
        if i == 0 and icon_value:
            col.label(text=line, icon_value=icon_value)
        else:
            col.label(text=line, icon=icon if i == 0 or icon == "NONE" else "BLANK1")


def remark(col: Any, text: str, width: int) -> None:
    """Draw a remark on the setting above at the right. `width` is that of the region [pixels]."""
    for line in wrapped_text.lines(text, width - MARGINS * wrapped_text.ui_scale()):
        row = col.row()
        row.alignment = "RIGHT"
        row.label(text=line)


def name_and_value(col: Any, name: str, value: str, width: int, factor: float) -> None:
    """Draw a name and a value in two columns, the first with `factor` of the width; if one is too long, in one column.

    `width` is that of the region [pixels].
    """
    inner = width - MARGINS * wrapped_text.ui_scale()
    if wrapped_text.width(name) > factor * inner or wrapped_text.width(value) > (1.0 - factor) * inner:
        paragraph(col, f"{name}: {value.replace(' ', NO_BREAK)}", width, "NONE")
        return
    split = col.split(factor=factor)
    left = split.row()
    left.alignment = "RIGHT"
    left.label(text=name)
    split.label(text=value)

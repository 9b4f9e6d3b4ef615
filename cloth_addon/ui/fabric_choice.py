# SPDX-License-Identifier: GPL-3.0-or-later
"""The choice of a fabric: pictures with a search, and the operators that save and remove presets of the user."""

from __future__ import annotations

from typing import Any

import bpy
import bpy.utils.previews
from bpy.props import BoolProperty, StringProperty

from ... import core
from ..bake.idle_operator import editable_mesh_object, why_not_editable
from ..properties.fabric_presets import (
    CUSTOM,
    FabricPreset,
    own_preset,
    picture_path,
    preset_of,
    presets,
    remove_preset,
    save_preset,
    title_of,
)
from ..properties.own_fabrics import LONGEST_NAME
from .panel_layout import UNIT, paragraph
from .wrapped_text import ui_scale

SEARCH = "muslin_fabric_search"
"""Name of the window manager's property with the text that is searched for."""
COLUMNS = 4
WIDTH = 22
"""Width of the pictures' panel [widths of a button without text]."""
PICTURE_SCALE = 4.5
"""Height of a picture [heights of a button]."""

_pictures: list[Any] = []           # the one collection of icons, from the first use on


def picture_of(preset: FabricPreset) -> int:
    """Return the icon of a preset's picture, 0 if there is none."""
    if not _pictures:
        _pictures.append(bpy.utils.previews.new())
    path = picture_path(preset)
    name = path.stem
    if not path.is_file():
        return 0
    icons = _pictures[0]
    return int((icons[name] if name in icons else icons.load(name, str(path), "IMAGE")).icon_id)


def matching(text: str) -> list[FabricPreset]:
    """Return the presets in whose names or descriptions each word of a text occurs."""
    words = text.lower().split()
    return [preset for preset in presets().presets
            if all(word in f"{preset.name} {preset.title} {preset.description}".lower() for word in words)]


class MUSLIN_PT_fabric_presets(bpy.types.Panel):
    """Choose a fabric by its picture, or search for its name and use. It fills in all values of the fabric, with its \
Friction and its drags, over those that are set"""
    bl_label = "Fabrics"
    bl_space_type = "PROPERTIES"
    bl_region_type = "HEADER"           # displayed as a popover only
    bl_ui_units_x = WIDTH

    def draw(self, context: bpy.types.Context) -> None:
        found: Any = context.object
        muslin, manager = found.muslin, context.window_manager
        width = int(WIDTH * UNIT * ui_scale())         # the region is that of the panel below
        self.layout.prop(manager, SEARCH, text="", icon="VIEWZOOM")
        shown = matching(getattr(manager, SEARCH))
        if not shown:
            paragraph(self.layout, "No fabric has these words in its name or description", width, icon="NONE")
        grid = self.layout.grid_flow(row_major=True, columns=COLUMNS, even_columns=True, even_rows=True)
        for preset in shown:
            cell = grid.column(align=True)
            cell.template_icon(icon_value=picture_of(preset), scale=PICTURE_SCALE)
            row = cell.row(align=True)
            row.prop_enum(muslin, "fabric", preset.name)
            if preset.is_own:
                row.operator("muslin.fabric_remove", text="", icon="X").name = preset.name
        for _ in range(-len(shown) % COLUMNS if shown else 0):
            grid.column()                                           # keeps the pictures of few at their size
        for problem in presets().problems:
            paragraph(self.layout.column(align=True), problem, width, icon="ERROR")


def draw_choice(col: Any, muslin: Any) -> None:
    """Draw the button with the fabric's name, which opens the pictures, and those that save and remove presets."""
    line = col.row(align=True)
    split = line.split(factor=0.4)
    label = split.row()
    label.alignment = "RIGHT"
    label.label(text="Preset")
    row = split.row(align=True)
    name = preset_of(muslin)
    row.popover("MUSLIN_PT_fabric_presets", text=title_of(name))
    row.operator("muslin.fabric_save", text="", icon="ADD")
    own = own_preset(name)
    remove = row.row(align=True)
    remove.enabled = own is not None
    remove.operator("muslin.fabric_remove", text="", icon="REMOVE").name = name if own is not None else ""
    line.label(icon="BLANK1")                           # the place of the dots behind the settings below


class MUSLIN_OT_fabric_save(bpy.types.Operator):
    """Save the fabric of this cloth as a preset of your own, for all files"""
    bl_idname = "muslin.fabric_save"
    bl_label = "Save Fabric Preset"

    name: StringProperty(name="Name", description="Name of the preset", maxlen=4 * LONGEST_NAME,
                         options={"SKIP_SAVE"})
    description: StringProperty(name="Description", description="What the fabric is used for; the search finds it",
                                maxlen=200, options={"SKIP_SAVE"})
    overwrite: BoolProperty(name="Overwrite", description="Replace the preset that has this name", default=False,
                            options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        if obj is None or obj.muslin.kind != "CLOTH":
            cls.poll_message_set(why_not_editable(context) or "The active object is not cloth")
            return False
        return True

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> Any:
        return context.window_manager.invoke_props_dialog(self, confirm_text="Save")

    def draw(self, _context: bpy.types.Context) -> None:
        col = self.layout.column()
        col.use_property_split = True
        col.prop(self, "name")
        col.prop(self, "description")
        earlier = own_preset(self.name) if self.name.strip() else None
        if earlier is not None:
            row = col.row()
            row.alert = not self.overwrite
            row.prop(self, "overwrite", text=f"Overwrite '{earlier.title}'")

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            made = save_preset(context.object.muslin, self.name, self.description, overwrite=self.overwrite)
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        setattr(context.window_manager, SEARCH, "")                 # an earlier search may leave the new one out
        self.report({"INFO"}, f"Saved: {made.path}")
        return {"FINISHED"}


class MUSLIN_OT_fabric_remove(bpy.types.Operator):
    """Remove a preset that you have saved. Cloth that has its values keeps them"""
    bl_idname = "muslin.fabric_remove"
    bl_label = "Remove Fabric Preset"

    name: StringProperty(name="Name", description="Name of the preset; empty: that of the active cloth",
                         options={"SKIP_SAVE"})

    @classmethod
    def poll(cls, _context: bpy.types.Context) -> bool:
        if not any(preset.is_own for preset in presets().presets):
            cls.poll_message_set("You have saved no preset")
            return False
        return True

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> Any:
        found = own_preset(self._named(context))
        if found is None:
            return self.execute(context)
        return context.window_manager.invoke_confirm(self, event, title=f"Remove the preset '{found.title}'?",
                                                     confirm_text="Remove")

    def execute(self, context: bpy.types.Context) -> set[str]:
        named = self._named(context)
        try:
            if named == CUSTOM:
                raise core.PresetError("the fabric of this cloth is no preset; choose the one to be removed first")
            remove_preset(named)
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}

    def _named(self, context: bpy.types.Context) -> str:
        """Return the given name, or that of the active cloth's fabric."""
        obj = getattr(context, "object", None)
        return self.name or (preset_of(obj.muslin) if obj is not None else CUSTOM)


classes = (MUSLIN_OT_fabric_save, MUSLIN_OT_fabric_remove, MUSLIN_PT_fabric_presets)


def attach() -> None:
    """Add the text of the search to Blender's window managers."""
    setattr(bpy.types.WindowManager, SEARCH, StringProperty(
        name="Search", description="Show the fabrics that have these words in their name or description",
        options={"SKIP_SAVE", "TEXTEDIT_UPDATE"}))


def detach() -> None:
    """Remove the text, and the icons."""
    delattr(bpy.types.WindowManager, SEARCH)
    while _pictures:
        bpy.utils.previews.remove(_pictures.pop())

# SPDX-License-Identifier: GPL-3.0-or-later
"""Export operators, one for each format, and the Export panel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ... import core
from ..bake.idle_operator import IdleOperator
from ..properties import baked_record
from ..write.export.export_bake import export_bake, export_path
from ..write.export.formats import FORMATS, why_missing
from .panel_layout import PhysicsTab, paragraph

WHICH = (
    ("SELECTED", "Selected", "The selected cloth and the active one, as far as they are baked"),
    ("ALL", "All", "All baked cloth of the scene"),
)


def baked_cloth(context: bpy.types.Context, *, only_selected: bool) -> list[Any]:
    """Return the objects of the scene with a bake, sorted by name: all, or the selected ones and the active one."""
    view_layer = context.view_layer
    found = [obj for obj in context.scene.objects if baked_record.has_bake(obj) and (
        not only_selected or obj == view_layer.objects.active or obj.select_get(view_layer=view_layer))]
    return sorted(found, key=lambda obj: obj.name)


class _Export(IdleOperator):
    """Base of the export operators. `identifier` is the format, a key of FORMATS."""

    identifier = ""
    filepath: Any               # properties of Blender, see `_operator`
    which: Any
    use_modifiers: Any
    layout: Any
    uses_active_object = False
    bl_options = {"PRESET"}

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return not why_missing(cls.identifier) and bool(baked_cloth(context, only_selected=False))

    @classmethod
    def no_target_reason(cls, context: bpy.types.Context) -> str:
        return why_missing(cls.identifier) or "The scene has no baked cloth"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Open the file browser with the name of the cloth, beside the blend file."""
        selected = baked_cloth(context, only_selected=True)
        if not selected:
            self.which = "ALL"
        if not self.filepath:
            name = bpy.path.clean_name(selected[0].name if len(selected) == 1 else context.scene.name)
            folder = Path(bpy.data.filepath).parent if bpy.data.filepath else Path.home()
            self.filepath = str(folder / f"{name}{FORMATS[self.identifier].extension}")
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, context: bpy.types.Context) -> bool:
        """Give the file name the format's extension."""
        path = str(export_path(self.filepath, self.identifier))
        changed = bool(self.filepath) and path != self.filepath
        if changed:
            self.filepath = path
        return changed

    def execute(self, context: bpy.types.Context) -> set[str]:
        form = FORMATS[self.identifier]
        if not self.filepath:
            self.report({"ERROR"}, f"No file is named; give filepath, a file with the extension {form.extension}")
            return {"CANCELLED"}
        try:
            exported = export_bake(context, baked_cloth(context, only_selected=self.which == "SELECTED"),
                                   self.identifier, export_path(self.filepath, self.identifier),
                                   use_modifiers=self.use_modifiers)
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        first, last = exported.paths[0], exported.paths[-1]
        self.report({"INFO"}, f"{form.name}: {first}" if first == last else f"{form.name}: {first} to {last.name}")
        for note in exported.notes:
            self.report({"WARNING"}, f"{form.name}: {note}")
        return {"FINISHED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the options beside the file browser."""
        col = self.layout.column()
        col.use_property_split = True
        col.use_property_decorate = False
        col.prop(self, "which")
        if self.identifier not in ("PC2", "MDD"):
            col.prop(self, "use_modifiers")
        if FORMATS[self.identifier].remark:
            paragraph(col.column(align=True), FORMATS[self.identifier].remark, context.region.width, icon="NONE")


def _operator(identifier: str) -> type[bpy.types.Operator]:
    """Return the operator class `muslin.export_...` of a format."""
    form = FORMATS[identifier]
    return type(f"MUSLIN_OT_export_{identifier.lower()}", (_Export, bpy.types.Operator), {
        "__doc__": f"{form.description}. Exports the baked frames at the scene's frame rate",
        "__annotations__": {
            "filepath": bpy.props.StringProperty(name="File Path", subtype="FILE_PATH", options={"SKIP_SAVE"}),
            "check_existing": bpy.props.BoolProperty(name="Check Existing", default=True, options={"HIDDEN"}),
            "filter_glob": bpy.props.StringProperty(
                default=";".join(f"*{found}" for found in (form.extension, *form.others)), options={"HIDDEN"}),
            "which": bpy.props.EnumProperty(name="Cloth", items=WHICH, description="Which cloth is exported",
                                            options={"SKIP_SAVE"}),
            "use_modifiers": bpy.props.BoolProperty(
                name="Modifiers", default=True,
                description="Export with modifiers that change vertices or faces, such as Subdivision Surface, as the "
                            "viewport shows them. Modifiers that only move vertices are always on"),
        },
        "bl_idname": f"muslin.export_{identifier.lower()}",
        "bl_label": f"Export {form.name}",
        "identifier": identifier,
    })


def draw_export(layout: Any, context: bpy.types.Context) -> None:
    """Draw one button for each format. Buttons of formats that this Blender lacks are grey, and say why."""
    flow = layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
    for identifier, form in FORMATS.items():
        flow.operator(f"muslin.export_{identifier.lower()}", text=form.name)


class MUSLIN_PT_export(PhysicsTab, bpy.types.Panel):
    bl_label = "Export"
    bl_parent_id = "MUSLIN_PT_bake"

    def draw(self, context: bpy.types.Context) -> None:
        draw_export(self.layout, context)


classes = (*(_operator(identifier) for identifier in FORMATS), MUSLIN_PT_export)

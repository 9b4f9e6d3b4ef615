# SPDX-License-Identifier: GPL-3.0-or-later
"""The Compare panel and its operators: choose models, integrators and the folder, compare, and open the sheet."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ..bake import bake_job
from ..bake.idle_operator import NO_CLOTH, IdleOperator, editable_mesh_object
from ..compare import comparison, comparison_folder
from ..compare.modal_operator import LongOperator
from ..compare.records import Comparison
from ..properties.model_options import model_of


def folder_of(settings: Any) -> Path:
    """Return the absolute path of the chosen folder.

    Raises:
        core.SceneError: the folder is relative to a file that was never saved.
    """
    if settings.compare_folder.startswith("//") and not bpy.data.filepath:
        raise core.SceneError(f"the folder {settings.compare_folder} is relative to a file that was not saved yet; "
                              "save it, or choose another folder")
    return Path(bpy.path.abspath(settings.compare_folder)).absolute()


def _in_order(chosen: set[str], known: tuple[str, ...]) -> list[str]:
    """Return the chosen names in the order of `known`. The order of a set would change from run to run."""
    return [name for name in known if name in chosen]


class MUSLIN_OT_compare(LongOperator, bpy.types.Operator):
    """Simulate this cloth once for each chosen model and integrator, and make a sheet of pictures and figures. \
The object stays as it is"""
    bl_idname = "muslin.compare"
    bl_label = "Compare"
    no_target_message = NO_CLOTH
    verb, noun = "Comparing", "Comparison"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and context.object.muslin.kind == "CLOTH"

    def steps(self, context: bpy.types.Context) -> Generator[Any, None, Comparison]:
        obj, settings = context.object, context.scene.muslin
        variants = comparison.variants_of(
            _in_order(settings.compare_models, core.models()) or [model_of(obj)],
            _in_order(settings.compare_integrators, core.integrators()) or [settings.integrator.lower()])
        return (yield from comparison.compare(context.scene, [obj], variants, folder_of(settings)))

    def report_result(self, result: Comparison) -> None:
        failed = [outcome for outcome in result.outcomes if outcome.error]
        self.report({"INFO"}, f"Compared {len(result.outcomes)} variants: {result.sheet}")
        for outcome in failed:
            self.report({"WARNING"}, f"{outcome.variant.title}: {outcome.error}")


class MUSLIN_OT_compare_open(IdleOperator, bpy.types.Operator):
    """Open the sheet of the last comparison in the web browser"""
    bl_idname = "muslin.compare_open"
    bl_label = "Open Sheet"
    no_target_message = "There is no sheet in the folder; press Compare to make one"
    uses_active_object = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        try:
            return (folder_of(context.scene.muslin) / comparison_folder.SHEET).is_file()
        except core.ClothError:
            return False

    def execute(self, context: bpy.types.Context) -> set[str]:
        sheet = folder_of(context.scene.muslin) / comparison_folder.SHEET
        bpy.ops.wm.url_open(url=sheet.as_uri() if os.name != "nt" else str(sheet))
        return {"FINISHED"}


class MUSLIN_PT_compare(bpy.types.Panel):
    bl_label = "Compare"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return MUSLIN_OT_compare.has_target(context)

    def draw(self, context: bpy.types.Context) -> None:
        settings: Any = context.scene.muslin
        col: Any = self.layout.column()
        col.use_property_split = True
        col.use_property_decorate = False
        col.enabled = bake_job.current() is None
        col.column().prop(settings, "compare_models")
        col.column().prop(settings, "compare_integrators")
        col.prop(settings, "compare_folder")
        row = self.layout.row(align=True)
        row.operator("muslin.compare")
        row.operator("muslin.compare_open", text="Open Sheet")


classes = (MUSLIN_OT_compare, MUSLIN_OT_compare_open, MUSLIN_PT_compare)

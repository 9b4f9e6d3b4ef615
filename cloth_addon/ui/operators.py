# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: Add Cloth and Collider, Delete Bake, and Select Crossing Faces."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy

from ... import core
from ..bake import backends, takes
from ..bake.idle_operator import IdleOperator, editable_mesh_object
from ..properties import baked_record
from ..properties.fabric_presets import load_preset
from ..read import blender_collision, crossings, editable_checks
from ..write import shape_keys
from . import edit_check


def cloths_of(context: bpy.types.Context) -> list[Any]:
    """Return the cloth objects of the scene."""
    return [obj for obj in context.scene.objects if obj.type == "MESH" and obj.muslin.kind == "CLOTH"]


def _local_bakes(context: bpy.types.Context) -> list[Any]:
    """Return the objects with a bake, without those whose bake belongs to another file.

    An object that is no cloth any more counts unless it shows the bake of cloth, with which it shares the mesh.
    """
    return [obj for obj in context.scene.objects if baked_record.has_bake(obj) and obj.is_editable
            and (obj.data.is_editable or baked_record.is_in_modifier(obj))
            and (obj.muslin.kind == "CLOTH"
                 or not any(other.muslin.kind == "CLOTH" for other in baked_record.sharing(obj)))]


def _delete_bakes(operator: bpy.types.Operator, objects: list[Any]) -> bool:
    """Delete the bakes of these objects. If one cannot be deleted, delete none, report the error, and return False."""
    baked = [obj for obj in objects if baked_record.has_bake(obj)]
    try:
        for obj in baked:
            editable_checks.check_local(obj, in_modifier=baked_record.is_in_modifier(obj))
            if obj.mode == "EDIT" or obj.data.is_editmode:          # of an object that shares the mesh
                raise core.SceneError("is in Edit Mode; leave it (Tab) to delete its bake", object_name=obj.name)
        edits = edit_check.lost_edits(baked)
        takes.note_deleted(baked)
        shape_keys.delete_bakes(baked)
    except core.ClothError as error:
        operator.report({"ERROR"}, str(error))
        return False
    if edits:
        operator.report({"WARNING"}, f"{edits}. That is deleted, too; Undo brings it back")
    return True


def _sharing_text(objects: list[Any], verb: str = "loses") -> str:
    """Return which other objects lose their bake with these ones; empty if none does."""
    pairs = {other.name: obj.name for obj in objects for other in baked_record.sharing(obj) if other not in objects}
    return "; ".join(f"'{other}' shares the mesh of '{name}' and {verb} this bake, too"
                     for other, name in pairs.items())


class _DeletesBakes(IdleOperator):
    """Base of the operators that delete bakes. They ask first if other objects share the mesh, and so the bake."""

    @classmethod
    def targets(cls, context: bpy.types.Context) -> list[Any]:
        """Return the objects whose bakes are deleted."""
        return [context.object]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        shared = _sharing_text(cls.targets(context)) if cls.has_target(context) else ""
        return shared and f"{' '.join((cls.__doc__ or '').split())}. {shared}"

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        shared = _sharing_text(self.targets(context))
        if not shared:
            return self.execute(context)
        return set(context.window_manager.invoke_confirm(
            self, event, title=self.bl_label, message=shared, confirm_text="Delete", icon="WARNING"))

    def execute(self, context: bpy.types.Context) -> set[str]:
        shared = _sharing_text(self.targets(context), "has lost")
        if not _delete_bakes(self, self.targets(context)):
            return {"CANCELLED"}
        if shared:
            self.report({"INFO"}, shared)
        return {"FINISHED"}


class MUSLIN_OT_cloth_add(IdleOperator, bpy.types.Operator):
    """Make the object a cloth of Muslin's simulation"""
    bl_idname = "muslin.cloth_add"
    bl_label = "Add Cloth"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        muslin = context.object.muslin
        muslin.kind = "CLOTH"
        load_preset(muslin, muslin.fabric)          # stores the values, so that later defaults do not change them
        return {"FINISHED"}


class MUSLIN_OT_collider_add(IdleOperator, bpy.types.Operator):
    """Make the object a collider, which cloth rests on and slides over"""
    bl_idname = "muslin.collider_add"
    bl_label = "Add Collider"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.object.muslin.kind = "COLLIDER"
        return {"FINISHED"}


class MUSLIN_OT_collision_use(IdleOperator, bpy.types.Operator):
    """Make objects with Blender's Collision colliders of Muslin, with their friction and outer thickness"""
    bl_idname = "muslin.collision_use"
    bl_label = "Use as Collider"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "No object of the scene has Blender's Collision and takes no part in Muslin's simulation"
    uses_active_object = False

    only_active: bpy.props.BoolProperty(name="Active Only", description="Take the active object only, not all",
                                        default=False, options={"SKIP_SAVE"})

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(blender_collision.ignored_collisions(context.scene))

    def execute(self, context: bpy.types.Context) -> set[str]:
        found = [obj for obj in blender_collision.ignored_collisions(context.scene)
                 if obj.is_editable and (obj == context.object or not self.only_active)]
        for obj in found:
            blender_collision.take_over(obj)
        self.report({"INFO"}, f"Colliders now: {', '.join(obj.name for obj in found) or 'none'}")
        return {"FINISHED"} if found else {"CANCELLED"}


class MUSLIN_OT_remove(_DeletesBakes, bpy.types.Operator):
    """Remove the object from Muslin's simulation. Its bake is deleted, and the mesh is restored"""
    bl_idname = "muslin.remove"
    bl_label = "Remove from Simulation"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The active object takes no part in Muslin's simulation"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and context.object.muslin.kind != "NONE"

    def execute(self, context: bpy.types.Context) -> set[str]:
        found = super().execute(context)
        if found == {"FINISHED"}:
            context.object.muslin.kind = "NONE"
        return found


class MUSLIN_OT_bake_delete(_DeletesBakes, bpy.types.Operator):
    """Remove the shape keys of the bake and restore the object as it was before the bake"""
    bl_idname = "muslin.bake_delete"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The active object has no bake"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and baked_record.has_bake(context.object)


class MUSLIN_OT_bake_delete_all(_DeletesBakes, bpy.types.Operator):
    """Remove the bakes of all objects of the scene"""
    bl_idname = "muslin.bake_delete_all"
    bl_label = "Delete All Bakes"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "No object of the scene has a bake"
    uses_active_object = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(_local_bakes(context))

    @classmethod
    def targets(cls, context: bpy.types.Context) -> list[Any]:
        return _local_bakes(context)


class MUSLIN_OT_bake_forget(IdleOperator, bpy.types.Operator):
    """Remove a record of a bake that cannot be read. Its shape keys stay and belong to you"""
    bl_idname = "muslin.bake_forget"
    bl_label = "Forget Bake"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The active object has no bake with a damaged record"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and bool(baked_record.problem_of(context.object))

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            editable_checks.check_local(context.object, in_modifier=not baked_record.is_of_library(context.object))
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        baked_record.forget(context.object)
        self.report({"INFO"}, "The record is removed. Remove the shape keys named Muslin in Object Data > Shape Keys")
        return {"FINISHED"}


class MUSLIN_OT_crossings_select(IdleOperator, bpy.types.Operator):
    """Go to Edit Mode and select the faces of this cloth that cross something at the current frame"""
    bl_idname = "muslin.crossings_select"
    bl_label = "Select Crossing Faces"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The active object is not cloth that is visible and in Object Mode"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        return obj is not None and obj.muslin.kind == "CLOTH" and obj.mode == "OBJECT" and obj.visible_get()

    def execute(self, context: bpy.types.Context) -> set[str]:
        obj: Any = context.object
        depsgraph = context.evaluated_depsgraph_get()
        if not crossings.shows_own_faces(obj, depsgraph):
            self.report({"ERROR"}, f"A modifier of '{obj.name}' changes the faces of its mesh; switch it off in the "
                                   "viewport first")
            return {"CANCELLED"}
        finder = crossings.CrossingsFinder()
        finder.update(context.view_layer, depsgraph)
        finder.find(backends.ready_backend(context.scene, finder.models))
        faces = finder.found.faces.get(obj.name_full, ())
        if not len(faces):
            self.report({"INFO"}, finder.found.problem or f"At this frame nothing crosses '{obj.name}'")
            return {"CANCELLED"}
        for other in context.selected_objects:
            other.select_set(other == obj)          # Edit Mode applies to all selected objects
        bpy.ops.object.mode_set(mode="EDIT")
        settings: Any = context.tool_settings
        settings.mesh_select_mode = (False, False, True)
        bm = bmesh.from_edit_mesh(obj.data)
        wanted = set(faces.tolist())
        for face in bm.faces:
            face.select_set(False)
        for face in bm.faces:
            if face.index in wanted:
                face.select_set(True)
        bm.select_flush_mode()
        bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)
        return {"FINISHED"}


classes = (
    MUSLIN_OT_cloth_add, MUSLIN_OT_collider_add, MUSLIN_OT_collision_use, MUSLIN_OT_remove,
 MUSLIN_OT_bake_delete, MUSLIN_OT_bake_delete_all,
    MUSLIN_OT_bake_forget,
    MUSLIN_OT_crossings_select,
)

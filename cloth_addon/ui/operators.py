# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons do. The bake itself is bake.py's generator; here it is stepped, shown and stopped."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import bmesh
import bpy

from ... import core
from ..bake import bake_job
from ..bake.bake import bake
from ..bake.modal_operator import NO_CLOTH, Running, Settled, mesh_object
from ..read import crossings, read_cloth
from ..write import baked_record, shape_keys
from ..write.report import Report
from . import certificate_text, fabric_menu


def _cloths(context: bpy.types.Context) -> list[Any]:
    return [thing for thing in context.scene.objects if thing.type == "MESH" and thing.muslin.kind == "CLOTH"]


def _own_bakes(context: bpy.types.Context) -> list[Any]:
    """The cloths with a bake that is this file's: what a linked mesh carries is for the file that it is from."""
    return [cloth for cloth in _cloths(context) if baked_record.has_bake(cloth) and cloth.data.is_editable]


def _delete_bakes(operator: bpy.types.Operator, objects: list[Any]) -> bool:
    """Removes what bakes these objects carry; False, with the error reported, where one cannot be removed."""
    baked = [thing for thing in objects if baked_record.has_bake(thing)]
    try:
        for thing in baked:
            read_cloth.check_of_this_file(thing)
            if thing.mode == "EDIT":
                raise core.SceneError("is in Edit Mode; leave it (Tab) to delete its bake", object_name=thing.name)
        for thing in baked:
            shape_keys.remove(thing)
    except core.ClothError as error:
        operator.report({"ERROR"}, str(error))
        return False
    return True


class MUSLIN_OT_cloth_add(Settled, bpy.types.Operator):
    """Make the object a cloth of Muslin's simulation"""
    bl_idname = "muslin.cloth_add"
    bl_label = "Add Cloth"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        muslin = context.object.muslin
        muslin.kind = "CLOTH"
        fabric_menu.fill(muslin, muslin.fabric)     # the file keeps the values, whatever later versions start from
        return {"FINISHED"}


class MUSLIN_OT_collider_add(Settled, bpy.types.Operator):
    """Make the object something that cloth rests on and slides over"""
    bl_idname = "muslin.collider_add"
    bl_label = "Add Collider"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.object.muslin.kind = "COLLIDER"
        return {"FINISHED"}


class MUSLIN_OT_remove(Settled, bpy.types.Operator):
    """Take the object out of Muslin's simulation. A bake is deleted, the mesh is as it was before"""
    bl_idname = "muslin.remove"
    bl_label = "Remove from Simulation"
    bl_options = {"REGISTER", "UNDO"}
    lacks = "The active object takes no part in Muslin's simulation"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return mesh_object(context) is not None and context.object.muslin.kind != "NONE"

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not _delete_bakes(self, [context.object]):
            return {"CANCELLED"}
        context.object.muslin.kind = "NONE"
        return {"FINISHED"}


class _Bake(Running):
    def targets(self, context: bpy.types.Context) -> list[Any]:
        raise NotImplementedError

    def steps(self, context: bpy.types.Context) -> Generator[Any, None, Report]:
        return bake(context.scene, self.targets(context))

    def tell(self, result: Report) -> None:
        """The bake in one line, and what the user should know of it as warnings."""
        self.report({"INFO"}, certificate_text.headline(result.as_dict()))
        for note in result.notes:
            self.report({"WARNING"}, note)


class MUSLIN_OT_bake(_Bake, bpy.types.Operator):
    """Simulate this cloth over the frame range and keep the result as shape keys, one per frame"""
    bl_idname = "muslin.bake"
    bl_label = "Bake Cloth"
    bl_options = {"UNDO"}
    lacks = NO_CLOTH

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return mesh_object(context) is not None and context.object.muslin.kind == "CLOTH"

    def targets(self, context: bpy.types.Context) -> list[Any]:
        return [context.object]


class MUSLIN_OT_bake_all(_Bake, bpy.types.Operator):
    """Simulate all cloth of the scene together and keep the result as shape keys, one per frame"""
    bl_idname = "muslin.bake_all"
    bl_label = "Bake All Cloth"
    bl_options = {"UNDO"}
    lacks = "The scene has no cloth; make an object one in Properties > Physics > Muslin"
    of_active = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(_cloths(context))

    def targets(self, context: bpy.types.Context) -> list[Any]:
        return _cloths(context)


class MUSLIN_OT_bake_cancel(bpy.types.Operator):
    """Stop the bake. Nothing is changed, an earlier bake stays"""
    bl_idname = "muslin.bake_cancel"
    bl_label = "Cancel Bake"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if bake_job.current() is None:
            cls.poll_message_set("No bake is running")
        return bake_job.current() is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        bake_job.current().stop()
        return {"FINISHED"}


class MUSLIN_OT_bake_delete(Settled, bpy.types.Operator):
    """Remove the bake's shape keys; the object is as it was before the bake"""
    bl_idname = "muslin.bake_delete"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}
    lacks = "The active object has no bake"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return mesh_object(context) is not None and baked_record.has_bake(context.object)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return {"FINISHED"} if _delete_bakes(self, [context.object]) else {"CANCELLED"}


class MUSLIN_OT_bake_delete_all(Settled, bpy.types.Operator):
    """Remove the bakes of all cloth of the scene"""
    bl_idname = "muslin.bake_delete_all"
    bl_label = "Delete All Bakes"
    bl_options = {"REGISTER", "UNDO"}
    lacks = "No cloth of the scene has a bake"
    of_active = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(_own_bakes(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        return {"FINISHED"} if _delete_bakes(self, _own_bakes(context)) else {"CANCELLED"}


class MUSLIN_OT_crossings_select(Settled, bpy.types.Operator):
    """Go to Edit Mode with the faces of this cloth selected that cross something at the current frame"""
    bl_idname = "muslin.crossings_select"
    bl_label = "Select Crossing Faces"
    bl_options = {"REGISTER", "UNDO"}
    lacks = "The active object is no cloth that is visible and in Object Mode"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        thing = mesh_object(context)
        return thing is not None and thing.muslin.kind == "CLOTH" and thing.mode == "OBJECT" and thing.visible_get()

    def execute(self, context: bpy.types.Context) -> set[str]:
        thing: Any = context.object
        depsgraph = context.evaluated_depsgraph_get()
        if not crossings.shows_own_faces(thing, depsgraph):
            self.report({"ERROR"}, f"A modifier of '{thing.name}' makes other faces than its mesh has; switch it off "
                                   "in the viewport first")
            return {"CANCELLED"}
        look = crossings.Look()
        look.moved(context.view_layer, depsgraph)
        look.find(context.scene)
        faces = look.found.faces.get(thing.name_full, ())
        if not len(faces):
            self.report({"INFO"}, look.found.problem or f"At this frame nothing crosses '{thing.name}'")
            return {"CANCELLED"}
        for other in context.selected_objects:
            other.select_set(other == thing)        # Edit Mode takes all that is selected
        bpy.ops.object.mode_set(mode="EDIT")
        settings: Any = context.tool_settings
        settings.mesh_select_mode = (False, False, True)
        bm = bmesh.from_edit_mesh(thing.data)
        wanted = set(faces.tolist())
        for face in bm.faces:
            face.select_set(False)
        for face in bm.faces:
            if face.index in wanted:
                face.select_set(True)
        bm.select_flush_mode()
        bmesh.update_edit_mesh(thing.data, loop_triangles=False, destructive=False)
        return {"FINISHED"}


classes = (
    MUSLIN_OT_cloth_add, MUSLIN_OT_collider_add, MUSLIN_OT_remove,
    MUSLIN_OT_bake, MUSLIN_OT_bake_all, MUSLIN_OT_bake_cancel, MUSLIN_OT_bake_delete, MUSLIN_OT_bake_delete_all,
    MUSLIN_OT_crossings_select,
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the buttons do. The bake itself is bake.py's generator; here it is stepped, shown and stopped."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING, Any

import bmesh
import bpy

from .. import core
from . import baked_record, certificate_text, crossings, fabric_menu, job, shape_keys
from .bake import bake
from .bake_display import BakeDisplay
from .report import Report

# Blender's rule for what several operators share: a plain class, beside bpy.types.Operator in each of them
_Operator = bpy.types.Operator if TYPE_CHECKING else object


def _mesh_object(context: bpy.types.Context) -> Any:
    """The object whose properties are shown, where it is a mesh that this file may change."""
    thing = getattr(context, "object", None)        # a context without a window has none
    return thing if thing is not None and thing.type == "MESH" and thing.is_editable else None


def _cloths(context: bpy.types.Context) -> list[Any]:
    return [thing for thing in context.scene.objects if thing.type == "MESH" and thing.muslin.kind == "CLOTH"]


def _delete_bakes(operator: bpy.types.Operator, objects: list[Any]) -> bool:
    """Removes what bakes these objects carry; False, with the error reported, where one cannot be removed."""
    try:
        for thing in objects:
            if thing.mode == "EDIT" and baked_record.has_bake(thing):
                raise core.SceneError("is in Edit Mode; leave it (Tab) to delete its bake", object_name=thing.name)
            shape_keys.remove(thing)
    except core.ClothError as error:
        operator.report({"ERROR"}, str(error))
        return False
    return True


class _Settled(_Operator):
    """Of operators that must wait until no bake runs."""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if job.current() is not None:
            cls.poll_message_set("A bake is running")
            return False
        return cls.has_target(context)

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return _mesh_object(context) is not None


class MUSLIN_OT_cloth_add(_Settled, bpy.types.Operator):
    """Make the object a cloth of Muslin's simulation"""
    bl_idname = "muslin.cloth_add"
    bl_label = "Add Cloth"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        muslin = context.object.muslin
        muslin.kind = "CLOTH"
        fabric_menu.fill(muslin, muslin.fabric)     # the file keeps the values, whatever later versions start from
        return {"FINISHED"}


class MUSLIN_OT_collider_add(_Settled, bpy.types.Operator):
    """Make the object something that cloth rests on and slides over"""
    bl_idname = "muslin.collider_add"
    bl_label = "Add Collider"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        context.object.muslin.kind = "COLLIDER"
        return {"FINISHED"}


class MUSLIN_OT_remove(_Settled, bpy.types.Operator):
    """Take the object out of Muslin's simulation. A bake is deleted, the mesh is as it was before"""
    bl_idname = "muslin.remove"
    bl_label = "Remove from Simulation"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return _mesh_object(context) is not None and context.object.muslin.kind != "NONE"

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not _delete_bakes(self, [context.object]):
            return {"CANCELLED"}
        context.object.muslin.kind = "NONE"
        return {"FINISHED"}


class _Bake(_Settled):
    """From a window: in slices, with progress, Esc cancels. From a script: to the end at once."""

    def targets(self, context: bpy.types.Context) -> list[Any]:
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.job = job.begin(bake(context.scene, self.targets(context)))
        self.display = BakeDisplay(context, self.job)
        self.display.show(context)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if event.type == "ESC" and event.value == "PRESS":
            self.job.stop()
            self.display.show(context)
            return {"RUNNING_MODAL"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        try:
            over = self.job.advance()
        except core.ClothError as error:
            return self.fail(str(error))
        except ReferenceError:
            return self.fail(f"{self.gone()} was removed while the bake ran; undo that and bake again")
        except Exception:
            return self.fail("The bake failed in a way that was not foreseen:\n" + traceback.format_exc())
        if not over:
            self.display.show(context)
            return {"RUNNING_MODAL"}
        job.end()
        if not self.job.finished:
            because = self.job.stopped_because
            self.report({"INFO"}, f"Bake cancelled: {because}" if because else "Bake cancelled")
            return {"CANCELLED"}
        self.tell(self.job.result)
        return {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        running = job.begin(bake(context.scene, self.targets(context)))     # so that whoever looks on sees it
        try:
            while not running.advance():
                pass
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            job.end()
        self.tell(running.result)
        return {"FINISHED"}

    def tell(self, result: Report) -> None:
        """The bake in one line, and what the user should know of it as warnings."""
        self.report({"INFO"}, certificate_text.headline(result.as_dict()))
        for note in result.notes:
            self.report({"WARNING"}, note)

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator: another file is loaded, the window is closed."""
        self.job.abort("Blender closed the window or the file")
        job.end()

    def gone(self) -> str:
        cloths = self.job.progress.cloths if self.job.progress is not None else ()
        missing = [name for name in cloths if name not in bpy.data.objects]
        return ", ".join(f"'{name}'" for name in missing) or "Something that the bake needs"

    def fail(self, message: str) -> set[str]:
        job.end()
        self.report({"ERROR"}, message)
        return {"CANCELLED"}


class MUSLIN_OT_bake(_Bake, bpy.types.Operator):
    """Simulate this cloth over the frame range and keep the result as shape keys, one per frame"""
    bl_idname = "muslin.bake"
    bl_label = "Bake Cloth"
    bl_options = {"UNDO"}

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return _mesh_object(context) is not None and context.object.muslin.kind == "CLOTH"

    def targets(self, context: bpy.types.Context) -> list[Any]:
        return [context.object]


class MUSLIN_OT_bake_all(_Bake, bpy.types.Operator):
    """Simulate all cloth of the scene together and keep the result as shape keys, one per frame"""
    bl_idname = "muslin.bake_all"
    bl_label = "Bake All Cloth"
    bl_options = {"UNDO"}

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
        return job.current() is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        job.current().stop()
        return {"FINISHED"}


class MUSLIN_OT_bake_delete(_Settled, bpy.types.Operator):
    """Remove the bake's shape keys; the object is as it was before the bake"""
    bl_idname = "muslin.bake_delete"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return _mesh_object(context) is not None and baked_record.has_bake(context.object)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return {"FINISHED"} if _delete_bakes(self, [context.object]) else {"CANCELLED"}


class MUSLIN_OT_bake_delete_all(_Settled, bpy.types.Operator):
    """Remove the bakes of all cloth of the scene"""
    bl_idname = "muslin.bake_delete_all"
    bl_label = "Delete All Bakes"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return any(baked_record.has_bake(cloth) for cloth in _cloths(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        return {"FINISHED"} if _delete_bakes(self, _cloths(context)) else {"CANCELLED"}


class MUSLIN_OT_crossings_select(_Settled, bpy.types.Operator):
    """Go to Edit Mode with the faces of this cloth selected that cross something at the current frame"""
    bl_idname = "muslin.crossings_select"
    bl_label = "Select Crossing Faces"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        thing = _mesh_object(context)
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

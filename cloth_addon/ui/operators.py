# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators: Add Cloth and Collider, Bake, Pause, Cancel, Use, Delete Bake, Free, and Select Crossing Faces."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy

from ... import core
from ...core.cache.take import Take
from ..bake import apply_take, backends, bake_job, session, takes
from ..bake.bake import bake, frame_kept
from ..bake.modal_operator import NO_CLOTH, IdleOperator, editable_mesh_object, run
from ..bake.preparation import Continuation
from ..bake.progress import StageTimer
from ..properties import baked_record
from ..properties.fabric_presets import load_preset
from ..read import blender_collision, crossings, editable_checks
from ..write import shape_keys
from ..write.report import Report
from . import bake_state, certificate_text


def _cloths(context: bpy.types.Context) -> list[Any]:
    """Return the cloth objects of the scene."""
    return [obj for obj in context.scene.objects if obj.type == "MESH" and obj.muslin.kind == "CLOTH"]


def _local_bakes(context: bpy.types.Context) -> list[Any]:
    """Return the cloth objects with a bake, without those whose mesh is linked from another file."""
    return [cloth for cloth in _cloths(context) if baked_record.has_bake(cloth) and cloth.data.is_editable]


def _delete_bakes(operator: bpy.types.Operator, objects: list[Any]) -> bool:
    """Delete the bakes of these objects. If one cannot be deleted, delete none, report the error, and return False."""
    baked = [obj for obj in objects if baked_record.has_bake(obj)]
    try:
        for obj in baked:
            editable_checks.check_local(obj)
            if obj.mode == "EDIT":
                raise core.SceneError("is in Edit Mode; leave it (Tab) to delete its bake", object_name=obj.name)
        shape_keys.delete_bakes(baked)
    except core.ClothError as error:
        operator.report({"ERROR"}, str(error))
        return False
    return True


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


class MUSLIN_OT_remove(IdleOperator, bpy.types.Operator):
    """Remove the object from Muslin's simulation. Its bake is deleted, and the mesh is restored"""
    bl_idname = "muslin.remove"
    bl_label = "Remove from Simulation"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The active object takes no part in Muslin's simulation"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and context.object.muslin.kind != "NONE"

    def execute(self, context: bpy.types.Context) -> set[str]:
        if not _delete_bakes(self, [context.object]):
            return {"CANCELLED"}
        context.object.muslin.kind = "NONE"
        return {"FINISHED"}


class _Bake(IdleOperator):
    """Base of the operators that bake: beside the window when a button is pressed, at once when a script calls them."""

    mode: bpy.props.EnumProperty(
        name="Mode", items=[("START", "From the Start", "Simulate all frames"),
                            ("RESUME", "Resume", "Go on after the last frame that is on disk"),
                            ("HERE", "From Here", "Keep the frames up to the current one, and simulate those after it")],
        default="START", options={"SKIP_SAVE"})

    def targets(self, context: bpy.types.Context) -> list[Any]:
        """Return the objects to bake."""
        raise NotImplementedError

    def continuation(self, context: bpy.types.Context) -> tuple[list[Any], Continuation | None]:
        """Return the objects to bake, and where the bake goes on; None from the start.

        Raises:
            core.ClothError: there is no take to go on from.
        """
        objects = self.targets(context)
        if self.mode == "START":
            return objects, None
        state = bake_state.state_of(context.scene, context.object if context.object in objects else objects[0])
        if state.source is None:
            raise core.SceneError("has no bake on disk to go on from; bake from the start", object_name=objects[0].name)
        frame = context.scene.frame_current if self.mode == "HERE" else None
        if frame is not None and not state.can_go_on_from(frame):
            raise core.SceneError(f"its bake on disk has frames {state.source.start} to {state.source.reached}, and not "
                                  f"{frame}; go to one of them", object_name=objects[0].name)
        return apply_take.objects_of(state.source, context.scene), Continuation(state.source.folder, frame)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        try:
            objects, resume = self.continuation(context)
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        session.begin(context.scene, objects, resume, _after_bake)
        return {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            objects, resume = self.continuation(context)
            report = run(bake(context.scene, objects, resume=resume))
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, certificate_text.headline(report.as_dict()))
        for note in report.notes:
            self.report({"WARNING"}, note)
        return {"FINISHED"}


def _after_bake(report: Report | None, problem: str) -> None:
    """Add a step to the undo history after a bake beside the window."""
    window = next(iter(bpy.context.window_manager.windows), None)
    if report is not None and window is not None:
        with bpy.context.temp_override(window=window):
            bpy.ops.ed.undo_push(message="Bake Cloth")


class MUSLIN_OT_bake(_Bake, bpy.types.Operator):
    """Simulate this cloth over the frame range. Every frame is on disk as soon as it is solved"""
    bl_idname = "muslin.bake"
    bl_label = "Bake Cloth"
    bl_options = {"UNDO"}
    no_target_message = NO_CLOTH

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and context.object.muslin.kind == "CLOTH"

    def targets(self, context: bpy.types.Context) -> list[Any]:
        return [context.object]


class MUSLIN_OT_bake_all(_Bake, bpy.types.Operator):
    """Simulate all cloth of the scene together. Every frame is on disk as soon as it is solved"""
    bl_idname = "muslin.bake_all"
    bl_label = "Bake All Cloth"
    bl_options = {"UNDO"}
    no_target_message = "The scene has no cloth; make an object cloth in Properties > Physics > Muslin"
    uses_active_object = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(_cloths(context))

    def targets(self, context: bpy.types.Context) -> list[Any]:
        return _cloths(context)


class MUSLIN_OT_bake_cancel(bpy.types.Operator):
    """Stop the bake. The frames that are there are kept, and the bake in use stays"""
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


class MUSLIN_OT_bake_pause(bpy.types.Operator):
    """Let the solver wait, or go on"""
    bl_idname = "muslin.bake_pause"
    bl_label = "Pause"
    bl_options = {"INTERNAL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if session.running() is None:
            cls.poll_message_set("No bake is running beside the window")
        return session.running() is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        running = session.running()
        if running.is_paused:
            running.go_on()
        else:
            running.pause()
        return {"FINISHED"}


class MUSLIN_OT_bake_message(bpy.types.Operator):
    """Remove the message on the last bake"""
    bl_idname = "muslin.bake_message"
    bl_label = "Dismiss"
    bl_options = {"INTERNAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        session.dismiss()
        return {"FINISHED"}


class MUSLIN_OT_bake_use(IdleOperator, bpy.types.Operator):
    """Use the frames on disk as the bake, complete or not, with the kind of result that is chosen"""
    bl_idname = "muslin.bake_use"
    bl_label = "Use Frames on Disk"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "There are no frames of this cloth on disk"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        return (obj is not None and obj.muslin.kind == "CLOTH"
                and bake_state.state_of(context.scene, obj).source is not None)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        source = bake_state.state_of(scene, context.object).source
        try:
            with frame_kept(scene):
                report = run(apply_take.apply_take(scene, context.view_layer, Take.open(source.folder),
                                                   apply_take.objects_of(source, scene), StageTimer()))
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, certificate_text.headline(report.as_dict()))
        return {"FINISHED"}


class MUSLIN_OT_cache_free(IdleOperator, bpy.types.Operator):
    """Delete the frames of this cloth on disk. A bake in shape keys stays, and can then not be resumed or switched"""
    bl_idname = "muslin.cache_free"
    bl_label = "Free Cache"
    no_target_message = "There are no frames of this cloth on disk that can be deleted"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        return obj is not None and obj.muslin.kind == "CLOTH" and bool(_free_takes(context))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        return context.window_manager.invoke_confirm(self, event)

    def execute(self, context: bpy.types.Context) -> set[str]:
        freed = 0
        for take in _free_takes(context):
            try:
                takes.delete(take)
            except core.ClothError as error:
                self.report({"ERROR"}, str(error))
                return {"CANCELLED"}
            freed += take.size
        self.report({"INFO"}, f"Freed {freed / 1e6:.1f} MB")
        return {"FINISHED"}


def _free_takes(context: bpy.types.Context) -> list[takes.FoundTake]:
    """Return the takes of the active cloth that no Mesh Cache plays, and that belong to this file."""
    played = {record.take_id for obj in bpy.data.objects
              if (record := baked_record.known(obj)) is not None and record.modifier}
    return [take for take in takes.of_object(context.scene, context.object)
            if take.id not in played and takes.is_mine(take)]


class MUSLIN_OT_bake_delete(IdleOperator, bpy.types.Operator):
    """Remove the shape keys of the bake and restore the object as it was before the bake"""
    bl_idname = "muslin.bake_delete"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The active object has no bake"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and baked_record.has_bake(context.object)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return {"FINISHED"} if _delete_bakes(self, [context.object]) else {"CANCELLED"}


class MUSLIN_OT_bake_delete_all(IdleOperator, bpy.types.Operator):
    """Remove the bakes of all cloth of the scene"""
    bl_idname = "muslin.bake_delete_all"
    bl_label = "Delete All Bakes"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "No cloth of the scene has a bake"
    uses_active_object = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(_local_bakes(context))

    def execute(self, context: bpy.types.Context) -> set[str]:
        return {"FINISHED"} if _delete_bakes(self, _local_bakes(context)) else {"CANCELLED"}


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
            editable_checks.check_local(context.object)
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
    MUSLIN_OT_bake, MUSLIN_OT_bake_all, MUSLIN_OT_bake_cancel, MUSLIN_OT_bake_pause, MUSLIN_OT_bake_message,
    MUSLIN_OT_bake_use, MUSLIN_OT_cache_free, MUSLIN_OT_bake_delete, MUSLIN_OT_bake_delete_all,
    MUSLIN_OT_bake_forget,
    MUSLIN_OT_crossings_select,
)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators of the bake: Bake, Bake All, Pause, Cancel, Use, and Free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ... import core
from ...core.cache.take import Take
from ..bake import apply_take, bake_job, found_take, relink, session, takes
from ..bake.bake import bake, frame_kept
from ..bake.found_take import FoundTake
from ..bake.idle_operator import NO_CLOTH, IdleOperator, editable_mesh_object, run
from ..bake.preparation import Continuation
from ..bake.progress import StageTimer
from ..properties import baked_record
from ..write import mesh_cache
from ..write.report import Report
from . import bake_state, certificate_text, edit_check
from .operators import cloths_of

LONGEST_STOP = 5.0
"""Longest time for which Blender waits for the end of a solver [s]."""


class _Bake(IdleOperator):
    """Base of the operators that bake: beside the window when a button is pressed, at once when a script calls them."""

    mode: bpy.props.EnumProperty(
        name="Mode", items=[("START", "From the Start", "Simulate all frames"),
                            ("RESUME", "Resume", "Go on after the last frame that is on disk"),
                            ("HERE", "From Here", "Keep the frames up to the current one, and simulate the rest. With "
                             "other settings, keep those up to the last stored state before it")],
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
        if frame is not None and not state.has_frame(frame):
            raise core.SceneError(f"its bake on disk has frames {state.source.start} to {state.source.reached}, not "
                                  f"{frame}; go to one of them", object_name=objects[0].name)
        return (apply_take.objects_of(state.source, context.scene, context.object),
                Continuation(state.source.folder, frame))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        try:
            objects, resume = self.continuation(context)
            session.begin(context.scene, objects, resume, _after_bake)
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if edits := edit_check.lost_edits(objects):
            self.report({"WARNING"}, f"{edits}. The end of this bake replaces that; Cancel keeps it")
        return {"INTERFACE"}                    # nothing has changed that an undo could restore

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            objects, resume = self.continuation(context)
            edits = edit_check.lost_edits(objects)
            report = run(bake(context.scene, objects, resume=resume))
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, certificate_text.headline(report.as_dict()))
        if edits:
            self.report({"WARNING"}, f"{edits}. The bake has replaced that; Undo brings it back")
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
    """Simulate all cloth of the scene together over the frame range. Every frame is on disk as soon as it is solved"""
    bl_idname = "muslin.bake"
    bl_label = "Bake Cloth"
    bl_options = {"UNDO"}
    no_target_message = NO_CLOTH

    only_active: bpy.props.BoolProperty(
        name="Only This Cloth", default=False, options={"SKIP_SAVE"},
        description="Simulate the active cloth alone: other cloth does not collide with it, and keeps its bake")

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return ("Simulate this cloth alone: other cloth does not collide with it, and keeps its bake"
                if properties.only_active else "")

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and context.object.muslin.kind == "CLOTH"

    def targets(self, context: bpy.types.Context) -> list[Any]:
        return [context.object] if self.only_active else cloths_of(context)


class MUSLIN_OT_bake_all(_Bake, bpy.types.Operator):
    """Simulate all cloth of the scene together. Every frame is on disk as soon as it is solved"""
    bl_idname = "muslin.bake_all"
    bl_label = "Bake All Cloth"
    bl_options = {"UNDO"}
    no_target_message = "The scene has no cloth; make an object cloth in Properties > Physics > Muslin"
    uses_active_object = False

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return bool(cloths_of(context))

    def targets(self, context: bpy.types.Context) -> list[Any]:
        return cloths_of(context)


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

    take_id: bpy.props.StringProperty(
        name="Bake on Disk", default="", options={"SKIP_SAVE", "HIDDEN"},
        description="Identity of the bake on disk to use, of those that the panel offers. Empty for the latest one")

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        return (obj is not None and obj.muslin.kind == "CLOTH"
                and bake_state.state_of(context.scene, obj).source is not None)

    def execute(self, context: bpy.types.Context) -> set[str]:
        scene = context.scene
        state = bake_state.state_of(scene, context.object)
        offered = {take.id: take for take in (state.used, state.waiting, state.complete) if take is not None}
        if self.take_id and self.take_id not in offered:
            self.report({"ERROR"}, f"'{context.object.name}': the bake that this button was drawn for is not on disk "
                        "any more, or a later one is in use; choose one in the Bake panel")
            return {"CANCELLED"}
        source = offered[self.take_id] if self.take_id else state.source
        before = baked_record.known(context.object)
        try:
            objects = apply_take.objects_of(source, scene, context.object)
            edits = edit_check.lost_edits(objects)
            with frame_kept(scene):
                report = run(apply_take.apply_take(scene, context.view_layer, _whole_frames(source, before), objects,
                                                   StageTimer()))
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        session.dismiss()
        values = report.as_dict()
        switched = before is not None and (before.take_id, before.last) == (source.id, report.last)
        self.report({"INFO"}, certificate_text.switched(context.object, values) if switched
                    else certificate_text.taken(values))
        if edits:
            self.report({"WARNING"}, f"{edits}. The frames on disk have replaced that; Undo brings it back")
        return {"FINISHED"}


def _whole_frames(source: FoundTake, before: baked_record.BakedRecord | None) -> Take:
    """Return the take with its frames before the first damaged one, which the panels know from now on.

    Raises:
        core.CacheError: it lacks frames of the bake in use, `before`, which is of this take.
    """
    take = Take.open(source.folder)
    take.keep_whole()
    if take.damage:
        found_take.read(source.folder, whole=True)
        takes.forget()
    if before is not None and before.take_id == source.id and (take.last is None or take.last < before.last):
        raise core.CacheError(f"{take.damage or f'{take.folder} is cut off'}: its frames cannot take the place of the "
                              "bake in use, which has more; press Resume, or bake again")
    return take


class MUSLIN_OT_solver_stop(IdleOperator, bpy.types.Operator):
    """End the solver of this cloth that another Blender, or one that has ended, has started. Its frames are kept"""
    bl_idname = "muslin.solver_stop"
    bl_label = "Stop the Solver"
    bl_options = {"INTERNAL"}
    no_target_message = "No solver works on this cloth"

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        return obj is not None and obj.muslin.kind == "CLOTH" and bool(bake_state.solvers_of(context.scene, obj))

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            for _, solver in bake_state.solvers_of(context.scene, context.object):
                solver.stop()
                if not solver.wait(LONGEST_STOP):
                    self.report({"WARNING"}, f"The solver in {solver.folder} has not ended yet; it ends after its step")
        except core.ClothError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            takes.forget()
        return {"FINISHED"}


class MUSLIN_OT_cache_find(IdleOperator, bpy.types.Operator):
    """Find the frames of bakes that were moved: beside this file, or else in a folder that you choose"""
    bl_idname = "muslin.cache_find"
    bl_label = "Find Cache"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = "The cache of this cloth is where it should be, or the cloth has no bake with a cache"

    directory: bpy.props.StringProperty(name="Folder", subtype="DIR_PATH", options={"SKIP_SAVE"},
                                        description="Folder of caches, usually called muslin_cache, or of one bake")

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        obj = editable_mesh_object(context)
        return obj is not None and bool(relink.lost([obj]))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if self.directory or relink.relink_beside():
            return self._told(context)
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        relink.relink_beside()
        if self.directory:
            folder = mesh_cache.absolute_path(self.directory)
            relink.relink(bpy.data.objects, [folder, folder / "muslin_cache"])
        return self._told(context)

    def _told(self, context: bpy.types.Context) -> set[str]:
        """Report whether the cache of the active object has been found."""
        takes.forget()
        if relink.lost([context.object]):
            where = f"in {self.directory}" if self.directory else "beside this file"
            self.report({"ERROR"}, f"'{context.object.name}': its frames are not {where}; choose the folder of caches "
                        "that they were baked into, or bake again")
            return {"CANCELLED"}
        self.report({"INFO"}, f"The frames are in {takes.in_use(context.object).folder}")
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
        found = _free_takes(context)
        return set(context.window_manager.invoke_confirm(
            self, event, title=self.bl_label, message=free_text(found), confirm_text="Delete", icon="WARNING"))

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


def free_text(found: Sequence[FoundTake]) -> str:
    """Return the question before these takes are deleted."""
    size = sum(take.size for take in found)
    they = "It" if len(found) == 1 else "They"
    return (f"Delete {len(found)} bake{'s' if len(found) > 1 else ''} on disk, {size / 1e6:.1f} MB? {they} cannot be "
            "resumed or switched then")


def _free_takes(context: bpy.types.Context) -> list[FoundTake]:
    """Return the takes of the active cloth that no Mesh Cache plays, and that belong to this file."""
    played = {record.take_id for obj in bpy.data.objects
              if (record := baked_record.known(obj)) is not None and record.modifier}
    return [take for take in takes.of_object(context.scene, context.object)
            if take.id not in played and takes.is_mine(take)]


classes = (
    MUSLIN_OT_bake, MUSLIN_OT_bake_all, MUSLIN_OT_bake_cancel, MUSLIN_OT_bake_pause, MUSLIN_OT_bake_message,
    MUSLIN_OT_bake_use, MUSLIN_OT_solver_stop, MUSLIN_OT_cache_find, MUSLIN_OT_cache_free,
)

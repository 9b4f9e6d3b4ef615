# SPDX-License-Identifier: GPL-3.0-or-later
"""The Bake panel and those below it: buttons, certificate, frames, and settings of the solver. Panels only draw."""

from __future__ import annotations

from typing import Any

import bpy

from ..bake import bake_job, first_compile, played_frames, relink, report_notes, session, takes
from ..properties import baked_record
from ..read import blender_collision, read_scene
from ..write import mesh_cache
from . import (
    bake_changes,
    bake_state,
    certificate_text,
    coarse_hint,
    crossings_overlay,
    hints,
    rename_velocity,
)
from .operators import cloths_of
from .panel_layout import OF_PREVIOUS, PhysicsTab, name_and_value, paragraph, with_label_above, with_unit


class MUSLIN_PT_bake(PhysicsTab, bpy.types.Panel):
    bl_label = "Bake"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    def draw(self, context: bpy.types.Context) -> None:
        width = context.region.width
        job = bake_job.current()
        state = bake_state.state_of(context.scene, context.object) if job is None else None
        report = baked_record.report_of(context.object)
        missing = "" if job is not None else relink.missing_text(context.object)
        if missing:
            paragraph(self.layout.column(align=True), missing, width, icon="ERROR")
            self.layout.operator("muslin.cache_find")
        damaged = "" if job is not None or missing else played_frames.damage_text(context.object)
        if damaged:
            paragraph(self.layout.column(align=True), damaged, width, icon="ERROR")
        changed = ""
        if report and job is None:
            changed = bake_changes.sentence(bake_changes.known_changes(context.scene, context.object, report))
            if baked_record.lacks_keys(context.object):
                changed = f"{_missing(context.object)} is missing: bake again"
        if job is not None:
            _draw_running(self.layout.column(), job, width)
        else:
            if first_compile.text():
                paragraph(self.layout.column(align=True), first_compile.text(), width, icon="SORTTIME")
            _draw_buttons(self.layout.column(), context, state, bool(changed), bool(missing or damaged), width)
        flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
        flow.operator("muslin.bake_delete_all")
        if report:
            _draw_certificate(self.layout, report, context.scene.frame_current, width, changed,
                              is_played=not (missing or damaged), of_previous=session.is_of(context.object))
        self.draw_crossings(context)
        if job is None:
            for hint in hints.hints(context.scene, context.object):
                if hint == hints.NOT_BAKED and state is not None and state.waiting is not None:
                    continue                                        # there are frames, and other buttons
                paragraph(self.layout.column(align=True), hint, width)
        self.draw_collisions(context)
        self.draw_ignored(context, [] if report is None else report["notes"])

    def draw_collisions(self, context: bpy.types.Context) -> None:
        """Draw which objects have Blender's Collision and stop nothing, with the button that changes it."""
        for note in blender_collision.notes(context.scene):
            paragraph(self.layout.column(align=True), note, context.region.width)
            self.layout.operator("muslin.collision_use")

    def draw_crossings(self, context: bpy.types.Context) -> None:
        """Draw the switch of Show Crossings and its result."""
        col = self.layout.column(align=True)
        col.prop(context.window_manager, crossings_overlay.PROPERTY)
        col.operator("muslin.crossings_select", text="Select Faces")
        for line in crossings_overlay.lines(context.scene, context.view_layer):
            paragraph(col, line, context.region.width, icon="NONE")

    def draw_ignored(self, context: bpy.types.Context, said: list[str]) -> None:
        """Draw notes on ignored objects that the bake has not `said`, with the button that renames an attribute."""
        scene = context.scene
        rename_velocity.draw(self.layout, context)
        drawn = blender_collision.notes(scene) + said
        for note in read_scene.notes_on_ignored(scene, context.view_layer):
            if note not in drawn:
                paragraph(self.layout.column(align=True), note, context.region.width)


class MUSLIN_PT_frames(PhysicsTab, bpy.types.Panel):
    bl_label = "Frames and Scene"
    bl_parent_id = "MUSLIN_PT_bake"

    def draw(self, context: bpy.types.Context) -> None:
        scene = context.scene
        col = self.column(context)
        col.prop(scene.muslin, "use_custom_range")
        pair = col.column(align=True)
        pair.enabled = scene.muslin.use_custom_range
        frames = scene.muslin if scene.muslin.use_custom_range else scene
        pair.prop(frames, "frame_start", text="Frame Start")
        pair.prop(frames, "frame_end", text="End")
        col.prop(scene.muslin, "preroll")
        rest = col.column()
        rest.enabled = scene.muslin.preroll > 0
        rest.prop(scene.muslin, "preroll_from_rest")
        rest.prop(scene.muslin, "coarse_frames")
        if scene.muslin.preroll > 0 and scene.muslin.coarse_frames > 0:
            why = coarse_hint.text(scene, cloths_of(context))
            if why:
                paragraph(col.column(align=True), why, context.region.width, icon="INFO")
        whole = col.column(align=True)                              # the names are too long for a column of their own
        whole.use_property_split = False
        whole.prop(scene.muslin, "steps_per_frame")
        whole.prop(scene.muslin, "motion_samples")
        col.prop(scene.muslin, "speed")
        with_label_above(col, scene.muslin, "collider_collection")
        col.prop(scene.muslin, "wind")
        with_unit(col, scene.muslin, "air_density", "kg/m³")


class MUSLIN_PT_cache(PhysicsTab, bpy.types.Panel):
    bl_label = "Result and Cache"
    bl_parent_id = "MUSLIN_PT_bake"
    dots = False

    def draw(self, context: bpy.types.Context) -> None:
        obj, scene = context.object, context.scene
        col = self.column(context)
        col.prop(obj.muslin, "result")
        if obj.muslin.result == "SHAPE_KEYS":
            col.prop(obj.muslin, "key_mode")
        if bake_job.current() is not None:                          # looking at takes that grow takes long
            col.prop(scene.muslin, "cache_folder")
            return
        record = baked_record.known(obj)
        if record is not None and _differs(record, obj):
            if takes.in_use(obj) is not None:
                col.operator("muslin.bake_use", text="Switch the Bake to This")
            else:
                paragraph(col, "The bake has no cache to switch it from: bake again", context.region.width)
        col.prop(scene.muslin, "cache_folder")
        found = takes.of_object(scene, obj)
        if found:
            size = sum(take.size for take in found)
            paragraph(self.layout.column(align=True), f"{len(found)} bake{'s' if len(found) > 1 else ''} on disk, "
                      f"{size / 1e6:.1f} MB", context.region.width, icon="NONE")
            source = takes.in_use(obj) or found[0]
            paragraph(self.layout.column(align=True), f"In {mesh_cache.blend_path(source.folder)}",
                      context.region.width, icon="NONE")
            self.layout.operator("muslin.cache_free")
        if not bpy.data.filepath and found:
            paragraph(self.layout.column(align=True), "The file was never saved: its cache is temporary. Save the file "
                      "to keep it", context.region.width)


class MUSLIN_PT_solver(PhysicsTab, bpy.types.Panel):
    bl_label = "Solver"
    bl_parent_id = "MUSLIN_PT_bake"
    dots = False

    def draw(self, context: bpy.types.Context) -> None:
        col = self.column(context)
        col.prop(context.scene.muslin, "integrator")
        option = {"PROJECTIVE_DYNAMICS": "projective_solve", "VERLET": "verlet_kd"}.get(context.scene.muslin.integrator)
        if option:
            col.prop(context.scene.muslin, option)
        col.prop(context.scene.muslin, "solid_contact")
        projective = context.scene.muslin.integrator == "PROJECTIVE_DYNAMICS"
        col.prop(context.scene.muslin, "projective_iterations" if projective else "newton_iterations")
        col.prop(context.scene.muslin, "tolerance")
        col.prop(context.scene.muslin, "backend")
        remark = first_compile.remark(context.scene)
        if remark:
            paragraph(self.layout.column(align=True), remark, context.region.width)


def _draw_running(col: Any, job: bake_job.Job, width: int) -> None:
    """Draw the progress of the running bake, with the buttons that pause and stop it."""
    col.progress(factor=job.fraction, text=job.text())
    row = col.row(align=True)
    running = session.running()
    if running is not None:
        paused = running.is_paused
        row.operator("muslin.bake_pause", text="Continue" if paused else "Pause", icon="PLAY" if paused else "PAUSE")
    row.operator("muslin.bake_cancel", text="Cancel", icon="X")
    if running is not None and running.reads:
        paragraph(col, "The scene is being read. After that you can go on working", width)


def _draw_buttons(col: Any, context: bpy.types.Context, state: bake_state.BakeState, changed: bool, missing: bool,
                  width: int) -> None:
    """Draw the buttons for the state of the bake, and a line that describes it unless its frames are `missing` or
    damaged.

    The second row is of the bake in use, so that no other button is under the mouse once Use was pressed.
    """
    if session.message():
        box = col.box()
        paragraph(box.column(align=True), session.message(), width, icon="ERROR")
        box.operator("muslin.bake_message")
    if baked_record.problem_of(context.object):
        paragraph(col, f"'{context.object.name}': {baked_record.problem_of(context.object)}", width, icon="ERROR")
        col.operator("muslin.bake_forget")
        return
    text, obj, scene = state.text(changed), context.object, context.scene
    for take, solver in bake_state.solvers_of(context.scene, context.object):
        paragraph(col.column(align=True), bake_state.solver_text(take, solver), width, icon="INFO")
        col.operator("muslin.solver_stop")
    source, frame = state.source, context.scene.frame_current
    waiting = state.waiting
    source_changed = source is not None and bool(bake_changes.known_changes_of_take(scene, obj, source))
    if source is not None and state.can_resume:
        kept = state.going_on(changed=source_changed).kept
        where = "the Start" if kept is None else f"Frame {kept + 1}"
        col.operator("muslin.bake", text=f"Resume from {where}", icon="PLAY").mode = "RESUME"
    elif waiting is None:
        _draw_bake(col, context, "Bake Again" if state.record is not None else "Bake")
    else:
        _draw_bake(col, context, "Bake from the Start")
    if waiting is not None and waiting.has_frames:
        col.operator("muslin.bake_use", text=f"Use {waiting.first} to {waiting.reached}", icon="CHECKMARK")
    elif state.record is not None:
        row = col.row()
        row.alignment = "CENTER"
        row.label(text=f"In use: {state.record.first} to {state.record.last}")
    more = col.column(align=True)
    if source is not None and state.can_resume:
        _draw_bake(more, context, "Bake from the Start")
    if source is not None and state.has_frame(frame) and frame < source.reached:
        plan = state.going_on(frame, changed=source_changed)
        more.operator("muslin.bake", text=f"Bake from Here ({_kept_text(plan.kept, frame)})").mode = "HERE"
        if plan.kept != frame:
            paragraph(more, f"No state is stored at frame {frame}, and {plan.because}", width)
    if state.complete is not None:
        complete = state.complete
        more.operator("muslin.bake_use",
                      text=f"Use the Complete Bake: {complete.first} to {complete.reached}").take_id = complete.id
        changes = bake_changes.known_changes_of_take(scene, obj, complete)
        paragraph(more, bake_state.date_text(complete, changes), width)
    if state.record is not None:
        more.operator("muslin.bake_delete")
    said = missing and (text == "Up to date" or (source is not None and source == state.used))
    if text and not said and text != bake_state.CHANGED:            # which the figures say below
        paragraph(col, text, width, icon="CHECKMARK" if text == "Up to date" else "INFO")
    if waiting is not None:
        paragraph(col, bake_state.date_text(waiting, bake_changes.known_changes_of_take(scene, obj, waiting)), width)
    for sentence in state.mixed:
        if sentence not in text:
            paragraph(col, sentence, width)


def _draw_bake(col: Any, context: bpy.types.Context, text: str) -> None:
    """Draw the button that bakes all cloth of the scene together, and with several that for this one alone."""
    count = len(cloths_of(context))
    if count < 2:
        col.operator("muslin.bake", text=text)
        return
    both = col.column(align=True)
    both.operator("muslin.bake", text=f"{text}: {count} Cloths Together")
    both.operator("muslin.bake", text="Bake Only This Cloth").only_active = True


def _kept_text(kept: int | None, frame: int) -> str:
    """Return which frame a bake goes on from that may keep those up to `frame`."""
    return "from the Start" if kept is None else str(frame) if kept == frame else f"after {kept}"


def _missing(obj: bpy.types.Object) -> str:
    record = baked_record.known(obj)
    return "The modifier that plays the bake" if record is not None and record.modifier else "A baked shape key"


def _differs(record: baked_record.BakedRecord, obj: bpy.types.Object) -> bool:
    """Return whether the bake is of another kind than the one that is chosen."""
    muslin: Any = obj.muslin
    if bool(record.modifier) != (muslin.result == "MESH_CACHE"):
        return True
    return not record.modifier and muslin.key_mode in ("ABSOLUTE", "RELATIVE") and (
        record.absolute != (muslin.key_mode == "ABSOLUTE"))


def _draw_certificate(layout: Any, report: dict[str, Any], frame: int, width: int, changed: str, *,
                      is_played: bool = True, of_previous: bool = False) -> None:
    """Draw the figures of the bake and of the current frame, one per line, and the notes.

    If something has changed since the bake, `changed` says what, and the figures are greyed: they are out of date.
    `is_played`: whether what is displayed are the frames of the bake; else the figures are greyed.
    `of_previous`: another bake of the cloth runs.
    """
    outer = layout.box()
    if of_previous:
        paragraph(outer.column(align=True), OF_PREVIOUS, width, icon="NONE")
    if changed:
        paragraph(outer.column(align=True), changed, width, icon="ERROR")
    box = outer.column(align=True)
    box.active = is_played and not changed and not of_previous
    _draw_facts(box, certificate_text.facts(report), width)
    frame_facts = certificate_text.frame_facts(report, frame)
    if frame_facts:
        box.separator()
        box.label(text=f"At Frame {frame}")
        _draw_facts(box, frame_facts, width)
    for note in report["notes"]:
        if not note.startswith(report_notes.PARTIAL):               # the line below the buttons says it
            paragraph(box, note, width)


def _draw_facts(col: Any, facts: list[tuple[str, str]], width: int) -> None:
    """Draw labels and values in two columns."""
    for name, value in facts:
        name_and_value(col, name, value, width, 0.7)


classes = (MUSLIN_PT_bake, MUSLIN_PT_frames, MUSLIN_PT_cache, MUSLIN_PT_solver)

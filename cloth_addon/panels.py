# SPDX-License-Identifier: GPL-3.0-or-later
"""The Muslin panel in Properties > Physics. Panels only draw."""

from __future__ import annotations

import textwrap
from typing import Any

import bpy

from . import backends, baked_record, bodies, certificate_text, crossings_overlay, fabric_menu, job, wind


class _PhysicsTab:
    layout: Any
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options = {"DEFAULT_CLOSED"}
    kinds = {"CLOTH"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        thing = context.object
        return thing is not None and thing.type == "MESH" and thing.muslin.kind in cls.kinds

    def column(self, context: bpy.types.Context) -> Any:
        """Blender's two-column form; dim once baked, locked while a bake runs."""
        col = self.layout.column()
        col.use_property_split = True
        col.use_property_decorate = False
        col.active = not baked_record.has_bake(context.object)
        col.enabled = job.current() is None
        return col


class MUSLIN_PT_muslin(_PhysicsTab, bpy.types.Panel):
    bl_label = "Muslin"
    bl_options = set()
    kinds = {"NONE", "CLOTH", "COLLIDER"}

    def draw(self, context: bpy.types.Context) -> None:
        muslin = context.object.muslin
        flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
        if muslin.kind == "NONE":
            flow.column().operator("muslin.cloth_add", text="Cloth", icon="MOD_CLOTH")
            flow.column().operator("muslin.collider_add", text="Collider", icon="MOD_PHYSICS")
            self.layout.operator_menu_enum("muslin.particles_add", "kind", icon="PARTICLE_DATA")
            return
        flow.operator("muslin.remove", text=muslin.bl_rna.properties["kind"].enum_items[muslin.kind].name, icon="X")
        col = self.column(context)
        if muslin.kind == "CLOTH":
            chosen = col.row()
            chosen.active = bodies.model_of(context.object) == muslin.model
            chosen.prop(muslin, "model")
            if not chosen.active:
                row = col.row()
                row.alignment = "RIGHT"
                row.label(text="It has no edges: particles")
        else:
            col.prop(muslin, "friction")
            _thickness(col, muslin)


def _with_unit(col: Any, muslin: Any, prop: str, unit: str) -> None:
    """A value whose unit Blender does not know: the unit stands behind the field."""
    row = col.row(align=True)
    row.prop(muslin, prop)
    behind = row.row()
    behind.ui_units_x = 2.6
    behind.label(text=unit)


def _thickness(col: Any, muslin: Any) -> None:
    col.prop(muslin, "thickness")
    if muslin.kind == "CLOTH" and muslin.thickness == 0.0:
        row = col.row()
        row.alignment = "RIGHT"
        edges = len(muslin.id_data.data.edges)
        row.label(text="Automatic, from the edge length" if edges else "Automatic, half a thread")


class MUSLIN_PT_fabric(_PhysicsTab, bpy.types.Panel):
    bl_label = "Fabric"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and bodies.model_of(context.object) != "jelly"

    def draw(self, context: bpy.types.Context) -> None:
        thing = context.object
        muslin = thing.muslin
        col = self.column(context)
        split = col.split(factor=0.4)
        label = split.row()
        label.alignment = "RIGHT"
        label.label(text="Preset")
        name = fabric_menu.name_of(muslin)
        split.menu("MUSLIN_MT_fabric", text="Custom" if name == fabric_menu.CUSTOM else fabric_menu.title(name))
        col.separator()
        _with_unit(col, muslin, "areal_density", "kg/m²")
        pair = col.column(align=True)
        _with_unit(pair, muslin, "stretch_warp", "N/m")
        _with_unit(pair, muslin, "stretch_weft", "N/m")
        _with_unit(col, muslin, "shear", "N/m")
        pair = col.column(align=True)
        _with_unit(pair, muslin, "bend_warp_micro", "µN m")
        _with_unit(pair, muslin, "bend_weft_micro", "µN m")
        _with_unit(col, muslin, "air_drag", "kg/m²s")
        col.prop(muslin, "damping")
        row = col.row(align=True, heading="Limit Stretch")
        row.prop(muslin, "use_max_elongation", text="")
        value = row.row(align=True)
        value.active = muslin.use_max_elongation
        value.prop(muslin, "max_elongation", text="")
        col.separator()
        col.prop(muslin, "grain")
        if muslin.grain == "UV":
            col.prop_search(muslin, "uv_map", thing.data, "uv_layers", icon="GROUP_UVS")


class MUSLIN_PT_damping(_PhysicsTab, bpy.types.Panel):
    bl_label = "More Damping"
    bl_parent_id = "MUSLIN_PT_fabric"

    def draw(self, context: bpy.types.Context) -> None:
        col, muslin = self.column(context), context.object.muslin
        _with_unit(col, muslin, "spring_damping", "kg/s")
        _with_unit(col, muslin, "isotropic_damping", "kg/s")
        _with_unit(col, muslin, "viscous_drag", "kg/m²s")


class MUSLIN_PT_body(_PhysicsTab, bpy.types.Panel):
    bl_label = "Body"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return super().poll(context) and bodies.model_of(context.object) in ("jelly", "particles", "projective")

    def draw(self, context: bpy.types.Context) -> None:
        muslin, col = context.object.muslin, self.column(context)
        if bodies.model_of(context.object) == "jelly":
            col.prop(muslin, "jelly_structure")
            _with_unit(col, muslin, "young_modulus", "kPa")
            if muslin.jelly_structure == "TETRAHEDRA":
                col.prop(muslin, "poisson_ratio")
            _with_unit(col, muslin, "density", "kg/m³")
            col.prop(muslin, "jelly_cells")
            col.prop(muslin, "damping")
            return
        if bodies.model_of(context.object) == "projective":
            col.prop(muslin, "use_moduli")
            chosen = col.column()
            chosen.active = muslin.use_moduli
            _with_unit(chosen, muslin, "young_modulus", "kPa")
            chosen.prop(muslin, "poisson_ratio")
            _with_unit(chosen, muslin, "sheet_thickness", "mm")
            return
        _with_unit(col, muslin, "particle_mass", "kg")
        col.prop(muslin, "neighbour_radius")
        col.prop(muslin, "neighbour_count")
        _with_unit(col, muslin, "neighbour_stiffness", "N/m")
        _with_unit(col, muslin, "neighbour_damping", "N s/m")


class MUSLIN_PT_pinning(_PhysicsTab, bpy.types.Panel):
    bl_label = "Pinning"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    def draw(self, context: bpy.types.Context) -> None:
        thing = context.object
        col = self.column(context)
        missing = bool(thing.muslin.pin_group) and thing.muslin.pin_group not in thing.vertex_groups
        row = col.row()
        row.alert = missing
        row.prop_search(thing.muslin, "pin_group", thing, "vertex_groups")
        if missing:
            col.label(text="The object has no such vertex group", icon="ERROR")


class MUSLIN_PT_garment(_PhysicsTab, bpy.types.Panel):
    bl_label = "Garment"
    bl_parent_id = "MUSLIN_PT_muslin"

    def draw(self, context: bpy.types.Context) -> None:
        thing = context.object
        muslin = thing.muslin
        col = self.column(context)
        col.prop(muslin, "use_sewing")
        force = col.column()
        force.active = muslin.use_sewing
        _with_unit(force, muslin, "sewing_force", "N/m")
        col.prop_search(muslin, "button_group", thing, "vertex_groups")
        time = col.column()
        shrinks = muslin.shrink_min != 0.0 or muslin.shrink_max != 0.0
        time.active = muslin.use_sewing or bool(muslin.button_group) or shrinks
        time.prop(muslin, "sewing_time")
        col.separator()
        col.prop(muslin, "rest_shape")
        if muslin.rest_shape == "UV":
            col.prop_search(muslin, "uv_map", thing.data, "uv_layers", icon="GROUP_UVS")
            col.prop(muslin, "pattern_size")
            if muslin.pattern_size == 0.0:
                row = col.row()
                row.alignment = "RIGHT"
                row.label(text="Automatic, from the mesh's area")


class MUSLIN_PT_maps(_PhysicsTab, bpy.types.Panel):
    bl_label = "Property Weights"
    bl_parent_id = "MUSLIN_PT_garment"

    def draw(self, context: bpy.types.Context) -> None:
        thing = context.object
        muslin = thing.muslin
        col = self.column(context)
        _painted(col, thing, "shrink_group")
        pair = col.column(align=True)
        pair.prop(muslin, "shrink_min")
        pair.prop(muslin, "shrink_max")
        col.separator()
        _painted(col, thing, "wrinkle_group")
        chosen = col.column()
        chosen.active = bool(muslin.wrinkle_group)
        _with_unit(chosen, muslin, "wrinkle_curvature", "1/m")
        chosen.prop(muslin, "wrinkle_direction")
        for what in ("stretch", "shear", "bend"):
            col.separator()
            _painted(col, thing, f"{what}_group")
            factor = col.column()
            factor.active = bool(getattr(muslin, f"{what}_group"))
            factor.prop(muslin, f"{what}_factor")


def _painted(col: Any, thing: Any, prop: str) -> None:
    """A vertex group, or the name of an attribute."""
    col.prop_search(thing.muslin, prop, thing, "vertex_groups", results_are_suggestions=True)


class MUSLIN_PT_collisions(_PhysicsTab, bpy.types.Panel):
    bl_label = "Collisions"
    bl_parent_id = "MUSLIN_PT_muslin"

    def draw(self, context: bpy.types.Context) -> None:
        col = self.column(context)
        col.prop(context.object.muslin, "friction")
        _thickness(col, context.object.muslin)


class MUSLIN_PT_bake(_PhysicsTab, bpy.types.Panel):
    bl_label = "Bake"
    bl_parent_id = "MUSLIN_PT_muslin"
    bl_options = set()

    def draw(self, context: bpy.types.Context) -> None:
        baked = baked_record.has_bake(context.object)
        running = job.current()
        col = self.layout.column()
        if running is not None:
            row = col.row(align=True)
            row.progress(factor=running.fraction, text=running.text())
            button = row.row(align=True)
            button.ui_units_x = 4
            button.operator("muslin.bake_cancel", text="Cancel")
        elif baked:
            col.operator("muslin.bake_delete")
        else:
            col.operator("muslin.bake", text="Bake")
        flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
        flow.operator("muslin.bake_all")
        flow.operator("muslin.bake_delete_all")
        report = baked_record.report_of(context.object) if running is None else None
        if report:
            _certificate(self.layout, report, context.scene.frame_current, context.region.width)
        self.draw_crossings(context)
        self.draw_range(context)

    def draw_crossings(self, context: bpy.types.Context) -> None:
        col = self.layout.column(align=True)
        row = col.row()
        row.prop(context.window_manager, crossings_overlay.PROPERTY)
        row.operator("muslin.crossings_select", text="Select Faces")
        for line in crossings_overlay.lines(context.scene, context.view_layer):
            col.label(text=line)

    def draw_range(self, context: bpy.types.Context) -> None:
        scene = context.scene
        col = self.column(context)
        col.prop(scene.muslin, "use_custom_range")
        pair = col.column(align=True)
        pair.enabled = scene.muslin.use_custom_range
        frames = scene.muslin if scene.muslin.use_custom_range else scene
        pair.prop(frames, "frame_start", text="Frame Start")
        pair.prop(frames, "frame_end", text="End")
        col.prop(scene.muslin, "steps_per_frame")
        col.prop(scene.muslin, "use_self_collision")
        col.prop(scene.muslin, "collider_collection")
        col.prop(scene.muslin, "wind")
        for note in wind.left_out(scene, context.view_layer):
            _paragraph(self.layout.column(align=True), note, context.region.width)


class MUSLIN_PT_solver(_PhysicsTab, bpy.types.Panel):
    bl_label = "Solver"
    bl_parent_id = "MUSLIN_PT_bake"

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
        remark = backends.remark(context.scene.muslin.backend)
        if remark:
            _paragraph(self.layout.column(align=True), remark, context.region.width)


def _certificate(layout: Any, report: dict[str, Any], frame: int, width: int) -> None:
    """What the bake says about itself, one fact a line, and about the current frame."""
    box = layout.box().column(align=True)
    _facts(box, certificate_text.facts(report))
    here = certificate_text.frame_facts(report, frame)
    if here:
        box.separator()
        box.label(text=f"At Frame {frame}")
        _facts(box, here)
    for note in report["notes"]:
        _paragraph(box, note, width)


def _facts(col: Any, facts: list[tuple[str, str]]) -> None:
    for name, value in facts:
        split = col.split(factor=0.55)
        left = split.row()
        left.alignment = "RIGHT"
        left.label(text=name)
        split.label(text=value)


def _paragraph(col: Any, text: str, width: int) -> None:
    """Blender breaks no lines: `width` is the region's, in pixels."""
    letters = max(20, int(width / (6.5 * bpy.context.preferences.system.ui_scale)) - 8)
    for i, line in enumerate(textwrap.wrap(text, letters)):
        col.label(text=line, icon="INFO" if i == 0 else "BLANK1")


classes = (
    MUSLIN_PT_muslin, MUSLIN_PT_body, MUSLIN_PT_fabric, MUSLIN_PT_damping, MUSLIN_PT_pinning, MUSLIN_PT_garment,
    MUSLIN_PT_maps, MUSLIN_PT_collisions, MUSLIN_PT_bake, MUSLIN_PT_solver,
)

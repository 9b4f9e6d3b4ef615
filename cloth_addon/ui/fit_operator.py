# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator *Fit to Body*."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import bpy

from ..bake.fitting import Fitted, fit_to_body
from ..bake.idle_operator import NO_CLOTH, editable_mesh_object
from ..compare.modal_operator import LongOperator

MOST_NAMED = 3
"""Largest number of pairs of objects that a message names [-]."""


class MUSLIN_OT_fit_to_body(LongOperator, bpy.types.Operator):
    """Move the selected cloth out of the colliders and out of itself where it crosses them, and keep its shape. \
At the first frame of the bake"""
    bl_idname = "muslin.fit_to_body"
    bl_label = "Fit to Body"
    bl_options = {"REGISTER", "UNDO"}
    no_target_message = NO_CLOTH
    verb, noun = "Fitting", "Fit"

    target: bpy.props.EnumProperty(
        name="Write to", description="Where the fitted shape is written", default="SHAPE_KEY",
        items=(("SHAPE_KEY", "Shape Key", "The shape key 'Fit', so that the mesh stays as it is"),
               ("MESH", "Mesh", "The mesh itself and all its shape keys")))
    move_pins: bpy.props.BoolProperty(
        name="Move Pinned Vertices", description="Fit pinned vertices as well. The pins hold them where they are then",
        default=True)

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return editable_mesh_object(context) is not None and context.object.muslin.kind == "CLOTH"

    def steps(self, context: bpy.types.Context) -> Generator[Any, None, Fitted]:
        chosen = [obj for obj in context.selected_objects if obj.type == "MESH" and obj.muslin.kind == "CLOTH"]
        objects = chosen if context.object in chosen else [context.object]
        return (yield from fit_to_body(context.scene, sorted(objects, key=lambda obj: obj.name),
                                       into_mesh=self.target == "MESH", move_pins=self.move_pins))

    def report_result(self, result: Fitted) -> None:
        if not result.before and not result.after:
            self.report({"INFO"}, "Nothing crosses")
        elif not result.after:
            self.report({"INFO"}, f"Resolved {result.before} crossings")
        else:
            places = "; ".join(f"{pair.first}, {pair.second}: {pair.crossings} around "
                               f"({', '.join(f'{value:.2f}' for value in pair.place)}) m"
                               for pair in result.left[:MOST_NAMED])
            self.report({"WARNING"}, f"{result.after} of {result.before} crossings are left: {places}")


classes = (MUSLIN_OT_fit_to_body,)

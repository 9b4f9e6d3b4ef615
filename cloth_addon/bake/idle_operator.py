# SPDX-License-Identifier: GPL-3.0-or-later
"""Base class of the operators that wait for the end of a bake, and running a bake to its end."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import bpy

from . import bake_job

# Blender's rule for code that operators share: a plain class, which each operator inherits beside bpy.types.Operator
_Operator = bpy.types.Operator if TYPE_CHECKING else object
NO_CLOTH = "The active object is not cloth; make it cloth in Properties > Physics > Muslin"


def editable_mesh_object(context: bpy.types.Context) -> Any:
    """Return the active object if it is a mesh that can be changed in this file, else None."""
    obj = getattr(context, "object", None)          # a context without a window has none
    return obj if obj is not None and obj.type == "MESH" and obj.is_editable else None


def why_not_editable(context: bpy.types.Context) -> str:
    """Return why the active mesh object cannot be changed in this file; empty if it can, or is no mesh."""
    obj = getattr(context, "object", None)
    if obj is None or obj.type != "MESH" or obj.is_editable:
        return ""
    return f"'{obj.name}' is linked from another file; make it local (Object > Relations > Make Local)"


def run(steps: Generator[Any, None, Any], verb: str = "Baking") -> Any:
    """Run the generator of a bake or comparison to its end, and return its result. It is a job, so that `poll` sees it.
    """
    job, printed = bake_job.begin(steps, verb), ""
    try:
        while not job.advance(idle=True):
            stage = job.progress.stage if job.progress is not None else ""
            if stage not in ("", printed):                          # compiling may take half a minute
                print(f"Muslin: {stage}", flush=True)
                printed = stage
    finally:
        bake_job.end()
    return job.result


class IdleOperator(_Operator):
    """Base of operators that cannot run during a bake.

    `no_target_message` says why the button is grey if `has_target` is false.
    """

    no_target_message = "Select an editable mesh object"
    uses_active_object = True

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = ("A bake is running" if bake_job.current() is not None else
                  "" if cls.has_target(context) else cls.no_target_reason(context))
        if reason:
            cls.poll_message_set(reason)
        return not reason

    @classmethod
    def no_target_reason(cls, context: bpy.types.Context) -> str:
        """Return why `has_target` is false. A linked object is named first, because it may well be cloth."""
        return (why_not_editable(context) if cls.uses_active_object else "") or cls.no_target_message

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        """Return whether there is an object to work on."""
        return editable_mesh_object(context) is not None

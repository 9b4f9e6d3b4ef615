# SPDX-License-Identifier: GPL-3.0-or-later
"""Operators that run for long: from a window in slices, with progress, and Esc cancels; from a script to the end."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import bpy

from ... import core
from . import bake_job
from .bake_display import BakeDisplay

# Blender's rule for what several operators share: a plain class, beside bpy.types.Operator in each of them
_Operator = bpy.types.Operator if TYPE_CHECKING else object
NO_CLOTH = "The active object is no cloth; make it one in Properties > Physics > Muslin"


def mesh_object(context: bpy.types.Context) -> Any:
    """The object whose properties are shown, where it is a mesh that this file may change."""
    thing = getattr(context, "object", None)        # a context without a window has none
    return thing if thing is not None and thing.type == "MESH" and thing.is_editable else None


def why_not(context: bpy.types.Context) -> str:
    """Why the active object, which is a mesh, may not be changed in this file; empty if that is not what is wrong."""
    thing = getattr(context, "object", None)
    if thing is None or thing.type != "MESH" or thing.is_editable:
        return ""
    return f"'{thing.name}' is linked from another file; make it local (Object > Relations > Make Local)"


class Settled(_Operator):
    """Of operators that must wait until no bake runs. `lacks` says why the button is grey where `has_target` is not
    met."""

    lacks = "The active object is no mesh that can be changed in this file"
    of_active = True            # whether it is for the active object, which may be linked

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        reason = ("A bake is running" if bake_job.current() is not None else
                  "" if cls.has_target(context) else cls.reason(context))
        if reason:
            cls.poll_message_set(reason)
        return not reason

    @classmethod
    def reason(cls, context: bpy.types.Context) -> str:
        """Why `has_target` is not met. What is linked may well be cloth."""
        return (why_not(context) if cls.of_active else "") or cls.lacks

    @classmethod
    def has_target(cls, context: bpy.types.Context) -> bool:
        return mesh_object(context) is not None


class Running(Settled):
    """`verb` and `noun` say what runs, `steps` does it (see bake_job.py), `tell` says what came of it."""

    verb, noun = "Baking", "Bake"

    def steps(self, context: bpy.types.Context) -> Generator[Any, None, Any]:
        raise NotImplementedError

    def tell(self, result: Any) -> None:
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.job = bake_job.begin(self.steps(context), self.verb)
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
        except (core.ClothError, OSError) as error:
            return self.fail(str(error))
        except ReferenceError:
            return self.fail(f"{self.gone()} was removed meanwhile; undo that and start again")
        except Exception:
            return self.fail(f"{self.verb} failed in a way that was not foreseen:\n" + traceback.format_exc())
        if not over:
            self.display.show(context)
            return {"RUNNING_MODAL"}
        bake_job.end()
        if not self.job.finished:
            because = self.job.stopped_because
            self.report({"INFO"}, f"{self.noun} cancelled: {because}" if because else f"{self.noun} cancelled")
            return {"CANCELLED"}
        self.tell(self.job.result)
        return {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        running, said = bake_job.begin(self.steps(context), self.verb), ""     # so that whoever looks on sees it
        try:
            while not running.advance(idle=True):
                stage = running.progress.stage if running.progress is not None else ""
                if stage not in ("", said):                     # a script's user waits, too, half a minute at first
                    print(f"Muslin: {stage}", flush=True)
                    said = stage
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        finally:
            bake_job.end()
        self.tell(running.result)
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Blender ends the operator: another file is loaded, the window is closed."""
        self.job.abort("Blender closed the window or the file")
        bake_job.end()

    def gone(self) -> str:
        cloths = self.job.progress.cloths if self.job.progress is not None else ()
        missing = [name for name in cloths if name not in bpy.data.objects]
        return ", ".join(f"'{name}'" for name in missing) or "Something that is needed"

    def fail(self, message: str) -> set[str]:
        bake_job.end()
        self.report({"ERROR"}, message)
        return {"CANCELLED"}

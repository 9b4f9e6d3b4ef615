# SPDX-License-Identifier: GPL-3.0-or-later
"""Base class of operators that run for long.

From a window, such an operator runs in turns, shows its progress in the status bar, and Esc cancels it. From a script
it runs to its end.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator
from typing import Any

import bpy

from ... import core
from ..bake import bake_job
from ..bake.idle_operator import IdleOperator, run
from .comparison_display import ComparisonDisplay


class LongOperator(IdleOperator):
    """Base of operators that run for long: `verb` and `noun` name the work to the user."""

    verb, noun = "Working", "Work"

    def steps(self, context: bpy.types.Context) -> Generator[Any, None, Any]:
        """Return the generator of Progress that does the work."""
        raise NotImplementedError

    def report_result(self, result: Any) -> None:
        """Report the return value of the generator to the user."""
        raise NotImplementedError

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.job = bake_job.begin(self.steps(context), self.verb)
        self.display = ComparisonDisplay(context, self.job)
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
            has_ended = self.job.advance()
        except (core.ClothError, OSError) as error:
            return self.fail(str(error))
        except Exception:
            return self.fail(f"{self.verb} failed with an unexpected error:\n" + traceback.format_exc())
        if not has_ended:
            self.display.show(context)
            return {"RUNNING_MODAL"}
        bake_job.end()
        if not self.job.finished:
            because = self.job.stopped_because
            self.report({"INFO"}, f"{self.noun} cancelled: {because}" if because else f"{self.noun} cancelled")
            return {"CANCELLED"}
        self.report_result(self.job.result)
        return {"FINISHED"}

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            result = run(self.steps(context), self.verb)
        except (core.ClothError, OSError) as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report_result(result)
        return {"FINISHED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Abort the job. Blender calls this when another file is loaded or the window is closed."""
        self.job.abort("Blender closed the window or the file")
        bake_job.end()

    def fail(self, message: str) -> set[str]:
        """End the job and report the error."""
        bake_job.end()
        self.report({"ERROR"}, message)
        return {"CANCELLED"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""`muslin bake`: bake and save the open file, or several files and variants one after the other."""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Generator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import bpy

from ... import core
from ..bake import bake as baking
from ..bake import takes
from ..bake.progress import Progress
from ..write import mesh_cache, output_paths
from ..write.report import Report
from . import bake_sheet, interruption, resuming, saved_file, wedges
from .arguments import UsageError
from .bake_jobs import Job, Plan, check_objects, objects_named, opened_file
from .progress_output import Output, say
from .resuming import Shot, StoppedError

SUMMARY = (("stretch_p99", "stretch p99", "{:.3f}"), ("crossings", "crossings", "{:.0f}"),
           ("not_converged", "not solved", "{:.0f}"), ("steps", "steps", "{:.0f}"))
"""Figures of a bake in the table of several: name in the report's summary, title, format."""


EXPECTED = UsageError, StoppedError, core.ClothError, OSError, MemoryError, KeyboardInterrupt
"""Errors that a message explains."""


@dataclass
class Outcome:
    """Outcome of one bake of a command.

    Attributes:
        report: its report, or the object `error`.
        seconds: that it took [s].
        picture: its last frame for the sheet, None without one.
    """

    job: Job
    report: dict[str, Any]
    seconds: float = 0.0
    picture: bake_sheet.Picture | None = None

    @property
    def error(self) -> str:
        """Message of its error, empty without one."""
        return str(self.report.get("error", {}).get("message", ""))


def run(arguments: argparse.Namespace, plan: Plan, output: Output) -> tuple[dict[str, Any], int]:
    """Run `bake`, and return the report and the exit code.

    Raises:
        StoppedError, UsageError, OSError, core.ClothError: of the only bake.
    """
    if plan.is_single and plan.sheet is None:
        return _baked(arguments, plan.jobs[0], output, reopens=False, alone=True), 0
    outcomes = []
    for number, job in enumerate(plan.jobs):
        say(f"{number + 1} of {len(plan.jobs)}: {job.title}")
        outcomes.append(_outcome(arguments, job, output, alone=plan.is_single))
        if outcomes[-1].report.get("error", {}).get("type") == "KeyboardInterrupt":
            break
    return _summary(plan, outcomes)


def _outcome(arguments: argparse.Namespace, job: Job, output: Output, *, alone: bool) -> Outcome:
    """Bake one of several, whatever becomes of it."""
    began = time.monotonic()
    try:
        report = _baked(arguments, job, output, reopens=not alone, alone=alone)
    except (Exception, KeyboardInterrupt) as error:
        if not isinstance(error, EXPECTED):
            traceback.print_exc()
        report = error_report(error)
        say(f"{job.title}: {report['error']['message']}")
        return Outcome(job, report, time.monotonic() - began)
    return Outcome(job, report, time.monotonic() - began, _picture(report))


def _picture(report: dict[str, Any]) -> bake_sheet.Picture | None:
    """Return the last frame of a bake, None if it cannot be read: the bake is saved."""
    try:
        return bake_sheet.picture_of(bpy.context.scene, report)
    except (RuntimeError, MemoryError, KeyError, ValueError) as error:
        say(f"there is no picture: {error!r}")
        return None


def _open(file: Path) -> None:
    """Open a .blend without its windows."""
    try:
        bpy.ops.wm.open_mainfile(filepath=str(file), load_ui=False)
    except RuntimeError as error:
        raise OSError(f"{file} could not be read: {str(error).strip()}") from error


def _baked(arguments: argparse.Namespace, job: Job, output: Output, *, reopens: bool, alone: bool) -> dict[str, Any]:
    """Bake a file, opened anew if `reopens`, save it, and return the report."""
    began, error = time.monotonic(), None
    where = {"file": str(job.file), "variant": wedges.title_of(job.variant), "output": str(job.output)}
    output.event("start", **where)
    try:
        interruption.go_on()
        if reopens:
            _open(job.file)
        return _baked_open_file(arguments, job, output, alone=alone)
    except BaseException as failure:
        error = error_report(failure)["error"]
        raise
    finally:
        output.event("end", **where, seconds=time.monotonic() - began, error=error)


def _baked_open_file(arguments: argparse.Namespace, job: Job, output: Output, *, alone: bool) -> dict[str, Any]:
    """Bake the open file, save it, and return the report."""
    scene: Any = bpy.context.scene
    check_objects(scene, arguments.objects)
    objects = objects_named(scene, arguments.objects)
    wedges.apply(job.variant, scene, objects)
    if arguments.result:
        for obj in objects:
            obj.muslin.result = arguments.result.upper()
    cache = _cache_folder(arguments, job, scene, alone=alone)
    if cache is not None:
        scene.muslin.cache_folder = str(cache)
    frames = tuple(arguments.frames) if arguments.frames else None
    shot = Shot(scene, objects, frames, arguments.backend, job.output)
    report = _saved(arguments, shot, output, cache)
    say(f"saved {job.output}")
    for note in report.notes:
        say(note)
    unconverged = report.summary()["not_converged"]
    if unconverged:
        say(f"{unconverged} of {len(report.certificates)} frames were not solved to the tolerance: raise Steps per "
            "Frame, or lower the stiffness")
    return {**report.as_dict(), "output": str(job.output)}


def _saved(arguments: argparse.Namespace, shot: Shot, output: Output, cache: Path | None) -> Report:
    """Bake and save a shot.

    Raises:
        StoppedError: it did not come to that.
    """
    scene: Any = shot.scene
    before = resuming.last_frames(shot)
    try:
        report = output.run(_steps(shot, resumes=arguments.resume))
        if cache is not None:
            scene.muslin.cache_folder = mesh_cache.blend_path(cache, str(output_paths.target_of(shot.output).parent))
        opened: Any = opened_file()
        interruption.hold()                         # a saved bake is whole, and says so
        saved_file.save(shot.output, keep_earlier=not arguments.output, compress=saved_file.is_compressed(opened))
    except (core.ClothError, OSError, MemoryError, KeyboardInterrupt) as error:
        takes.forget()
        raise StoppedError(error, resuming.kept_frames(shot, before, resumes=arguments.resume)) from error
    if cache is not None:
        scene.muslin.cache_folder = str(cache)
    resuming.hand_over(shot)
    return report


def _steps(shot: Shot, *, resumes: bool) -> Generator[Progress, None, Report]:
    if resumes:
        return resuming.resumed(shot)
    return baking.bake(shot.scene, shot.objects, shot.frames, backend=shot.backend)


def _cache_folder(arguments: argparse.Namespace, job: Job, scene: bpy.types.Scene, *, alone: bool) -> Path | None:
    """Return the folder of the takes of a bake, None for the scene's. Variants have one each."""
    if arguments.cache:
        folder = Path(arguments.cache).absolute()
    elif job.variant:
        folder = takes.cache_folder(scene)
    else:
        return None
    return folder if alone else folder / job.output.stem


def _summary(plan: Plan, outcomes: list[Outcome]) -> tuple[dict[str, Any], int]:
    """Print the table of all bakes, write the sheet, and return the report and the exit code."""
    for line in _table(outcomes):
        say(line)
    runs = [{"file": str(outcome.job.file), "variant": {value.path: value.text for value in outcome.job.variant},
             "output": str(outcome.job.output), **outcome.report} for outcome in outcomes]
    report: dict[str, Any] = {"runs": runs}
    if plan.sheet is not None:
        bake_sheet.write(plan.sheet, [bake_sheet.Row(outcome.job.title, outcome.report, outcome.seconds, outcome.error,
                                                     outcome.picture, str(outcome.job.file)) for outcome in outcomes])
        say(f"saved {plan.sheet}")
        report["sheet"] = str(plan.sheet)
    failed = [outcome for outcome in outcomes if outcome.error]
    missing = len(plan.jobs) - len(outcomes)
    if not failed:
        return report, 0
    message = f"{len(failed)} of {len(plan.jobs)} bakes failed" + (f", {missing} were not begun" if missing else "")
    say(message)
    return {**report, "error": {"type": "BakeError", "message": "; ".join(
        [message, *(f"{outcome.job.title}: {outcome.error}" for outcome in failed)])}}, 1


def _table(outcomes: list[Outcome]) -> list[str]:
    """Return the lines of a table with a row for each bake."""
    rows = [("", "frames", "seconds", *(title for _, title, _ in SUMMARY))]
    for outcome in outcomes:
        report = outcome.report
        values = report.get("summary", {})
        rows.append((outcome.job.title, "failed" if outcome.error else f"{report['first']} to {report['last']}",
                     f"{outcome.seconds:.1f}",
                     *("-" if values.get(name) is None else form.format(values[name]) for name, _, form in SUMMARY)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                      for column, (cell, width) in enumerate(zip(row, widths, strict=True))) for row in rows]


def error_report(error: BaseException) -> dict[str, Any]:
    """Return the object `error` of a report."""
    if isinstance(error, StoppedError):
        kept = {} if error.kept is None else {"kept": asdict(error.kept)}
        return {"error": {"type": type(error.error).__name__, "message": str(error), **kept}}
    says_it = isinstance(error, UsageError | core.ClothError | OSError)
    message = (str(error) if says_it else "interrupted, nothing was saved" if isinstance(error, KeyboardInterrupt) else
               "there is not enough memory; close other programs, or take fewer frames"
               if isinstance(error, MemoryError) else f"failed with an unexpected error: {error!r}")
    return {"error": {"type": type(error).__name__, "message": message}}

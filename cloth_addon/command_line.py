# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: `muslin bake` and `muslin compare` on the open scene, and `muslin drape`.

    blender --background SCENE.blend --command muslin bake ...      in Blender
    python MUSLIN_CHECKOUT SCENE.blend bake ...                     where the bpy package is installed
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import bpy

from .. import core
from ..core.measure import command as drape_command
from .bake import backends
from .commands import bake_command, bake_jobs, compare_command, interruption, wedges
from .commands.arguments import UsageError, parser, report_path
from .commands.bake_jobs import Plan, opened_file
from .commands.progress_output import Output, say
from .commands.resuming import StoppedError
from .write import output_lock, output_paths
from .write.report import json_values

DONE, FAILED, USAGE = 0, 1, 2
"""Exit codes."""


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    argv = [str(argument) for argument in argv]
    if argv[:1] == ["drape"]:                       # which reads no .blend
        return drape_command.main(argv[1:])
    output = Output()
    with interruption.interrupted_by_signals(), ExitStack() as locks:
        report_target: Path | None = None
        try:
            report_target = _locked_report(report_path(argv), locks)
            arguments = parser().parse_args(argv)
            output.as_json = arguments.progress == "json"
            report, code = _run(arguments, output, locks)
        except SystemExit:                          # argparse has printed its help
            return DONE
        except UsageError as error:
            report, code = _failure(error), USAGE
        except (StoppedError, core.ClothError, OSError, MemoryError, KeyboardInterrupt) as error:
            report, code = _failure(error), FAILED
        except Exception as error:
            traceback.print_exc()
            report, code = _failure(error), FAILED
        interruption.hold()                         # the result is decided, and reported whole
        code = _finish(report_target, report, code)
        output.event("exit", code=code, error=report.get("error"))
        return code


def _run(arguments: argparse.Namespace, output: Output, locks: ExitStack) -> tuple[dict[str, Any], int]:
    """Check the usage, lock what is written, run the command, and return the report and the exit code."""
    if opened_file() is None and not getattr(arguments, "files", ()):
        raise UsageError("no .blend is open: the file named before the command does not exist or could not be read")
    if arguments.frames and arguments.frames[1] <= arguments.frames[0]:
        first, last = arguments.frames
        raise UsageError(f"--frames: the last frame, {last}, does not come after the first, {first}; give FIRST LAST")
    if opened_file() is not None and len(getattr(arguments, "files", ())) == 0:
        bake_jobs.check_objects(bpy.context.scene, arguments.objects)
        bake_jobs.check_range(bpy.context.scene, arguments)
    is_bake = arguments.command == "bake"
    if is_bake:
        plan = bake_jobs.plan_of(arguments)
        if not arguments.files:
            wedges.check_names([job.variant for job in plan.jobs], bpy.context.scene)
        outputs = plan.outputs
    else:
        folder = _folder_of_sheet(arguments)
        outputs = [("", folder)]
    if arguments.report:
        target = output_paths.target_of(arguments.report)
        reason = _why_no_report(target)
        if reason:
            raise UsageError(f"--json: {reason}")
        if any(target == output_paths.target_of(path) for _, path in outputs):
            raise UsageError(f"--json: {arguments.report} is the output as well; name another file")
    _limit_threads(arguments.threads)
    if arguments.backend:
        try:
            backends.check(arguments.backend)
        except core.SolverError as error:
            raise UsageError(f"--backend: {error}") from None
    if is_bake:
        _make_folders(plan)
    for option, path in outputs:
        _lock(path, option or ("--output" if arguments.output else "without --output"), locks)
    return bake_command.run(arguments, plan, output) if is_bake else compare_command.run(arguments, folder, output)


def _limit_threads(threads: int | None) -> None:
    """Let Numba use at most this many threads.

    Raises:
        UsageError: the number is none, or Numba was imported before.
    """
    if threads is None:
        return
    if threads < 1:
        raise UsageError(f"--threads: {threads} is less than 1; give the largest number of threads")
    count = str(min(threads, os.cpu_count() or 1))
    if "numba" in sys.modules and os.environ.get("NUMBA_NUM_THREADS") != count:
        raise UsageError(f"--threads: another add-on has loaded Numba before; set NUMBA_NUM_THREADS={count} in the "
                         "environment instead")
    os.environ["NUMBA_NUM_THREADS"] = count         # read when Numba is imported


def _make_folders(plan: Plan) -> None:
    """Create the folders of the outputs of several bakes."""
    for _, path in plan.outputs:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--output: {path.parent} cannot be created ({error.strerror}); name another "
                             "folder") from None


def _folder_of_sheet(arguments: argparse.Namespace) -> Path:
    """Return the folder that `compare` writes.

    Raises:
        UsageError: it cannot be written.
    """
    opened: Any = opened_file()
    folder = Path(arguments.output).absolute() if arguments.output else opened.with_name(f"{opened.stem}_compare")
    reason = output_paths.why_no_folder(folder)
    if reason:
        raise UsageError(f"{'--output' if arguments.output else 'without --output'}: {reason}")
    return folder


def _failure(error: BaseException) -> dict[str, Any]:
    """Print the message of an error and return its report."""
    report = bake_command.error_report(error)
    say(report["error"]["message"])
    return report


def _locked_report(path: str | None, locks: ExitStack) -> Path | None:
    """Lock the report at `path` and return its target, links followed; None without a path."""
    if not path:
        return None
    target = output_paths.target_of(path)
    if not _why_no_report(target):                      # else `_finish` says why
        _lock(target, "--json", locks)
    return target


def _lock(path: Path, option: str, locks: ExitStack) -> None:
    """Lock an output until the command ends. Raise UsageError if another process writes it."""
    try:
        locks.enter_context(output_lock.locked(output_paths.target_of(path)))
    except output_lock.OutputInUseError as error:
        raise UsageError(f"{option}: {error}") from None


def _finish(target: Path | None, report: dict[str, Any], code: int) -> int:
    """Write the report to `target`, if given, and return the exit code."""
    if target is not None:
        try:
            reason = _why_no_report(target)
            if reason:
                raise OSError(reason)
            output_paths.write_text(target, json.dumps(json_values(report), indent=1) + "\n")
        except OSError as error:
            say(f"the report could not be written: {error}")
            return code or FAILED
    return code


def _why_no_report(target: Path) -> str:
    """Return why no report can be written to `target`, all links followed; empty if it can."""
    opened = opened_file()
    try:
        is_scene = target.suffix.lower() == ".blend" or (opened is not None and target.samefile(opened))
    except (OSError, ValueError):
        is_scene = False
    return (f"{target} is a .blend, not a report; name another file" if is_scene
            else output_paths.why_no_file(target))

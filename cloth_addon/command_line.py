# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: `muslin bake` and `muslin compare` on the open scene.

    blender --background SCENE.blend --command muslin bake ...      in Blender
    python MUSLIN_CHECKOUT SCENE.blend bake ...                     where the bpy package is installed
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import bpy

from .. import core
from .bake import backends
from .bake import bake as baking
from .bake.progress import Progress
from .compare import comparison as comparing
from .properties.settings import kind_of
from .read.read_cloth import check_frames, objects_of_kind
from .write import output_lock, output_paths
from .write.report import json_values
from .write.shape_key_size import check_memory

DONE, FAILED, USAGE = 0, 1, 2
"""Exit codes."""
Result = TypeVar("Result")
SEEK_TABLE = b"\xb1\xea\x92\x8f"
"""Last bytes of a compressed .blend (zstd, seekable format)."""
PROGRESS_INTERVAL = 1.0
"""Time between two lines of progress if stderr is not a terminal [s]."""

BAKE_DESCRIPTION = """\
Bakes the cloth of the open .blend into shape keys and saves the result.

The .blend that was opened is never written to unless --output names it. Without --output the result is saved beside
it as NAME_baked.blend; an earlier NAME_baked.blend is kept as NAME_baked.blend1. A file is written completely or not at
all: a full disk or an error leaves an earlier file unchanged. A symbolic link is followed, and stays a link. Of two
processes with one output or report the second exits with 2. Progress and errors go to stderr.

Exit codes: 0 baked and saved, 1 the bake or the saving failed and nothing was saved, 2 wrong usage, before any work.
Frames that were not solved to the tolerance are no failure: they are counted on stderr and in the report.
"""

COMPARE_DESCRIPTION = """\
Simulates the cloth of the open .blend once for each model with each integrator, and writes a folder with compare.html,
one page of pictures, figures and curves of all runs, compare.json and the pictures. The .blend is not changed.

Exit codes: 0 every run reached the last frame, 1 some did not (the page says why) or nothing could be written, 2 wrong
usage, before any work.
"""
ERROR_IN_REPORT = "with the object `error`, its type and message, if the exit code is not 0"


class UsageError(Exception):
    """Wrong usage of the command line: an option, object, file or folder that does not exist or cannot be used."""


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError instead of exiting."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        if message.startswith("unrecognized arguments") or "invalid choice" in message:
            blend = next((word for word in message.replace("'", " ").split() if word.endswith(".blend")), "")
            if blend:
                message += (f"; the .blend stands before the command: python MUSLIN_CHECKOUT {blend} bake, or "
                            f"blender --background {blend} --command muslin bake")
        raise UsageError(message)


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = Parser(prog="muslin", description="Muslin, cloth simulation")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    bake = commands.add_parser("bake", help="bake the cloth of a .blend", description=BAKE_DESCRIPTION,
                               formatter_class=argparse.RawDescriptionHelpFormatter)
    bake.add_argument("--object", action="append", metavar="NAME", dest="objects",
                      help="bake this cloth; may be repeated; without it all cloth of the scene together")
    bake.add_argument("--frames", nargs=2, type=int, metavar=("FIRST", "LAST"),
                      help="frame range, instead of the scene's")
    bake.add_argument("--backend", choices=backends.NAMES,
                      help="backend of the inner loops, instead of the scene's")
    bake.add_argument("--output", metavar="OUT.blend", help="save here, and replace an existing file")
    bake.add_argument("--json", metavar="REPORT", dest="report",
                      help="write the report here: settings, a certificate for each frame, seconds, versions; "
                           + ERROR_IN_REPORT)
    sheet = commands.add_parser("compare", help="compare models and integrators on the cloth of a .blend",
                                description=COMPARE_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    sheet.add_argument("--object", action="append", metavar="NAME", dest="objects",
                       help="simulate this cloth; may be repeated; without it all cloth of the scene together")
    sheet.add_argument("--models", nargs="+", metavar="MODEL", default=["baraff_witkin"], choices=core.models(),
                       help=f"models to compare: {', '.join(core.models())}")
    sheet.add_argument("--integrators", nargs="+", metavar="INTEGRATOR", default=["bdf2"],
                       choices=core.integrators(),
                       help=f"integrators to compare: {', '.join(core.integrators())}")
    sheet.add_argument("--frames", nargs=2, type=int, metavar=("FIRST", "LAST"),
                       help="frame range, instead of the scene's")
    sheet.add_argument("--backend", choices=backends.NAMES, help="backend of the inner loops, instead of the scene's")
    sheet.add_argument("--output", metavar="FOLDER",
                       help="folder of the sheet, instead of NAME_compare beside the .blend")
    sheet.add_argument("--json", metavar="REPORT", dest="report",
                       help=f"write the contents of compare.json and the path of the sheet here; {ERROR_IN_REPORT}")
    top.epilog = bake.format_usage() + sheet.format_usage()         # generated, so that no option is missing
    top.formatter_class = argparse.RawDescriptionHelpFormatter
    return top


def main(argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    argv = [str(argument) for argument in argv]
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)    # render farms end a job by SIGTERM
    with ExitStack() as locks:
        report_target: Path | None = None
        try:
            report_target = _locked_report(_report_path(argv), locks)
            arguments = parser().parse_args(argv)
            _check_usage(arguments)
            _lock(_output_of(arguments), "--output" if arguments.output else "without --output", locks)
            report, code = (_compare if arguments.command == "compare" else _bake_and_save)(arguments)
        except SystemExit:                          # argparse has printed its help
            return DONE
        except UsageError as error:
            report, code = _failure(error, str(error)), USAGE
        except (core.ClothError, OSError) as error:
            report, code = _failure(error, str(error)), FAILED
        except KeyboardInterrupt as error:
            report, code = _failure(error, "cancelled, nothing was saved"), FAILED
        except MemoryError as error:
            report, code = _failure(error, "there is not enough memory; close other programs, or take fewer frames"), \
                FAILED
        except Exception as error:
            traceback.print_exc()
            report, code = _failure(error, f"failed with an unexpected error: {error!r}"), FAILED
        return _finish(report_target, report, code)


def _failure(error: BaseException, message: str) -> dict[str, Any]:
    """Print the message and return the report of the error."""
    _print(message)
    return {"error": {"type": type(error).__name__, "message": message}}


def _report_path(argv: Sequence[str]) -> str | None:
    """Return the path of --json, even if the rest of the command line is wrong."""
    report_parser = argparse.ArgumentParser(add_help=False)
    report_parser.add_argument("--json", nargs="?", dest="report")
    return report_parser.parse_known_args(argv)[0].report


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
            _print(f"the report could not be written: {error}")
            return code or FAILED
    return code


def _check_usage(arguments: argparse.Namespace) -> None:
    """Raise UsageError for a command that cannot be carried out, before any work."""
    if not bpy.data.filepath:
        raise UsageError("no .blend is open: the file named before the command does not exist or could not be read")
    scene = bpy.context.scene
    for name in arguments.objects or ():
        cloths = ", ".join(obj.name for obj in objects_of_kind(scene, "CLOTH")) or "none"
        if name not in scene.objects:
            raise UsageError(f"--object: scene '{scene.name}' has no object '{name}'; its cloth: {cloths}")
        if kind_of(scene.objects[name], scene) != "CLOTH":
            raise UsageError(f"--object: '{name}' is not cloth; the cloth of scene '{scene.name}': {cloths}")
    if arguments.frames and arguments.frames[1] <= arguments.frames[0]:
        first, last = arguments.frames
        raise UsageError(f"--frames: the last frame, {last}, does not come after the first, {first}; give FIRST LAST")
    if arguments.frames:
        _check_frames(arguments)
    _check_outputs(arguments)
    if arguments.backend:
        try:
            backends.check(arguments.backend)
        except core.SolverError as error:
            raise UsageError(f"--backend: {error}") from None


def _check_frames(arguments: argparse.Namespace) -> None:
    """Raise UsageError if there are more frames than Blender, a bake or the memory can have."""
    first, last = arguments.frames
    scene = bpy.context.scene
    cloths = [scene.objects[name] for name in dict.fromkeys(arguments.objects or ())]
    try:
        check_frames(first, last)
        if arguments.command == "bake":
            cloths = cloths or objects_of_kind(scene, "CLOTH")
            check_memory([cloth for cloth in cloths if cloth.muslin.result == "SHAPE_KEYS"], last - first + 1)
    except core.SceneError as error:
        raise UsageError(f"--frames: {error}") from None


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Raise UsageError if the output or the report cannot be written."""
    output, bakes = _output_of(arguments), arguments.command == "bake"
    option = "--output" if arguments.output else "without --output"
    if bakes and output.suffix.lower() != ".blend":
        raise UsageError(f"--output: {arguments.output} does not end in .blend")
    reason = output_paths.why_no_file(output_paths.target_of(output)) if bakes else output_paths.why_no_folder(output)
    if reason:
        raise UsageError(f"{option}: {reason}")
    if arguments.report:
        target = output_paths.target_of(arguments.report)
        reason = _why_no_report(target)
        if reason:
            raise UsageError(f"--json: {reason}")
        if target == output_paths.target_of(output):
            raise UsageError(f"--json: {arguments.report} is the output as well; name another file")


def _why_no_report(target: Path) -> str:
    """Return why no report can be written to `target`, all links followed; empty if it can."""
    opened = Path(bpy.data.filepath) if bpy.data.filepath else None
    try:
        is_scene = target.suffix.lower() == ".blend" or (opened is not None and target.samefile(opened))
    except (OSError, ValueError):
        is_scene = False
    return (f"{target} is a .blend, not a report; name another file" if is_scene
            else output_paths.why_no_file(target))


def _output_of(arguments: argparse.Namespace) -> Path:
    """Return the .blend, or the folder, that a command writes."""
    opened = Path(bpy.data.filepath)
    beside = f"{opened.stem}_compare" if arguments.command == "compare" else f"{opened.stem}_baked.blend"
    return Path(arguments.output).absolute() if arguments.output else opened.with_name(beside)


def _compare(arguments: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Run `compare`, and return the report and the exit code."""
    scene = bpy.context.scene
    variants = comparing.variants_of(arguments.models, arguments.integrators)
    objects = ([scene.objects[name] for name in dict.fromkeys(arguments.objects)] if arguments.objects
               else objects_of_kind(scene, "CLOTH"))
    result = _run(comparing.compare(scene, objects, variants, _output_of(arguments),
                                    tuple(arguments.frames) if arguments.frames else None, backend=arguments.backend))
    for outcome in result.outcomes:
        _print(f"{outcome.variant.title}: {outcome.error or f'{len(outcome.frames)} frames'}")
    _print(f"saved {result.sheet}")
    report = {**result.values, "sheet": str(result.sheet)}
    failed = [outcome for outcome in result.outcomes if outcome.error]
    if not failed:
        return report, DONE
    return {**report, "error": {"type": "ComparisonError", "message": (
        f"{len(failed)} of {len(result.outcomes)} runs failed: "
        + "; ".join(f"{outcome.variant.title}: {outcome.error}" for outcome in failed))}}, FAILED


def _bake_and_save(arguments: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Run `bake`, and return the report and the exit code."""
    scene = bpy.context.scene
    objects = [scene.objects[name] for name in dict.fromkeys(arguments.objects)] if arguments.objects else None
    frames = tuple(arguments.frames) if arguments.frames else None
    report = _run(baking.bake(scene, objects, frames, backend=arguments.backend))
    output = _output_of(arguments)
    _save(output, keep_earlier=not arguments.output, compress=_is_compressed(Path(bpy.data.filepath)))
    _print(f"saved {output}")
    for note in report.notes:
        _print(note)
    unconverged = report.summary()["not_converged"]
    if unconverged:
        _print(f"{unconverged} of {len(report.certificates)} frames were not solved to the tolerance: raise Steps per "
               "Frame, or lower the stiffness")
    return {**report.as_dict(), "output": str(output)}, DONE


def _run(steps: Generator[Progress, None, Result]) -> Result:
    """Run a bake or comparison to its end, print its progress to stderr, and return its result."""
    terminal = sys.stderr.isatty()
    stage = ""
    printed = time.monotonic()
    while True:
        try:
            progress = next(steps)
        except StopIteration as end:
            if terminal:
                print(file=sys.stderr)
            return end.value
        except BaseException:
            steps.close()
            raise
        heading = ": ".join(part for part in (progress.run, progress.stage) if part)
        if heading not in ("", stage):
            stage = heading
            _print(stage)
        if progress.certificate is None or (not terminal and time.monotonic() - printed < PROGRESS_INTERVAL
                                            and progress.done < progress.total):
            continue
        printed = time.monotonic()
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        run = f"{progress.run}, " if progress.run else ""
        line = f"{run}frame {progress.frame}, {progress.fraction:.0%}{left}"
        print(f"\rmuslin: {line:<70}" if terminal else f"muslin: {line}", end="" if terminal else "\n",
              file=sys.stderr, flush=True)


def _save(output: Path, *, keep_earlier: bool, compress: bool) -> None:
    """Save the open file to `output`, or where the link `output` leads to, completely or not at all.

    keep_earlier: rename an existing file to its name with "1" appended.

    Raises:
        OSError: the file cannot be saved; an existing one is unchanged.
    """
    with output_paths.replaced(output_paths.target_of(output), keep_earlier=keep_earlier) as part:
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, compress=compress, check_existing=False)
        except RuntimeError as error:
            raise OSError(f"{output} could not be saved: {str(error).strip()}") from error
        if not (part.is_file() and _is_complete(part)):
            raise OSError(f"{output} could not be saved: its end could not be written, is the disk full?")


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(7) != b"BLENDER"


def _is_complete(path: Path) -> bool:
    """Return whether the .blend has its end. Blender does not detect that the end of a compressed file is lost."""
    with path.open("rb") as file:
        file.seek(-min(64, path.stat().st_size), os.SEEK_END)
        end = file.read()
    return end.endswith(SEEK_TABLE) if _is_compressed(path) else b"ENDB" in end


def _print(message: str) -> None:
    print(f"muslin: {message}", file=sys.stderr, flush=True)

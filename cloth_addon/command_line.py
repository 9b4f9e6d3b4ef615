# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin without a window: `muslin bake` and `muslin compare` on the scene that is open.

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
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import bpy

from .. import core
from ..core.kernels.backend import BACKENDS, choose
from .bake import backends
from .bake import bake as baking
from .compare import comparison as comparing
from .properties.settings import kind_of
from .read.read_cloth import objects_of_kind
from .write import output_paths
from .write.report import plain

DONE, FAILED, USAGE = 0, 1, 2
Result = TypeVar("Result")
SEEK_TABLE = b"\xb1\xea\x92\x8f"     # the last bytes of a compressed .blend (zstd, seekable format)
EVERY = 1.0         # seconds between two lines of progress where stderr is not a terminal

DESCRIPTION = """\
Bakes the cloth of the open .blend into shape keys and saves the result.

The .blend that was opened is never written to unless --output names it. Without --output the result is saved beside
it as NAME_baked.blend; an earlier NAME_baked.blend is kept as NAME_baked.blend1. A file appears complete or not at
all: a full disk or an error leaves what was there. Progress and errors go to stderr.

Exit codes: 0 baked and saved, 1 the bake or the saving failed and nothing was saved, 2 wrong usage, before any work.
Frames that were not solved to the tolerance are no failure: they are counted on stderr and in the report.
"""

COMPARISON = """\
Simulates the cloth of the open .blend once for each model with each integrator, and writes a folder with compare.html,
one page of pictures, figures and curves of them all, compare.json and the pictures. The .blend is not changed.

Exit codes: 0 every run reached the last frame, 1 some did not (the page says why) or nothing could be written, 2 wrong
usage, before any work.
"""
REPORT = "with the object `error`, its type and message, wherever the exit code is not 0"


class UsageError(Exception):
    """The command line asks for something that there is not, or that cannot be."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong and leaves it to `main` to end."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        raise UsageError(message)


def parser() -> argparse.ArgumentParser:
    top = Parser(prog="muslin", description="Muslin, cloth simulation")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    bake = commands.add_parser("bake", help="bake the cloth of a .blend", description=DESCRIPTION,
                               formatter_class=argparse.RawDescriptionHelpFormatter)
    bake.add_argument("--object", action="append", metavar="NAME", dest="objects",
                      help="bake this cloth; may be repeated; without it all cloth of the scene together")
    bake.add_argument("--frames", nargs=2, type=int, metavar=("FIRST", "LAST"),
                      help="instead of the scene's range")
    bake.add_argument("--backend", choices=BACKENDS,
                      help="what runs the inner loops, instead of the scene's choice")
    bake.add_argument("--output", metavar="OUT.blend", help="save here, replacing what is there")
    bake.add_argument("--json", metavar="REPORT", dest="report",
                      help="write the report here: settings, a certificate for each frame, seconds, versions; "
                           + REPORT)
    sheet = commands.add_parser("compare", help="compare models and integrators on the cloth of a .blend",
                                description=COMPARISON, formatter_class=argparse.RawDescriptionHelpFormatter)
    sheet.add_argument("--object", action="append", metavar="NAME", dest="objects",
                       help="simulate this cloth; may be repeated; without it all cloth of the scene together")
    sheet.add_argument("--models", nargs="+", metavar="MODEL", default=["baraff_witkin"], choices=core.models(),
                       help=f"of {', '.join(core.models())}")
    sheet.add_argument("--integrators", nargs="+", metavar="INTEGRATOR", default=["bdf2"],
                       choices=core.integrators(),
                       help=f"of {', '.join(core.integrators())}")
    sheet.add_argument("--frames", nargs=2, type=int, metavar=("FIRST", "LAST"), help="instead of the scene's range")
    sheet.add_argument("--backend", choices=BACKENDS, help="what runs the inner loops, instead of the scene's choice")
    sheet.add_argument("--output", metavar="FOLDER",
                       help="where the sheet goes, instead of NAME_compare beside the .blend")
    sheet.add_argument("--json", metavar="REPORT", dest="report",
                       help=f"write here what compare.json says, and where the sheet is; {REPORT}")
    top.epilog = bake.format_usage() + sheet.format_usage()         # written once, so that no option is missing
    top.formatter_class = argparse.RawDescriptionHelpFormatter
    return top


def main(argv: Sequence[str]) -> int:
    """Runs one command; the exit code."""
    argv = list(argv)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.default_int_handler)    # as from the keyboard: a farm says it so
    try:
        arguments = parser().parse_args(argv)
        _check_usage(arguments)
        report, code = (_compare if arguments.command == "compare" else _bake_and_save)(arguments)
    except SystemExit:                          # argparse has printed its help
        return DONE
    except UsageError as error:
        report, code = _failure(error, str(error)), USAGE
    except (core.ClothError, OSError) as error:
        report, code = _failure(error, str(error)), FAILED
    except KeyboardInterrupt as error:
        report, code = _failure(error, "cancelled, nothing was saved"), FAILED
    except Exception as error:
        traceback.print_exc()
        report, code = _failure(error, f"failed in a way that was not foreseen: {error!r}"), FAILED
    return _reported(_report_path(argv), report, code)


def _failure(error: BaseException, message: str) -> dict[str, Any]:
    _say(message)
    return {"error": {"type": type(error).__name__, "message": message}}


def _report_path(argv: Sequence[str]) -> str | None:
    """What --json names, also where the rest of the line makes no sense."""
    only = argparse.ArgumentParser(add_help=False)
    only.add_argument("--json", nargs="?", dest="report")
    return only.parse_known_args(argv)[0].report


def _reported(path: str | None, report: dict[str, Any], code: int) -> int:
    """The exit code, once the report is written where one was asked for."""
    if path:
        try:
            reason = _why_no_report(Path(path).absolute())
            if reason:
                raise OSError(reason)
            _write_report(Path(path), report)
        except (OSError, ValueError) as error:              # ValueError: a name that no file can have
            _say(f"the report could not be written: {error}")
            return code or FAILED
    return code


def _check_usage(arguments: argparse.Namespace) -> None:
    """Raises UsageError, before any work is done, for what cannot be."""
    if not bpy.data.filepath:
        raise UsageError("no .blend is open: the file named before the command does not exist or could not be read")
    scene = bpy.context.scene
    for name in arguments.objects or ():
        cloths = ", ".join(obj.name for obj in objects_of_kind(scene, "CLOTH")) or "none"
        if name not in scene.objects:
            raise UsageError(f"--object: scene '{scene.name}' has no object '{name}'; its cloth: {cloths}")
        if kind_of(scene.objects[name], scene) != "CLOTH":
            raise UsageError(f"--object: '{name}' is no cloth; the cloth of scene '{scene.name}': {cloths}")
    if arguments.frames and arguments.frames[1] <= arguments.frames[0]:
        first, last = arguments.frames
        raise UsageError(f"--frames: the last frame, {last}, does not come after the first, {first}; give FIRST LAST")
    _check_outputs(arguments)
    if arguments.backend:
        backends.keep_compiled()                                    # before Numba is asked for
        try:
            choose(arguments.backend)
        except core.SolverError as error:
            raise UsageError(f"--backend: {error}") from None


def _check_outputs(arguments: argparse.Namespace) -> None:
    """Raises UsageError where what is asked for could not be written."""
    output, bakes = _output_of(arguments), arguments.command == "bake"
    option = "--output" if arguments.output else "without --output"
    if bakes and output.suffix.lower() != ".blend":
        raise UsageError(f"--output: {arguments.output} does not end in .blend")
    reason = output_paths.why_no_file(output) if bakes else output_paths.why_no_folder(output)
    if reason:
        raise UsageError(f"{option}: {reason}")
    reason = arguments.report and _why_no_report(Path(arguments.report).absolute())
    if reason:
        raise UsageError(f"--json: {reason}")


def _why_no_report(path: Path) -> str:
    """Why there can be no report at `path`; empty where there can."""
    return f"{path} is a .blend, not a report" if path.suffix.lower() == ".blend" else output_paths.why_no_file(path)


def _output_of(arguments: argparse.Namespace) -> Path:
    """The .blend, or the folder, that a command writes."""
    opened = Path(bpy.data.filepath)
    beside = f"{opened.stem}_compare" if arguments.command == "compare" else f"{opened.stem}_baked.blend"
    return Path(arguments.output).absolute() if arguments.output else opened.with_name(beside)


def _compare(arguments: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Report and exit code."""
    scene = bpy.context.scene
    kinds = comparing.kinds_of(arguments.models, arguments.integrators)
    objects = ([scene.objects[name] for name in dict.fromkeys(arguments.objects)] if arguments.objects
               else objects_of_kind(scene, "CLOTH"))
    result = _run(comparing.compare(scene, objects, kinds, _output_of(arguments),
                                    tuple(arguments.frames) if arguments.frames else None, backend=arguments.backend))
    for outcome in result.outcomes:
        _say(f"{outcome.kind.title}: {outcome.error or f'{len(outcome.frames)} frames'}")
    _say(f"saved {result.sheet}")
    report = {**result.values, "sheet": str(result.sheet)}
    failed = [outcome for outcome in result.outcomes if outcome.error]
    if not failed:
        return report, DONE
    return {**report, "error": {"type": "ComparisonError", "message": (
        f"{len(failed)} of {len(result.outcomes)} runs failed: "
        + "; ".join(f"{outcome.kind.title}: {outcome.error}" for outcome in failed))}}, FAILED


def _bake_and_save(arguments: argparse.Namespace) -> tuple[dict[str, Any], int]:
    """Report and exit code."""
    scene = bpy.context.scene
    objects = [scene.objects[name] for name in dict.fromkeys(arguments.objects)] if arguments.objects else None
    frames = tuple(arguments.frames) if arguments.frames else None
    report = _run(baking.bake(scene, objects, frames, backend=arguments.backend))
    output = _output_of(arguments)
    _save(output, keep_earlier=not arguments.output, compress=_is_compressed(Path(bpy.data.filepath)))
    _say(f"saved {output}")
    for note in report.notes:
        _say(note)
    unconverged = report.summary()["not_converged"]
    if unconverged:
        _say(f"{unconverged} of {len(report.certificates)} frames were not solved to the tolerance: raise Steps per "
             "Frame, or lower the stiffness")
    return {**report.as_dict(), "output": str(output)}, DONE


def _run(steps: Generator[baking.Progress, None, Result]) -> Result:
    """Runs a bake or a comparison to its end with progress on stderr."""
    terminal = sys.stderr.isatty()
    stage = ""
    said = time.monotonic()
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
            _say(stage)
        if progress.certificate is None or (not terminal and time.monotonic() - said < EVERY
                                            and progress.done < progress.total):
            continue
        said = time.monotonic()
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        run = f"{progress.run}, " if progress.run else ""
        line = f"{run}frame {progress.frame}, {progress.fraction:.0%}{left}"
        print(f"\rmuslin: {line:<70}" if terminal else f"muslin: {line}", end="" if terminal else "\n",
              file=sys.stderr, flush=True)


def _save(output: Path, *, keep_earlier: bool, compress: bool) -> None:
    """The open file to `output`, whole or not at all. Raises OSError with the old file untouched."""
    part = output_paths.part_of(output)
    try:
        try:
            bpy.ops.wm.save_as_mainfile(filepath=str(part), copy=True, compress=compress, check_existing=False)
        except RuntimeError as error:
            raise OSError(f"{output} could not be saved: {str(error).strip()}") from error
        if not (part.is_file() and _is_whole(part)):
            raise OSError(f"{output} could not be saved: its end could not be written, is the disk full?")
        if keep_earlier and output.exists():
            os.replace(output, output.with_name(output.name + "1"))
        os.replace(part, output)
    finally:
        for left in (part, part.with_name(part.name + "@")):        # Blender's own unfinished file
            left.unlink(missing_ok=True)


def _write_report(path: Path, report: dict[str, Any]) -> None:
    part = output_paths.part_of(path)
    try:
        part.write_text(json.dumps(plain(report), indent=1) + "\n", encoding="utf-8")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(7) != b"BLENDER"


def _is_whole(path: Path) -> bool:
    """Whether the .blend ends as one does. Blender does not notice when the last piece of a compressed file is lost."""
    with path.open("rb") as file:
        file.seek(-min(64, path.stat().st_size), os.SEEK_END)
        end = file.read()
    return end.endswith(SEEK_TABLE) if _is_compressed(path) else b"ENDB" in end


def _say(message: str) -> None:
    print(f"muslin: {message}", file=sys.stderr, flush=True)

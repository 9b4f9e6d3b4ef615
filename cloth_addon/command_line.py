# SPDX-License-Identifier: GPL-3.0-or-later
"""Muslin without a window: `muslin bake` and `muslin compare` on the scene that is open.

    blender --background SCENE.blend --command muslin bake ...      in Blender
    python MUSLIN_CHECKOUT SCENE.blend bake ...                     where the bpy package is installed
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import bpy

from .. import core
from ..core.kernels.backend import BACKENDS
from . import bake as baking
from . import compare as comparing
from .reading import objects_of_kind
from .report import plain

DONE, FAILED, USAGE = 0, 1, 2
Result = TypeVar("Result")
SEEK_TABLE = b"\xb1\xea\x92\x8f"     # the last bytes of a compressed .blend (zstd, seekable format)
EVERY = 1.0         # seconds between two lines of progress where stderr is not a terminal

DESCRIPTION = """\
Bakes the cloth of the open .blend into shape keys and saves the result.

The .blend that was opened is never written to unless --output names it. Without --output the result is saved beside
it as NAME_baked.blend; an earlier NAME_baked.blend is kept as NAME_baked.blend1. A file appears complete or not at
all: a full disk or an error leaves what was there. Progress and errors go to stderr.

Exit codes: 0 baked and saved, 1 the bake or the saving failed and nothing was saved, 2 wrong usage.
"""

COMPARISON = """\
Simulates the cloth of the open .blend once for each model with each integrator, and writes a folder with compare.html,
one page of pictures, figures and curves of them all, compare.json and the pictures. The .blend is not changed.

Exit codes: 0 every run reached the last frame, 1 some did not (the page says why) or nothing could be written, 2 wrong
usage.
"""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="muslin", description="Muslin, cloth simulation")
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
                      help="write the report here: settings, a certificate for each frame, seconds, versions, or the "
                           "error")
    sheet = commands.add_parser("compare", help="compare models and integrators on the cloth of a .blend",
                                description=COMPARISON, formatter_class=argparse.RawDescriptionHelpFormatter)
    sheet.add_argument("--object", action="append", metavar="NAME", dest="objects",
                       help="simulate this cloth; may be repeated; without it all cloth of the scene together")
    sheet.add_argument("--models", nargs="+", metavar="MODEL", default=["baraff_witkin"],
                       help=f"of {', '.join(core.models())}")
    sheet.add_argument("--integrators", nargs="+", metavar="INTEGRATOR", default=["bdf2"],
                       help=f"of {', '.join(core.integrators())}")
    sheet.add_argument("--frames", nargs=2, type=int, metavar=("FIRST", "LAST"), help="instead of the scene's range")
    sheet.add_argument("--backend", choices=BACKENDS, help="what runs the inner loops, instead of the scene's choice")
    sheet.add_argument("--output", metavar="FOLDER", help="where the sheet goes, instead of NAME_compare beside the "
                                                          ".blend")
    return top


def main(argv: Sequence[str]) -> int:
    """Runs one command; the exit code."""
    try:
        arguments = parser().parse_args(list(argv))
    except SystemExit as leave:                 # argparse has printed its help or what is wrong
        return USAGE if leave.code else DONE
    wrong = _wrong_usage(arguments)
    if wrong:
        _say(wrong)
        return USAGE
    try:
        if arguments.command == "compare":
            return _compare(arguments)
        report, code = _bake_and_save(arguments), DONE
    except (core.ClothError, OSError, KeyboardInterrupt) as error:
        message = str(error) or "cancelled, nothing was saved"
        _say(message)
        report, code = {"error": {"type": type(error).__name__, "message": message}}, FAILED
    if getattr(arguments, "report", None):
        try:
            _write_report(Path(arguments.report), report)
        except OSError as error:
            _say(f"the report could not be written: {error}")
            return FAILED
    return code


def _wrong_usage(arguments: argparse.Namespace) -> str:
    """What is wrong with the request, before any work is done; empty where nothing is."""
    if not bpy.data.filepath:
        return "no .blend is open: the file named before the command does not exist or could not be read"
    scene = bpy.context.scene
    for name in arguments.objects or ():
        if name not in scene.objects:
            cloths = ", ".join(obj.name for obj in objects_of_kind(scene, "CLOTH")) or "none"
            return f"--object: scene '{scene.name}' has no object '{name}'; its cloth: {cloths}"
    if arguments.command == "compare":
        return ""
    for option, value in (("--output", arguments.output), ("--json", arguments.report)):
        if value and not Path(value).absolute().parent.is_dir():
            return f"{option}: there is no folder {Path(value).absolute().parent}"
        if value and Path(value).is_dir():
            return f"{option}: {value} is a folder"
    return ""


def _compare(arguments: argparse.Namespace) -> int:
    scene, opened = bpy.context.scene, Path(bpy.data.filepath)
    kinds = comparing.kinds_of(arguments.models, arguments.integrators)
    folder = Path(arguments.output) if arguments.output else opened.with_name(f"{opened.stem}_compare")
    objects = ([scene.objects[name] for name in dict.fromkeys(arguments.objects)] if arguments.objects
               else objects_of_kind(scene, "CLOTH"))
    result = _run(comparing.compare(scene, objects, kinds, folder.absolute(),
                                    tuple(arguments.frames) if arguments.frames else None, backend=arguments.backend))
    for outcome in result.outcomes:
        _say(f"{outcome.kind.title}: {outcome.error or f'{len(outcome.frames)} frames'}")
    _say(f"saved {result.sheet}")
    return FAILED if any(outcome.error for outcome in result.outcomes) else DONE


def _bake_and_save(arguments: argparse.Namespace) -> dict[str, Any]:
    scene = bpy.context.scene
    objects = [scene.objects[name] for name in dict.fromkeys(arguments.objects)] if arguments.objects else None
    frames = tuple(arguments.frames) if arguments.frames else None
    report = _run(baking.bake(scene, objects, frames, backend=arguments.backend))
    opened = Path(bpy.data.filepath)
    output = Path(arguments.output).absolute() if arguments.output else opened.with_name(f"{opened.stem}_baked.blend")
    _save(output, keep_earlier=not arguments.output, compress=_is_compressed(opened))
    _say(f"saved {output}")
    for note in report.notes:
        _say(note)
    return {**report.as_dict(), "output": str(output)}


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
        if progress.stage not in ("", stage):
            stage = progress.stage
            _say(stage)
        if progress.certificate is None or (not terminal and time.monotonic() - said < EVERY
                                            and progress.done < progress.total):
            continue
        said = time.monotonic()
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        line = f"frame {progress.frame}, {progress.fraction:.0%}{left}"
        print(f"\rmuslin: {line:<50}" if terminal else f"muslin: {line}", end="" if terminal else "\n",
              file=sys.stderr, flush=True)


def _save(output: Path, *, keep_earlier: bool, compress: bool) -> None:
    """The open file to `output`, whole or not at all. Raises OSError with the old file untouched."""
    part = output.with_name(f".{output.name}.{os.getpid()}.part")
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
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
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

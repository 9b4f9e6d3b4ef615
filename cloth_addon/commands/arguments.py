# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of the commands."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from ... import core
from ...core.measure.path_option import path_option
from ..bake import backends

BAKE_DESCRIPTION = """\
Bakes the cloth of the open .blend, and of those that --files names, and saves the result.

The .blend that was opened is never written to unless --output names it. Without --output the result is saved beside
it as NAME_baked.blend; an earlier NAME_baked.blend is kept as NAME_baked.blend1. A file is written completely or not at
all: a full disk or an error leaves an earlier file unchanged. A symbolic link is followed, and stays a link. Of two
processes with one output or report the second exits with 2. Progress and errors go to stderr.

Every frame is on disk, in the cache, as soon as it is solved. A bake that was interrupted, killed or failed keeps its
frames: give the same command with --resume, which may always be given. With unchanged settings the result has the same
bytes as that of a bake without interruption.

--set PATH=V1,V2,... bakes variants (wedges), one for each value, or for each combination if it is repeated. PATH is
material.SETTING (all cloth), OBJECT.material.SETTING or scene.SETTING; names and units are those of the settings in
Python, object.muslin and scene.muslin. Components of a vector are separated by colons. Each variant has an output
NAME_PATH-VALUE.blend and a cache of its own. With several files or variants, --output names a folder, a variant that
fails does not stop the others, and a sheet NAME_sheet.html shows all of them.

Exit codes: 0 baked and saved, 1 a bake or its saving failed or was interrupted and is not saved, 2 wrong usage, before
any work. Frames that were not solved to the tolerance are no failure: they are counted on stderr and in the report.
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
    _add_common(bake, "bake")
    bake.add_argument("--result", choices=("shape_keys", "mesh_cache"),
                      help="what the bake leaves in the file, instead of the setting of each cloth")
    bake.add_argument("--resume", action="store_true",
                      help="go on with the frames on disk if their settings are those of now; else from the start")
    bake.add_argument("--cache", metavar="FOLDER", type=path_option,
                      help="folder of the frames on disk, instead of the scene's")
    bake.add_argument("--files", nargs="+", metavar="FILE", type=path_option, default=[],
                      help="bake these .blend files, too")
    bake.add_argument("--set", action="append", metavar="PATH=VALUES", dest="settings", default=[],
                      help="bake with each of these values, separated by commas; may be repeated")
    bake.add_argument("--output", metavar="OUT.blend", type=path_option,
                      help="save here, and replace an existing file; a folder for several files or variants")
    bake.add_argument("--sheet", metavar="SHEET.html", type=path_option,
                      help="write a page with a picture and figures of each bake")
    bake.add_argument("--json", metavar="REPORT", dest="report", type=path_option,
                      help="write the report here: settings, a certificate for each frame, seconds, versions; "
                           + ERROR_IN_REPORT)
    sheet = commands.add_parser("compare", help="compare models and integrators on the cloth of a .blend",
                                description=COMPARE_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter)
    _add_common(sheet, "simulate")
    sheet.add_argument("--models", nargs="+", metavar="MODEL", default=["baraff_witkin"], choices=core.models(),
                       help=f"models to compare: {', '.join(core.models())}")
    sheet.add_argument("--integrators", nargs="+", metavar="INTEGRATOR", default=["bdf2"],
                       choices=core.integrators(),
                       help=f"integrators to compare: {', '.join(core.integrators())}")
    sheet.add_argument("--output", metavar="FOLDER", type=path_option,
                       help="folder of the sheet, instead of NAME_compare beside the .blend")
    sheet.add_argument("--json", metavar="REPORT", dest="report", type=path_option,
                       help=f"write the contents of compare.json and the path of the sheet here; {ERROR_IN_REPORT}")
    commands.add_parser("drape", help="hang fabrics in a drape meter; `drape --help` lists its options", add_help=False)
    top.epilog = bake.format_usage() + sheet.format_usage()         # generated, so that no option is missing
    top.formatter_class = argparse.RawDescriptionHelpFormatter
    return top


def _add_common(command: argparse.ArgumentParser, verb: str) -> None:
    """Add the options of both commands."""
    command.add_argument("--object", action="append", metavar="NAME", dest="objects",
                         help=f"{verb} this cloth; may be repeated; without it all cloth of the scene together")
    command.add_argument("--frames", nargs=2, type=int, metavar=("FIRST", "LAST"),
                         help="frame range, instead of the scene's")
    command.add_argument("--backend", choices=backends.NAMES,
                         help="backend of the inner loops, instead of the scene's")
    command.add_argument("--threads", type=int, metavar="N", help="use at most N threads; the result is the same")
    command.add_argument("--progress", choices=("text", "json"), default="text",
                         help="json: also write one JSON object a line to stdout, for each frame and stage")


def report_path(argv: list[str]) -> str | None:
    """Return the path of --json, even if the rest of the command line is wrong."""
    report_parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    report_parser.add_argument("--json", nargs="?", dest="report")
    return report_parser.parse_known_args(argv)[0].report

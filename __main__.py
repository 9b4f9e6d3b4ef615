# SPDX-License-Identifier: GPL-3.0-or-later
"""Run Muslin from plain Python, where the bpy package is installed:

    python MUSLIN_CHECKOUT SCENE.blend bake [--object NAME] [--frames FIRST LAST] [--backend numpy|numba]
                                            [--threads N] [--progress text|json] [--result shape_keys|mesh_cache]
                                            [--resume] [--cache FOLDER] [--files FILE ...] [--set PATH=VALUES]
                                            [--output OUT.blend] [--sheet SHEET.html] [--json REPORT]
    python MUSLIN_CHECKOUT SCENE.blend compare [--object NAME] [--models MODEL ...] [--integrators INTEGRATOR ...]
                                               [--frames FIRST LAST] [--backend numpy|numba] [--threads N]
                                               [--progress text|json] [--output FOLDER] [--json REPORT]
    python MUSLIN_CHECKOUT drape --fabric NAME ... [--diameter CM] [--plate CM] [--rings N] [--grain DEGREES] [--seed N]
                                 [--bending-length CM] [--coefficient PERCENT] [--backend numpy|numba]
                                 [--picture OUT.svg] [--json REPORT]

`drape` needs no Blender. These are the commands of `blender --background SCENE.blend --command muslin bake ...`.
`python MUSLIN_CHECKOUT bake --help` explains the options.
"""

import argparse
import importlib
import importlib.util
import json
import os
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent
COMMANDS = "bake", "compare"
NO_PROFILE = ROOT / "__main__.py" / "profile"
"""A folder that cannot exist, in place of the user's preferences: there is nothing to delete, however the process ends.
"""


def extension() -> ModuleType:
    """Import this folder as the package `muslin`, whatever its name on disk, and return it."""
    spec = importlib.util.spec_from_file_location("muslin", ROOT / "__init__.py",
                                                  submodule_search_locations=[str(ROOT)])
    module = importlib.util.module_from_spec(spec)
    sys.modules["muslin"] = module
    spec.loader.exec_module(module)
    return module


def output_paths() -> ModuleType:
    """Import cloth_addon/write/output_paths.py without its package, which needs Blender, and return it."""
    spec = importlib.util.spec_from_file_location("output_paths", ROOT / "cloth_addon" / "write" / "output_paths.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drape(argv: list[str]) -> int:
    """Run the command `drape`, which needs no Blender, and return its exit code."""
    core = ROOT / "core"
    spec = importlib.util.spec_from_file_location("muslin_core", core / "__init__.py",
                                                  submodule_search_locations=[str(core)])
    sys.modules["muslin_core"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["muslin_core"])
    return importlib.import_module("muslin_core.measure.command").main(argv)


def refuse(argv: list[str], message: str) -> int:
    """Print why the command cannot run, write it to the report of --json, and return the exit code of wrong usage."""
    print(f"muslin: {message}", file=sys.stderr)
    report_parser = argparse.ArgumentParser(add_help=False)
    report_parser.add_argument("--json", nargs="?", dest="report")
    report = report_parser.parse_known_args(argv)[0].report
    if report:
        try:
            paths = output_paths()
            target = paths.target_of(report)
            reason = ("it is a .blend" if target.suffix.lower() == ".blend" else        # never overwrite a scene
                      paths.why_no_file(target))
            if reason:
                raise OSError(reason)
            paths.write_text(target, json.dumps({"error": {"type": "UsageError", "message": message}}, indent=1) + "\n")
        except (OSError, ValueError) as error:
            print(f"muslin: the report could not be written: {error}", file=sys.stderr)
    return 2


def main(argv: list[str]) -> int:
    """Open the scene, run the command and return its exit code."""
    if not argv or argv[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if argv else 2
    if argv[0] == "drape":
        return drape(argv[1:])
    path = Path(argv[0])
    if path.suffix == ".blend" and not path.is_file():
        return refuse(argv, f"there is no file {path}")
    if path.suffix != ".blend" and argv[0] not in COMMANDS and path.exists():
        return refuse(argv, f"{path} is no .blend file; name the scene before the command")
    os.environ["BLENDER_USER_RESOURCES"] = str(NO_PROFILE)      # read when bpy is imported
    try:
        import bpy
    except ImportError as error:
        return refuse(argv, f"the bpy package is needed here: pip install bpy ({error})")
    muslin = extension()
    muslin.register()
    try:
        if path.suffix == ".blend":
            try:
                bpy.ops.wm.open_mainfile(filepath=str(path.absolute()))
            except RuntimeError as error:
                return refuse(argv, f"{path} could not be read: {str(error).strip()}")
            argv = argv[1:]
        return muslin.cloth_addon.command_line.main(argv)
    finally:
        muslin.unregister()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

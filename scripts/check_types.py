# SPDX-License-Identifier: GPL-3.0-or-later
"""Run mypy over core, the add-on and the scripts: `python scripts/check_types.py`.

Inside Blender the checkout is a package, and its modules import each other by relative names, such as
`from ..core import`. The checkout's folder may have any name, so mypy reads the folder build/types. It contains a link
`muslin` to the checkout, and a copy of Blender's stubs in which Object and Scene have the property `muslin`.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "types"
REGISTERED_ON = ("class Object(ID, bpy_struct):", "class Scene(ID, bpy_struct):")


def prepare() -> None:
    """Fill FOLDER with the link and the stubs."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    checkout = FOLDER / "muslin"
    if not checkout.is_symlink():
        os.symlink(ROOT, checkout, target_is_directory=True)
    stubs = FOLDER / "bpy"
    if stubs.exists():
        return
    spec = importlib.util.find_spec("bpy-stubs")
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit("check_types.py needs fake-bpy-module: run `make lint`")
    copy = FOLDER / "copying"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(spec.submodule_search_locations[0], copy)
    types = copy / "types" / "__init__.pyi"
    text = types.read_text(encoding="utf-8")
    for line in REGISTERED_ON:
        if text.count(line) != 1:
            raise SystemExit(f"check_types.py: the stubs of bpy.types have no line '{line}'")
        text = text.replace(line, f"{line}\n    muslin: typing.Any")
    types.write_text(text, encoding="utf-8")
    copy.rename(stubs)


def mypy(folder: Path, *arguments: str) -> int:
    """Run mypy in `folder` with the project's settings, and return its exit code."""
    command = [sys.executable, "-m", "mypy", f"--config-file={ROOT / 'pyproject.toml'}",
               f"--cache-dir={ROOT / '.mypy_cache'}", *arguments]
    return subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": str(FOLDER)}, check=False).returncode


def main() -> int:
    """Check core, the add-on and the scripts."""
    prepare()
    failed = mypy(FOLDER, "-p", "muslin.core", "-p", "muslin.cloth_addon")
    modules = sorted(path.name for path in (ROOT / "scripts").glob("*.py"))
    return failed | mypy(ROOT / "scripts", "--explicit-package-bases", *modules)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the extension with Blender's own tool: `python scripts/build_extension.py build`.

The tool is part of the bpy package, so this runs in an environment that has bpy, without starting Blender. It
reads blender_manifest.toml, which also says what stays out of the zip.
"""

import importlib.util
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def extension_tool() -> Path:
    """Blender's blender_ext.py in this environment's bpy package."""
    bpy = importlib.util.find_spec("bpy")
    folders = list(bpy.submodule_search_locations or []) if bpy else []
    for folder in folders:
        for tool in Path(folder).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return tool
    raise SystemExit("blender_ext.py not found: run this with a Python that has the bpy package")


def build(folder: Path) -> Path:
    """The zip, validated before and after it is packed."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text())
    folder.mkdir(parents=True, exist_ok=True)
    package = folder / f"{manifest['id']}-{manifest['version']}.zip"
    package.unlink(missing_ok=True)
    tool = [sys.executable, str(extension_tool())]
    for arguments in (["validate", str(ROOT)],
                      ["build", "--source-dir", str(ROOT), "--output-filepath", str(package)],
                      ["validate", str(package)]):
        subprocess.run([*tool, *arguments], check=True)
    return package


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: build_extension.py FOLDER", file=sys.stderr)
        return 2
    try:
        package = build(Path(sys.argv[1]))
    except subprocess.CalledProcessError as error:
        print(f"build_extension.py: failed: {' '.join(error.cmd)}", file=sys.stderr)
        return 1
    with zipfile.ZipFile(package) as archive:
        count = len(archive.namelist())
    print(f"{package}: {count} files, {package.stat().st_size / 1024:.0f} KiB")
    print("In Blender: Edit > Preferences > Add-ons > the arrow at the top right > Install from Disk.")
    print(f"Or: blender --command extension install-file -r user_default -e {package}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

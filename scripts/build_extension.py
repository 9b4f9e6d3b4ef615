# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the extension with Blender's own tool: `python scripts/build_extension.py FOLDER [--numba PLATFORM]`.

The tool is part of the bpy package, so this runs in an environment that has bpy, without starting Blender. It
reads blender_manifest.toml, which also says what stays out of the zip.

Without --numba the zip is small, fits every platform and runs on NumPy. With it the zip carries Numba's wheels for one
platform, which pip downloads, and for every Python that a Blender comes with.
"""

import argparse
import importlib.util
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

from numba_wheels import PLATFORMS, download, this_platform

ROOT = Path(__file__).resolve().parent.parent


def extension_tool() -> Path:
    """Blender's blender_ext.py in this environment's bpy package."""
    bpy = importlib.util.find_spec("bpy")
    folders = list(bpy.submodule_search_locations or []) if bpy else []
    for folder in folders:
        for tool in Path(folder).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return tool
    raise SystemExit("blender_ext.py not found: run this with a Python that has the bpy package")


def pack(source: Path, package: Path) -> Path:
    """The zip of a folder, validated before and after it is packed."""
    package.parent.mkdir(parents=True, exist_ok=True)
    package.unlink(missing_ok=True)
    tool = [sys.executable, str(extension_tool())]
    for arguments in (["validate", str(source)],
                      ["build", "--source-dir", str(source), "--output-filepath", str(package)],
                      ["validate", str(package)]):
        subprocess.run([*tool, *arguments], check=True)
    return package


def name_and_version() -> str:
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    return f"{manifest['id']}-{manifest['version']}"


def build(folder: Path) -> Path:
    """The small zip, for NumPy."""
    return pack(ROOT, folder / f"{name_and_version()}.zip")


def build_with_numba(folder: Path, platform: str) -> Path:
    """The zip with Numba for one platform: the small one's files, the wheels, and a manifest that names them."""
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "muslin"
        with zipfile.ZipFile(build(Path(temporary))) as archive:
            archive.extractall(source)
        wheels = download(source / "wheels", platform)
        manifest = source / "blender_manifest.toml"
        manifest.write_text(with_wheels(manifest.read_text(encoding="utf-8"), platform, wheels), encoding="utf-8")
        return pack(source, folder / f"{name_and_version()}-numba-{platform}.zip")


def with_wheels(manifest: str, platform: str, wheels: list[str]) -> str:
    """A manifest's text that names one platform and the wheels in the folder `wheels`."""
    named = "".join(f'  "./wheels/{name}",\n' for name in sorted(wheels))
    head, table, rest = manifest.partition("\n[")               # before the first table
    return f'{head}platforms = ["{platform}"]\nwheels = [\n{named}]\n{table}{rest}'


def main() -> int:
    parser = argparse.ArgumentParser(prog="build_extension.py", description="Packs the extension for Blender.")
    parser.add_argument("folder", type=Path, help="where the zip is written")
    parser.add_argument("--numba", choices=["here", *PLATFORMS], metavar="PLATFORM",
                        help=f"with Numba for this platform: here, {', '.join(PLATFORMS)}")
    arguments = parser.parse_args()
    try:
        if arguments.numba:
            platform = this_platform() if arguments.numba == "here" else arguments.numba
            package = build_with_numba(arguments.folder, platform)
        else:
            package = build(arguments.folder)
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

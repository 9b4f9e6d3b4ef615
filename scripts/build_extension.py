# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack the extension with Blender's own tool: `python scripts/build_extension.py FOLDER [--numba PLATFORM]`.

The tool is part of the bpy package. Run this with a Python that has bpy; Blender itself is not started. The tool reads
blender_manifest.toml, which lists the files that are left out of the zip.

Without --numba the zip is small, fits every platform and runs on NumPy. With --numba it contains the wheels of Numba
for one platform, downloaded by pip, for every Python version that Blender is built with.
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
    """Return the path of Blender's blender_ext.py in the bpy package of this environment."""
    bpy = importlib.util.find_spec("bpy")
    folders = list(bpy.submodule_search_locations or []) if bpy else []
    for folder in folders:
        for tool in Path(folder).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py"):
            return tool
    raise SystemExit("blender_ext.py not found: run this with a Python that has the bpy package")


def pack(source: Path, package: Path) -> Path:
    """Pack the folder `source` into the zip `package`, validate both, and return the zip."""
    package.parent.mkdir(parents=True, exist_ok=True)
    package.unlink(missing_ok=True)
    tool = [sys.executable, str(extension_tool())]
    for arguments in (["validate", str(source)],
                      ["build", "--source-dir", str(source), "--output-filepath", str(package)],
                      ["validate", str(package)]):
        subprocess.run([*tool, *arguments], check=True)
    return package


def name_and_version() -> str:
    """Return id and version of the manifest, which begin the name of the zip."""
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    return f"{manifest['id']}-{manifest['version']}"


def build(folder: Path) -> Path:
    """Build the zip without Numba in `folder`, and return its path."""
    return pack(ROOT, folder / f"{name_and_version()}.zip")


def build_with_numba(folder: Path, platform: str) -> Path:
    """Build the zip with Numba for one platform in `folder`, and return its path.

    It has the files of the small zip, the wheels, and a manifest that names the wheels.
    """
    with tempfile.TemporaryDirectory() as temporary:
        source = Path(temporary) / "muslin"
        with zipfile.ZipFile(build(Path(temporary))) as archive:
            archive.extractall(source)
        wheels = download(source / "wheels", platform)
        manifest = source / "blender_manifest.toml"
        manifest.write_text(with_wheels(manifest.read_text(encoding="utf-8"), platform, wheels), encoding="utf-8")
        return pack(source, folder / f"{name_and_version()}-numba-{platform}.zip")


def with_wheels(manifest: str, platform: str, wheels: list[str]) -> str:
    """Return the text of a manifest with one platform and the wheels, by their names in the folder `wheels`."""
    lines = "".join(f'  "./wheels/{name}",\n' for name in sorted(wheels))
    head, table, rest = manifest.partition("\n[")               # before the first table
    return f'{head}platforms = ["{platform}"]\nwheels = [\n{lines}]\n{table}{rest}'


def main() -> int:
    """Build the zip, and print its size and how to install it."""
    parser = argparse.ArgumentParser(prog="build_extension.py", description="Pack the extension for Blender.")
    parser.add_argument("folder", type=Path, help="folder for the zip")
    parser.add_argument("--numba", choices=["here", *PLATFORMS], metavar="PLATFORM",
                        help=f"include Numba for this platform: here, {', '.join(PLATFORMS)}")
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

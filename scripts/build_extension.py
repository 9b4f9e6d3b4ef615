# SPDX-License-Identifier: GPL-3.0-or-later
"""Pack the extension for Blender: `python scripts/build_extension.py build [--numba PLATFORM] [--blender VERSION]`.

Any Python from 3.9 on will do, on any system, without a package: also the one inside Blender. Blender is not started.
The zip has the files of this folder that blender_manifest.toml does not leave out, with the manifest at its top. Built
twice from the same files, it is the same to the byte.

Without --numba the zip is small, fits every platform and runs on NumPy. With --numba it contains the wheels of Numba
for one platform, which pip downloads, for the Python of one Blender: the one of --blender, else the one that is here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from extension_manifest import ROOT, faults, read_manifest, read_toml
from find_blender import Target, target
from numba_wheels import BLENDERS, LONG_TERM, PLATFORMS, download, this_platform

MANIFEST = "blender_manifest.toml"
DATE = (1980, 1, 1, 0, 0, 0)
"""Date of all files in the zip, so that it depends on their contents alone."""


def is_left_out(path: str, patterns: list[str]) -> bool:
    """Return whether a pattern of the manifest fits a path, which ends with / for a folder.

    As in .gitignore: a pattern with / at its start or inside fits from the top on, others fit in every folder; one that
    ends with / fits folders only.
    """
    names = path.rstrip("/").split("/")
    for pattern in patterns:
        if pattern.startswith("!") or "**" in pattern:
            raise ValueError(f"the pattern {pattern!r} of paths_exclude_pattern is not understood here: "
                             "write it without ! and **")
        if pattern.endswith("/") and not path.endswith("/"):
            continue
        parts = pattern.strip("/").split("/")
        compared = names if "/" in pattern.rstrip("/") else names[-1:]
        if len(parts) == len(compared) and all(map(fnmatchcase, compared, parts)):
            return True
    return False


def files_of(source: Path) -> list[str]:
    """Return the files of an extension's folder that belong into the zip, sorted, with / between folders."""
    patterns = read_manifest(source).get("build", {}).get("paths_exclude_pattern", [])
    found = []
    for place, folders, names in os.walk(source):
        here = Path(place).relative_to(source).as_posix()
        before = "" if here == "." else f"{here}/"
        folders[:] = [name for name in folders if not is_left_out(f"{before}{name}/", patterns)]
        found += [before + name for name in names
                  if (Path(place) / name).is_file() and not is_left_out(before + name, patterns)]
    return sorted(found)


def pack(package: Path, contents: dict[str, bytes]) -> Path:
    """Write the zip `package` with files by their names, after checking the manifest among them, and return its path.

    Raises:
        ValueError: Blender would refuse it.
    """
    wrong = faults(read_toml(contents[MANIFEST].decode("utf-8")), list(contents))
    if wrong:
        raise ValueError(f"{MANIFEST}: {'; '.join(wrong)}")
    package.parent.mkdir(parents=True, exist_ok=True)
    unfinished = package.with_name(package.name + ".unfinished")
    try:
        with zipfile.ZipFile(unfinished, "w") as archive:
            for name in sorted(contents):
                entry = zipfile.ZipInfo(name, DATE)
                entry.external_attr = 0o644 << 16
                entry.create_system = 3                         # the same on Windows
                entry.compress_type = zipfile.ZIP_STORED if name.endswith(".whl") else zipfile.ZIP_DEFLATED
                archive.writestr(entry, contents[name])
        unfinished.replace(package)
    finally:
        if unfinished.exists():
            unfinished.unlink()
    return package


def name_and_version() -> str:
    """Return id and version of the manifest, which begin the name of the zip."""
    manifest = read_manifest()
    return f"{manifest['id']}-{manifest['version']}"


def build(folder: Path) -> Path:
    """Build the zip without Numba in `folder`, and return its path."""
    contents = {name: (ROOT / name).read_bytes() for name in files_of(ROOT)}
    return pack(folder / f"{name_and_version()}.zip", contents)


def build_with_numba(folder: Path, platform: str, blender: Target) -> Path:
    """Build the zip with Numba for one platform and Blender in `folder`, and return its path.

    It has the files of the small zip, the wheels, and a manifest that names the wheels.
    """
    contents = {name: (ROOT / name).read_bytes() for name in files_of(ROOT)}
    downloads = folder / f"wheels-{platform}"
    shutil.rmtree(downloads, ignore_errors=True)                # of a run that was killed
    try:
        wheels = download(downloads, platform, blender.pythons)
        contents.update({f"wheels/{name}": (downloads / name).read_bytes() for name in wheels})
    finally:
        shutil.rmtree(downloads, ignore_errors=True)
    contents[MANIFEST] = with_wheels(contents[MANIFEST].decode("utf-8"), platform, wheels).encode("utf-8")
    return pack(folder / f"{name_and_version()}-numba-{platform}{blender.name}.zip", contents)


def with_wheels(manifest: str, platform: str, wheels: list[str]) -> str:
    """Return the text of a manifest with one platform and the wheels, by their names in the folder `wheels`."""
    lines = "".join(f'  "./wheels/{name}",\n' for name in sorted(wheels))
    head, table, rest = manifest.partition("\n[")               # before the first table
    return f'{head}platforms = ["{platform}"]\nwheels = [\n{lines}]\n{table}{rest}'


def main() -> int:
    """Build the zips, and print their size and how to install them."""
    parser = argparse.ArgumentParser(prog="build_extension.py", description="Pack the extension for Blender.")
    parser.add_argument("folder", type=Path, help="folder for the zip")
    parser.add_argument("--numba", nargs="+", choices=["here", "all", *PLATFORMS], metavar="PLATFORM", default=[],
                        help=f"include Numba for this platform: here, all, {', '.join(PLATFORMS)}")
    parser.add_argument("--blender", nargs="+", metavar="VERSION", default=[],
                        help=f"the Blender that Numba is for: {', '.join(BLENDERS)}, the path of its program, or any, "
                        "which is three times as large (default: the one that is here)")
    arguments = parser.parse_args()
    if arguments.blender and not arguments.numba:
        parser.error("--blender needs --numba: the zip without Numba fits every Blender")
    try:
        for package in _packages(arguments.folder, arguments.numba, arguments.blender):
            with zipfile.ZipFile(package) as archive:
                count = len(archive.namelist())
            print(f"{package}: {count} files, {package.stat().st_size / 1024:.0f} KiB", flush=True)
    except subprocess.CalledProcessError as error:
        print(f"build_extension.py: failed: {' '.join(error.cmd)}", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"build_extension.py: {error}", file=sys.stderr)
        return 1
    print("In Blender: Edit > Preferences > Add-ons > the arrow at the top right > Install from Disk.")
    print(f"Or: blender --command extension install-file -r user_default -e {package}")
    return 0


def _packages(folder: Path, platforms: list[str], blenders: list[str]) -> Iterator[Path]:
    """Build the zips for these platforms and Blenders, the small one if there is no platform; yield their paths."""
    if not platforms:
        yield build(folder)
        return
    if "all" in platforms:
        platforms, blenders = list(PLATFORMS), blenders or list(LONG_TERM)
    for blender in [target(text) for text in blenders] or [target(None)]:
        print(f"for {blender.reason}", flush=True)
        for platform in platforms:
            yield build_with_numba(folder, this_platform() if platform == "here" else platform, blender)


if __name__ == "__main__":
    sys.exit(main())

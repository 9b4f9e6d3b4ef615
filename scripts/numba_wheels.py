# SPDX-License-Identifier: GPL-3.0-or-later
"""Download of Numba's wheels for Blender on one platform, by pip on any machine. Used by build_extension.py.

Runs in any Python from 3.9 on. Where pip is not installed, as in the Python inside Blender, the copy of it that Python
brings along is used, and nothing is installed.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from email.parser import Parser
from pathlib import Path

BLENDERS = {"4.5": "3.11", "5.0": "3.11", "5.1": "3.13", "5.2": "3.13"}
"""Python version of each Blender from blender.org. Some Linux distributions build Blender with their own Python."""
LONG_TERM = ("4.5", "5.2")
"""Blender's versions with long-term support."""
PYTHONS = ("3.11", "3.13", "3.14")
"""Python versions of a zip that fits any Blender; the last one is that of some Linux distributions. Blender refuses an
extension with wheels if none fits its Python."""

PLATFORMS = {                                       # Blender's name: pip's tags
    "linux-x64": [f"manylinux_2_{n}_x86_64" for n in range(28, 16, -1)] + ["manylinux2014_x86_64"],
    "linux-arm64": [f"manylinux_2_{n}_aarch64" for n in range(28, 16, -1)] + ["manylinux2014_aarch64"],
    "macos-arm64": [f"macosx_{n}_0_arm64" for n in range(14, 10, -1)],
    "windows-x64": ["win_amd64"],
}
ROOT = Path(__file__).resolve().parent.parent
NUMBA = re.compile(r'^numba = \["(numba[^"]*)"\]$', re.MULTILINE)
"""The line of pyproject.toml that says which Numba is needed."""


def this_platform() -> str:
    """Return Blender's name of the platform of this machine."""
    system = {"Darwin": "macos"}.get(platform.system(), platform.system().lower())
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    name = f"{system}-{machine}"
    if name not in PLATFORMS:
        raise SystemExit(f"there is no Numba for {name} and every Python of Blender; choose one of "
                         f"{', '.join(PLATFORMS)}")
    return name


def download(folder: Path, platform_name: str, pythons: Sequence[str] = PYTHONS) -> list[str]:
    """Download the wheels of Numba and llvmlite to `folder` and return their names. NumPy is part of Blender.

    They are unmodified, for each of the Python versions.
    """
    [numba] = NUMBA.findall((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    names = []
    for python in pythons:
        wheel = _download(folder, platform_name, python, numba)
        names += [wheel.name, _download(folder, platform_name, python, _llvmlite_of(wheel)).name]
    return names


def _download(folder: Path, platform_name: str, python: str, requirement: str) -> Path:
    """Download one wheel to `folder` and return its path."""
    before = set(folder.glob("*.whl"))
    tags = [word for tag in PLATFORMS[platform_name] for word in ("--platform", tag)]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
                    "--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *tags,
                    "--dest", str(folder), requirement], check=True, env={**os.environ, **_where_pip_is()})
    [wheel] = set(folder.glob("*.whl")) - before
    return wheel


def _where_pip_is() -> dict[str, str]:
    """Return variables of the environment in which `python -m pip` runs."""
    if importlib.util.find_spec("pip"):
        return {}
    ensurepip = importlib.util.find_spec("ensurepip")
    folders = list(ensurepip.submodule_search_locations or []) if ensurepip else []
    for folder in folders:
        for wheel in Path(folder).glob("_bundled/pip-*.whl"):
            return {"PYTHONPATH": str(wheel)}
    raise SystemExit(f"{sys.executable} has no pip, which downloads Numba: install it, or take another Python")


def _llvmlite_of(numba: Path) -> str:
    """Return the requirement of llvmlite in a wheel of Numba."""
    with zipfile.ZipFile(numba) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive.read(name).decode())
    return next(line for line in metadata.get_all("Requires-Dist", []) if line.startswith("llvmlite"))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Download of Numba's wheels for Blender on one platform, by pip on any machine. Used by build_extension.py."""

import platform
import subprocess
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

PYTHONS = ("3.11", "3.13", "3.14")
"""Python versions of Blender 4.5 LTS, of 5.2 LTS, and of Blender as some Linux distributions build it. Blender refuses
an extension with wheels if none fits its Python, so all are needed."""

PLATFORMS = {                                       # Blender's name: pip's tags
    "linux-x64": [f"manylinux_2_{n}_x86_64" for n in range(28, 16, -1)] + ["manylinux2014_x86_64"],
    "linux-arm64": [f"manylinux_2_{n}_aarch64" for n in range(28, 16, -1)] + ["manylinux2014_aarch64"],
    "macos-arm64": [f"macosx_{n}_0_arm64" for n in range(14, 10, -1)],
    "windows-x64": ["win_amd64"],
}
ROOT = Path(__file__).resolve().parent.parent


def this_platform() -> str:
    """Return Blender's name of the platform of this machine."""
    system = {"Darwin": "macos"}.get(platform.system(), platform.system().lower())
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(platform.machine().lower(), platform.machine())
    name = f"{system}-{machine}"
    if name not in PLATFORMS:
        raise SystemExit(f"there is no Numba for {name} and every Python of Blender; choose one of "
                         f"{', '.join(PLATFORMS)}")
    return name


def download(folder: Path, platform_name: str) -> list[str]:
    """Download the wheels of Numba and llvmlite to `folder` and return their names. NumPy is part of Blender."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [numba] = project["optional-dependencies"]["numba"]
    names = []
    for python in PYTHONS:
        wheel = _download(folder, platform_name, python, numba)
        names += [wheel.name, _download(folder, platform_name, python, _llvmlite_of(wheel)).name]
    return names


def _download(folder: Path, platform_name: str, python: str, requirement: str) -> Path:
    """Download one wheel to `folder` and return its path."""
    before = set(folder.glob("*.whl"))
    tags = [word for tag in PLATFORMS[platform_name] for word in ("--platform", tag)]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input",
                    "--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", python, *tags,
                    "--dest", str(folder), requirement], check=True)
    [wheel] = set(folder.glob("*.whl")) - before
    return wheel


def _llvmlite_of(numba: Path) -> str:
    """Return the requirement of llvmlite in a wheel of Numba."""
    with zipfile.ZipFile(numba) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(archive.read(name).decode())
    return next(line for line in metadata.get_all("Requires-Dist", []) if line.startswith("llvmlite"))

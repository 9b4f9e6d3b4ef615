# SPDX-License-Identifier: GPL-3.0-or-later
"""Install the system libraries that the bpy package needs and that are missing here (Linux only).

    .venv-bpy45/bin/python scripts/system_libraries.py

The bpy package contains its libraries except those of the window system. `ldd` lists those that are missing, and
PACKAGES has their packages on Debian and Ubuntu. Without root or apt-get, the command to run is printed.
"""

import ctypes.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = {                                         # library: Debian package
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libXrender.so.1": "libxrender1",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
    "libgomp.so.1": "libgomp1",
}
# Loaded while Blender runs, for rendering without a screen. ldd does not list them.
LOADED_LATER = {"EGL": ["libegl1", "libegl-mesa0", "libgl1-mesa-dri"]}
FIND_BPY = "import importlib.util; print(importlib.util.find_spec('bpy').submodule_search_locations[0])"


def output_of(*command: str | Path) -> str:
    """Run a command and return its standard output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def missing_packages(python: Path) -> list[str]:
    """Return the Debian packages of the libraries that bpy does not find in the environment of `python`."""
    packages: set[str] = set()
    for library in Path(output_of(python, "-c", FIND_BPY).strip()).glob("__init__*.so"):
        listing = output_of("ldd", library)
        for line in listing.splitlines():
            if "not found" in line:
                name = line.split()[0]
                if name not in PACKAGES:
                    raise SystemExit(f"bpy needs {name}, which is missing here: install the package that has it")
                packages.add(PACKAGES[name])
    for name, needed in LOADED_LATER.items():
        if ctypes.util.find_library(name) is None:
            packages.update(needed)
    return sorted(packages)


def install_missing(python: Path) -> None:
    """Install the missing libraries of bpy, or exit with the command that installs them."""
    if not sys.platform.startswith("linux"):
        return
    packages = missing_packages(python)
    if not packages:
        return
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise SystemExit(f"Blender needs system libraries that are missing. Run: sudo {' '.join(command)}")
    print(f"installing system libraries: {' '.join(packages)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["apt-get", "update", "--quiet"], command):
        subprocess.run(step, check=True, stdout=subprocess.DEVNULL, env=environment)


if __name__ == "__main__":
    install_missing(Path(sys.executable))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What pyproject.toml cannot say about the wheel: the folder `core` is installed as the package `muslin`.

Its version is that of blender_manifest.toml, which MANIFEST.in adds to a source distribution.
The fabric presets, which stand beside `core` in the source tree, become `muslin/presets`. The Blender add-on is not
part of the wheel.
"""

import shutil
import tomllib
from pathlib import Path

from setuptools import find_packages, setup

BUILD = Path("build", "wheel")
"""Files made on the way, which are removed first: a module that was deleted must not get into the next wheel."""

shutil.rmtree(BUILD, ignore_errors=True)
BUILD.mkdir(parents=True)
setup(
    version=tomllib.loads(Path("blender_manifest.toml").read_text(encoding="utf-8"))["version"],
    packages=["muslin", *(f"muslin.{name}" for name in find_packages("core")), "muslin.presets.fabrics"],
    package_dir={"muslin": "core", "muslin.presets": "presets"},
    package_data={"muslin": ["py.typed"], "muslin.presets.fabrics": ["*.toml"]},
    options={"build": {"build_base": str(BUILD)}, "egg_info": {"egg_base": str(BUILD)}},
)

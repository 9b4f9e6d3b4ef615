# SPDX-License-Identifier: GPL-3.0-or-later
"""The version of Muslin, which blender_manifest.toml states, and nothing else."""

from __future__ import annotations

import tomllib
from importlib.metadata import version
from pathlib import Path

MANIFEST = Path(__file__).resolve().parents[1] / "blender_manifest.toml"
"""Beside this package in the source tree and in the extension. pip's package has the version in its metadata."""

__version__: str = (tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["version"] if MANIFEST.is_file()
                    else version("muslin"))

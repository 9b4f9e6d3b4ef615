# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender with the extension registered from these sources, for parts of the suite that run in its Python."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def registered() -> ModuleType:
    """Return the extension as the package `muslin`, registered in an empty Blender."""
    os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="muslin-tests-")    # read when bpy is imported
    import bpy

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    spec = importlib.util.spec_from_file_location("muslin", ROOT / "__init__.py",
                                                  submodule_search_locations=[str(ROOT)])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["muslin"] = module
    spec.loader.exec_module(module)
    module.register()
    return module

# SPDX-License-Identifier: GPL-3.0-or-later
"""Start another process: a script that imports the core by its folder, run by `SolverProcess` and `KernelProcess`.

The core has another name in every installation ("core", "muslin", "bl_ext.user_default.muslin.core"), and Python
packages of the parent may be in folders that only the parent knows. The script gets both as JSON, and the module whose
`main` it calls. It imports the core under the parent's name, so that compiled kernels are shared, but none of the
packages around it: their code is for Blender. Nothing of Muslin can be imported before.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from types import ModuleType


def import_core(name: str, folder: str) -> ModuleType:
    """Import the package in `folder` under a dotted name, with empty packages for the parts before the last dot."""
    parts = name.split(".")
    for count in range(1, len(parts)):
        package = ".".join(parts[:count])
        sys.modules[package] = ModuleType(package)
    spec = importlib.util.spec_from_file_location(name, f"{folder}/__init__.py", submodule_search_locations=[folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no core in {folder}")
    core = importlib.util.module_from_spec(spec)
    sys.modules[name] = core
    spec.loader.exec_module(core)
    return core


def with_packages(own: list[str], paths: list[str]) -> list[str]:
    """Return the search path with the folders of the parent's packages: after Python's own, before other packages."""
    rest = [path for path in own if path not in paths]
    at = next((n for n, path in enumerate(rest) if path.endswith(("site-packages", "dist-packages"))), len(rest))
    return [*rest[:at], *paths, *rest[at:]]


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    sys.path[:] = with_packages(sys.path, given["paths"])
    import_core(given["name"], given["core"])
    importlib.import_module(f"{given['name']}.cache.{given['main']}").main(*given["arguments"])

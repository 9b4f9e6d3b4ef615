# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs mypy over core, the add-on and the scripts: `python scripts/check_types.py`.

Inside Blender the checkout is a package, and its modules import each other by relative names, such as
`from ..core import`. The checkout's folder may have any name, so mypy is given a temporary folder in which it
stands as `muslin`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def mypy(*arguments: str, folder: Path) -> int:
    """mypy's exit code, run in `folder` with the project's settings."""
    cache = f"--cache-dir={ROOT / '.mypy_cache'}"
    command = [sys.executable, "-m", "mypy", f"--config-file={ROOT / 'pyproject.toml'}", cache, *arguments]
    return subprocess.run(command, cwd=folder, check=False).returncode


def main() -> int:
    packages = [name for name in ("core", "cloth_addon") if (ROOT / name / "__init__.py").exists()]
    with tempfile.TemporaryDirectory() as temporary:
        os.symlink(ROOT, Path(temporary) / "muslin", target_is_directory=True)
        arguments = [word for name in packages for word in ("-p", f"muslin.{name}")]
        failed = mypy(*arguments, folder=Path(temporary))
    scripts = sorted(str(path) for path in (ROOT / "scripts").glob("*.py"))
    return failed or mypy("--explicit-package-bases", *scripts, folder=ROOT / "scripts")


if __name__ == "__main__":
    sys.exit(main())

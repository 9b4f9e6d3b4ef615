# SPDX-License-Identifier: GPL-3.0-or-later
"""Find a Python of a given version that runs here and can create virtual environments.

    python3 scripts/find_python.py 3.13        prints its path, or fails with instructions

Candidates, in this order: $PYTHON313 (for 3.13), the running interpreter, `python3.13` on PATH, versions of pyenv and
uv, and the usual system folders. Every candidate is run to print its version, because a name on PATH may be a launcher
of a version that is not installed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROBE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def candidates(version: str) -> Iterator[Path]:
    """Yield paths that may be a Python `version`, the best first."""
    named = os.environ.get("PYTHON" + version.replace(".", ""))
    if named:
        yield Path(named)
    yield Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    home = Path.home()
    for root in (os.environ.get("PYENV_ROOT"), home / ".pyenv", "/opt/pyenv", "/usr/local/pyenv"):
        if root:
            yield from sorted(Path(root).glob(f"versions/{version}*/bin/python{version}"), reverse=True)
    uv = home / ".local/share/uv/python"
    yield from sorted(uv.glob(f"cpython-{version}*/bin/python{version}"), reverse=True)
    for folder in ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", f"/opt/python{version}/bin"):
        yield Path(folder) / f"python{version}"


def runs(python: Path, version: str) -> bool:
    """Return whether `python` starts, has the given version, and can create virtual environments."""
    try:
        answer = subprocess.run([python, "-c", PROBE], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and answer.stdout.strip() == version


def find_python(version: str) -> Path | None:
    """Return the first candidate that runs, or None."""
    return next((python for python in candidates(version) if runs(python, version)), None)


def main() -> int:
    """Print the path of a Python of the version in the argument."""
    if len(sys.argv) != 2:
        print("usage: find_python.py VERSION, such as 3.11", file=sys.stderr)
        return 2
    version = sys.argv[1]
    python = find_python(version)
    if python is None:
        variable = "PYTHON" + version.replace(".", "")
        print(
            f"no Python {version} found (with the venv and ensurepip modules). "
            f"Install it, or set {variable} to its path.",
            file=sys.stderr,
        )
        return 1
    print(python)
    return 0


if __name__ == "__main__":
    sys.exit(main())

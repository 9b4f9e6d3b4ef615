# SPDX-License-Identifier: GPL-3.0-or-later
"""Create one of the project's virtual environments: `python3 scripts/environment.py core311`.

Each environment is a folder .venv-NAME in the checkout, with the packages of the extras of pyproject.toml that
ENVIRONMENTS lists. .venv-NAME/.ready is written last, so that an interrupted set-up is repeated.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from find_python import find_python
from system_libraries import install_missing

ROOT = Path(__file__).resolve().parent.parent
# Both backends are tested with NumPy 1 and 2. core313 and bpy45 have no Numba, which tests that it is optional.
ENVIRONMENTS = {                                     # name: Python, extras of pyproject.toml
    "core311": ("3.11", ["numpy1", "numba", "tests", "oracle"]),
    "core313": ("3.13", ["tests", "oracle"]),
    "bpy45": ("3.11", ["bpy45", "tests"]),
    "bpy52": ("3.13", ["bpy52", "numba", "tests"]),
    "lint": ("3.11", ["numpy1", "lint"]),
    "docs": ("3.11", ["docs"]),
}
READ_EXTRAS = """
import sys, tomllib
project = tomllib.load(open(sys.argv[1], "rb"))["project"]
print("\\n".join(project["dependencies"]))
for extra in sys.argv[2:]:
    print("\\n".join(project["optional-dependencies"][extra]))
"""


def run(*command: object) -> str:
    """Run a command and return its standard output. Its standard error is not redirected."""
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def make(name: str) -> Path:
    """Create the environment `name`, install its packages, and return the path of its Python."""
    version, extras = ENVIRONMENTS[name]
    folder = ROOT / f".venv-{name}"
    python = folder / "bin" / "python"
    found = find_python(version)
    if found is None:
        raise SystemExit(f"{folder.name} needs Python {version}, not found: see scripts/find_python.py")
    if not python.exists():
        shutil.rmtree(folder, ignore_errors=True)
        run(found, "-m", "venv", folder)
    packages = run(python, "-c", READ_EXTRAS, ROOT / "pyproject.toml", *extras).split()
    print(f"{folder.name}: Python {version}, installing {' '.join(packages)}", flush=True)
    quiet = ("--quiet", "--quiet", "--disable-pip-version-check", "--no-input")
    run(python, "-m", "pip", "install", *quiet, *packages)
    if any(package.startswith("bpy") for package in packages):
        install_missing(python)
    (folder / ".ready").write_text("\n".join(packages) + "\n")
    return python


def main() -> int:
    """Create the environment that the argument names."""
    if len(sys.argv) != 2 or sys.argv[1] not in ENVIRONMENTS:
        print(f"usage: environment.py {'|'.join(ENVIRONMENTS)}", file=sys.stderr)
        return 2
    try:
        make(sys.argv[1])
    except subprocess.CalledProcessError as error:
        print(f"environment.py: failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

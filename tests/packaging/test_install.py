# SPDX-License-Identifier: GPL-3.0-or-later
"""The wheel that pip makes, in an empty environment: `import muslin` gives what `import core` gives here."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import numpy as np
import pytest

import core

ROOT = Path(__file__).resolve().parents[2]
VERSION = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))["version"]
BUILT_FROM = ("pyproject.toml", "setup.py", "MANIFEST.in", "blender_manifest.toml", "README.md", "LICENSE", "core",
              "presets")
SIMULATION = """
positions = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
mesh = muslin.ClothMesh(positions, faces=[[0, 1, 2, 3]])
cloth = muslin.Cloth(mesh, muslin.Material.preset("cotton"), pins={0: None})
*_, frame = muslin.simulate(muslin.Scene([cloth]), muslin.Solver(backend="numpy"), frames=range(1, 3))
"""


def run(*command, **options):
    """Return the standard output of a command; its errors are shown where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Return the wheel, built from a copy so that nothing is written into the source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in BUILT_FROM:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index",
        "--no-build-isolation", "--wheel-dir", folder / "dist", folder)
    (path,) = (folder / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory):
    """Return the Python of a new environment that has the wheel and NumPy, but no Numba."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    found = folder / "bin" / "python"
    packages = Path(run(found, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    run(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index",
        "--target", packages, wheel)
    for path in Path(np.__file__).parents[1].glob("numpy*"):             # and its libraries, in a folder of their own
        (packages / path.name).symlink_to(path)
    return found


def ask(python, expression, before=""):
    """Return the value of an expression in the environment, where `muslin` and `np` are imported."""
    code = f"import json, muslin\nimport numpy as np\n{before}\nprint(json.dumps({expression}))"
    return json.loads(run(python, "-I", "-c", code))


def test_the_wheel_holds_the_modules_the_presets_and_nothing_else(wheel):
    modules = {Path("muslin") / path.relative_to(ROOT / "core") for path in (ROOT / "core").rglob("*.py")}
    presets = {Path("muslin") / path.relative_to(ROOT) for path in (ROOT / "presets").rglob("*.toml")}
    with zipfile.ZipFile(wheel) as archive:
        packed = {Path(name) for name in archive.namelist() if ".dist-info/" not in name}
    assert packed == modules | presets | {Path("muslin/py.typed")}


def test_the_package_has_the_public_names_of_core_and_no_core_is_installed(python):
    assert ask(python, "sorted(muslin.__all__)") == sorted(core.__all__)
    assert ask(python, "[name for name in muslin.__all__ if not hasattr(muslin, name)]") == []
    assert ask(python, "importlib.util.find_spec('core') is None", "import importlib.util")


def test_the_metadata_states_version_and_extras(python):
    assert ask(python, "version('muslin')", "from importlib.metadata import version") == VERSION
    assert ask(python, "muslin.__version__") == core.__version__ == VERSION
    extras = ask(python, "metadata('muslin').get_all('Provides-Extra')", "from importlib.metadata import metadata")
    assert "numba" in extras


def test_the_citation_states_the_same_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == VERSION


def test_the_presets_are_found(python):
    assert ask(python, "muslin.Material.presets()") == list(core.Material.presets())


def test_two_frames_are_the_same_as_in_the_source_tree(python):
    here = {"muslin": core, "np": np}
    exec(SIMULATION, here)
    assert ask(python, "frame.positions[0].tolist()", SIMULATION) == here["frame"].positions[0].tolist()


def test_an_example_runs_with_the_installed_package(python):
    assert "highest particle" in run(python, ROOT / "examples" / "fountain.py")

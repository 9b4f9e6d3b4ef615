# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension as users get it: the zip is what Blender's own tool packs, and is installed into an empty Blender.

Runs in a Python with the bpy package, in a process of its own.
"""

import importlib.util
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOP = {"__init__.py", "blender_manifest.toml", "LICENSE", "README.md", "CHANGELOG.md"}
SOURCES = {"cloth_addon": {".py"}, "core": {".py"}, "presets": {".toml", ".png"}}       # folder: what it holds

pytestmark = pytest.mark.skipif(importlib.util.find_spec("bpy") is None, reason="needs the bpy package")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "build_extension.py"), str(folder)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.zip"))


def test_the_zip_contains_the_sources_and_nothing_else(package: Path) -> None:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=True).stdout.splitlines()
    wanted = {name for name in listed
              if name in TOP or Path(name).suffix in SOURCES.get(name.split("/")[0], ()) and (ROOT / name).is_file()}
    with zipfile.ZipFile(package) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
    assert packed == wanted


def test_the_zip_is_named_after_the_manifest(package: Path) -> None:
    manifest = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    assert package.name == f"{manifest['id']}-{manifest['version']}.zip"


def test_blender_s_own_tool_accepts_the_zip_and_packs_the_same(package: Path, tmp_path: Path) -> None:
    [bpy] = importlib.util.find_spec("bpy").submodule_search_locations
    [tool] = Path(bpy).glob("*/scripts/addons_core/bl_pkg/cli/blender_ext.py")
    theirs = tmp_path / "theirs.zip"
    for arguments in (["validate", package], ["build", "--source-dir", ROOT, "--output-filepath", theirs]):
        done = subprocess.run([sys.executable, str(tool), *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr

    def contents(path: Path) -> dict[str, bytes]:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}

    assert contents(package) == contents(theirs)


def test_the_zip_installs_enables_and_disables_in_an_empty_blender(package: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(Path(__file__).with_name("installed.py")), str(package),
                           package.stem.partition("-")[2]],
                          env={**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path)}, cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "policy violation" not in (done.stdout + done.stderr).lower()
    assert "installed and enabled" in done.stdout


@pytest.mark.skipif(os.name != "posix", reason="no signals here")
def test_a_command_that_is_killed_leaves_nothing_of_muslin_in_the_temporary_folder(tmp_path: Path) -> None:
    killed = f"""
import os, runpy, signal, sys
command = runpy.run_path({str(ROOT / "__main__.py")!r})
command["main"].__globals__["extension"] = lambda: os.kill(os.getpid(), signal.SIGKILL)
command["main"](["bake", "--help"])
"""
    done = subprocess.run([sys.executable, "-c", killed], env={**os.environ, "TMPDIR": str(tmp_path)}, cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == -9, done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("blender_")] == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension's zip is built by any Python from 3.9 on, without a package, as Blender's own tool does."""

import ast
import importlib
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

from tests.cases import cases

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
USED = ("build_extension", "extension_manifest", "find_blender", "numba_wheels")
TEXT = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return importlib.import_module


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


# ---------------------------------------------------------------------- anywhere


def test_what_builds_the_zip_is_python_3_9_and_its_own_library():
    for name in USED:
        tree = ast.parse((SCRIPTS / f"{name}.py").read_text(encoding="utf-8"), feature_version=(3, 9))
        nodes = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
        found = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        found |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        packages = {package.split(".")[0] for package in found}
        assert packages <= (set(sys.stdlib_module_names) | set(USED)) - {"tomllib"}, name


def test_an_empty_python_builds_the_zip_and_twice_the_same_bytes(tmp_path):
    venv.create(tmp_path / "empty", with_pip=False)
    python = next(path for path in (tmp_path / "empty").glob("*/python*") if path.is_file())
    for folder in ("one", "two"):
        done = run(python, "-s", "-E", SCRIPTS / "build_extension.py", tmp_path / folder, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    [one], [two] = ((tmp_path / folder).iterdir() for folder in ("one", "two"))
    assert one.name == f"muslin-{tomllib.loads(TEXT)['version']}.zip" and one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as archive:
        assert archive.testzip() is None
        assert archive.read("blender_manifest.toml").decode() == TEXT
        assert {"__init__.py", "cloth_addon/__init__.py", "core/__init__.py"} <= set(archive.namelist())


@cases("variable, folder", [("there", "a file/below"), ("there", "a file")])
def test_a_folder_that_cannot_be_written_is_a_message(tmp_path, variable, folder):
    (tmp_path / "a file").write_text(variable)
    done = run(sys.executable, SCRIPTS / "build_extension.py", tmp_path / folder)
    assert done.returncode == 1 and done.stderr.startswith("build_extension.py: ") and "Traceback" not in done.stderr


def test_pip_is_found_where_it_is_not_installed(tmp_path, module, monkeypatch):
    """As in the Python inside Blender."""
    wheels = module("numba_wheels")
    (tmp_path / "_bundled").mkdir()
    wheel = tmp_path / "_bundled" / "pip-1-py3-none-any.whl"
    wheel.write_bytes(b"")
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path)]})
    monkeypatch.setattr(wheels.importlib.util, "find_spec", lambda name: spec if name == "ensurepip" else None)
    assert wheels._where_pip_is() == {"PYTHONPATH": str(wheel)}
    wheel.unlink()
    with pytest.raises(SystemExit, match="has no pip"):
        wheels._where_pip_is()


def test_the_numba_that_is_packed_is_the_one_of_the_project(module):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert module("numba_wheels").NUMBA.findall(text) == project["optional-dependencies"]["numba"]


# ---------------------------------------------------------------------- the manifest


def test_the_manifest_is_read_as_python_s_own_reader_does(module):
    read = module("extension_manifest").read_toml
    more = ('a = 1\nb = true\n\n# c = 2\n[d.e]\nf = [\n  "g]",   # [h\n  "i",\n]\n'
            'j = "k = \\u00e4 # l"  # m\n[n]\no = 0.5\n')
    for text in (TEXT, more):
        assert read(text) == tomllib.loads(text)
    for text in ("a = [1,\n2", "a", "a = b", "a = {b = 1}\nc = =", "a = os.remove('b')", "[a\n"):
        with pytest.raises(ValueError):
            read(text)


@cases("change", [
    {"id": ""}, {"id": "my cloth"}, {"id": "_a"}, {"version": "1.0"}, {"version": 1}, {"tagline": "Ends with a stop."},
    {"tagline": "x" * 65}, {"type": "tool"}, {"license": []}, {"license": ["MIT"]}, {"license": "SPDX:MIT"},
    {"blender_version_min": "4.5"}, {"tags": ["a", 1]}, {"permissions": {"fly": "why"}}, {"colour": "red"},
    {"permissions": {"files": "Ends with a stop."}}, {"wheels": ["./wheels/a-1-py3-none-any.whl"]},
    {"maintainer": None}])
def test_a_manifest_that_blender_would_refuse_is_refused(module, change):
    manifest = module("extension_manifest")
    files = ["__init__.py", "blender_manifest.toml"]
    good = tomllib.loads(TEXT)
    assert manifest.faults(good, files) == []
    assert manifest.faults({**good, **change}, files)
    assert manifest.faults(good, files[1:]) and manifest.faults(good, [*files, "wheels/a.whl"])


@cases("path, pattern, fits", [
    ("a.pyc", "*.pyc", True), ("b/a.pyc", "*.pyc", True), ("b/a.py", "*.pyc", False), (".git/", ".*", True),
    ("docs/", "/docs/", True), ("core/docs/", "/docs/", False), ("docs", "/docs/", False), ("c/docs/", "docs/", True),
    ("core/py.typed", "/core/py.typed", True), ("a/core/py.typed", "core/py.typed", False), ("x/y/", "x/*", True),
    ("x/y/z", "x/*", False), ("__main__.py", "/__main__.py", True), ("core/__main__.py", "/__main__.py", False)])
def test_patterns_leave_out_what_they_do_in_a_gitignore(module, path, pattern, fits):
    assert module("build_extension").is_left_out(path, [pattern]) == fits


def test_a_pattern_that_is_not_understood_is_refused(module):
    for pattern in ("!a", "a/**", "**/a"):
        with pytest.raises(ValueError, match="is not understood"):
            module("build_extension").is_left_out("b", [pattern])


def test_a_zip_that_is_refused_leaves_nothing_behind(module, tmp_path):
    with pytest.raises(ValueError, match="__init__.py is not in the zip"):
        module("build_extension").pack(tmp_path / "a.zip", {"blender_manifest.toml": TEXT.encode()})
    assert list(tmp_path.iterdir()) == []


def test_a_manifest_with_wheels_differs_only_by_wheels_and_platform(module):
    names = ["numba-1-cp313-cp313-any.whl", "llvmlite-1-cp313-cp313-any.whl"]
    made = tomllib.loads(module("build_extension").with_wheels(TEXT, "linux-x64", names))
    assert made.pop("wheels") == ["./wheels/llvmlite-1-cp313-cp313-any.whl", "./wheels/numba-1-cp313-cp313-any.whl"]
    assert made.pop("platforms") == ["linux-x64"]
    assert made == tomllib.loads(TEXT)


def downloads(module, monkeypatch):
    """Let the wheels be files that hold their platform. Return the versions of Python that were asked for."""
    asked = []

    def download(folder, platform, pythons):
        folder.mkdir()
        asked.append((platform, *pythons))
        tags = [python.replace(".", "") for python in pythons]
        names = [f"{name}-1-cp{tag}-any.whl" for tag in tags for name in ("numba", "llvmlite")]
        for name in names:
            (folder / name).write_bytes(platform.encode())
        return names

    monkeypatch.setattr(module("build_extension"), "download", download)
    return asked


def test_the_zip_with_numba_holds_the_wheels_of_one_blender_and_the_download_goes(module, tmp_path, monkeypatch):
    build_extension, target = module("build_extension"), module("find_blender").target
    (tmp_path / "wheels-linux-x64").mkdir()
    (tmp_path / "wheels-linux-x64" / "left-1-py3-none-any.whl").write_bytes(b"by a run that was killed")
    downloads(module, monkeypatch)
    package = build_extension.build_with_numba(tmp_path, "linux-x64", target("5.2"))
    assert list(tmp_path.iterdir()) == [package] and package.name.endswith("-numba-linux-x64-blender5.2.zip")
    with zipfile.ZipFile(package) as archive:
        wheels = {name for name in archive.namelist() if name.startswith("wheels/")}
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    names = {f"wheels/{name}-1-cp313-any.whl" for name in ("numba", "llvmlite")}
    assert wheels == names == {path[2:] for path in manifest["wheels"]}


def test_a_zip_is_built_for_every_platform_and_blender_that_is_wanted(module, tmp_path, monkeypatch):
    asked = downloads(module, monkeypatch)
    packages = list(module("build_extension")._packages(tmp_path, ["windows-x64", "linux-x64"], ["4.5", "any"]))
    assert [package.name.partition("-numba-")[2] for package in packages] == [
        "windows-x64-blender4.5.zip", "linux-x64-blender4.5.zip", "windows-x64.zip", "linux-x64.zip"]
    assert asked[1:3] == [("linux-x64", "3.11"), ("windows-x64", "3.11", "3.13", "3.14")]
    wheels = module("numba_wheels")
    everything = list(module("build_extension")._packages(tmp_path, ["all"], []))
    assert len(everything) == len(wheels.PLATFORMS) * len(wheels.LONG_TERM)


# ---------------------------------------------------------------------- the Blender it is for


def fake_blender(folder, text):
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "blender"
    program.write_text(f"#!/bin/sh\necho Blender\necho '{text}'\necho Blender quit\n")
    program.chmod(0o755)
    return program


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for Blender is a shell script")
@cases("answer, name, pythons", [
    ("found 4.5 3.11", "-blender4.5", ("3.11",)), ("found 5.2 3.13", "-blender5.2", ("3.13",)),
    ("found 5.2 3.14", "-python3.14", ("3.14",)), ("found 6.0 3.15", "-python3.15", ("3.15",))])
def test_a_blender_is_asked_for_its_python(module, tmp_path, monkeypatch, answer, name, pythons):
    blenders = module("find_blender")
    program = fake_blender(tmp_path / answer.replace(" ", "-"), answer)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    for given in (str(program), None):                                  # by its path, and on the search path
        found = blenders.target(given)
        assert (found.name, found.pythons) == (name, pythons) and str(program) in found.reason


def test_without_a_blender_the_zip_is_for_the_newest_with_long_term_support(module, monkeypatch):
    blenders = module("find_blender")
    monkeypatch.setattr(blenders.shutil, "which", lambda name: None)
    newest = blenders.LONG_TERM[-1]
    assert blenders.target(None).name == f"-blender{newest}" and "--blender" in blenders.target(None).reason


def test_the_python_inside_blender_builds_the_zip_for_its_blender(module, monkeypatch):
    blenders = module("find_blender")
    for path, version in (("Blender 4.5/4.5/python/bin/python.exe", "4.5"), ("opt/b/5.2/python/bin/python3.13", "5.2"),
                          ("usr/bin/python3", ""), ("opt/python/bin/python3", ""), ("python", "")):
        assert blenders.own_blender(Path("/", path)) == version
    monkeypatch.setattr(sys, "executable", "/opt/blender/4.5/python/bin/python3.11")
    monkeypatch.setattr(sys, "version_info", (3, 11, 7))
    assert blenders.target(None).name == "-blender4.5"


@cases("given, message", [
    ("3.6", "give its path"), ("/no/blender", "does not start"), (sys.executable, "does not say")])
def test_a_blender_that_is_not_known_is_a_message(module, given, message):
    with pytest.raises(ValueError, match=message):
        module("find_blender").target(given)


def test_a_blender_without_numba_is_wrong_usage(tmp_path):
    done = run(sys.executable, SCRIPTS / "build_extension.py", tmp_path, "--blender", "4.5")
    assert done.returncode == 2 and "--blender needs --numba" in done.stderr and not list(tmp_path.iterdir())

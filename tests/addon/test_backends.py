# SPDX-License-Identifier: GPL-3.0-or-later
"""The backends in Blender: choice, preparation with a message to the user, and the name in the report."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import bpy
import pytest

from tests.addon import builders


@pytest.fixture
def backends(extension):
    return extension.backends


@pytest.fixture
def kernels(backends, monkeypatch):
    """Return the core's module, whose knowledge of backends a test may change."""
    monkeypatch.setattr(backends.kernels, "_reasons", dict(backends.kernels._reasons))
    return backends.kernels


def set_numba(monkeypatch, backends, installed, known=False, reason=None):
    """Make Numba look installed or not, imported or not (`known`), and broken for a `reason` or not."""
    monkeypatch.setattr(backends, "is_installed", lambda: installed)
    backends.kernels._reasons.pop("numba", None)
    if known:
        backends.kernels._reasons["numba"] = reason


def stages(steps):
    """Return the stages of a bake in order, without repetitions."""
    found = []
    for progress in steps:
        if progress.stage not in found[-1:]:
            found.append(progress.stage)
    return found


# ---------------------------------------------------------------------- the choice


@pytest.mark.parametrize(("choice", "name"), [("AUTOMATIC", None), ("NUMPY", "numpy"), ("NUMBA", "numba")])
def test_the_scene_s_choice_reaches_the_solver(extension, scene, choice, name):
    scene.muslin.backend = choice
    assert extension.settings.scene_settings_of(scene).solver().backend == name
    assert extension.settings.scene_settings_of(scene, backend="numpy").solver().backend == "numpy"


def test_the_report_and_the_panel_name_the_backend(extension, scene):
    sheet = builders.sheet(3)
    scene.muslin.backend = "NUMPY"
    report = builders.finish(extension.bake.bake(scene))
    assert report.backend == "numpy" and "numba" not in report.versions
    text = extension.certificate_text
    kept = extension.baked_record.report_of(sheet)
    assert dict(text.facts(kept))["Computed By"] == "NumPy"
    del kept["backend"]
    assert "Computed By" not in dict(text.facts(kept)), "a bake of an older version has no backend"


def test_the_report_has_the_version_of_numba_if_it_ran(extension, scene, backends):
    if backends.kernels.why_not("numba"):
        pytest.skip(backends.kernels.why_not("numba"))
    builders.sheet(3)
    report = builders.finish(extension.bake.bake(scene))
    assert report.backend == "numba" and report.versions["numba"] == sys.modules["numba"].__version__


def test_the_command_line_overrides_the_scene_s_backend(extension, scene, tmp_path):
    builders.sheet(3)
    scene.muslin.backend = "NUMBA"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    report = tmp_path / "report.json"
    assert extension.command_line.main(["bake", "--backend", "numpy", "--json", str(report)]) == 0
    assert json.loads(report.read_text())["backend"] == "numpy"
    assert extension.command_line.main(["bake", "--backend", "cuda"]) == 2


# ---------------------------------------------------------------------- Numba is missing


def test_a_bake_with_a_missing_numba_is_an_error_with_the_reason(extension, scene, backends, kernels, monkeypatch):
    sheet = builders.sheet(3)
    scene.muslin.backend = "NUMBA"
    set_numba(monkeypatch, backends, installed=False, known=True, reason="ModuleNotFoundError: No module named 'numba'")
    with pytest.raises(extension.core.SolverError, match=r"No module named 'numba'; take 'numpy'"):
        builders.finish(extension.bake.bake(scene))
    assert sheet.data.shape_keys is None


def test_an_automatic_bake_notes_a_broken_numba_and_not_a_missing_one(
        extension, scene, backends, kernels, monkeypatch):
    builders.sheet(3)
    reason = "ImportError: Numba needs NumPy 2.2 or less"
    for installed, notes in ((False, 0), (True, 1)):
        set_numba(monkeypatch, backends, installed, known=True, reason=reason)
        report = builders.finish(extension.bake.bake(scene))
        assert report.backend == "numpy"
        assert [reason in note for note in report.notes] == [True] * notes


@pytest.mark.parametrize(("choice", "state", "remark"), [
    ("NUMPY", {"installed": False}, ""),
    ("AUTOMATIC", {"installed": False}, "no Numba: NumPy runs instead"),
    ("NUMBA", {"installed": False}, "no Numba: choose another"),
    ("AUTOMATIC", {"installed": True}, "known after the first bake"),
    ("AUTOMATIC", {"installed": True, "known": True}, "Numba runs"),
    ("AUTOMATIC", {"installed": True, "known": True, "reason": "ImportError: x"}, "ImportError: x. NumPy runs instead"),
    ("NUMBA", {"installed": True, "known": True, "reason": "ImportError: x"}, "ImportError: x. Choose another"),
])
def test_the_panel_shows_which_backend_runs_and_why(backends, kernels, monkeypatch, choice, state, remark):
    set_numba(monkeypatch, backends, **state)
    monkeypatch.setattr(kernels, "_import_numba", lambda: pytest.fail("drawing imports Numba"))
    assert remark in backends.remark(choice) and bool(remark) == bool(backends.remark(choice))


# ---------------------------------------------------------------------- the first bake


def test_the_first_bake_compiles_outside_the_main_thread_and_says_so(
        extension, scene, backends, kernels, monkeypatch):
    builders.sheet(3)
    set_numba(monkeypatch, backends, installed=True)
    warmed_up = []

    def warm_up(solver, models):
        yield 0.0
        warmed_up.append((solver.backend, list(models)))
        yield 0.5
        kernels._reasons["numba"] = "continue with NumPy"

    monkeypatch.setattr(extension.core, "warm_up", warm_up)
    cases = ((False, None, backends.COMPILING), (True, None, backends.LOADING),
             (False, "others may write to /", "Compiling kernels, in every session: others may write to /"))
    for kept, reason, text in cases:
        kernels._reasons.pop("numba", None)
        monkeypatch.setattr(extension.core, "is_kept", lambda solver, models, kept=kept: kept)
        monkeypatch.setattr(kernels, "why_not_kept", lambda reason=reason: reason)
        steps = extension.bake.bake(scene)
        progress = next(steps)
        assert not warmed_up, "Numba is imported in the main thread"
        assert (progress.stage, progress.touches_blender, progress.fraction) == (text, False, 0.0)
        assert stages(steps) == [text, ""]
        assert warmed_up.pop() == (None, ["baraff_witkin"])


def test_numpy_has_nothing_to_prepare(extension, scene, backends, kernels, monkeypatch):
    builders.sheet(3)
    set_numba(monkeypatch, backends, installed=True)
    scene.muslin.backend = "NUMPY"
    assert stages(extension.bake.bake(scene)) == [""]
    assert not kernels.is_known("numba")


def test_kernels_are_stored_in_the_extension_s_own_folder(backends, kernels, monkeypatch, tmp_path):
    set_numba(monkeypatch, backends, installed=True)
    monkeypatch.setattr(kernels, "_cache_parent", None)
    backends.keep_compiled()
    folder = Path(bpy.utils.extension_path_user(backends.__package__.partition(".cloth_addon")[0], path="kernels"))
    assert folder.is_dir() and kernels.cache_folder().parent == folder
    kernels._reasons["numba"] = None
    backends.keep_compiled()                            # does nothing once kernels are in use


def test_without_an_extension_kernels_are_stored_in_the_user_s_cache(backends, kernels, monkeypatch):
    def refuse(*_, **__):
        raise ValueError("The package is not an extension")

    set_numba(monkeypatch, backends, installed=True)
    monkeypatch.setattr(kernels, "_cache_parent", None)
    monkeypatch.setattr(bpy.utils, "extension_path_user", refuse)
    backends.keep_compiled()
    assert kernels._cache_parent is None

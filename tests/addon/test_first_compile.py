# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels are compiled in the background once there is cloth, and the panel says so."""

from __future__ import annotations

import bpy
import pytest

from tests.addon import builders, drawing


class Process:
    """Stands for the process that compiles."""

    started: list[Process] = []

    def __init__(self, solver, models):
        self.solver, self.models, self.lives, self.why, self.stopped = solver, models, True, "", False
        Process.started.append(self)

    def is_alive(self):
        return self.lives

    def problem(self):
        return self.why

    def stop(self):
        self.stopped, self.lives = True, False


@pytest.fixture
def first_compile(extension, monkeypatch):
    """Return the module, with Numba installed, no kernels kept, and processes that are none."""
    module = extension.first_compile
    Process.started = []
    monkeypatch.setattr(module, "KernelProcess", Process)
    monkeypatch.setattr(module, "_state", type(module._state)())
    monkeypatch.setattr(extension.backends, "is_installed", lambda: True)
    monkeypatch.setattr(extension.backends, "why_broken", lambda: "")
    monkeypatch.setattr(extension.backends, "keeps", lambda: True)
    monkeypatch.setattr(extension.backends, "remark",
                        lambda choice: "" if choice == "NUMPY" else extension.backends.NOT_TRIED)
    monkeypatch.setattr(extension.core, "is_kept", lambda solver, models: False)
    yield module
    if bpy.app.timers.is_registered(module._look):
        bpy.app.timers.unregister(module._look)


def test_an_object_that_becomes_cloth_begins_it_in_a_window_and_only_once(extension, scene, first_compile, monkeypatch):
    begun = []
    monkeypatch.setattr(first_compile, "begin", begun.append)
    sheet = builders.sheet(3)
    assert begun == []                                              # without a window, the bake compiles
    monkeypatch.setattr(first_compile, "bpy", Windowed())
    sheet.muslin.kind = "NONE"
    sheet.muslin.kind = "CLOTH"
    assert len(begun) == 2                                          # `begin` looks what there is to do


class Windowed:
    """bpy with a window."""

    context = bpy.context
    app = type("App", (), {"background": False})


def test_it_compiles_what_the_scene_s_cloth_needs(extension, scene, first_compile):
    first_compile.begin(scene)
    assert Process.started == []                                    # no cloth
    builders.sheet(3)
    builders.sheet(3).muslin.model = "mass_spring"
    scene.muslin.integrator = "IMPLICIT_EULER"
    first_compile.begin(scene)
    first_compile.begin(scene)
    [process] = Process.started
    assert process.models == ["baraff_witkin", "mass_spring"] and process.solver.integrator == "implicit_euler"


@pytest.mark.parametrize("reason", ["numpy", "not installed", "broken", "not kept", "kept already", "failed", "bakes"])
def test_it_does_not_begin_where_there_is_nothing_to_do(extension, scene, first_compile, monkeypatch, reason):
    builders.sheet(3)
    if reason == "numpy":
        scene.muslin.backend = "NUMPY"
    elif reason == "failed":
        first_compile._state.problem = "ImportError: x"
    else:
        module, name, value = {
            "not installed": (extension.backends, "is_installed", lambda: False),
            "broken": (extension.backends, "why_broken", lambda: "ImportError: x"),
            "not kept": (extension.backends, "keeps", lambda: False),
            "kept already": (extension.core, "is_kept", lambda solver, models: True),
            "bakes": (extension.bake_job, "current", lambda: object())}[reason]
        monkeypatch.setattr(module, name, value)
    first_compile.begin(scene)
    assert Process.started == [] and first_compile.text() == ""


def test_the_panel_shows_the_state(extension, scene, first_compile, monkeypatch):
    sheet = builders.sheet(3)
    assert first_compile.remark(scene) == extension.backends.NOT_TRIED
    first_compile.begin(scene)
    bpy.context.view_layer.objects.active = sheet
    assert first_compile.COMPILING in texts(extension.bake_panels.MUSLIN_PT_bake)
    assert first_compile.COMPILING in texts(extension.bake_panels.MUSLIN_PT_solver)
    [process] = Process.started
    assert first_compile._look() == first_compile.POLL
    process.lives = False
    assert first_compile._look() is None and first_compile.text() == ""
    assert first_compile.COMPILING not in texts(extension.bake_panels.MUSLIN_PT_bake)
    monkeypatch.setattr(extension.core, "is_kept", lambda solver, models: True)
    assert first_compile.remark(scene) == first_compile.COMPILED
    scene.muslin.backend = "NUMPY"
    assert first_compile.remark(scene) == ""


def texts(panel):
    """Return all that a panel draws, as one text."""
    layout = drawing.Layout()
    drawing.draw(panel, layout)
    return " ".join(layout.texts)


def test_a_failure_is_told_and_not_tried_again(extension, scene, first_compile):
    builders.sheet(3)
    first_compile.begin(scene)
    Process.started[0].lives, Process.started[0].why = False, "ImportError: no llvmlite"
    first_compile._look()
    assert first_compile.remark(scene) == "Numba does not run here: ImportError: no llvmlite"
    first_compile.begin(scene)
    assert len(Process.started) == 1


def test_a_bake_ends_it_and_compiles_the_rest(extension, scene, first_compile):
    builders.sheet(3)
    first_compile.begin(scene)
    scene.muslin.backend = "NUMPY"
    builders.finish(extension.bake.bake(scene))
    assert Process.started[0].stopped and first_compile.text() == ""

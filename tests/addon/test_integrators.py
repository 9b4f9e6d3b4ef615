# SPDX-License-Identifier: GPL-3.0-or-later
"""Every integrator of the core is in the panel with a description, and bakes or reports what to change."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from tests.addon import builders

NAMES = ("bdf2", "implicit_euler", "projective_dynamics", "explicit_euler", "symplectic_euler", "verlet")
EXPLICIT = ("EXPLICIT_EULER", "SYMPLECTIC_EULER", "VERLET")


def menu(scene):
    return list(scene.muslin.bl_rna.properties["integrator"].enum_items)


def test_the_menu_has_every_integrator_with_a_title_and_a_description(extension, scene):
    items = menu(scene)
    assert {item.identifier.lower() for item in items} == set(extension.core.integrators()) == set(NAMES)
    assert items[0].identifier == "BDF2" == scene.muslin.integrator
    for item in items:
        assert item.name and item.description, item.identifier
    assert len({item.value for item in items}) == len(items)


def test_the_stored_numbers_of_the_first_integrators_do_not_change(extension, scene):
    numbers = {item.identifier: item.value for item in menu(scene)}
    assert numbers["BDF2"] == 0 and numbers["IMPLICIT_EULER"] == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_integrator_bakes_a_hanging_sheet(extension, scene, name):
    sheet = builders.sheet(4)
    builders.pin(sheet, {0: 1.0, 3: 1.0})
    sheet.muslin.stretch_warp = sheet.muslin.stretch_weft = 30.0
    sheet.muslin.shear, sheet.muslin.damping = 10.0, 0.005
    scene.frame_end = 5
    scene.muslin.integrator, scene.muslin.steps_per_frame = name.upper(), 4
    builders.finish(extension.bake.bake(scene))
    seen = builders.displayed(sheet, 5)
    assert np.isfinite(seen).all() and seen[:, 2].min() < -0.05
    assert name == extension.settings.scene_settings_of(scene).solver().integrator


def test_projective_dynamics_iterates_until_it_converges_and_notes_if_it_did_not(extension, scene):
    sheet = builders.sheet(6)
    builders.pin(sheet, {0: 1.0, 5: 1.0})
    scene.frame_end, scene.muslin.integrator = 4, "PROJECTIVE_DYNAMICS"
    assert extension.settings.scene_settings_of(scene).solver().newton_iterations is None
    report = builders.finish(extension.bake.bake(scene))
    assert report.summary()["not_converged"] == 0 and not report.notes
    scene.muslin.projective_iterations = 2
    assert extension.settings.scene_settings_of(scene).solver().newton_iterations == 2
    report = builders.finish(extension.bake.bake(scene))
    assert report.summary()["not_converged"] > 0
    assert any("Raise Outer Iterations" in note for note in report.notes)


@pytest.mark.parametrize("name", EXPLICIT)
def test_steps_that_are_too_long_for_an_explicit_integrator_are_an_error(extension, scene, name):
    builders.sheet(20)
    scene.muslin.integrator = name
    scene.frame_end = 3
    errors = importlib.import_module(extension.core.__name__).UnstableStepError
    with pytest.raises(errors, match="set steps_per_frame to"):
        builders.finish(extension.bake.bake(scene))


def test_options_of_integrators_reach_the_solver(extension, scene):
    scene.muslin.projective_solve, scene.muslin.verlet_kd = "CG", 0.5
    solver = extension.settings.scene_settings_of(scene).solver()
    assert solver.projective_solve == "cg" and solver.verlet_kd == 0.5


def test_a_bake_shows_the_steps_of_an_explicit_integrator_before_the_first(extension, scene):
    sheet = builders.sheet(4)
    sheet.muslin.stretch_warp = sheet.muslin.stretch_weft = 3000.0
    sheet.muslin.shear, sheet.muslin.damping = 1000.0, 0.0
    scene.frame_end = 3
    scene.muslin.integrator, scene.muslin.steps_per_frame = "VERLET", 4
    seen = [(p.done, p.stage, p.certificate) for p in extension.bake.bake(scene)]
    (stage,) = {stage for done, stage, _ in seen if stage and done}
    steps = [c.steps for _, _, c in seen if c is not None]
    assert stage == f"Baking - {steps[-1]} steps a frame" and steps[-1] >= 32

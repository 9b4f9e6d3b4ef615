# SPDX-License-Identifier: GPL-3.0-or-later
"""Single changes while a bake runs, with their messages. test_fault_matrix.py has all kinds at all moments."""

from __future__ import annotations

import sys

import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as

NAN, INFINITY = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def still(extension, monkeypatch):
    """Simulate cloth without motion."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, lambda x, n: x))


def test_an_object_removed_while_its_bake_runs_is_named(extension, scene):
    import bpy

    builders.sheet()
    box = builders.box()
    bake = extension.bake.bake(scene)
    next(bake)
    bpy.data.objects.remove(box)
    with pytest.raises(extension.core.SceneError, match="Box: was removed while the bake ran"):
        builders.finish(bake)


def moves_by(value):
    def move(scene, *_):
        if scene.frame_current == 3:
            scene.objects["Sheet"].location.x = value
            scene.view_layers[0].update()
    return move


def test_a_mesh_edited_while_its_bake_runs_is_not_written_to(extension, scene):
    sheet = builders.sheet()
    bake = extension.bake.bake(scene)
    for progress in bake:
        if progress.done == progress.total:
            break
    sheet.data.vertices.add(1)
    with pytest.raises(extension.core.SceneError, match="Sheet: its mesh changed while the bake ran"):
        builders.finish(bake)
    assert sheet.data.shape_keys is None


def test_an_object_in_edit_mode_when_its_bake_ends_is_not_written_to(extension, scene):
    import bpy

    sheet = builders.sheet()
    bake = extension.bake.bake(scene)
    for progress in bake:
        if progress.done == progress.total:
            break
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(extension.core.SceneError, match="Sheet: is in Edit Mode"):
        builders.finish(bake)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert sheet.data.shape_keys is None


@pytest.mark.parametrize("own_keys", [False, True])
@pytest.mark.parametrize("moment", [1, 3, 4, 5])
def test_the_earlier_bake_may_be_deleted_while_the_next_one_runs(extension, scene, monkeypatch, moment, own_keys):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    sheet = builders.sheet()
    scene.muslin.backend = "NUMPY"
    if own_keys:
        sheet.shape_key_add(name="Basis")
        sheet.shape_key_add(name="Bulge").value = 0.5
    builders.finish(extension.bake.bake(scene))
    wanted = builders.state(sheet)["keys"]
    steps = extension.bake.bake(scene)
    for _ in range(moment):
        next(steps)
    extension.shape_keys.delete_bake(sheet)
    builders.finish(steps)
    assert builders.state(sheet)["keys"] == wanted


@pytest.mark.parametrize("moment", [1, 3, 4, 5])
def test_objects_may_swap_their_names_while_a_bake_runs(extension, scene, monkeypatch, moment):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    scene.muslin.backend = "NUMPY"
    sheet, box = builders.sheet(), builders.box()
    builders.animate(box, "location", {1: (0.0, 0.0, -2.0), 4: (1.0, 0.0, -2.0)})
    builders.finish(extension.bake.bake(scene))
    wanted = builders.state(sheet)["keys"]
    steps = extension.bake.bake(scene)
    for _ in range(moment):
        next(steps)
    sheet.name, box.name, sheet.name = "Third", "Sheet", "Box"
    report = builders.finish(steps)
    assert builders.state(sheet)["keys"] == wanted and report.cloths == ["Box"]
    assert extension.bake_changes.changes(scene, sheet, report.as_dict()) == []


@pytest.mark.parametrize("moment", [0, 1, 4, 5])
def test_an_extension_that_is_switched_off_ends_the_bake(extension, scene, moment):
    sheet = builders.sheet()
    scene.muslin.backend = "NUMPY"
    before = builders.state(sheet)["keys"]
    steps = extension.bake.bake(scene)
    for _ in range(moment):
        next(steps)
    extension.object_properties.detach()
    try:
        with pytest.raises(extension.core.SceneError, match="Muslin was switched off .*bake again"):
            builders.finish(steps)
    finally:
        extension.object_properties.attach()
    assert builders.state(sheet)["keys"] == before and scene.frame_current == 1


@pytest.mark.parametrize("where", ["read", "prepare", "solve", "fit", "write"])
def test_a_lack_of_memory_is_an_error_with_a_remedy_that_changes_nothing(extension, scene, monkeypatch, where):
    owner, name = {
        "read": (extension.frame_window.FrameWindow, "read"), "prepare": (extension.backends, "prepare"),
        "fit": (extension.key_coordinates.KeyFitter, "key_coordinates"), "write": (extension.shape_keys, "_add_key"),
        "solve": (sys.modules[f"{extension.core.__name__}.cache.bake"], "simulate")}[where]

    def fails(*_, **__):
        raise MemoryError

    sheet = builders.sheet()
    sheet.shape_key_add(name="Basis")
    scene.frame_set(3)
    scene.muslin.backend = "NUMPY"
    before = builders.state(sheet)
    monkeypatch.setattr(owner, name, fails)
    with pytest.raises(extension.core.SceneError, match="not enough memory .*bake fewer frames"):
        builders.finish(extension.bake.bake(scene))
    assert builders.state(sheet) == before

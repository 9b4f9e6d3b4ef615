# SPDX-License-Identifier: GPL-3.0-or-later
"""Linked duplicates share the mesh, and with it a bake in shape keys: whoever deletes it is told whose bake it is."""

from __future__ import annotations

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as


@pytest.fixture(autouse=True)
def simulated(extension, monkeypatch):
    """Bake in no time."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))


@pytest.fixture
def pair(extension, scene):
    """A baked sheet with one shape key of the user's, and its linked duplicate."""
    sheet = builders.sheet(name="Sheet")
    builders.finish(extension.bake.bake(scene))
    twin = sheet.copy()
    twin.name = "Twin"
    scene.collection.objects.link(twin)
    bpy.context.view_layer.objects.active = twin
    return sheet, twin


def asked(extension, operator):
    """Return the question of an operator that is pressed in the window; None if it is executed at once."""
    questions = []
    manager = SimpleNamespace(invoke_confirm=lambda *_, message, **__: questions.append(message) or {"RUNNING_MODAL"})
    found = getattr(extension.operators, operator)
    pressed = SimpleNamespace(bl_label=found.bl_label, targets=found.targets, execute=lambda context: {"FINISHED"})
    context = SimpleNamespace(object=bpy.context.object, scene=bpy.context.scene, window_manager=manager)
    result = found.invoke(pressed, context, None)
    assert result == ({"RUNNING_MODAL"} if questions else {"FINISHED"})
    return questions[0] if questions else None


@pytest.mark.parametrize("operator", ["MUSLIN_OT_bake_delete", "MUSLIN_OT_remove"])
def test_a_button_that_deletes_a_shared_bake_asks_first_and_names_the_other_object(extension, pair, operator):
    wanted = "'Sheet' shares the mesh of 'Twin' and loses this bake, too"
    assert asked(extension, operator) == wanted
    assert getattr(extension.operators, operator).description(bpy.context, None).endswith(wanted)
    pair[0].data = pair[0].data.copy()
    assert asked(extension, operator) is None and not getattr(extension.operators, operator).description(
        bpy.context, None)


def test_all_bakes_of_the_scene_ask_only_for_objects_that_are_no_cloth_of_it(extension, pair):
    assert asked(extension, "MUSLIN_OT_bake_delete_all") is None
    pair[1].muslin.kind = "NONE"
    assert asked(extension, "MUSLIN_OT_bake_delete_all") == "'Twin' shares the mesh of 'Sheet' and loses this bake, too"


def test_a_mesh_cache_is_no_shared_bake(extension, scene):
    sheet = builders.sheet()
    sheet.muslin.result = "MESH_CACHE"
    builders.finish(extension.bake.bake(scene))
    twin = sheet.copy()
    scene.collection.objects.link(twin)
    assert extension.baked_record.sharing(sheet) == [] == extension.baked_record.sharing(twin)


@pytest.mark.parametrize("own_key", [False, True])
@pytest.mark.parametrize("together", [False, True])
def test_a_shared_bake_is_deleted_once_and_both_objects_are_as_before(extension, scene, own_key, together):
    sheet = builders.sheet()
    if own_key:
        sheet.shape_key_add(name="Basis")
        sheet.shape_key_add(name="Own")
        sheet.active_shape_key_index = 1
    before = builders.displayed(sheet, 2)
    builders.finish(extension.bake.bake(scene))
    twin = sheet.copy()
    scene.collection.objects.link(twin)
    for obj in (sheet, twin):
        obj.active_shape_key_index = 3
    bpy.context.view_layer.objects.active = twin
    assert (bpy.ops.muslin.bake_delete_all() if together else bpy.ops.muslin.bake_delete()) == {"FINISHED"}
    for obj in (sheet, twin):
        assert not extension.baked_record.has_bake(obj)
        assert np.array_equal(builders.displayed(obj, 2), before)
        assert obj.active_shape_key_index == (1 if own_key else 0)
    assert (sheet.data.shape_keys is not None) == own_key

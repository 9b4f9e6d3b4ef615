# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of library overrides and of linked meshes by a Mesh Cache modifier: saved, opened, baked again, deleted."""

from __future__ import annotations

from pathlib import Path

import bpy
import pytest

from tests.addon import builders
from tests.addon.saved_files import reopen, save, shown
from tests.addon.scripted import crumple, replace_simulation, simulate_as


def overridden(character):
    """Return a library override of the cloth in a collection, with all that is in it."""
    made = character.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    if character.name in bpy.context.scene.collection.children and character != made:
        bpy.context.scene.collection.children.unlink(character)
    return next(obj for obj in made.all_objects if obj.type == "MESH")


def with_linked_mesh(character):
    """Return a local object with the linked mesh of the cloth in a collection."""
    sheet = bpy.data.objects.new("Sheet", character.all_objects["Sheet"].data)
    bpy.context.scene.collection.objects.link(sheet)
    bpy.context.scene.collection.children.unlink(character)
    sheet.muslin.kind = "CLOTH"
    return sheet


def of_both(character):
    """Return an override of the cloth whose mesh is one as well."""
    sheet = overridden(character)
    sheet.data = sheet.data.override_create()
    return sheet


KINDS = {"override": overridden, "override of both": of_both, "linked mesh": with_linked_mesh}


@pytest.fixture(params=KINDS)
def shot(extension, scene, monkeypatch, tmp_path, request):
    """Return a cloth of a character in a library, in another file, and simulate random motion."""
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    return KINDS[request.param](linked(scene, tmp_path))


def linked(scene, tmp_path: Path, prepare=lambda sheet: None):
    """Write a character to a library and return it, linked into a new file."""
    character = bpy.data.collections.new("Character")
    scene.collection.children.link(character)
    sheet = builders.sheet()
    sheet.name = "Sheet"
    scene.collection.objects.unlink(sheet)
    character.objects.link(sheet)
    sheet.modifiers.new("Subdivision", "SUBSURF").levels = 0
    save(tmp_path / "library.blend")
    prepare(sheet)
    save(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.frame_end, bpy.context.scene.muslin.backend = 4, "NUMPY"
    save(tmp_path / "shot.blend")
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, here):
        here.collections = ["Character"]
    bpy.context.scene.collection.children.link(here.collections[0])
    return here.collections[0]


def again(path: Path):
    """Save, open and return the cloth."""
    save(path)
    reopen(path)
    return next(obj for obj in bpy.context.scene.objects if obj.muslin.kind == "CLOTH")


def test_a_bake_and_its_settings_are_saved_and_deleted(extension, shot, tmp_path):
    path, name = tmp_path / "shot.blend", shot.name
    before = shown(name)
    shot.muslin.result, shot.muslin.shear = "MESH_CACHE", 123.0
    for _ in range(2):                                              # and baked again
        builders.finish(extension.bake.bake(bpy.context.scene))
    baked = shown(name)
    assert baked != before
    sheet = again(path)
    assert shown(sheet.name) == baked and sheet.muslin.shear == 123.0
    assert extension.baked_record.report_of(sheet)["last"] == 4 and not extension.baked_record.is_of_library(sheet)
    assert extension.takes.in_use(sheet) is not None
    assert extension.bake_changes.changes(bpy.context.scene, sheet, extension.baked_record.report_of(sheet)) == []
    bpy.context.view_layer.objects.active = sheet
    assert bpy.ops.muslin.bake_delete() == {"FINISHED"}
    assert [modifier.name for modifier in sheet.modifiers if modifier.type == "MESH_CACHE"] == []
    sheet = again(path)
    assert shown(sheet.name) == before and not extension.baked_record.has_bake(sheet)


def test_all_bakes_are_deleted_with_those_of_overrides(extension, shot):
    shot.muslin.result = "MESH_CACHE"
    builders.finish(extension.bake.bake(bpy.context.scene))
    assert bpy.ops.muslin.bake_delete_all() == {"FINISHED"}
    assert not extension.baked_record.has_bake(shot)


def test_shape_keys_are_refused_and_the_other_result_is_named(extension, shot):
    with pytest.raises(extension.core.SceneError, match="Sheet.*choose Mesh Cache as the Result"):
        builders.finish(extension.bake.bake(bpy.context.scene))


def test_a_bake_stays_when_an_override_is_made_local(extension, scene, monkeypatch, tmp_path):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    sheet = overridden(linked(scene, tmp_path))
    sheet.muslin.result = "MESH_CACHE"
    builders.finish(extension.bake.bake(bpy.context.scene))
    baked = shown(sheet.name)
    sheet.make_local()
    sheet = again(tmp_path / "shot.blend")
    assert sheet.override_library is None and shown(sheet.name) == baked
    extension.shape_keys.delete_bakes([sheet])
    assert not extension.baked_record.has_bake(sheet)


@pytest.mark.parametrize("result", ["SHAPE_KEYS", "MESH_CACHE"])
def test_a_bake_of_the_library_is_not_covered_by_another(extension, scene, monkeypatch, tmp_path, result):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))

    def prepare(sheet):
        sheet.muslin.result, scene.muslin.backend = result, "NUMPY"
        builders.finish(extension.bake.bake(scene))

    sheet = overridden(linked(scene, tmp_path, prepare))
    sheet.muslin.result = "MESH_CACHE"
    assert extension.baked_record.is_of_library(sheet)
    with pytest.raises(extension.core.SceneError, match="its bake belongs to the file that it is linked from"):
        builders.finish(extension.bake.bake(bpy.context.scene))
    bpy.context.view_layer.objects.active = sheet
    with pytest.raises(RuntimeError, match="is a library override|is linked from"):
        bpy.ops.muslin.bake_delete()

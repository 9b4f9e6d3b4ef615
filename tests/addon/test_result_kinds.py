# SPDX-License-Identifier: GPL-3.0-or-later
"""Both kinds of results on objects that are renamed, duplicated, joined, appended, linked and changed after a bake."""

from __future__ import annotations

import importlib
import json
import random

import bpy
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.saved_files import RESULTS, assert_plays, bake, cloth, reopen, save, shown, used
from tests.addon.scripted import crumple, replace_simulation, simulate_as
from tests.addon.test_fuzz_records import altered_text
from tests.cases import case_count


@pytest.fixture(autouse=True)
def simulated(extension, scene, monkeypatch, tmp_path):
    """Simulate random motion in a file that was saved."""
    scene.muslin.backend = "NUMPY"
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    save(tmp_path / "a.blend")


@pytest.mark.parametrize("how", ["script", "window", "switch"])
def test_more_shape_keys_than_the_memory_holds_are_refused_before_any_work(extension, scene, monkeypatch, how):
    sheet = cloth("MESH_CACHE")
    monkeypatch.setattr(extension.shape_key_size, "_memory", lambda: 12 * len(sheet.data.vertices) * 3)
    bake(extension)
    bpy.context.view_layer.objects.active = sheet
    wanted, found = shown(), extension.takes.takes_in(extension.takes.cache_folder(scene), now=True)
    sheet.muslin.result = "SHAPE_KEYS"
    message = f"choose Mesh Cache as the result, or bake at most 3 frames .*'Sheet' has {len(sheet.data.vertices)} ver"
    with pytest.raises(RuntimeError if how == "switch" else extension.core.SceneError, match=message):
        if how == "script":
            bake(extension)
        elif how == "window":
            next(extension.window_bake.WindowBake(scene, [sheet]).steps())
        else:
            bpy.ops.muslin.bake_use()
    assert shown() == wanted and sheet.data.shape_keys is None
    assert extension.takes.takes_in(extension.takes.cache_folder(scene), now=True) == found


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("linked", [False, True], ids=["own mesh", "linked mesh"])
def test_a_duplicate_plays_and_is_baked_and_deleted_on_its_own(extension, scene, result, linked):
    sheet = cloth(result)
    bake(extension)
    wanted, take = shown(), used(extension)
    copy = sheet.copy()
    if not linked:
        copy.data = sheet.data.copy()
    scene.collection.objects.link(copy)
    assert shown(copy.name) == wanted
    assert used(extension, copy.name).id == take.id
    assert extension.apply_take.objects_of(take, scene, copy) == [copy]
    assert extension.apply_take.objects_of(take, scene) == [sheet]
    if linked and result == "SHAPE_KEYS":
        return
    extension.shape_keys.delete_bake(copy)
    assert shown() == wanted
    if not linked:
        for _ in range(3):
            bake(extension, scene, copy)
        assert_plays(extension, wanted)


def test_a_duplicate_goes_on_in_a_take_of_its_own(extension, scene, monkeypatch):
    simulate = importlib.import_module(f"{extension.core.__name__}.stepping.simulate").simulate
    replace_simulation(monkeypatch, extension.core, simulate)
    sheet = cloth("MESH_CACHE")
    bake(extension)
    wanted, take = shown(), used(extension)
    copy = sheet.copy()
    copy.data = sheet.data.copy()
    scene.collection.objects.link(copy)
    scene.frame_end = 6
    builders.finish(extension.bake.bake(scene, [copy], resume=extension.preparation.Continuation(take.folder)))
    assert used(extension, copy.name).id != take.id and used(extension, copy.name).reached == 6
    assert used(extension).id == take.id and used(extension).reached == 4
    assert shown() == wanted


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", ["a/b\\c", "Ärmel ☂", "x" * 60, "dots...", ".hidden", "con", "  "])
def test_names_of_any_kind_are_baked_saved_and_found(extension, scene, tmp_path, result, name):
    sheet = cloth(result, name)
    name = sheet.name
    bake(extension)
    wanted = shown(name)
    assert used(extension, name).folder.parent == tmp_path / "muslin_cache"
    save(tmp_path / "a.blend")
    reopen(tmp_path / "a.blend")
    assert_plays(extension, wanted, name)


@pytest.mark.parametrize("result", RESULTS)
def test_an_appended_cloth_plays_and_finds_its_take_or_none(extension, scene, tmp_path, result):
    cloth(result)
    bake(extension)
    wanted = shown()
    save(tmp_path / "a.blend")
    for folder in (tmp_path, tmp_path / "other" / "deep"):
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = bpy.context.scene
        save(folder / "b.blend")
        with bpy.data.libraries.load(str(tmp_path / "a.blend")) as (_, here):
            here.objects = ["Sheet"]
        scene.collection.objects.link(here.objects[0])
        assert shown() == wanted, folder
        take = used(extension)
        assert take is None or take.is_complete
        if result == "MESH_CACHE":
            assert take is not None
        save(folder / "b.blend")
        reopen(folder / "b.blend")
        assert shown() == wanted, folder
        assert extension.shape_keys.delete_bake(bpy.data.objects["Sheet"])


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("override", [False, True])
def test_a_linked_cloth_plays_and_its_file_keeps_its_take(extension, scene, tmp_path, result, override):
    cloth(result)
    bake(extension)
    wanted = shown()
    save(tmp_path / "a.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    save(tmp_path / "other" / "b.blend")
    with bpy.data.libraries.load(str(tmp_path / "a.blend"), link=True) as (_, here):
        here.objects = ["Sheet"]
    obj = here.objects[0]
    bpy.context.scene.collection.objects.link(obj)
    if override:
        obj = obj.override_create(remap_local_usages=True)
        bpy.context.scene.frame_end = 4
    assert [builders.displayed(obj, frame).tobytes() for frame in range(1, 5)] == wanted
    extension.takes.forget()
    assert extension.takes.in_use(obj) is not None
    extension.bake_state.state_of(bpy.context.scene, obj)
    save(tmp_path / "other" / "b.blend")
    reopen(tmp_path / "other" / "b.blend")
    obj = bpy.data.objects["Sheet"]
    assert [builders.displayed(obj, frame).tobytes() for frame in range(1, 5)] == wanted


@pytest.mark.parametrize("result", RESULTS)
def test_two_scenes_with_cloths_of_one_name_keep_their_takes_apart(extension, scene, tmp_path, result):
    sheet = cloth(result)
    bake(extension)
    wanted = shown()
    other = bpy.data.scenes.new("Other")
    other.muslin.backend, other.frame_end = "NUMPY", 4
    bpy.context.window.scene = other
    twin = cloth(result)
    assert twin.name == "Sheet.001"
    for _ in range(3):
        bake(extension, other)
    bpy.context.window.scene = scene
    assert_plays(extension, wanted)
    assert extension.takes.in_use(sheet).id != extension.takes.in_use(twin).id


@pytest.mark.parametrize("result", RESULTS)
def test_modifiers_added_after_a_bake_keep_it(extension, scene, result):
    sheet = cloth(result)
    bake(extension)
    wanted = shown()
    sheet.modifiers.new("Subdivision", "SUBSURF").show_viewport = False
    sheet.modifiers.new("Above", "CAST").factor = 0.0
    sheet.modifiers.move(len(sheet.modifiers) - 1, 0)
    assert_plays(extension, wanted)
    assert extension.shape_keys.delete_bake(sheet)
    assert sorted(modifier.name for modifier in sheet.modifiers) == ["Above", "Subdivision"]


@pytest.mark.parametrize("result", RESULTS)
def test_results_are_switched_back_and_forth_from_one_take(extension, scene, result):
    sheet = cloth(result)
    bake(extension)
    wanted, take = shown(), used(extension)
    bpy.context.view_layer.objects.active = sheet
    for kind in (*[other for other in RESULTS if other != result], result):
        sheet.muslin.result = kind
        assert bpy.ops.muslin.bake_use() == {"FINISHED"}
        assert_plays(extension, wanted)
        assert used(extension).id == take.id


HOSTILE = ["/", "//", "//../..", "", ".", "/etc", "//muslin_cache/../../x", "\0", "C:\\Windows", "//" + "a/" * 2000,
           "\\\\server\\share", "~"]


@pytest.mark.parametrize("field", ["take", "take_id", "cloth"])
@pytest.mark.parametrize("result", RESULTS)
def test_records_with_strange_takes_delete_and_write_nothing_elsewhere(extension, scene, tmp_path, field, result):
    sheet = cloth(result)
    bake(extension)
    save(tmp_path / "a.blend")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "frames.muslin").write_text("mine")
    owner = extension.baked_record.holder(sheet)
    values = json.loads(owner[extension.baked_record.PROPERTY])
    for value in [*HOSTILE, "//mine", None, 5, [], {}]:
        owner[extension.baked_record.PROPERTY] = json.dumps({**values, field: value})
        extension.takes.forget()
        extension.bake_state.state_of(scene, sheet)
        extension.mesh_cache.missing_file(sheet)
        save(tmp_path / "copy.blend", copy=True)
        extension.takes.delete_older(scene, [sheet], set())
        bpy.context.view_layer.objects.active = sheet
        if bpy.ops.muslin.cache_free.poll():
            bpy.ops.muslin.cache_free()
        assert (tmp_path / "mine" / "frames.muslin").read_text() == "mine"
        assert sorted(path.name for path in tmp_path.iterdir() if not path.name.endswith("1")) == [
            "a.blend", "copy.blend", "mine", "muslin_cache"]


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("active", [0, 1])
def test_joined_cloths_say_that_the_mesh_has_changed_and_are_baked_again(extension, scene, result, active):
    sheets = [cloth(result, "A"), cloth(result, "B")]
    sheets[1].location.x = 3.0
    bpy.context.view_layer.update()
    bake(extension, scene, *sheets)
    joined = sheets[active]
    for sheet in sheets:
        sheet.select_set(True)
    bpy.context.view_layer.objects.active = joined
    assert bpy.ops.object.join() == {"FINISHED"}
    drawn = draw_all(extension, joined)
    assert any("Changed since the bake" in text and "mesh" in text for text in drawn.texts)
    assert extension.shape_keys.delete_bake(joined)
    assert len(joined.data.vertices) == 32 and joined.data.shape_keys is None and not joined.modifiers
    bake(extension, scene, joined)
    assert used(extension, joined.name).is_complete


def test_altered_records_of_mesh_caches_are_drawn_and_deleted_completely_or_not_at_all(extension, scene):
    source = cloth("MESH_CACHE")
    bake(extension)
    values = json.loads(source[extension.baked_record.PROPERTY])
    deleted = 0
    for seed in range(case_count(60)):
        rng = random.Random(seed)
        sheet = source.copy()
        sheet.data = source.data.copy()
        scene.collection.objects.link(sheet)
        sheet[extension.baked_record.PROPERTY] = altered_text(values, rng)
        drawn = draw_all(extension, sheet)
        before = builders.state(sheet)
        try:
            extension.shape_keys.delete_bake(sheet)
        except extension.core.ClothError as error:
            assert sheet.name in str(error) and ";" in str(error), seed
            assert "muslin.bake_forget" in drawn.operators, seed
            assert builders.state(sheet) == before, seed
        else:
            deleted += 1
            assert not extension.baked_record.has_bake(sheet), seed
        for data in (sheet, sheet.data):
            bpy.data.batch_remove([data])
        assert used(extension).is_complete, seed
    assert deleted > 0

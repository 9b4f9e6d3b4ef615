# SPDX-License-Identifier: GPL-3.0-or-later
"""Altered records of bakes, presets and comparisons: drawing never fails, and Delete Bake does all or nothing."""

from __future__ import annotations

import copy
import json
import random

import bpy
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.scripted import crumple, replace_simulation, simulate_as
from tests.cases import case_count

STRANGE = (None, True, False, 0, -5, 1, 2, 999, 10 ** 30, -1.5, 1e308, float("nan"), float("inf"), "", "x", "Bulge",
           "Basis", "Muslin 0001", "eval_time", [], {}, [[]], {"a": 1}, [1, "x", None], "é" * 2000)
WRONG_VALUES = ("true", "nan", "inf", "-1", "[[]]", "{}", "1e999")


@pytest.fixture(autouse=True)
def crumpled(extension, scene, monkeypatch):
    scene.muslin.backend = "NUMPY"                                  # compiles nothing
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))


def places(value, path=()):
    """Yield the path of every value inside lists and tables."""
    if isinstance(value, dict | list):
        for key in (value if isinstance(value, dict) else range(len(value))):
            yield (*path, key)
            yield from places(value[key], (*path, key))


def altered(values, rng):
    """Return a copy in which one to three values are replaced, removed, added, or swapped with another."""
    result = copy.deepcopy(values)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        paths = list(places(result))
        if not paths:                                               # everything was removed
            break
        path, other = rng.choice(paths), rng.choice(paths)
        inside = result
        for key in path[:-1]:
            inside = inside[key]
        action = rng.randrange(5)
        if action == 0:
            del inside[path[-1]]
        elif action == 1 and isinstance(inside, list):
            inside.append(rng.choice(STRANGE))
        elif action == 2:
            value = result
            for key in other:
                value = value[key]
            inside[path[-1]] = copy.deepcopy(value)
        else:
            inside[path[-1]] = rng.choice(STRANGE)
    return result


def altered_text(values, rng):
    """Return the JSON text of altered values, in one of ten cases damaged as a text, too."""
    text = json.dumps(altered(values, rng))
    kind = rng.randrange(30)
    at = rng.randrange(len(text))
    return {0: text[:at], 1: text[:at] + rng.choice('[]{}",:0\\') + text[at + 1:], 2: "[" * rng.randrange(200000),
            3: '{"version":' * 50000, 4: rng.choice((5, 1.5, b"abc", [1, 2], {"a": 1}))}.get(kind, text)


def with_own_keys(scene):
    sheet = builders.sheet(3)
    sheet.shape_key_add(name="Basis")
    sheet.shape_key_add(name="Bulge", from_mix=False).data[3].co.z += 1.0
    builders.animate(sheet.data.shape_keys.key_blocks["Bulge"], "value", {1: 0.0, 4: 1.0})
    sheet.active_shape_key_index = 1
    scene.frame_set(1)
    return sheet


@pytest.mark.parametrize("make", [lambda scene: builders.sheet(3), with_own_keys], ids=["plain", "own keys"])
def test_altered_records_are_drawn_and_deleted_completely_or_not_at_all(extension, scene, make):
    source = make(scene)
    before = builders.state(source)
    builders.finish(extension.bake.bake(scene))
    values = json.loads(source.data.shape_keys[extension.baked_record.PROPERTY])
    own = ["Basis", "Bulge"] if before["keys"] else []
    deleted = 0
    for seed in range(case_count(150)):
        rng = random.Random(seed)
        sheet = source.copy()
        sheet.data = source.data.copy()
        scene.collection.objects.link(sheet)
        keys = sheet.data.shape_keys
        if keys.animation_data and keys.animation_data.action:      # not shared with the source
            slot = keys.animation_data.action_slot.identifier
            keys.animation_data.action = keys.animation_data.action.copy()
            keys.animation_data.action_slot = keys.animation_data.action.slots[slot]
        keys[extension.baked_record.PROPERTY] = altered_text(values, rng)
        drawn = draw_all(extension, sheet)
        baked = builders.state(sheet)
        try:
            extension.shape_keys.delete_bake(sheet)
        except extension.core.ClothError as error:
            assert sheet.name in str(error) and ";" in str(error), seed
            assert any("record" in text for text in drawn.texts), (seed, str(error))
            assert "muslin.bake_forget" in drawn.operators
            assert builders.state(sheet) == baked, seed
        else:
            after, deleted = builders.state(sheet), deleted + 1
            names = [key.name for key in sheet.data.shape_keys.key_blocks] if sheet.data.shape_keys else []
            assert names == own, seed
            assert sheet.active_shape_key_index < max(len(names), 1), seed
            assert not extension.baked_record.has_bake(sheet), seed
            if own:
                assert [key[4] for key in after["keys"]] == [key[4] for key in before["keys"]], seed
                assert "value" in str(after["animation"]), f"{seed}: the user's F-curve is gone"
        for data in (sheet, sheet.data):
            bpy.data.batch_remove([data])
        for action in [action for action in bpy.data.actions if not action.users]:
            bpy.data.actions.remove(action)
    assert deleted > 0


def test_presets_that_are_altered_are_named_and_left_out(extension, scene, monkeypatch, tmp_path):
    presets = extension.core.description.presets
    text = (presets.PRESET_FOLDER / "cotton.toml").read_text()
    monkeypatch.setattr(presets, "PRESET_FOLDER", tmp_path)
    monkeypatch.setattr(extension.fabric_presets, "PRESET_FOLDER", tmp_path)
    caches = (extension.fabric_presets.built_in_presets, extension.fabric_presets._presets_with)
    sheet = builders.sheet(3)
    try:
        for seed in range(case_count(100)):
            rng = random.Random(seed)
            at, kind = rng.randrange(len(text)), rng.randrange(6)
            (tmp_path / "cotton.toml").write_text({
                0: text[:at], 1: text[:at] + rng.choice("[]{}\"=.0-e\n") + text[at + 1:], 2: "a=" + "[" * 50000,
                3: text.replace("value = 0", f"value = {rng.choice(WRONG_VALUES)}"),
                4: "#" * 200000}.get(kind, text[:at] + text[rng.randrange(len(text)):]), errors="surrogateescape")
            for cache in caches:
                cache.cache_clear()
            names, problems = extension.fabric_presets.readable_presets()
            assert (names == ("cotton",)) != ("preset 'cotton' (cotton.toml) cannot be read: " in problems), seed
            assert names or "install Muslin again" in problems, seed
            draw_all(extension, sheet)
            assert set(extension.fabric_presets.default_values()) == set(extension.fabric_presets.PRESET_PROPERTIES)
    finally:
        monkeypatch.undo()
        for cache in caches:
            cache.cache_clear()


def test_altered_comparisons_never_remove_another_file(extension, tmp_path):
    values = {"version": 1, "runs": [{"pictures": ["a.png", "b.png"], "error": ""}, {"pictures": ["c.png"]}]}
    strange = ("../mine.png", "/mine.png", "sub/mine.png", "mine.png\0", "mine.txt", ".png")
    for seed in range(case_count(200)):
        rng = random.Random(seed)
        made = copy.deepcopy(values)
        made["runs"][0]["pictures"].append(rng.choice(strange))
        text = altered_text(made, rng)
        (tmp_path / "compare.json").write_text(text if isinstance(text, str) else json.dumps(text, default=str))
        found = extension.comparison_folder._pictures_in(tmp_path)
        assert all("/" not in name and name.endswith(".png") for name in found), (seed, found)
        if found:
            assert json.loads((tmp_path / "compare.json").read_text()).get("version", 1) == 1


@pytest.mark.parametrize("prop", ["wrinkle_direction", "model", "grain", "rest_shape", "kind"])
def test_stored_numbers_that_are_no_item_are_drawn_and_named(extension, scene, prop):
    sheet = builders.sheet(3)
    store(sheet, prop, 999)
    draw_all(extension, sheet)
    if prop != "kind":
        with pytest.raises(extension.core.SceneError, match=r"Sheet: its setting .* has a stored value .*; choose one"):
            builders.finish(extension.bake.bake(scene))


@pytest.mark.parametrize("prop", ["integrator", "solid_contact", "projective_solve", "backend"])
def test_stored_numbers_of_the_scene_that_are_no_item_are_drawn_and_named(extension, scene, prop):
    sheet = builders.sheet(3)
    store(scene, prop, 999)
    draw_all(extension, sheet)
    with pytest.raises(extension.core.SceneError, match=r"Scene: its setting .* has a stored value .*; choose one"):
        builders.finish(extension.bake.bake(scene))


def test_values_of_any_type_in_the_settings_are_drawn(extension, scene):
    sheet = builders.sheet(3)
    for owner in (sheet, scene):
        for prop in [item.identifier for item in owner.muslin.bl_rna.properties]:
            for value in ("x", 5, 1.5, float("nan"), {"a": 1}, [1, 2, 3], -1):
                if prop not in ("rna_type", "name"):
                    try:
                        store(owner, prop, value)
                    except (TypeError, ValueError):
                        continue
        draw_all(extension, sheet)


def test_a_key_of_the_user_with_the_name_of_a_deleted_baked_key_is_kept(extension, scene):
    for version in (1, 2):
        sheet = builders.sheet(3, name=f"Sheet{version}")
        builders.finish(extension.bake.bake(scene, [sheet]))
        keys = sheet.data.shape_keys
        if version == 1:                                            # as earlier versions have written it
            values = json.loads(keys[extension.baked_record.PROPERTY])
            keys[extension.baked_record.PROPERTY] = json.dumps({**values, "version": 1})
            for block in keys.key_blocks:
                block.slider_min = 0.0
        sheet.shape_key_remove(keys.key_blocks["Muslin 0002"])
        sheet.shape_key_add(name="Muslin 0002", from_mix=False)
        extension.shape_keys.delete_bake(sheet)
        assert [key.name for key in sheet.data.shape_keys.key_blocks] == ["Basis", "Muslin 0002"]


@pytest.mark.parametrize("failing", ["_remove_curve", "_remove_slot", "_remove_action"])
def test_a_deletion_that_fails_leaves_all_objects_as_they_were(extension, scene, monkeypatch, failing):
    sheets = [builders.sheet(3, name="A"), with_own_keys(scene), builders.sheet(3, name="C")]
    builders.finish(extension.bake.bake(scene))
    scene.frame_set(1)
    before = [builders.state(sheet) for sheet in sheets]
    real, calls = getattr(extension.delete_animation, failing), []

    def fails(*arguments):
        calls.append(1)
        if len(calls) > 1:
            raise MemoryError
        return real(*arguments)

    monkeypatch.setattr(extension.delete_animation, failing, fails)
    with pytest.raises(MemoryError):
        extension.shape_keys.delete_bakes(sheets)
    scene.frame_set(1)
    assert [builders.state(sheet) for sheet in sheets] == before


def store(owner, prop, value):
    """Store a value of any type in the settings, past the checks of the property."""
    if bpy.app.version >= (5, 0):
        first = "kind" if isinstance(owner, bpy.types.Object) else "steps_per_frame"
        setattr(owner.muslin, first, getattr(owner.muslin, first))      # makes the group
        owner.bl_system_properties_get()["muslin"][prop] = value
    else:
        owner.muslin[prop] = value

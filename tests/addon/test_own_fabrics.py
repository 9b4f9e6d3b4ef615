# SPDX-License-Identifier: GPL-3.0-or-later
"""Fabric presets that users save: files in Blender's folder of user presets, beside Muslin's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all


@pytest.fixture(autouse=True)
def folder(extension):
    """Return the folder of the user's presets, which is empty before and after each test."""
    import bpy

    found = Path(bpy.utils.user_resource("SCRIPTS", path="presets/muslin/fabrics", create=True))
    yield found
    found.chmod(0o755)
    for path in found.iterdir():
        path.unlink()


def save(name, muslin=None, **options):
    import bpy

    return bpy.ops.muslin.fabric_save(name=name, **options)


@pytest.fixture
def sheet(scene):
    import bpy

    made = builders.sheet()
    bpy.context.view_layer.objects.active = made
    return made


def test_a_preset_that_is_saved_gives_another_cloth_every_value(extension, folder, sheet):
    muslin, presets = sheet.muslin, extension.fabric_presets
    for number, prop in enumerate(presets.PRESET_PROPERTIES):
        value = getattr(muslin, prop)
        if prop != "air_law":                           # which air_drag sets
            setattr(muslin, prop, True if isinstance(value, bool) else 0.3 + 0.01 * number)
    assert save("My Wool", description="for a test") == {"FINISHED"}
    assert [path.name for path in folder.iterdir()] == ["my_wool.toml"]
    assert muslin.fabric == "my_wool"
    other = builders.sheet(name="Other").muslin
    other.fabric = "my_wool"
    for prop in set(presets.PRESET_PROPERTIES) - {"drag_coefficient", "skin_friction", "slow_drag_speed"}:
        assert getattr(other, prop) == getattr(muslin, prop), prop
    material = extension.core.Material.load(folder / "my_wool.toml")
    assert material.compression is not None and material.bend_damping is not None
    other.fabric = "cotton"                             # which has neither
    assert not other.use_compression and not other.use_separate_damping and other.fabric == "cotton"
    assert presets.preset("my_wool").description == "for a test"


def test_a_preset_saved_without_slow_drag_is_read_with_none(extension, folder, sheet):
    sheet.muslin.areal_density = 0.2
    save("Plain")
    path = folder / "plain.toml"
    text = path.read_text(encoding="utf-8")
    begin = text.index("[slow_drag_speed]")
    end = text.find("\n[", begin)
    path.write_text(text[:begin] + (text[end + 1:] if end >= 0 else ""), encoding="utf-8")
    sheet.muslin.fabric = "plain"
    assert sheet.muslin.slow_drag_speed == 0.0 and sheet.muslin.areal_density == pytest.approx(0.2)
    sheet.muslin.fabric = "cotton"
    assert sheet.muslin.slow_drag_speed == pytest.approx(0.2)


def test_compression_and_damping_that_are_off_are_not_saved(extension, folder, sheet):
    sheet.muslin.areal_density, sheet.muslin.compression_warp = 0.2, 77.0
    save("Plain")
    material = extension.core.Material.load(folder / "plain.toml")
    assert material.compression is None and material.bend_damping is None


def test_a_preset_is_overwritten_only_if_that_is_said(extension, sheet):
    sheet.muslin.areal_density = 0.2
    save("Mine")
    sheet.muslin.areal_density = 0.3
    with pytest.raises(RuntimeError, match="'mine' already; choose another name, or overwrite it"):
        save("mine")
    assert sheet.muslin.fabric == "CUSTOM"
    save("Mine", overwrite=True)
    assert sheet.muslin.fabric == "mine"
    assert extension.core.Material.load(extension.own_fabrics.folder() / "mine.toml").areal_density == 0.3
    save("Mine", overwrite=True)                        # with its own values


@pytest.mark.parametrize(("name", "reason"), [
    ("", "has no name"), ("   ", "has no name"), ("a/b", "contains '/'"), ("..", "kept for other"),
    ("a" * 51, "51 letters"), ("Cotton", "that of a fabric of Muslin"), ("fine cotton", "that of a fabric of Muslin"),
    ("con", "kept for"), ("LPT1", "kept for"), ("nul.a", "kept for"), ("custom", "kept for"), ("a,b", "contains ','"),
    ("a\nb", "contains"), ("a=b", "contains '='"),
])
def test_names_that_are_unfit_are_refused(folder, sheet, name, reason):
    sheet.muslin.areal_density = 0.2
    with pytest.raises(RuntimeError, match=reason):
        save(name)
    assert list(folder.iterdir()) == []


def test_values_of_another_preset_are_not_saved_a_second_time(folder, sheet):
    with pytest.raises(RuntimeError, match="these are the values of the preset 'Cotton'"):
        save("Mine")
    assert list(folder.iterdir()) == []


def test_letters_of_every_language_are_a_name(folder, sheet):
    sheet.muslin.areal_density = 0.2
    for name in ("Wolle für Müllers (2.5 %)", "羊毛", "x" * 50, "羊" * 50):
        sheet.muslin.areal_density += 0.1
        save(name)
        assert sheet.muslin.fabric != "CUSTOM", name
    assert len(list(folder.iterdir())) == 4


def test_files_that_are_damaged_or_out_of_range_are_named_and_left_out(extension, folder, sheet):
    cotton = (extension.fabric_presets.PRESET_FOLDER / "cotton.toml").read_text()
    (folder / "good.toml").write_text(cotton.replace("0.1503", "0.25"))
    (folder / "text.toml").write_bytes(b"\xff\xfe")
    (folder / "heavy.toml").write_text(cotton.replace("0.1503", "1e9"))
    (folder / "silk.toml").write_text(cotton)
    (folder / "other.txt").write_text("no preset")
    names, problems = extension.fabric_presets.readable_presets()
    assert "good" in names and not {"text", "heavy", "other"} & set(names) and names.count("silk") == 1
    for name in ("'text' (text.toml) cannot be read", "'heavy' (heavy.toml) cannot be used: areal_density is 1e9",
                 f"'silk' has a name that is kept for Muslin; rename {folder}"):
        assert name in problems, problems
    assert any("heavy" in text for text in draw_all(extension, sheet).texts)
    sheet.muslin.fabric = "good"
    assert sheet.muslin.areal_density == pytest.approx(0.25)


def test_a_file_that_changes_is_read_again(extension, folder, sheet):
    cotton = (extension.fabric_presets.PRESET_FOLDER / "cotton.toml").read_text()
    for density in ("0.25", "0.2555"):
        (folder / "good.toml").write_text(cotton.replace("0.1503", density))
        sheet.muslin.fabric = "good"
        assert sheet.muslin.areal_density == pytest.approx(float(density))
    (folder / "good.toml").unlink()
    assert sheet.muslin.fabric == "CUSTOM"
    with pytest.raises(TypeError):
        sheet.muslin.fabric = "good"


def test_only_presets_of_the_user_are_removed(folder, sheet):
    import bpy

    assert not bpy.ops.muslin.fabric_remove.poll()
    sheet.muslin.areal_density = 0.2
    save("Mine")
    for name in ("cotton", "gone"):
        with pytest.raises(RuntimeError, match=f"saved no preset '{name}'; there are: mine"):
            bpy.ops.muslin.fabric_remove(name=name)
    assert bpy.ops.muslin.fabric_remove() == {"FINISHED"}
    assert list(folder.iterdir()) == [] and sheet.muslin.fabric == "CUSTOM"
    assert sheet.muslin.areal_density == pytest.approx(0.2)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="this user may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(folder, sheet):
    sheet.muslin.areal_density = 0.2
    folder.chmod(0o555)
    with pytest.raises(RuntimeError, match="cannot be written"):
        save("Mine")


def test_a_preset_of_the_user_is_a_value_of_set(extension, sheet):
    sheet.muslin.areal_density = 0.2
    save("My Wool")
    for text in ("my_wool", "My Wool", "my-wool"):
        [[value]] = extension.wedges.variants_of([f"material.fabric={text}"])
        assert value.value == "my_wool"
    with pytest.raises(extension.arguments.UsageError, match="perhaps 'my_wool'.*cotton.*my_wool"):
        extension.wedges.variants_of(["material.fabric=my_wol"])


def test_the_search_finds_words_of_names_and_uses(extension, sheet):
    def names(text):
        return [preset.name for preset in extension.fabric_choice.matching(text)]

    assert names("JEANS") == ["denim"] and names("woven light silk") == ["silk"] and names("zzz") == []
    assert len(names("")) == len(extension.core.Material.presets())


def test_every_fabric_has_a_small_picture(extension):
    import bpy

    found = extension.fabric_choice
    for name in (*extension.core.Material.presets(), extension.fabric_presets.OWN_PICTURE):
        path = extension.fabric_presets.PRESET_FOLDER / f"{name}.png"
        image = bpy.data.images.load(str(path))
        assert tuple(image.size) == (128, 128) and path.stat().st_size < 25000, name
        bpy.data.images.remove(image)
    for preset in extension.fabric_presets.presets().presets:
        assert bpy.app.background or found.picture_of(preset) > 0


def test_a_saved_preset_is_shown_whatever_was_searched_before(sheet):
    import bpy

    sheet.muslin.areal_density, bpy.context.window_manager.muslin_fabric_search = 0.2, "curtain"
    save("Mine")
    assert bpy.context.window_manager.muslin_fabric_search == ""


def test_minus_is_grey_for_fabrics_of_muslin(extension, sheet):
    sheet.muslin.areal_density = 0.2
    save("Mine")
    for fabric, grey in (("mine", False), ("cotton", True)):
        sheet.muslin.fabric = fabric
        assert ("muslin.fabric_remove" in draw_all(extension, sheet).greyed) is grey

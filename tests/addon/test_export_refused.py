# SPDX-License-Identifier: GPL-3.0-or-later
"""Exports that are refused: the message says why, and nothing is left."""

from __future__ import annotations

from typing import Any

import bpy
import pytest

from tests.addon import builders, drawing
from tests.addon.test_export import EXTENSIONS, everything


@pytest.mark.parametrize("identifier", list(EXTENSIONS))
def test_cloth_that_cannot_be_exported_is_refused(scene, baked, tmp_path, identifier):
    operator = getattr(bpy.ops.muslin, f"export_{identifier.lower()}")
    sheet = builders.sheet(4)
    assert not operator.poll()
    with pytest.raises(RuntimeError, match="The scene has no baked cloth"):
        operator(filepath=str(tmp_path / "out"))
    baked()

    def refused(text: str, **options: Any) -> None:
        before = everything()
        with pytest.raises(RuntimeError, match=text):
            operator(**{"filepath": str(tmp_path / "out"), **options})
        assert everything() == before

    refused("no baked cloth is selected")
    sheet.select_set(True)
    refused("No file is named", filepath="")
    refused("there is no folder", filepath=str(tmp_path / "gone" / "out"))
    bpy.context.view_layer.objects.active = sheet
    bpy.ops.object.mode_set(mode="EDIT")
    refused("Sheet: is in Edit Mode")
    bpy.ops.object.mode_set(mode="OBJECT")
    hidden = bpy.data.collections.new("Hidden")
    scene.collection.children.link(hidden)
    scene.collection.objects.unlink(sheet)
    hidden.objects.link(sheet)
    hidden.hide_viewport = True
    refused("Sheet: is hidden with its collection", which="ALL")
    bpy.context.view_layer.layer_collection.children["Hidden"].exclude = True
    refused("Sheet: is not in view layer", which="ALL")


def test_buttons_of_formats_that_blender_lacks_are_grey_and_say_why(extension, scene, baked, monkeypatch):
    sheet = builders.sheet(4)
    sheet.select_set(True)
    baked()
    layout = drawing.Layout()
    extension.export.draw_export(layout, bpy.context)
    assert layout.operators == [f"muslin.export_{name.lower()}" for name in
                                ("ALEMBIC", "USD", "GLTF", "FBX", "OBJ", "PC2", "MDD")]
    assert bpy.ops.muslin.export_fbx.poll()
    bpy.ops.preferences.addon_disable(module="io_scene_fbx")
    try:
        assert not bpy.ops.muslin.export_fbx.poll()
        with pytest.raises(RuntimeError, match="add-on FBX is off; switch it on in Edit > Preferences > Add-ons"):
            bpy.ops.muslin.export_fbx(filepath="out.fbx")
    finally:
        bpy.ops.preferences.addon_enable(module="io_scene_fbx")
    monkeypatch.setattr(extension.formats, "bpy", None)
    options = type("Options", (), {"usd": False})
    monkeypatch.setattr(extension.formats, "bpy", type("Blender", (), {"app": type("App", (), {
        "build_options": options})}))
    assert "built without USD" in extension.formats.why_missing("USD")


@pytest.mark.parametrize("identifier", sorted(EXTENSIONS))
def test_a_bake_whose_frames_are_gone_is_not_exported_as_a_still(extension, scene, baked, tmp_path, identifier):
    sheet = builders.sheet(4)
    sheet.muslin.result, scene.muslin.cache_folder = "MESH_CACHE", str(tmp_path / "cache")
    baked()
    (tmp_path / "cache").rename(tmp_path / "moved")
    said = extension.mesh_cache.missing_file(sheet)
    assert said
    with pytest.raises(extension.core.SceneError, match="Sheet: The frames of the bake are gone") as raised:
        extension.export_bake.export_bake(bpy.context, [sheet], identifier, tmp_path / f"x{EXTENSIONS[identifier]}")
    assert said in str(raised.value) and {path.name for path in tmp_path.iterdir()} == {"moved"}
    sheet.modifiers.clear()
    with pytest.raises(extension.core.SceneError, match="Sheet: the modifier that plays its bake is missing"):
        extension.export_bake.export_bake(bpy.context, [sheet], identifier, tmp_path / f"x{EXTENSIONS[identifier]}")

# SPDX-License-Identifier: GPL-3.0-or-later
"""From which frame a bake goes on: what the panel says, why, and that the bake does the same."""

from __future__ import annotations

import dataclasses

import bpy
import pytest

from tests.addon import builders
from tests.addon.drawing import draw_all
from tests.addon.saved_files import save
from tests.addon.test_bake_cycle import stored

LAST = 24                                                            # states at 10, 20 and 24


@pytest.fixture
def sheet(extension, scene, tmp_path):
    scene.muslin.backend, scene.muslin.cache_folder = "NUMPY", str(tmp_path / "cache")
    scene.frame_end = LAST
    sheet = builders.sheet(4)
    sheet.muslin.kind = "CLOTH"
    bpy.context.view_layer.objects.active = sheet
    builders.finish(extension.bake.bake(scene))
    return sheet


def shown(extension, scene, sheet, frame):
    """Return what the button Bake from Here says at a frame, and all texts of the panels."""
    scene.frame_set(frame)
    extension.takes.forget()
    texts = draw_all(extension, sheet, width=10000).texts
    button, = [text for text in texts if text.startswith("Bake from Here")]
    return button[len("Bake from Here ("):-1], " ".join(texts)


def kept(extension, scene, sheet, frame):
    """Bake from a frame on, and return the last frame that was kept, None if it started anew."""
    first = stored(extension, scene, sheet)
    scene.frame_set(frame)
    assert bpy.ops.muslin.bake(mode="HERE") == {"FINISHED"}
    extension.takes.forget()
    parts = extension.takes.in_use(sheet).parts
    second = stored(extension, scene, sheet)
    assert len(second) == LAST
    if len(parts) == 1:
        return None if first[1:] != second[1:] else frame
    assert first[:parts[-1]["from_frame"] - 1] == second[:parts[-1]["from_frame"] - 1]
    return parts[-1]["from_frame"] - 1


@pytest.mark.parametrize(("frame", "text", "wanted"), [
    (1, "from the Start", None), (9, "from the Start", None), (10, "10", 10), (17, "after 10", 10),
    (23, "after 20", 20)])
def test_other_settings_go_on_from_the_state_that_the_button_names(extension, scene, sheet, frame, text, wanted):
    assert shown(extension, scene, sheet, frame)[0] == str(frame)
    sheet.muslin.areal_density *= 2.0
    sheet.muslin.air_drag = 3.0
    button, texts = shown(extension, scene, sheet, frame)
    assert button == text
    assert ("settings or scene have changed" in texts) == (wanted != frame)
    assert kept(extension, scene, sheet, frame) == wanted


def test_a_state_that_is_gone_or_damaged_is_not_offered_or_not_used(extension, scene, sheet):
    sheet.muslin.areal_density *= 2.0
    folder = extension.takes.in_use(sheet).folder
    state = folder / "checkpoint-000020"
    data = state.read_bytes()
    state.write_bytes(data[:-1] + b"\xff")
    assert kept(extension, scene, sheet, 23) == 10                   # its end cannot be read
    state = extension.takes.in_use(sheet).folder / "checkpoint-000010"
    state.unlink()                                                   # as earlier versions did
    assert shown(extension, scene, sheet, 15)[0] == "from the Start"
    sheet.muslin.areal_density *= 2.0
    assert kept(extension, scene, sheet, 15) is None


def test_the_panel_and_the_bake_name_the_true_cause(extension, scene, sheet, monkeypatch):
    def cause(frame=5):
        button, texts = shown(extension, scene, sheet, frame)
        assert button == "from the Start" and "Up to date" not in texts or "settings" not in texts
        return texts

    monkeypatch.setattr(extension.backends, "is_installed", lambda: True)
    scene.muslin.backend = "AUTOMATIC"
    assert "its frames were computed by NumPy, and now Numba is chosen" in cause()
    scene.muslin.backend = "NUMPY"
    other = {"muslin": "0", "numpy": "0", "python": "0"}
    monkeypatch.setattr(extension.take_parts, "versions_of_takes", lambda: other)
    assert "another version of Muslin" in cause()
    monkeypatch.undo()
    scene.frame_end = LAST + 3
    assert f"its frame range ended at {LAST}, and ends at {LAST + 3} now" in cause()
    scene.frame_end = LAST


def test_a_bake_of_mixed_settings_is_not_called_up_to_date(extension, scene, sheet):
    sheet.muslin.areal_density *= 2.0
    sheet.muslin.friction = 0.9
    assert kept(extension, scene, sheet, 17) == 10
    sentence = "Frames 1 to 10 have other settings (Weight, Friction)"
    texts = shown(extension, scene, sheet, 22)[1]
    assert sentence in texts and "Up to date" not in texts
    button, texts = shown(extension, scene, sheet, 5)
    assert button == "from the Start" and "the frames from 11 on have other settings than those before" in texts
    assert shown(extension, scene, sheet, 22)[0] == "22"
    assert "Upright lines: other settings from frame 11 on" in texts
    record = extension.baked_record.load(sheet)                      # the record alone has it, without the cache
    assert record.report["parts"] == [{"first": 1, "last": 10, "changed": ["Weight", "Friction"]}]
    state = extension.bake_state.state_of(scene, sheet)
    assert dataclasses.replace(state, used=None).text(changed=False) == sentence


def test_parts_are_named_by_their_frames_and_merged(extension):
    def part(start, **settings):
        return {"from_frame": start, "settings": {"scene": {"tolerance": 1}, "cloths": {"A": settings}},
                "fingerprints": {"A": {"settings": str(settings), "gravity": "1", "frame range": str(start)}}}

    parts = [part(-5, friction=1, bend=1), part(1, friction=1, bend=1), part(20, friction=2, bend=1),
             part(30, friction=3, bend=2), part(40, friction=3, bend=2), part(90, friction=7, bend=7)]
    mixed = extension.take_parts.mixed_parts
    assert mixed(parts, 1, 50) == [{"first": 1, "last": 19, "changed": ["Friction", "Bending"]},
                                   {"first": 20, "last": 29, "changed": ["Friction", "Bending"]}]
    assert extension.take_parts.borders(mixed(parts, 1, 50), 1, 50) == [20, 30]
    assert mixed(parts[:2], 1, 50) == [] and mixed(parts, 35, 50) == []
    assert extension.take_parts.mixed_text({"first": 3, "last": 3, "changed": ["gravity"]}) == (
        "Frame 3 has other settings (gravity)")


def test_frames_of_another_file_go_on_in_a_folder_of_this_one(extension, scene, tmp_path):
    scene.muslin.backend, scene.frame_end = "NUMPY", 5
    builders.sheet(4).muslin.kind = "CLOTH"
    save(tmp_path / "a" / "a.blend")
    steps = extension.bake.bake(scene)
    for progress in steps:
        if progress.done >= 3:
            break
    steps.close()
    save(tmp_path / "b" / "b.blend")
    sheet = bpy.context.view_layer.objects.active = bpy.data.objects["Sheet"]
    sheet.name = "Renamed"
    extension.takes.forget()
    wanted = extension.bake_state.state_of(scene, sheet).source
    draw_all(extension, sheet)
    assert bpy.ops.muslin.bake(mode="RESUME") == {"FINISHED"}
    extension.takes.forget()
    now = extension.takes.in_use(sheet)
    assert now.folder.parent == tmp_path / "b" / "muslin_cache" and now.is_complete
    assert extension.takes.read(wanted.folder).reached == wanted.reached < 5


def test_free_cache_says_how_much_it_deletes_and_what_is_lost(extension, scene, sheet):
    found = extension.takes.of_object(scene, sheet, now=True)
    text = extension.bake_operators.free_text(found)
    assert text == f"Delete 1 bake on disk, {found[0].size / 1e6:.1f} MB? It cannot be resumed or switched then"
    assert "Delete 2 bakes" in extension.bake_operators.free_text(found * 2)

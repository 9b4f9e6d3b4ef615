# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames on disk that were damaged: bakes go on before them to the same bytes, and the panels offer and say it."""

from __future__ import annotations

import math
import shutil

import bpy
import pytest

from tests.addon.drawing import draw_all
from tests.addon.headless import LAST, keys, reopen, saved_shot, solver_stops_before
from tests.addon.saved_files import bake, cloth, save, shown
from tests.addon.scripted import crumple, replace_simulation, simulate_as

VERTICES = 81
"""Vertices of the sheet of `saved_shot`."""
REACHED = 11
"""Last frame of the bake that is interrupted."""


def flip(path, place):
    """Change four bytes in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[place:place + 4] = bytes(byte ^ 0x41 for byte in data[place:place + 4])
    path.write_bytes(data)


def damage(extension, folder, what, frame, vertices=VERTICES):
    """Damage a frame of a take: its positions, its velocities, or the file of positions from there on."""
    path = folder / "Sheet.pc2"
    middle = 32 + 12 * vertices * (frame - 1) + 6 * vertices
    if what == "positions":
        flip(path, middle)
    elif what == "cut":
        path.write_bytes(path.read_bytes()[:middle])
    else:
        take = extension.found_take.Take.open(folder)
        flip(folder / "frames.muslin", take._frames[frame - 1].record.body_at + 8)


@pytest.fixture
def blend(scene, tmp_path):
    return saved_shot(scene, tmp_path)


@pytest.fixture
def whole(extension, blend, tmp_path):
    """Return the bytes of a bake without interruption."""
    bpy.context.scene.muslin.cache_folder = str(tmp_path / "whole")
    assert extension.command_line.main(["bake", "--cache", str(tmp_path / "whole"), "--output",
                                        str(tmp_path / "whole.blend")]) == 0
    found = keys(tmp_path / "whole.blend")
    reopen(blend)
    return found


@pytest.fixture
def interrupted(extension, blend, whole, monkeypatch, tmp_path):
    """Interrupt a bake after frame 11, and return the folder of its frames."""
    solver_stops_before(extension, monkeypatch, REACHED + 1)
    assert extension.command_line.main(["bake"]) == 1
    solver_stops_before(extension, monkeypatch, None)
    reopen(blend)
    return tmp_path / "muslin_cache" / "Sheet"


@pytest.mark.parametrize("known_before", [True, False])
@pytest.mark.parametrize(("what", "frame", "end"), [
    ("positions", 7, "going on after frame 6"), ("velocities", 7, "going on after frame 6"),
    ("cut", 7, "going on after frame 6"), ("positions", 11, "going on after frame 10"),
    ("positions", 1, "no frame before it is whole: baking from the start")])
def test_resume_goes_on_before_the_first_damaged_frame_to_the_bytes_of_a_whole_bake(
        extension, whole, interrupted, monkeypatch, tmp_path, capfd, what, frame, end, known_before):
    if not known_before:                                             # more than is checked for a panel
        monkeypatch.setattr(extension.found_take, "LONGEST_CHECK", -math.inf)
    damage(extension, interrupted, what, frame)
    capfd.readouterr()
    assert extension.command_line.main(["bake", "--resume", "--output", str(tmp_path / "out.blend")]) == 0
    (line,) = [line for line in capfd.readouterr().err.splitlines() if "Sheet.pc2" in line or "frames.muslin" in line]
    assert f"frame {frame}" in line and end in line
    assert keys(tmp_path / "out.blend") == whole


@pytest.mark.parametrize(("frame", "end"), [(11, "going on after frame 10"), (7, "has no stored state to go on from")])
def test_resume_with_another_range_goes_on_from_the_last_state_before_the_damage(
        extension, whole, interrupted, tmp_path, capfd, frame, end):
    damage(extension, interrupted, "positions", frame)
    assert extension.command_line.main(["bake", "--resume", "--frames", "1", str(LAST - 1), "--output",
                                        str(tmp_path / "out.blend")]) == 0
    assert end in capfd.readouterr().err
    assert keys(tmp_path / "out.blend") == whole[:LAST]               # the basis and a key for each frame


def test_a_complete_bake_with_a_damaged_frame_is_baked_from_there_on(extension, blend, whole, tmp_path, capfd):
    shutil.copytree(tmp_path / "whole", tmp_path / "muslin_cache")
    damage(extension, tmp_path / "muslin_cache" / "Sheet", "positions", 11)
    assert extension.command_line.main(["bake", "--resume", "--output", str(tmp_path / "out.blend")]) == 0
    assert "going on after frame 10" in capfd.readouterr().err
    assert keys(tmp_path / "out.blend") == whole


def texts(extension, sheet):
    extension.takes.forget()
    return " ".join(draw_all(extension, sheet, width=10000).texts)


@pytest.mark.parametrize("checked", [True, False])
def test_the_panel_offers_the_frames_before_the_damage_and_the_buttons_work(extension, blend, whole, interrupted,
                                                                            monkeypatch, tmp_path, checked):
    if not checked:
        monkeypatch.setattr(extension.found_take, "LONGEST_CHECK", -math.inf)
    damage(extension, interrupted, "positions", 7)
    sheet = bpy.data.objects["Sheet"]
    bpy.context.view_layer.objects.active = sheet
    if checked:
        assert "Resume from Frame 7 Use 1 to 6" in (drawn := texts(extension, sheet)) and "frame 7 is damaged" in drawn
    assert bpy.ops.muslin.bake_use() == {"FINISHED"}
    record = extension.baked_record.known(sheet)
    assert (record.first, record.last) == (1, 6)
    assert "Resume from Frame 7" in (drawn := texts(extension, sheet)) and "frame 7 is damaged" in drawn
    assert bpy.ops.muslin.bake(mode="RESUME") == {"FINISHED"}
    assert "damaged" not in texts(extension, sheet)
    save(tmp_path / "window.blend")
    assert keys(tmp_path / "window.blend") == whole


def test_a_bake_in_use_is_not_made_shorter_by_damaged_frames_on_disk(extension, scene, monkeypatch, tmp_path):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    scene.muslin.backend = "NUMPY"
    sheet = cloth("SHAPE_KEYS")
    save(tmp_path / "a.blend")
    bake(extension)
    before = shown()
    damage(extension, extension.takes.in_use(sheet).folder, "positions", 3, vertices=16)
    sheet.muslin.result, bpy.context.view_layer.objects.active = "MESH_CACHE", sheet
    with pytest.raises(RuntimeError, match="frame 3 is damaged.*press Resume, or bake again"):
        bpy.ops.muslin.bake_use()
    assert shown() == before


@pytest.mark.parametrize(("how", "text"), [
    ("cut", "it is cut off before frame 3"), ("flipped", "frame 3 is damaged"), ("count", "ends at frame 2"),
    ("garbage", "not those of the bake"), ("missing", "The frames of the bake are gone")])
def test_a_mesh_cache_that_is_not_whole_is_said_and_its_figures_are_greyed(extension, scene, monkeypatch, tmp_path, how,
                                                                           text):
    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, crumple))
    scene.muslin.backend = "NUMPY"
    sheet = cloth("MESH_CACHE")
    save(tmp_path / "a.blend")
    bake(extension)
    save(tmp_path / "a.blend")
    extension.takes.forget()
    drawn = draw_all(extension, sheet, width=10000)
    assert "Up to date" in drawn.texts and "Baked Frames" in drawn.texts and "Baked Frames" not in drawn.pale
    folder = extension.takes.in_use(sheet).folder
    path = folder / "Sheet.pc2"
    if how in ("cut", "flipped"):
        damage(extension, folder, "cut" if how == "cut" else "positions", 3, vertices=16)
    elif how == "missing":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(data[:28] + b"\2\0\0\0" + data[32:] if how == "count" else b"\x41" * len(data))
    for reopened in (False, True):
        if reopened:
            reopen(tmp_path / "a.blend")
            sheet = bpy.data.objects["Sheet"]
        extension.takes.forget()
        drawn = draw_all(extension, sheet, width=10000)
        assert text in " ".join(drawn.texts) and "Up to date" not in drawn.texts
        assert "Baked Frames" in drawn.pale and "At Frame 1" in drawn.pale

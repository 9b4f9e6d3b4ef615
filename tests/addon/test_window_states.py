# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panels say of bakes beside the window, and bakes that were stopped early."""

from __future__ import annotations

import bpy
import pytest

from tests.addon import builders
from tests.addon.drawing import Layout, draw_all
from tests.addon.window_steps import Driven, latest, long_bake, moving_scene


@pytest.fixture(autouse=True)
def cached(scene, tmp_path):
    """Keep the takes of the test in a folder of its own, and compile nothing."""
    scene.muslin.cache_folder = str(tmp_path / "cache")
    scene.muslin.backend = "NUMPY"
    scene.frame_end = 6


def panel(extension, sheet):
    extension.takes.forget()
    return " ".join(draw_all(extension, sheet, width=10000).texts)


def test_the_panel_names_a_solver_that_still_runs_and_ends_it(extension, scene):
    sheet, bake = long_bake(extension, scene, 400)
    solver = bake.bake._process
    assert "Another Blender bakes this cloth and is at frame" in panel(extension, sheet)
    with pytest.raises(extension.core.CacheError, match="another Blender bakes into .*Stop the Solver, and resume"):
        next(Driven(extension, scene, [sheet], extension.preparation.Continuation(bake.bake.folder)).steps)
    assert solver.is_alive()
    solver.give_up()                                                # as if this Blender had been killed
    text = panel(extension, sheet)
    assert "Blender has ended during a bake. Its solver still runs" in text and "of 400" in text
    bpy.context.view_layer.objects.active = sheet
    assert bpy.ops.muslin.solver_stop() == {"FINISHED"}
    assert solver.wait(10.0) and solver.state() == "stopped"
    assert "solver still runs" not in panel(extension, sheet)
    assert not bpy.ops.muslin.solver_stop.poll()
    take = latest(extension, scene, sheet)
    assert extension.apply_take.Take.open(take.folder).checkpoint_before(take.reached).frame == take.reached


def test_figures_of_the_earlier_bake_are_marked_while_the_next_one_runs(extension, scene):
    sheet = moving_scene()
    builders.finish(extension.bake.bake(scene))
    label = extension.panel_layout.OF_PREVIOUS
    assert label not in panel(extension, sheet)
    bake = Driven(extension, scene, [sheet])
    extension.session._session.bake = bake.bake                     # as a bake that was begun by a button
    try:
        assert bake.until(lambda window: bake.progress is not None and not window.certificates)
        assert draw_all(extension, sheet).texts.count(label) == 2   # of the bake, and of Quality
        bake.solving(2)
        assert draw_all(extension, sheet).texts.count(label) == 1   # Quality shows the new one
        bake.until()
    finally:
        extension.session._session.bake = None
    assert label not in panel(extension, sheet)


@pytest.mark.parametrize("how", ["script", "window"])
@pytest.mark.parametrize("frames", [0, 2])
def test_resume_of_a_bake_that_was_stopped_before_its_first_state_starts_anew(extension, scene, how, frames):
    sheet = moving_scene()
    steps = extension.bake.bake(scene)
    for _ in range(frames + 1):
        next(steps)
    steps.close()
    take = latest(extension, scene, sheet)
    for path in take.folder.glob("checkpoint-*"):
        path.unlink()
    scene.frame_end = 9
    place = extension.preparation.Continuation(take.folder)
    if how == "script":
        builders.finish(extension.bake.bake(scene, resume=place))
    else:
        Driven(extension, scene, [sheet], place).until()
    used = extension.takes.in_use(sheet)
    assert used.is_complete and (used.start, used.last) == (1, 9) and used.id != take.id
    assert extension.takes.read(take.folder) is not None


def test_long_paths_are_broken_between_folders_only(extension, scene):
    layout = Layout()
    path = "/home/somebody/" + "/".join(f"project-folder-number-{i}" for i in range(9)) + "/Sheet/Sheet.pc2"
    extension.panel_layout.paragraph(layout, f"The frames of the bake are gone: {path}. Put the folder back", 300)
    lines = layout.texts
    assert "".join(lines).replace(" ", "") == f"Theframesofthebakearegone:{path}.Putthefolderback"
    assert all(line.endswith(("/", "gone:", "Sheet.pc2.", "Put", "the", "folder", "back")) for line in lines), lines


def test_progress_keeps_its_percentage_and_names_no_compiling_that_is_none(extension, scene):
    sheet = moving_scene(n=14)
    scene.frame_end = 40
    bake, texts = Driven(extension, scene, [sheet]), []
    job = extension.bake_job.Job(iter(()))

    def text(_=None):
        job.progress = bake.progress
        texts.append("" if bake.progress is None else job.text())

    bake.until(lambda running: text() or not running.reads and len(running.certificates) >= 2)
    reading = [line for line in texts if "reading" in line]
    assert reading and all(line.partition(" % - reading frame ")[0].isdigit() for line in reading), reading
    assert not any("ompiling" in line for line in texts), texts
    bake.bake.pause()
    bake.until(lambda running: running.is_paused)
    bake.until(lambda running: text() or texts[-1].startswith("Paused"), 10.0)
    assert texts[-1].startswith("Paused at ") and texts[-1].endswith(" %"), texts[-1]
    bake.close()


def test_no_other_button_comes_to_the_place_of_use(extension, scene):
    """The rows above the second one stay, and the second one is of the frames in use after Use."""
    sheet = moving_scene()
    bake = Driven(extension, scene, [sheet])
    bake.solving(3)
    bake.close()
    bpy.context.view_layer.objects.active = sheet

    def rows():
        extension.takes.forget()
        texts = [text for text in draw_all(extension, sheet, width=10000).texts if text]
        return texts[texts.index(next(text for text in texts if text.startswith("Resume"))):][:3]

    before = rows()
    assert before[1].startswith("Use 1 to ") and before[2] == "Bake from the Start"
    assert bpy.ops.muslin.bake_use() == {"FINISHED"}
    after = rows()
    assert after == [before[0], before[1].replace("Use", "In use:"), before[2]]
    texts = draw_all(extension, sheet, width=10000).texts
    assert sum(text.startswith("Partial") for text in texts) == 1

# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare: the sheet of several models and integrators, from the panel and from the command line."""

from __future__ import annotations

import json
import re
import sys

import pytest

from tests.addon import builders

LAST = 5
INTEGRATORS = ["implicit_euler", "bdf2"]


@pytest.fixture
def cloth(scene):
    import bpy

    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.context.scene.muslin.backend = "NUMPY"
    obj = builders.sheet(4, name="Flag")
    builders.pin(obj, {0: 1.0, 3: 1.0})
    return obj


def run(extension, obj, integrators, folder, **options):
    """Compare the integrators on an object, and return the result."""
    import bpy

    variants = extension.comparison.variants_of(["baraff_witkin"], integrators)
    return builders.finish(extension.comparison.compare(bpy.context.scene, [obj], variants, folder, **options))


def test_a_comparison_holds_every_run_with_pictures_and_figures(extension, cloth, tmp_path):
    result = run(extension, cloth, INTEGRATORS, tmp_path / "sheet")
    values = json.loads((tmp_path / "sheet" / "compare.json").read_text())
    assert [one["kind"]["integrator"] for one in values["runs"]] == INTEGRATORS
    for one in values["runs"]:
        assert len(one["frames"]) == LAST and not one["error"]
        assert all(set(frame["energy"]) == {"kinetic", "elastic", "weight"} for frame in one["frames"])
        for name in one["pictures"]:
            assert (tmp_path / "sheet" / name).read_bytes().startswith(b"\x89PNG")
    page = result.sheet.read_text()
    assert page.count("<img") == sum(len(one["pictures"]) for one in values["runs"]) == 6
    for word in ("Stretch, 99th percentile", "Energy since the start", "ms per frame", "baraff_witkin, bdf2"):
        assert word in page


def test_a_comparison_has_the_frames_of_the_pre_roll(extension, cloth, tmp_path):
    import bpy

    builders.animate(cloth, "location", {-1: (0.0, 0.0, 0.0), 5: (0.6, 0.0, 0.0)})
    bpy.context.scene.muslin.preroll = 2
    run(extension, cloth, ["bdf2"], tmp_path)
    values = json.loads((tmp_path / "compare.json").read_text())
    assert (values["first"], values["last"], len(values["runs"][0]["frames"])) == (-1, LAST, LAST + 2)


def test_a_picture_shows_the_cloth_and_not_only_the_ground(extension, cloth, tmp_path):
    import bpy
    import numpy as np

    run(extension, cloth, ["bdf2"], tmp_path)
    image = bpy.data.images.load(str(next(tmp_path.glob("*.png"))))
    pixels = np.array(image.pixels).reshape(-1, image.channels)[:, :3]
    red = (pixels[:, 0] > 1.5 * pixels[:, 2]).mean()
    bpy.data.images.remove(image)
    assert 0.02 < red < 0.9


def test_a_comparison_leaves_the_object_and_the_file_unchanged(extension, cloth, tmp_path):
    import bpy

    def counts():
        return [len(getattr(bpy.data, name)) for name in ("scenes", "objects", "meshes", "cameras", "worlds", "images")]

    bpy.context.scene.frame_set(3)
    before = counts(), builders.displayed_now(cloth).tolist()
    run(extension, cloth, INTEGRATORS, tmp_path)
    assert (counts(), builders.displayed_now(cloth).tolist()) == before
    assert cloth.data.shape_keys is None and bpy.context.scene.frame_current == 3


def test_runs_follow_a_keyed_speed(extension, cloth, tmp_path):
    import bpy

    builders.animate(bpy.context.scene.muslin, "speed", {1: 1.0, LAST: 0.25})
    result = run(extension, cloth, INTEGRATORS, tmp_path)
    assert [outcome.frames[-1]["step_max"] for outcome in result.outcomes] == pytest.approx([0.25 / 24.0] * 2)
    assert json.loads((tmp_path / "compare.json").read_text())["settings"]["scene"]["keyed"] == ["speed"]


def test_a_failed_run_is_listed_with_its_error_and_the_others_continue(extension, cloth, tmp_path, monkeypatch):
    core, real = extension.core, extension.core.simulate

    def simulate(scene, solver, frames, **options):
        for frame in real(scene, solver, frames, **options):
            if solver.integrator == "implicit_euler" and frame.index == 3:
                raise core.SolverError("the step runs away <here>")
            yield frame

    monkeypatch.setattr(core, "simulate", simulate)
    result = run(extension, cloth, INTEGRATORS, tmp_path)
    assert [len(outcome.frames) for outcome in result.outcomes] == [2, LAST]
    page = result.sheet.read_text()
    assert "the step runs away &lt;here&gt;" in page
    assert page.count("<td>–</td>") >= 10 and f"<td>2 of {LAST}</td>" in page, "a failed run has no figures"


def test_a_run_that_fails_in_its_first_frame_has_no_figures_pictures_or_curves(extension, cloth, tmp_path):
    result = run(extension, cloth, ["verlet", "bdf2"], tmp_path)
    failed, other = result.outcomes
    assert "verlet" in failed.error and len(failed.frames) == 1 and failed.pictures == [] and len(other.pictures) == 3
    page = result.sheet.read_text()
    assert f"<td>0 of {LAST}</td><td>–</td>" in page and page.count("<figure>") == 1 + 2
    assert "1.0000" not in page.partition("<table")[2].partition("bdf2")[0]


def test_the_sheet_lists_the_options_of_each_run(extension, cloth, tmp_path):
    import bpy

    bpy.context.scene.muslin.verlet_kd = 0.875
    variants = extension.comparison.variants_of(["baraff_witkin", "immediate_buckling"],
                                                ["bdf2", "projective_dynamics"])
    result = builders.finish(extension.comparison.compare(bpy.context.scene, [cloth], variants, tmp_path, (1, 2)))
    _, _, options = result.sheet.read_text().partition("<h2>Options of each run</h2>")
    own, _, common = options.partition("<h2>")
    assert own.count("hold ") == 2 and own.count("projective_solve factor") == 2 and "verlet_kd" not in options
    for fact in ("tolerance 0.01", "areal_density 0.15", "pinned_vertices 2", "gravity (0, 0, -9.81)", "muslin "):
        assert fact in common, fact
    runs = json.loads((tmp_path / "compare.json").read_text())["runs"]
    assert runs[0]["solver_options"]["steps_per_frame"] == 1 and set(runs[0]["model_options"]) == {"Flag"}


def test_the_sheet_lists_the_settings_of_a_cloth_that_is_called_scene(extension, cloth, tmp_path):
    cloth.name = "scene"
    text = run(extension, cloth, ["bdf2"], tmp_path, frames=(1, 2)).sheet.read_text()
    rows = text[text.index("The same for all runs"):]
    assert rows.count("<td>scene</td>") == 2 and "areal_density" in rows and "gravity" in rows


def test_the_camera_follows_cloth_that_falls_far(extension, cloth, tmp_path):
    import bpy
    import numpy as np

    cloth.muslin.pin_group = ""
    bpy.context.scene.frame_end = 30                        # the cloth falls 7 times its size
    result = run(extension, cloth, ["bdf2"], tmp_path)
    for name in result.outcomes[0].pictures:
        image = bpy.data.images.load(str(tmp_path / name))
        pixels = np.array(image.pixels).reshape(-1, image.channels)[:, :3]
        bpy.data.images.remove(image)
        assert (pixels[:, 0] > 1.5 * pixels[:, 2]).any(), f"{name} shows no cloth"


def test_only_pictures_of_an_earlier_comparison_are_removed(extension, cloth, tmp_path):
    (tmp_path / "mine.png").write_bytes(b"mine")
    run(extension, cloth, INTEGRATORS, tmp_path, frames=(1, 2))
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    import bpy

    variants = extension.comparison.variants_of(["baraff_witkin"], ["bdf2"])
    steps = extension.comparison.compare(bpy.context.scene, [cloth], variants, tmp_path, (1, 3))
    while next(steps).stage != "Drawing the sheet":
        pass
    next(steps)
    steps.close()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before, "cancelling changed the folder"
    run(extension, cloth, ["bdf2"], tmp_path, frames=(1, 2))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [*sorted(name for name in before if "bdf2" in name), "compare.html", "compare.json", "mine.png"]


@pytest.mark.parametrize("stop_at", ["", "Drawing the sheet"])
def test_a_comparison_that_is_cancelled_leaves_no_folder(extension, cloth, tmp_path, stop_at):
    import bpy

    variants = extension.comparison.variants_of(["baraff_witkin"], ["bdf2"])
    steps = extension.comparison.compare(bpy.context.scene, [cloth], variants, tmp_path / "of" / "mine", (1, 3))
    while next(steps).stage != stop_at:
        pass
    next(steps)
    assert stop_at or list(tmp_path.iterdir()) == [], "no folder is left if the process is killed, either"
    steps.close()
    assert list(tmp_path.iterdir()) == []


def test_progress_names_the_run(extension, cloth, tmp_path, monkeypatch):
    import bpy

    monkeypatch.setattr(extension.bake_job, "TURN", (0.0, 0.0))                # one step per turn
    variants = extension.comparison.variants_of(["baraff_witkin"], INTEGRATORS)
    steps = extension.comparison.compare(bpy.context.scene, [cloth], variants, tmp_path, (1, 2))
    running = extension.bake_job.Job(steps, "Comparing")
    texts = set()
    while not running.advance():
        texts.add(running.text())
    assert any(text.startswith("2 of 2: baraff_witkin, bdf2 - Comparing ") for text in texts), texts


def test_a_comparison_has_the_version_of_numba_if_it_ran(extension, cloth, tmp_path, monkeypatch):
    from dataclasses import replace
    from types import SimpleNamespace

    core, real = extension.core, extension.core.simulate

    def simulate(scene, solver, frames, **options):
        for frame in real(scene, solver, frames, **options):
            yield replace(frame, certificate=replace(frame.certificate, backend="numba"))

    assert "numba" not in run(extension, cloth, ["bdf2"], tmp_path, frames=(1, 2)).values["versions"]
    monkeypatch.setattr(core, "simulate", simulate)
    monkeypatch.setitem(sys.modules, "numba", SimpleNamespace(__version__="9.87"))
    result = run(extension, cloth, ["bdf2"], tmp_path, frames=(1, 2))
    assert result.values["versions"]["numba"] == "9.87" and "numba 9.87" in result.sheet.read_text()



def test_unknown_models_and_missing_integrators_are_errors(extension):
    with pytest.raises(extension.core.SceneError, match="no model 'plywood'; there are: baraff_witkin"):
        extension.comparison.variants_of(["plywood"], ["bdf2"])
    with pytest.raises(extension.core.SceneError, match="choose at least one integrator"):
        extension.comparison.variants_of(["baraff_witkin"], [])


def test_the_button_compares_the_variants_chosen_in_the_panel(extension, cloth, tmp_path):
    import bpy

    settings = bpy.context.scene.muslin
    settings.compare_integrators = set(INTEGRATORS)
    settings.compare_folder = str(tmp_path)
    bpy.context.view_layer.objects.active = cloth
    assert not bpy.ops.muslin.compare_open.poll()
    assert bpy.ops.muslin.compare() == {"FINISHED"}
    runs = json.loads((tmp_path / "compare.json").read_text())["runs"]
    assert [one["kind"] for one in runs] == [{"model": "baraff_witkin", "integrator": name} for name in INTEGRATORS]
    assert bpy.ops.muslin.compare_open.poll()


def test_vertices_without_edges_are_compared_as_particles_only(extension, scene, tmp_path):
    import bpy

    bpy.context.view_layer.objects.active = builders.mesh_object("Grains", [(0, 0, 0), (1, 0, 0)])
    scene.muslin.compare_folder = str(tmp_path)
    for chosen, error in ((set(), None), ({"rope"}, "Grains: has no edges, and vertices alone can only be particles")):
        scene.muslin.compare_models = chosen
        bpy.ops.muslin.compare()
        (run,) = json.loads((tmp_path / "compare.json").read_text())["runs"]
        assert run["kind"]["model"] == (min(chosen) if chosen else "particles")
        assert run["error"].startswith(error) if error else not run["error"]


def test_a_relative_folder_needs_a_saved_file(extension, cloth):
    import bpy

    bpy.context.view_layer.objects.active = cloth
    with pytest.raises(RuntimeError, match="relative to a file that was not saved yet"):
        bpy.ops.muslin.compare()


def test_the_command_line_writes_the_sheet_and_does_not_change_the_file(extension, cloth, tmp_path, capfd):
    import bpy

    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    before = path.read_bytes()
    assert extension.command_line.main(["compare", "--integrators", *INTEGRATORS, "--frames", "1", "3"]) == 0
    page = (tmp_path / "scene_compare" / "compare.html").read_text()
    assert len(re.findall("<tr><td>baraff_witkin", page.partition("<h2>")[0])) == 2
    assert path.read_bytes() == before
    printed = capfd.readouterr().err
    assert "saved" in printed and "2 of 2: baraff_witkin, bdf2" in printed
    assert extension.command_line.main(["compare", "--models", "plywood"]) == 2
    assert "'plywood'" in capfd.readouterr().err


def test_a_comparison_with_a_failed_run_exits_with_1_and_a_report_of_all_runs(extension, cloth, tmp_path):
    import bpy

    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    line = ["compare", "--integrators", "bdf2", "verlet", "--frames", "1", "2", "--json", str(tmp_path / "r.json")]
    assert extension.command_line.main(line) == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert [bool(one["error"]) for one in report["runs"]] == [False, True]
    assert report["error"]["message"].startswith("1 of 2 runs failed: baraff_witkin, verlet: ")
    assert report["sheet"] == str(tmp_path / "scene_compare" / "compare.html")


def test_options_of_the_object_s_model_are_not_used_for_other_models(extension, scene, tmp_path):
    import bpy

    bpy.context.scene.frame_end = 2
    bpy.context.scene.muslin.backend = "NUMPY"
    block = builders.box(kind="CLOTH")
    block.muslin.model = "jelly"
    variants = extension.comparison.variants_of(["jelly", "baraff_witkin"], ["bdf2"])
    result = builders.finish(extension.comparison.compare(bpy.context.scene, [block], variants, tmp_path))
    assert [outcome.error for outcome in result.outcomes] == ["", ""]


def test_a_file_in_place_of_the_folder_is_an_error(extension, cloth, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(extension.core.SceneError, match="file, which is a file; choose a folder"):
        run(extension, cloth, ["bdf2"], tmp_path / "file")

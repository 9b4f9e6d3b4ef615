# SPDX-License-Identifier: GPL-3.0-or-later
"""The job type for Flamenco: what it composes is accepted by the command line, and does what it should."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.addon import builders

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
JOB_TYPE = ROOT / "docs" / "guide" / "flamenco" / "muslin_bake_and_render.js"
SETTINGS = {"frames": "1-4", "chunk_size": 3, "render_output_root": "/out", "format": "PNG",
            "render_output_path": "/out/job/{timestamp}/######", "bake_result": "scene", "bake_backend": "scene",
            "bake_threads": 0, "bake_frames": "", "bake_cache": ""}
MANAGER = """
const tasks = [];
global.print = () => {};
global.path = {...require("path").posix, stem: (name) => require("path").posix.parse(name).name};
global.formatTimestampLocal = () => "2026-01-02_030405";
global.frameChunker = (frames, size) => frames === "1-4" && size === 3 ? ["1-3", "4"] : ["1"];
global.author = {
    Task: (name, type) => ({name, type, commands: [], needs: [],
        addCommand(command) { this.commands.push(command); }, addDependency(task) { this.needs.push(task.name); }}),
    Command: (name, parameters) => ({name, parameters}),
};
const script = require("fs").readFileSync(process.argv[2], "utf-8");
const found = new Function(script + "; return {JOB_TYPE, compileJob};")();
const job = {settings: JSON.parse(process.argv[3]), created: 0, addTask: (task) => tasks.push(task)};
try {
    found.compileJob(job);
    console.log(JSON.stringify({type: found.JOB_TYPE, tasks, settings: job.settings}));
} catch (error) {
    console.log(JSON.stringify({error: String(error)}));
}
"""
"""What Flamenco's manager gives to a job type, as far as it is used."""


@pytest.fixture
def blend(scene, tmp_path):
    """Save a .blend with a sheet, which stays open, and return its path."""
    import bpy

    builders.sheet(4, name="Sheet")
    path = tmp_path / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def compiled(tmp_path, **settings):
    """Return what the job type makes of these settings, run as Flamenco's manager runs it."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    (tmp_path / "manager.js").write_text(MANAGER)
    ended = subprocess.run([node, tmp_path / "manager.js", JOB_TYPE, json.dumps({**SETTINGS, **settings})],
                           capture_output=True, text=True, timeout=60, check=True)
    return json.loads(ended.stdout)


def test_the_flamenco_job_bakes_and_then_renders(blend, tmp_path):
    """The commands that it composes do what they should here, with plain Python instead of Blender's program."""
    job = compiled(tmp_path, blendfile=str(blend), bake_frames="1-4", bake_backend="numpy", bake_threads=1,
                   bake_result="mesh_cache", bake_cache=str(tmp_path / "frames"))
    bake, *renders = job["tasks"]
    assert {task["type"] for task in job["tasks"]} == {"blender"} and all(task["needs"] == ["bake"] for task in renders)
    given = bake["commands"][0]["parameters"]
    assert given["args"][:2] == ["--command", "muslin"] and given["blendfile"] == str(blend)
    result = subprocess.run([sys.executable, ROOT, given["blendfile"], *given["args"][2:]], cwd=tmp_path,
                            capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    assert {render["commands"][0]["parameters"]["blendfile"] for render in renders} == {
        str(tmp_path / "shot_baked.blend")}
    assert (tmp_path / "shot_baked.blend").exists() and (tmp_path / "frames" / "Sheet").exists()
    assert [render["commands"][0]["parameters"]["args"] for render in renders] == [
        ["--render-output", "/out/job/2026-01-02_030405/######", "--render-format", "PNG", "--render-frame", frames]
        for frames in ("1..3", "4")]


def test_the_flamenco_job_type_offers_what_muslin_has(extension, blend, tmp_path):
    job = compiled(tmp_path, blendfile=str(blend))
    settings = {setting["key"]: setting for setting in job["type"]["settings"]}
    assert set(settings) == {*SETTINGS, "blendfile"}
    for key, choices in (("bake_result", ("shape_keys", "mesh_cache")), ("bake_backend", extension.backends.NAMES)):
        assert set(settings[key]["choices"]) == {"scene", *choices}
    parsed = extension.arguments.parser().parse_args(job["tasks"][0]["commands"][0]["parameters"]["args"][2:])
    assert parsed.resume and parsed.frames is None and parsed.threads is None
    page = (ROOT / "docs" / "guide" / "farm.md").read_text(encoding="utf-8")
    assert all(key.replace("_", " ").title() in page for key in settings if key.startswith("bake_"))


def test_the_flamenco_job_refuses_settings_that_make_no_sense(blend, tmp_path):
    assert "not two numbers such as 1-250" in compiled(tmp_path, blendfile=str(blend), bake_frames="all")["error"]
    assert "FFMPEG is a video" in compiled(tmp_path, blendfile=str(blend), format="FFMPEG")["error"]

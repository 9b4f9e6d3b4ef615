# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line and the printed summary of the demo."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parents[2]


def test_more_frames_than_the_scene_has_are_refused_before_any_work():
    for frames in ("1000", "61", "1"):
        ended = subprocess.run([sys.executable, ROOT / "demo" / "tablecloth.py", "--frames", frames], text=True,
                               capture_output=True, timeout=60)
        assert ended.returncode == 2 and f"--frames is {frames}, it must be in 2..60" in ended.stderr


def test_compiling_is_not_part_of_the_time_of_the_frames():
    spec = importlib.util.spec_from_file_location("tablecloth", ROOT / "demo" / "tablecloth.py")
    tablecloth = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tablecloth)
    worst = dict.fromkeys(("stretch_max", "stretch_p99", "deepest_penetration", "crossings", "steps", "iterations",
                           "residual", "not_converged"), 1.0)
    report = SimpleNamespace(
        certificates=[{"seconds": seconds, "stretch_max": longest} for seconds, longest in (
            ({}, 1.0), ({"solve": 1.5}, 1.25), ({"solve": 1.5}, 1.125))], backend="numba",
        seconds={"prepare": 30.0, "total": 34.0}, summary=lambda: worst)
    text = tablecloth.summary(report, 0)
    assert "in frame 2" in text
    assert "3 frames in 4.0 s: 2000 ms a frame" in text and "new ones compiled: 30.0 s" in text
    assert [line.split()[-1] for line in text.splitlines() if "Blender" in line] == ["1.0"]

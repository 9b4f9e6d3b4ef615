# SPDX-License-Identifier: GPL-3.0-or-later
"""Headless bakes: a shot to bake, plain Python that bakes it, interruptions, and the bytes of the result."""

from __future__ import annotations

import importlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np

from tests.addon import builders
from tests.addon.scripted import crumple, replace_simulation, simulate_as

ROOT = Path(__file__).resolve().parents[2]
LAST = 12


def saved_shot(scene, folder):
    """Save a .blend with a pinned sheet above a box, which stays open, and return its path."""
    sheet = builders.sheet(9, name="Sheet", size=1.0, height=0.3)
    builders.pin(sheet, {0: 1.0, 8: 1.0})
    builders.box("Box", 0.4)
    scene.frame_end = LAST
    scene.muslin.backend = "NUMPY"
    path = folder / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=False)
    return path


def keys(path, name="Sheet"):
    """Return the coordinates of all shape keys of a baked .blend as bytes."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    found = []
    for block in bpy.data.objects[name].data.shape_keys.key_blocks:
        x = np.empty(len(block.data) * 3, np.float32)
        block.data.foreach_get("co", x)
        found.append(block.name.encode() + x.tobytes())
    return found


def reopen(path):
    bpy.ops.wm.open_mainfile(filepath=str(path))


def stopped_at(extension, monkeypatch, frame):
    """Let the simulation be interrupted before a frame, counted from the first."""
    def motion(start, since):
        if since == frame:
            raise KeyboardInterrupt
        return crumple(start, since)

    replace_simulation(monkeypatch, extension.core, simulate_as(extension.core, motion))


def solver_stops_before(extension, monkeypatch, frame):
    """Let the solver itself be interrupted before a frame; never if it is None."""
    real = importlib.import_module(f"{extension.core.__name__}.stepping.simulate").simulate

    def simulate(*given, **options):
        for solved in real(*given, **options):
            if solved.index == frame:
                raise KeyboardInterrupt
            yield solved

    replace_simulation(monkeypatch, extension.core, simulate)


def muslin(*arguments, **options):
    return subprocess.run([sys.executable, ROOT, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          **options)


def killed_and_resumed(blend, folder, after, number=signal.SIGKILL):
    """End a bake by a signal as soon as frame `after` is reported, resume it, and return what both have said."""
    output = folder / "resumed.blend"
    line = [sys.executable, ROOT, blend, "bake", "--progress", "json", "--output", output, "--cache", folder / "cache",
            "--resume"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        reported = [None]
        for text in process.stdout:
            if text.startswith("{") and json.loads(text)["event"] == "frame":
                reported.append(json.loads(text)["frame"])
                if reported[-1] >= after:
                    time.sleep(random.uniform(0.0, 0.02))
                    process.send_signal(number)
                    break
        said = process.stderr.read()
        code = process.wait()
    resumed = muslin(*line[2:], cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    return output, reported[-1], code, said, resumed

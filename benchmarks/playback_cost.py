# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how long Blender takes to show a frame of a bake, by kind of result, with Muslin and without.

    python benchmarks/playback_cost.py [vertices along a side] [frames]

Needs the bpy package. A sheet with a made-up motion is baked as a Mesh Cache and as absolute shape keys, and all frames
are set in order. What Muslin adds is the difference between the times with the extension enabled and disabled, over the
same bake. The mesh without a bake is the time of Blender alone. The fastest of several runs counts.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["BLENDER_USER_RESOURCES"] = tempfile.mkdtemp(prefix="muslin-playback-")

import bpy  # noqa: E402
import numpy as np  # noqa: E402

MODULE = "bl_ext.dev.muslin"
RUNS = 4


def milliseconds(frames: int) -> float:
    """Return the time of a frame, the fastest of some runs over all frames [ms]."""
    scene, found = bpy.context.scene, []
    for _ in range(RUNS):
        began = time.perf_counter()
        for frame in range(1, frames + 1):
            scene.frame_set(frame)
        found.append(time.perf_counter() - began)
    return 1e3 * min(found) / frames


def with_and_without(frames: int) -> tuple[float, float]:
    """Return the time of a frame with the extension enabled and disabled [ms]."""
    enabled = milliseconds(frames)
    bpy.ops.preferences.addon_disable(module=MODULE)
    disabled = milliseconds(frames)
    bpy.ops.preferences.addon_enable(module=MODULE)
    return enabled, disabled


def replaced(extension: SimpleNamespace) -> None:
    """Let bakes be of a wave instead of a simulation."""
    from tests.addon.scripted import simulate_as

    def wave(x: Any, since: int) -> Any:
        return x + [[0.0, 0.0, 0.1]] * np.sin(5.0 * x[:, :1] + 0.1 * since)

    extension.cache.simulate = simulate_as(extension.core, wave)


def main(side: int, frames: int) -> None:
    """Bake a sheet of `side` x `side` vertices both ways, and print the times of a frame."""
    from tests.addon import builders

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    folder = tempfile.mkdtemp(prefix="muslin-playback-")
    os.symlink(ROOT, Path(folder) / "muslin", target_is_directory=True)
    bpy.context.preferences.extensions.repos.new(name="dev", module="dev", custom_directory=folder)
    bpy.ops.preferences.addon_enable(module=MODULE)
    extension = SimpleNamespace(core=importlib.import_module(f"{MODULE}.core"),
                                cache=importlib.import_module(f"{MODULE}.core.cache.bake"),
                                bake=importlib.import_module(f"{MODULE}.cloth_addon.bake.bake"))
    replaced(extension)
    scene: Any = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    scene.muslin.backend, scene.muslin.cache_folder = "NUMPY", folder + "/cache"
    sheet = builders.sheet(side)
    print(f"{side * side} vertices, {frames} frames, time of a frame [ms]: with Muslin, without, what Muslin adds")
    alone = milliseconds(frames)
    for result in ("MESH_CACHE", "SHAPE_KEYS"):
        sheet.muslin.result = result
        builders.finish(extension.bake.bake(scene))
        enabled, disabled = with_and_without(frames)
        print(f"    {result:12} {enabled:8.3f} {disabled:8.3f} {enabled - disabled:8.3f}    ratio "
              f"{enabled / disabled:6.3f}, {enabled - alone:6.3f} more than without a bake")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, int(sys.argv[2]) if len(sys.argv) > 2 else 250)

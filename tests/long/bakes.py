# SPDX-License-Identifier: GPL-3.0-or-later
"""Many bakes in one process of Blender, at constant memory: `python -m tests.long.bakes COUNT`.

A sheet falls on a moving box. Every bake replaces the one before; every third one is deleted, and then no data may be
left that was not there before. The last line is the record, as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
import time

from tests.long.in_blender import registered
from tests.long.soak import memory

MOST_GROWTH = 16 * 2 ** 20
"""Largest growth of the memory after the first fifth of the bakes [bytes]."""


def main(count: int) -> dict[str, object]:
    """Run the bakes and return their record."""
    registered()
    import bpy

    from tests.addon import builders

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 6
    cloth, solid = builders.sheet(8, height=0.55), builders.box()
    builders.pin(cloth, {0: 1.0})
    builders.animate(solid, "location", {1: (0.0, 0.0, 0.0), 6: (0.1, 0.0, 0.05)})
    baking = importlib.import_module("muslin.cloth_addon.bake.bake")
    deleting = importlib.import_module("muslin.cloth_addon.write.shape_keys")
    before, failures, slowest, worst, after_warm_up = _data(), [], 0.0, 0, 0
    for number in range(count):
        start = time.process_time()
        report = builders.finish(baking.bake(scene))
        took = time.process_time() - start
        if took > slowest and number:
            slowest, worst = took, number
        if report is None or not cloth.data.shape_keys:
            failures.append(f"bake {number} wrote no shape keys")
        if number % 3 == 2:
            deleting.delete_bake(cloth)
            if _data() != before:
                failures.append(f"after bake {number} was deleted there are {_data()}, before there were {before}")
                break
        if number == count // 5:
            after_warm_up = memory()
    grown = memory() - after_warm_up
    if grown > MOST_GROWTH:
        failures.append(f"memory grew by {grown / 2 ** 20:.1f} MB after the first fifth of {count} bakes")
    return {"cases": count, "failures": failures, "slowest": slowest, "worst": f"bake {worst}"}


def _data() -> dict[str, int]:
    import bpy

    return {kind: len(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "shape_keys", "actions", "collections",
                                                            "scenes", "texts", "images", "materials")}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))

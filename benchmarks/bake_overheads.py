# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake in Blender takes beside the solver: reading what moves, making and writing keys, Python between stages.

    /path/to/python-with-bpy benchmarks/bake_overheads.py [vertices along a side] [--self-collision]

The demo's tablecloth on its gliding, turning ball, baked by the extension to frame 2 and to the end: milliseconds of a
frame in the mean and their shares, of what the longer bake takes more.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "demo")]


def spent(report: Any) -> dict[str, float]:
    """Seconds of a bake by part."""
    seconds = report.seconds
    staged = sum(sum(certificate["seconds"].values()) for certificate in report.certificates)
    return {"solver's stages": staged, "Python between them": seconds["solve"] - staged, "reading": seconds["read"],
            "making and writing keys": seconds["fit"] + seconds["write"]}


def main(side: int, itself: bool) -> None:
    """Bake and print."""
    import tablecloth

    tablecloth.PROFILE.mkdir(parents=True, exist_ok=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(tablecloth.PROFILE)              # read when bpy is imported
    import bpy
    import scene

    scene.CLOTH_VERTICES = side
    cloth, ball = scene.build()
    tablecloth.enable_extension()
    bpy.context.scene.muslin.use_self_collision = itself
    reports = []
    for last in (2, 2, scene.FRAMES):                            # the first one of a process takes longer
        bpy.context.scene.frame_end = last
        reports.append(tablecloth.bake(cloth, ball))
    short, long = (spent(report) for report in reports[1:])
    found = {name: 1e3 * (long[name] - short[name]) / (scene.FRAMES - 2) for name in long}
    print(f"{side}^2 vertices, {reports[-1].backend}, self-collision {'on' if itself else 'off'}")
    for name, ms in {**found, "total": sum(found.values())}.items():
        print(f"    {name:<24} {ms:8.2f} ms {ms / sum(found.values()):7.1%}")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    main(numbers[0] if numbers else 100, "--self-collision" in sys.argv)

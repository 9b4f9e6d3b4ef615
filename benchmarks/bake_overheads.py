# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the time of a bake in Blender outside of the solver: reading animation, shape keys, and Python.

    /path/to/python-with-bpy benchmarks/bake_overheads.py [vertices along a side] [--self-collision]

The demo's tablecloth on its moving ball is baked to frame 2 and to the end. Prints mean milliseconds per frame and
their shares, from the difference of the two bakes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "demo")]


def spent(report: Any) -> dict[str, float]:
    """Return the time of a bake by part [s]."""
    seconds = report.seconds
    staged = sum(sum(certificate["seconds"].values()) for certificate in report.certificates)
    return {"solver's stages": staged, "Python between them": seconds["solve"] - staged, "reading": seconds["read"],
            "making and writing keys": seconds["fit"] + seconds["write"]}


def main(side: int, itself: bool) -> None:
    """Bake the tablecloth of `side` x `side` vertices, with self-collision if `itself`, and print the times."""
    import tablecloth

    tablecloth.PROFILE.mkdir(parents=True, exist_ok=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(tablecloth.PROFILE)              # read when bpy is imported
    import bpy
    import scene

    cloth, ball = scene.build(tablecloth.FRAMES, side)
    tablecloth.enable_extension()
    bpy.context.scene.muslin.use_self_collision = itself
    reports = []
    for last in (2, 2, tablecloth.FRAMES):                       # the first bake of a process takes longer
        bpy.context.scene.frame_end = last
        reports.append(tablecloth.bake(cloth, ball))
    short, long = (spent(report) for report in reports[1:])
    found = {name: 1e3 * (long[name] - short[name]) / (tablecloth.FRAMES - 2) for name in long}
    print(f"{side}^2 vertices, {reports[-1].backend}, self-collision {'on' if itself else 'off'}")
    for name, ms in {**found, "total": sum(found.values())}.items():
        print(f"    {name:<24} {ms:8.2f} ms {ms / sum(found.values()):7.1%}")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    main(numbers[0] if numbers else 100, "--self-collision" in sys.argv)

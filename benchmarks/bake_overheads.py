# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake in Blender takes beside the solver: reading what moves, making and writing keys, Python between stages.

    /path/to/python-with-bpy benchmarks/bake_overheads.py [vertices along a side] [--self-collision]

The demo's tablecloth on its gliding, turning ball, baked by the extension: milliseconds of a frame in the mean, without
the first one, and their shares. Writing keys, which is done once at the end, counts as of all frames.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "demo")]


def shares(report: Any, first: dict[str, float]) -> dict[str, float]:
    """Milliseconds of a frame by part, and `total`; `first`: seconds by stage when the first frame was there."""
    frames, spent = len(report.certificates) - 1, report.seconds
    spent = {name: spent[name] - first.get(name, 0.0) for name in ("solve", "read", "fit", "write")}
    staged = sum(sum(certificate["seconds"].values()) for certificate in report.certificates[1:])
    parts = {"solver's stages": staged, "Python between them": spent["solve"] - staged, "reading": spent["read"],
             "making and writing keys": spent["fit"] + spent["write"]}
    return {name: 1e3 * seconds / frames for name, seconds in {**parts, "total": sum(parts.values())}.items()}


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
    cloth.muslin.kind, cloth.muslin.fabric, ball.muslin.kind = "CLOTH", "cotton", "COLLIDER"
    bpy.context.scene.muslin.use_self_collision = itself
    bake = importlib.import_module(f"{tablecloth.MODULE}.cloth_addon.bake").bake(bpy.context.scene, [cloth])
    first: dict[str, float] = {}
    while True:
        try:
            progress = next(bake)
            if progress.certificate is not None and not first:
                first = dict(bake.gi_frame.f_locals["clock"].seconds())
        except StopIteration as end:
            found = shares(end.value, first)
            print(f"{side}^2 vertices, {end.value.backend}, self-collision {'on' if itself else 'off'}")
            break
    for name, ms in found.items():
        print(f"    {name:<24} {ms:8.2f} ms {ms / found['total']:7.1%}")


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    main(numbers[0] if numbers else 100, "--self-collision" in sys.argv)

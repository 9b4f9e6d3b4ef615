# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo: a tablecloth of 60 x 60 vertices falls onto a ball that moves and turns.

    make demo                                                              or, with a Python that has the bpy package,
    python demo/tablecloth.py [--picture docs/pictures/tablecloth.png]     which makes the picture of the README

It builds the scene by script, enables the extension from this checkout, bakes, and writes

    build/demo/tablecloth.blend       plays in Blender 4.5 and later, with or without the extension
    build/demo/report.json            the certificate of every frame, settings, times
    build/demo/tablecloth.png         six frames, each also as frame_NNN.png
    build/demo/blender                the Blender profile that is used, with the compiled kernels if there is Numba
"""

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "build" / "demo"
PROFILE = OUTPUT / "blender"                # kept between runs, so that kernels are compiled once
FRAMES = 60                                 # frames in which the ball moves
PICTURED = (1, 8, 14, 24, 42, FRAMES)       # frames of the pictures
MODULE = "bl_ext.checkout.muslin"


def enable_extension() -> None:
    """Enable the checkout as an installed extension, by an extension repository that links to it."""
    import bpy

    folder = PROFILE / "checkout"
    folder.mkdir(exist_ok=True)
    if not (folder / "muslin").exists():
        os.symlink(ROOT, folder / "muslin", target_is_directory=True)
    repositories = bpy.context.preferences.extensions.repos
    repositories.new(name="Checkout", module="checkout", custom_directory=str(folder))
    bpy.ops.preferences.addon_enable(module=MODULE)
    if MODULE not in bpy.context.preferences.addons:
        raise SystemExit("the extension could not be enabled: see the messages above")


def bake(cloth: Any, ball: Any) -> Any:
    """Bake the cloth, print the progress, and return the report."""
    import bpy

    cloth.muslin.kind = "CLOTH"
    cloth.muslin.fabric = "cotton"
    ball.muslin.kind = "COLLIDER"
    steps = importlib.import_module(f"{MODULE}.cloth_addon.bake.bake").bake(bpy.context.scene, [cloth])
    on_one_line, printed = sys.stderr.isatty(), ""
    while True:
        try:
            progress = next(steps)
        except StopIteration as end:
            if on_one_line:
                print(file=sys.stderr)
            return end.value
        left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
        line = progress.stage or f"frame {progress.frame}, {progress.fraction:.0%}{left}"
        if on_one_line:
            print(f"\r{line:<50}", end="", file=sys.stderr, flush=True)
        elif (tenth := progress.stage or f"{10 * int(10 * progress.fraction)} %") != printed:   # few lines in a log
            printed = tenth
            print(line, file=sys.stderr, flush=True)


def world_mesh(obj: Any) -> tuple[Any, Any]:
    """Return positions (V, 3) [m] and triangles (T, 3) of an object as it is displayed now."""
    import bpy
    import numpy as np

    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh, matrix = evaluated.data, np.array(evaluated.matrix_world)
    positions = np.empty((len(mesh.vertices), 3), np.float32)
    mesh.vertices.foreach_get("co", positions.ravel())
    triangles = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles.ravel())
    return positions @ matrix[:3, :3].T + matrix[:3, 3], triangles


def crossings_with_ball(cloth: Any, ball: Any) -> int:
    """Return the largest number of crossings between cloth and ball in one frame of the displayed bake."""
    import bpy

    core, scene = importlib.import_module(f"{MODULE}.core"), bpy.context.scene
    found = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        audit = core.audit([world_mesh(cloth)], [world_mesh(ball)])
        found.append(int((audit.edge_object != audit.triangle_object).sum()))
    return max(found)


def summary(report: Any, with_ball: int) -> str:
    """Return a text with the worst figures of all frames, and the time of each stage."""
    worst = report.summary()
    longest = max(range(len(report.certificates)), key=lambda n: report.certificates[n]["stretch_max"])
    stages: dict[str, float] = {}
    for certificate in report.certificates:
        for stage, spent in certificate["seconds"].items():
            stages[stage] = stages.get(stage, 0.0) + spent
    frames, kernels = len(report.certificates), report.seconds["prepare"]
    total = report.seconds["total"] - kernels
    stages["Blender"] = total - sum(stages.values())
    return "\n".join([
        f"{frames} frames in {total:.1f} s: {total / (frames - 1) * 1e3:.0f} ms a frame, by {report.backend}",
        *([f"    before that, kernels were loaded, new ones compiled: {kernels:.1f} s"]
          if report.backend == "numba" else []),
        "in the worst frame",
        f"    largest stretch of an edge          {worst['stretch_max'] - 1.0:.2%}, in frame {longest + 1}",
        f"    stretch of 99 % of the edges        at most {worst['stretch_p99'] - 1.0:.2%}",
        f"    deepest point inside the ball       {worst['deepest_penetration'] * 1e3:.3f} mm",
        f"    edges through a face                {with_ball} between cloth and ball, {worst['crossings']:.0f} in all",
        "of all frames",
        f"    steps {worst['steps']:.0f}, solver iterations {worst['iterations']:.0f}, largest residual "
        f"{worst['residual']:.1e}, frames not converged {worst['not_converged']}",
        "time of the stages, in seconds:",
        *(f"    {stage:<14} {spent:6.1f}" for stage, spent in sorted(stages.items(), key=lambda item: -item[1])),
    ])


def main() -> int:
    """Build, bake, save and render the demo."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, default=OUTPUT / "tablecloth.png", help="file for the six frames")
    parser.add_argument("--frames", type=int, default=FRAMES, help=f"number of frames to bake, up to {FRAMES}")
    parser.add_argument("--no-picture", action="store_true", help="bake and save only")
    arguments = parser.parse_args()
    if not 2 <= arguments.frames <= FRAMES:
        parser.error(f"--frames is {arguments.frames}, it must be in 2..{FRAMES}: the ball moves in these frames only")
    PROFILE.mkdir(parents=True, exist_ok=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(PROFILE)         # read when bpy is imported
    import bpy
    import pictures
    import scene

    cloth, ball = scene.build(FRAMES)
    bpy.context.scene.frame_end = arguments.frames
    enable_extension()
    print(f"Blender {bpy.app.version_string}: baking {len(cloth.data.vertices)} vertices", flush=True)
    report = bake(cloth, ball)
    print(summary(report, crossings_with_ball(cloth, ball)))
    (OUTPUT / "report.json").write_text(json.dumps(report.as_dict(), indent=1) + "\n")
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(OUTPUT / "tablecloth.blend"), compress=True)
    print("saved", (OUTPUT / "tablecloth.blend").relative_to(ROOT))
    if not arguments.no_picture:
        start = time.perf_counter()
        last = bpy.context.scene.frame_end                          # fewer frames: pictures at the same fractions
        frames = sorted({1 + round((frame - 1) * (last - 1) / (FRAMES - 1)) for frame in PICTURED})
        pictures.contact_sheet(pictures.render(frames, OUTPUT), arguments.picture.absolute())
        print(f"rendered {os.path.relpath(arguments.picture)} in {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

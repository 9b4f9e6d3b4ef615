# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulate the scene of a system, and draw some of its frames side by side.

    python demo/systems/draw.py rope                                            writes build/systems/rope.png
    python demo/systems/draw.py rope --picture docs/pictures/systems/rope.png
    python demo/systems/draw.py                                                 lists the names

Run with a Python that has the bpy package. Prints figures of the certificates.
"""

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NO_SCENES = ("draw", "run", "shapes", "__init__")
"""Files of this folder without a scene."""
SIZE = (360, 360)
"""Width and height of the picture of one frame [pixels]."""


def names() -> list[str]:
    """Return the names of the systems: the files of this folder that have a scene."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in NO_SCENES)


def main() -> int:
    """Simulate and draw the system of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=names(), help="name of the system")
    parser.add_argument("--picture", type=Path, help="file for the picture")
    arguments = parser.parse_args()
    if arguments.name is None:
        print("\n".join(names()))
        return 0
    picture = arguments.picture or ROOT / "build" / "systems" / f"{arguments.name}.png"
    sys.path[:0] = [str(ROOT), str(ROOT / "demo")]
    import tablecloth

    with tempfile.TemporaryDirectory() as folder:
        tablecloth.PROFILE.mkdir(parents=True, exist_ok=True)
        os.environ["BLENDER_USER_RESOURCES"] = str(tablecloth.PROFILE)      # read when bpy is imported
        import bpy
        import numpy as np

        tablecloth.enable_extension()
        run = importlib.import_module(f"demo.systems.{arguments.name}").build()
        snapshot = importlib.import_module(f"{tablecloth.MODULE}.cloth_addon.compare.snapshot")
        import pictures

        import core

        view = snapshot.View(eye=run.eye, target=run.target, lens=run.lens, thickness=run.thickness, size=SIZE)
        drawn, start = [], time.perf_counter()
        for frame in core.simulate(run.scene, run.solver, frames=range(1, max(run.pictured) + 1)):
            certificate = frame.certificate
            if frame.index not in run.pictured:
                continue
            print(f"frame {frame.index}: {time.perf_counter() - start:.1f} s, stretch p99 "
                  f"{certificate.stretch_p99:.4f}, crossings {certificate.crossings}, steps {certificate.steps}, "
                  f"iterations {certificate.iterations}", flush=True)
            meshes = []
            for cloth, x in zip(run.scene.cloths, frame.positions, strict=True):
                used = np.unique(np.concatenate([cloth.mesh.triangles.ravel(), cloth.mesh.loose_edges.ravel()]))
                points = np.setdiff1d(np.arange(len(x)), used)
                meshes.append(snapshot.DrawnMesh(x, cloth.mesh.triangles, cloth.mesh.loose_edges, points))
            meshes += [snapshot.DrawnMesh(c.at(frame.time), c.triangles, colour=snapshot.COLLIDER_COLOUR, smooth=False)
                       for c in run.scene.colliders]
            path = Path(folder) / f"{frame.index:03d}.png"
            snapshot.draw(meshes, view, path)
            drawn.append(path)
        pictures.contact_sheet(drawn, picture.absolute(), columns=len(drawn))
        print("saved", os.path.relpath(picture), f"with Blender {bpy.app.version_string}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

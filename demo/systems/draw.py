# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulates the scene of a system and draws some of its frames side by side.

    python demo/systems/draw.py rope                                build/systems/rope.png
    python demo/systems/draw.py rope --picture docs/pictures/systems/rope.png
    python demo/systems/draw.py                                     the names there are

Needs the bpy package. Prints what the certificates say.
"""

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN = ("draw", "run", "shapes", "__init__")
SIZE = (360, 360)


def names() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in OWN)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", nargs="?", choices=names(), help="of the system")
    parser.add_argument("--picture", type=Path, help="where the picture goes")
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
            said = frame.certificate
            if frame.index not in run.pictured:
                continue
            print(f"frame {frame.index}: {time.perf_counter() - start:.1f} s, stretch p99 {said.stretch_p99:.4f}, "
                  f"crossings {said.crossings}, steps {said.steps}, iterations {said.iterations}", flush=True)
            things = []
            for cloth, x in zip(run.scene.cloths, frame.positions, strict=True):
                used = np.unique(np.concatenate([cloth.mesh.triangles.ravel(), cloth.mesh.loose_edges.ravel()]))
                alone = np.setdiff1d(np.arange(len(x)), used)
                things.append(snapshot.DrawnMesh(x, cloth.mesh.triangles, cloth.mesh.loose_edges, alone))
            things += [snapshot.DrawnMesh(c.at(frame.time), c.triangles, colour=snapshot.COLLIDER_COLOUR, smooth=False)
                       for c in run.scene.colliders]
            path = Path(folder) / f"{frame.index:03d}.png"
            snapshot.draw(things, view, path)
            drawn.append(path)
        pictures.contact_sheet(drawn, picture.absolute(), columns=len(drawn))
        print("saved", os.path.relpath(picture), f"with Blender {bpy.app.version_string}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

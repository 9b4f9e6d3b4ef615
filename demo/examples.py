# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the examples and draw three frames of each side by side, for docs/pictures/examples.

    python demo/examples.py                     all of them, to docs/pictures/examples/NAME.png
    python demo/examples.py rope flag           only these

Needs the bpy package. The examples themselves need NumPy alone.
"""

import argparse
import importlib.util
import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples"
PICTURES = ROOT / "docs" / "pictures" / "examples"
SIZE = (220, 200)
"""Width and height of one frame's picture [pixels]."""
COLOURS = ((0.72, 0.16, 0.14), (0.16, 0.34, 0.6), (0.85, 0.6, 0.15))
"""Colours of the first cloth, the second and the third, red, green and blue in 0..1."""
DEFAULT_FRAMES = (0, 0.4, 1)
"""Pictured frames as a share of the frames of an example [-]."""
FRAMES = {"tablecloth": (0, 0.4, 1), "fountain": (0.35, 0.65, 1), "integrators": (0, 0.45, 1), "jelly": (0, 0.22, 1)}
"""The same, of examples for which other moments show more [-]."""
THICKNESS = {"fountain": 0.024, "rope": 0.02}
"""Thickness of threads and particles in the picture [m]."""


def names() -> list[str]:
    """Return the names of the examples, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "shapes")


def recorded(example: ModuleType, core: ModuleType) -> list[list[tuple[Any, Any]]]:
    """Return each simulation of an example as a list of (scene, frame).

    The examples return their last frame only, so `core.simulate` is replaced by a function that keeps all of them.
    """
    simulate, runs = core.simulate, []

    def keep(scene: Any, *arguments: Any, **options: Any) -> Iterator[Any]:
        runs.append([])
        run = runs[-1]
        for frame in simulate(scene, *arguments, **options):
            run.append((scene, frame))
            yield frame

    core.simulate = keep
    try:
        example.main()
    finally:
        core.simulate = simulate
    return runs


def things(snapshot: ModuleType, frames: Sequence[tuple[Any, Any]]) -> list[Any]:
    """Return all that is drawn of several scenes, each at a frame."""
    import numpy as np

    cloths = [(cloth, x) for scene, frame in frames for cloth, x in zip(scene.cloths, frame.positions, strict=True)]
    drawn = []
    for number, (cloth, x) in enumerate(cloths):
        used = np.unique(np.concatenate([cloth.mesh.triangles.ravel(), cloth.mesh.loose_edges.ravel()]))
        alone = np.setdiff1d(np.arange(len(x)), used)
        drawn.append(snapshot.DrawnMesh(x, cloth.mesh.triangles, cloth.mesh.loose_edges, alone,
                                        colour=COLOURS[number % len(COLOURS)]))
    for scene, frame in frames:
        drawn += [snapshot.DrawnMesh(c.at(frame.time), c.triangles, colour=snapshot.COLLIDER_COLOUR,
                                     smooth=len(c.triangles) > 2) for c in scene.colliders]
    return drawn


def extent(frames: Sequence[tuple[Any, Any]]) -> Any:
    """Return the positions (N, 3) [m] that a picture has to show: cloths, and colliders that are no larger."""
    import numpy as np

    cloth = np.concatenate([x for _, frame in frames for x in frame.positions])
    colliders = [c.at(frame.time) for scene, frame in frames for c in scene.colliders]
    small = [x for x in colliders if np.ptp(x, axis=0).max() < 1.5 * np.ptp(cloth, axis=0).max() and len(x) > 4]
    return np.concatenate([cloth, *small])


def compress(path: Path) -> None:
    """Write a PNG again without transparency and with zlib's best compression, which takes half as many bytes."""
    import bpy
    import numpy as np

    image = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    colours = np.round(255.0 * pixels.reshape(height, width, 4)[::-1, :, :3]).astype(np.uint8)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), colours.reshape(height, -1)], axis=1)   # filter 0: none
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    chunks = [b"IHDR" + header, b"IDAT" + zlib.compress(rows.tobytes(), 9), b"IEND"]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk)) for chunk in chunks))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"out of {', '.join(names())}; all if none is given")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(names())
    if unknown:
        parser.error(f"no example {', '.join(sorted(unknown))}")
    sys.path[:0] = [str(ROOT), str(ROOT / "demo"), str(FOLDER)]
    import tablecloth

    with tempfile.TemporaryDirectory() as folder:
        tablecloth.PROFILE.mkdir(parents=True, exist_ok=True)
        os.environ["BLENDER_USER_RESOURCES"] = str(tablecloth.PROFILE)      # read when bpy is imported
        import pictures

        import core

        sys.modules["muslin"] = core                            # as if it were installed
        tablecloth.enable_extension()
        snapshot = importlib.import_module(f"{tablecloth.MODULE}.cloth_addon.compare.snapshot")
        for name in arguments.names or names():
            spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
            example = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(example)
            runs = recorded(example, core)
            last = len(runs[0]) - 1
            shown = [[run[round(share * last)] for run in runs] for share in FRAMES.get(name, DEFAULT_FRAMES)]
            view = snapshot.view_around(extent(sum(shown, [])), SIZE)
            view = snapshot.View(eye=view.eye, target=view.target, lens=view.lens, size=SIZE,
                                 thickness=THICKNESS.get(name, view.thickness))
            drawn = []
            for number, frames in enumerate(shown):
                drawn.append(Path(folder) / f"{name}-{number}.png")
                snapshot.draw(things(snapshot, frames), view, drawn[-1])
            pictures.contact_sheet(drawn, PICTURES / f"{name}.png", columns=len(drawn))
            compress(PICTURES / f"{name}.png")
            print("saved", PICTURES / f"{name}.png", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

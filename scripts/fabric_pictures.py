# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the pictures of the fabric presets: each fabric, draped over a ball by Muslin and rendered by Cycles.

    python scripts/fabric_pictures.py [FABRIC ...]      drape and render these fabrics, or all

Draped shapes are kept in build/fabrics, so that they can be made by a Python with Numba (`--drape-only`), and rendered
by one with the bpy package. The pictures are presets/fabrics/FABRIC.png; `_own.png` stands for presets of users.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "demo"), str(ROOT / "examples")]
PRESETS, SHAPES = ROOT / "presets" / "fabrics", ROOT / "build" / "fabrics"
SIZE = 128                          # width and height of a picture [pixels]
SAMPLES = 96                        # samples per pixel
COUNT = 56                          # vertices along each side of the cloth
WIDTH = 0.36                        # of the cloth [m]
RADIUS = 0.06                       # of the ball [m]
FRAMES = 36
FRAME_RATE = 24.0
OWN = "_own"
"""Name of the picture for presets of users."""
LOOKS = {
    "canvas": ((0.55, 0.46, 0.30), 0.9), "chiffon": ((0.80, 0.52, 0.58), 0.6), "cotton": ((0.75, 0.72, 0.64), 0.9),
    "denim": ((0.07, 0.13, 0.30), 0.9), "fine_cotton": ((0.45, 0.62, 0.75), 0.9), "jersey": ((0.36, 0.37, 0.40), 0.95),
    "leather": ((0.20, 0.08, 0.03), 0.4), "plastic_film": ((0.62, 0.72, 0.74), 0.12),
    "polyester": ((0.55, 0.25, 0.05), 0.5), "rubber": ((0.03, 0.03, 0.03), 0.35), "silk": ((0.45, 0.03, 0.07), 0.3),
    "stretch_wool": ((0.10, 0.22, 0.14), 0.9), "upholstery": ((0.35, 0.10, 0.30), 0.95),
    "wool": ((0.28, 0.24, 0.20), 0.95), OWN: ((0.5, 0.5, 0.5), 0.9),
}
"""Colour and roughness of each fabric's picture."""


def drape(name: str) -> NDArray[np.float64]:
    """Return the positions (V, 3) [m] of a square of the fabric that has fallen onto a ball."""
    core: Any = importlib.import_module("core")
    shapes: Any = importlib.import_module("shapes")
    positions, quads = shapes.sheet(COUNT, WIDTH, centre=(0.0, 0.0, RADIUS + 0.01))
    cloth = core.Cloth(core.ClothMesh(positions, faces=quads), core.Material.preset("cotton" if name == OWN else name))
    scene = core.Scene([cloth], [core.Collider(*shapes.ball(RADIUS, segments=64, rings=32), friction=0.5)])
    for frame in core.simulate(scene, core.Solver(frame_rate=FRAME_RATE), frames=range(1, FRAMES + 1)):
        print(f"\r{name}: {frame.time:.2f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return np.asarray(frame.positions[0])


def render(name: str, positions: NDArray[np.float64]) -> None:
    """Render the picture of a fabric with these positions (V, 3) [m] on a transparent background."""
    import bpy

    pictures: Any = importlib.import_module("pictures")
    studio: Any = importlib.import_module("scene")
    shapes: Any = importlib.import_module("shapes")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene: Any = bpy.context.scene
    colour, roughness = LOOKS.get(name, LOOKS[OWN])
    material = studio.plain(name, colour, roughness)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(positions.tolist(), [], shapes.sheet(COUNT, WIDTH)[1].tolist())
    mesh.polygons.foreach_set("use_smooth", [True] * len(mesh.polygons))
    cloth = studio.add_object(name, mesh, material)
    cloth.modifiers.new("Smooth", "SUBSURF").render_levels = 2
    cloth.rotation_euler.z = math.radians(25.0)
    _add_light(scene, studio)
    camera = bpy.data.cameras.new("Camera")
    camera.lens = 70.0
    scene.camera = studio.add_object("Camera", camera)
    scene.camera.location = (0.0, -0.65, 0.25)
    studio.aim(scene.camera, (0.0, 0.0, -0.028))
    pictures.SIZE, pictures.SAMPLES = (SIZE, SIZE), SAMPLES
    scene.render.film_transparent = True
    scene.render.image_settings.color_mode = "RGBA"
    scene.render.image_settings.compression = 100
    [made] = pictures.render([1], SHAPES)
    made.replace(PRESETS / f"{name}.png")


def _add_light(scene: Any, studio: Any) -> None:
    """Add a key light from the side, which shows folds, a rim light, and a dim world."""
    import bpy

    for name, position, energy, size in (("Key", (-0.75, -0.12, 0.35), 5.0, 0.1), ("Rim", (0.6, 0.4, 0.3), 3.0, 0.2),
                                         ("Fill", (0.5, -0.8, 0.2), 0.35, 0.5)):
        light: Any = bpy.data.lights.new(name, "AREA")
        light.energy, light.size = energy, size
        lamp = studio.add_object(name, light)
        lamp.location = position
        studio.aim(lamp, (0.0, 0.0, 0.0))
    world: Any = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.15
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.9, 0.95, 1.0, 1.0)
    scene.world = world


def main() -> int:
    """Drape and render the fabrics."""
    names = [*sorted(path.stem for path in PRESETS.glob("*.toml")), OWN]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fabrics", nargs="*", metavar="FABRIC", help=f"of {', '.join(names)}; default: all")
    parser.add_argument("--drape-only", action="store_true", help="make and keep the shapes, without Blender")
    parser.add_argument("--again", action="store_true", help="drape again where a shape was kept")
    arguments = parser.parse_args()
    unknown = set(arguments.fabrics) - set(names)
    if unknown:
        parser.error(f"no fabric {', '.join(sorted(unknown))}; there are: {', '.join(names)}")
    SHAPES.mkdir(parents=True, exist_ok=True)
    for name in arguments.fabrics or names:
        kept = SHAPES / f"{name}.npy"
        if arguments.again or not kept.exists():
            np.save(kept, drape(name))
        if not arguments.drape_only:
            render(name, np.load(kept))
            print(f"{(PRESETS / f'{name}.png').relative_to(ROOT)}: "
                  f"{(PRESETS / f'{name}.png').stat().st_size / 1024:.1f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())

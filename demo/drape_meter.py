# SPDX-License-Identifier: GPL-3.0-or-later
"""Build a scene of Cusick's drape meter, which is ready to bake.

    python demo/drape_meter.py [--fabric NAME] [--rings N]          with a Python that has the bpy package

It writes build/demo/drape_meter.blend: a disc of fabric that hangs over the edge of two plates, with the fabric chosen
and the part between the plates pinned. `muslin drape` measures the same disc; see docs/guide/fabric-tests.md.
"""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRAMES = 120                                # frames until most fabrics hang still
PLATE_HEIGHT = 0.004                        # of each of the plates [m]


def specimen(fabric: str, rings: int) -> None:
    """Add the fabric to the scene, pinned between the plates."""
    import bpy

    from core.measure.drape_meter import DrapeMeter

    mesh, held, _ = DrapeMeter(rings=rings).mesh()
    data = bpy.data.meshes.new("Specimen")
    data.from_pydata(mesh.positions.tolist(), [], mesh.triangles.tolist())
    cloth = bpy.data.objects.new("Specimen", data)
    bpy.context.scene.collection.objects.link(cloth)
    cloth.vertex_groups.new(name="Plates").add(held.tolist(), 1.0, "REPLACE")
    cloth.muslin.kind, cloth.muslin.fabric, cloth.muslin.pin_group = "CLOTH", fabric, "Plates"


def plates() -> None:
    """Add both plates, which only show what holds the fabric."""
    import bpy

    from core.measure.drape_meter import PLATE_DIAMETER

    for side in (-1.0, 1.0):
        bpy.ops.mesh.primitive_cylinder_add(vertices=96, radius=0.5 * PLATE_DIAMETER, depth=PLATE_HEIGHT,
                                            location=(0.0, 0.0, 0.55 * side * PLATE_HEIGHT))
        bpy.context.object.name = "Upper Plate" if side > 0.0 else "Lower Plate"


def main() -> int:
    """Build and save the scene."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fabric", default="cotton", help="a preset")
    parser.add_argument("--rings", type=int, default=12, help="rows of cells that hang over")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    import tablecloth

    tablecloth.PROFILE.mkdir(parents=True, exist_ok=True)
    os.environ["BLENDER_USER_RESOURCES"] = str(tablecloth.PROFILE)      # read when bpy is imported
    import bpy

    bpy.ops.wm.read_factory_settings(use_empty=True)
    tablecloth.enable_extension()
    specimen(arguments.fabric, arguments.rings)
    plates()
    bpy.context.scene.frame_end = FRAMES
    path = tablecloth.OUTPUT / "drape_meter.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)
    print("saved", path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())

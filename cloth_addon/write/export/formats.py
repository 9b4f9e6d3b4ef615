# SPDX-License-Identifier: GPL-3.0-or-later
"""The file formats of the export: name, extension, what they are for, and why one is not available."""

from __future__ import annotations

from dataclasses import dataclass

import bpy


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes:
        name: name for users.
        extension: extension of its files, with the dot.
        description: what the files hold and what reads them.
        remark: one line for the file browser; may be empty.
        build_option: name in `bpy.app.build_options` of the part of Blender that writes it; empty if there is none.
        others: other extensions that the user may give.
        operator: name of its operator in `bpy.ops.export_scene`, which an add-on provides; empty if there is none.
    """

    name: str
    extension: str
    description: str
    remark: str = ""
    build_option: str = ""
    operator: str = ""
    others: tuple[str, ...] = ()


FORMATS = {
    "ALEMBIC": Format("Alembic", ".abc", "Every frame as Blender shows it, for other 3D programs and renderers",
                      build_option="alembic"),
    "USD": Format("USD", ".usdc", "Every frame as Blender shows it, for USD pipelines", build_option="usd",
                  others=(".usd", ".usda")),
    "GLTF": Format("glTF", ".glb", "One morph target per frame and an animation of their weights, for game engines and "
                   "the web", remark="One morph target per frame", operator="gltf"),
    "FBX": Format("FBX", ".fbx", "One blend shape per frame and an animation of their weights, for game engines and "
                  "other 3D programs", remark="To import into Blender, set Animation > Offset to 0", operator="fbx"),
    "OBJ": Format("OBJ Sequence", ".obj", "One file per frame as Blender shows it, numbered by frame",
                  remark="Writes NAME_0001.obj, NAME_0002.obj, ...", build_option="io_wavefront_obj"),
    "PC2": Format("PC2", ".pc2", "Positions of the mesh's own vertices at every frame, for Blender's Mesh Cache "
                  "modifier and other programs that have the mesh", remark="Positions only, without the mesh"),
    "MDD": Format("MDD", ".mdd", "Positions of the mesh's own vertices at every frame, for Blender's Mesh Cache "
                  "modifier and other programs that have the mesh", remark="Positions only, without the mesh"),
}
"""The formats by identifier."""


def why_missing(identifier: str) -> str:
    """Return why this Blender cannot write the format, and the remedy; empty if it can."""
    form = FORMATS[identifier]
    if form.build_option and not getattr(bpy.app.build_options, form.build_option, False):
        return (f"This Blender was built without {form.name.removesuffix(' Sequence')}; use a Blender from "
                "blender.org, or another format")
    if form.operator and form.operator not in dir(bpy.ops.export_scene):
        return f"Blender's add-on {form.name} is off; switch it on in Edit > Preferences > Add-ons"
    return ""

# SPDX-License-Identifier: GPL-3.0-or-later
"""glTF and FBX, by Blender's exporters from stand-ins with relative shape keys.

Faults of the exporters that are mended here, or cannot be:

- glTF: the exporter divides frames by the frame rate times its base, instead of by the frame rate over its base, which
  is wrong for fractional rates. The temporary scene has the inverse base where the file shows that.
- FBX: times are right. Blender's own importers add one frame unless their Animation Offset is set to 0.
- Neither exporter writes frames below 0. A bake that starts below 0 is moved to start at time 0.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import bpy

from .evaluation import frames_of_all
from .scene_formats import run_exporter
from .stand_in import stand_ins

TIME_TOLERANCE = 1e-4
"""Largest difference of the last time in a glTF file from that of its frame, over that [-]."""


def write_gltf(context: bpy.types.Context, objects: Sequence[bpy.types.Object], path: Path) -> list[str]:
    """Write a binary glTF file with one animation, and return notes."""
    with stand_ins(context, objects, path.stem) as scene, _shown(context, scene):
        render = scene.render
        base, wanted = render.fps_base, scene.frame_end * render.fps_base / render.fps
        for scene_base in (base, 1.0 / base):
            render.fps_base = scene_base
            run_exporter(bpy.ops.export_scene.gltf, "GLTF", path, export_format="GLB", use_active_scene=True,
                         export_animations=True, export_animation_mode="SCENE", export_anim_scene_split_object=False,
                         export_force_sampling=True, export_morph=True, export_morph_normal=True,
                         export_morph_animation=True, export_pointer_animation=False, use_mesh_edges=True,
                         use_mesh_vertices=True, export_yup=True, export_apply=False, will_save_settings=False)
            if abs(last_time(path) - wanted) <= TIME_TOLERANCE * wanted:
                return _notes("glTF", objects)
    return [*_notes("glTF", objects), "Blender's glTF exporter wrote other times than those of the frame rate"]


def write_fbx(context: bpy.types.Context, objects: Sequence[bpy.types.Object], path: Path) -> list[str]:
    """Write a binary FBX file with one animation, and return notes. Frame f has the time f over the frame rate."""
    with stand_ins(context, objects, path.stem) as scene, _shown(context, scene):
        run_exporter(bpy.ops.export_scene.fbx, "FBX", path, object_types={"MESH"}, use_mesh_modifiers=False,
                     mesh_smooth_type="FACE", use_mesh_edges=True, bake_anim=True, bake_anim_use_nla_strips=False,
                     bake_anim_use_all_actions=False, bake_anim_force_startend_keying=True, bake_anim_step=1.0,
                     bake_anim_simplify_factor=1.0)                     # which drops only keys of constant value
    return [*_notes("FBX", objects), "to import it into Blender, set Animation > Offset to 0"]


def last_time(path: Path) -> float:
    """Return the largest time in the animations of a binary glTF file [s]; 0 without any."""
    with path.open("rb") as file:
        length, = struct.unpack("<12xI4x", file.read(20))
        content = json.loads(file.read(length))
    return max((content["accessors"][sampler["input"]]["max"][0] for animation in content.get("animations", ())
                for sampler in animation["samplers"]), default=0.0)


def _notes(name: str, objects: Sequence[bpy.types.Object]) -> list[str]:
    """Return a note if the bake starts below frame 0."""
    first = frames_of_all(objects)[0]
    return [] if first >= 0 else [f"frame {first} is at time 0 in the file, because Blender's {name} exporter writes "
                                  "no frames below 0"]


@contextmanager
def _shown(context: bpy.types.Context, scene: bpy.types.Scene) -> Iterator[None]:
    """Make `scene` that of the window and of the context, in which the exporters look; restore it at the end."""
    window = context.window or context.window_manager.windows[0]
    before, view_layer = window.scene, window.view_layer
    try:
        window.scene = scene
        with context.temp_override(window=window, scene=scene, view_layer=scene.view_layers[0]):
            yield
    finally:
        window.scene = before
        window.view_layer = view_layer

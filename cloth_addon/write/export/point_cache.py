# SPDX-License-Identifier: GPL-3.0-or-later
"""PC2 and MDD files: positions of the mesh's own vertices at every frame, in the object's space [Blender units].

    PC2, little endian: "POINTCACHE2\\0", int32 version 1, int32 vertices, float32 first frame, float32 frames per
        sample, int32 samples; then float32 (samples, vertices, 3)
    MDD, big endian: int32 samples, int32 vertices, float32 time of each sample [s]; then float32 (samples, vertices, 3)

Deforming modifiers are in the positions. Modifiers that change vertices are off, because a cache holds one position for
each vertex of the mesh.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from .... import core
from ...read import mesh_data
from .. import output_paths
from .evaluation import evaluated_frames, frames_of, frames_of_all

Header = Callable[[int, range, float], bytes]


def pc2_header(vertices: int, frames: range, frame_rate: float) -> bytes:
    """Return the header of a PC2 file."""
    return struct.pack("<12siiffi", b"POINTCACHE2\0", 1, vertices, frames.start, 1.0, len(frames))


def mdd_header(vertices: int, frames: range, frame_rate: float) -> bytes:
    """Return the header of an MDD file, in which frame 0 has the time 0."""
    return struct.pack(">ii", len(frames), vertices) + (np.array(frames) / frame_rate).astype(">f4").tobytes()


def write_pc2(context: bpy.types.Context, objects: Sequence[bpy.types.Object], paths: Sequence[Path]) -> None:
    """Write one PC2 file for each object."""
    _write(context, objects, paths, pc2_header, "<f4")


def write_mdd(context: bpy.types.Context, objects: Sequence[bpy.types.Object], paths: Sequence[Path]) -> None:
    """Write one MDD file for each object."""
    _write(context, objects, paths, mdd_header, ">f4")


def _write(context: bpy.types.Context, objects: Sequence[bpy.types.Object], paths: Sequence[Path], header: Header,
           number: str) -> None:
    """Write one file for each object, all or none, with positions of the type `number`."""
    render = context.scene.render
    frame_rate = render.fps / render.fps_base
    with ExitStack() as stack:
        files: list[Any] = []
        for obj, path in zip(objects, paths, strict=True):
            part = stack.enter_context(output_paths.replaced(output_paths.target_of(path)))
            files.append(stack.enter_context(part.open("wb")))
            files[-1].write(header(len(obj.data.vertices), frames_of(obj), frame_rate))
        for frame, depsgraph in evaluated_frames(context, frames_of_all(objects)):
            for obj, file in zip(objects, files, strict=True):
                if frame in frames_of(obj):
                    positions = mesh_data.positions(obj.evaluated_get(depsgraph).data)
                    if len(positions) != len(obj.data.vertices):
                        raise core.SceneError(f"has {len(obj.data.vertices)} vertices but shows {len(positions)} at "
                                              f"frame {frame}; switch off in the viewport the modifier that changes "
                                              "their number", object_name=obj.name)
                    file.write(positions.astype(number).tobytes())

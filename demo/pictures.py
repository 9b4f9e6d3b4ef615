# SPDX-License-Identifier: GPL-3.0-or-later
"""Rendering of frames by Cycles, and their layout on one contact sheet. Used by tablecloth.py and systems/draw.py."""

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np

SIZE = (480, 440)                   # size of one picture [pixels]
COLUMNS = 3
GUTTER = 6                          # distance between pictures [pixels]
SAMPLES = 24                        # samples per pixel


def render(frames: list[int], folder: Path) -> list[Path]:
    """Render one PNG for each frame by Cycles, and return their paths."""
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = SAMPLES
    scene.cycles.use_denoising = True
    scene.cycles.max_bounces = 4
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = SIZE
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "PNG"
    paths = []
    for frame in frames:
        scene.frame_set(frame)
        path = folder / f"frame_{frame:03d}.png"
        scene.render.filepath = str(path)
        with quiet():
            bpy.ops.render.render(write_still=True)
        paths.append(path)
    return paths


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the line that Cycles prints for every sample, which does not go through Python's `sys.stdout`."""
    sys.stdout.flush()
    stdout = os.dup(1)
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    try:
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(devnull)
        os.close(stdout)


def contact_sheet(pictures: list[Path], path: Path, columns: int = COLUMNS) -> None:
    """Write the pictures, all of one size, in rows of `columns` on white, from left to right and top to bottom."""
    rows, sheet = math.ceil(len(pictures) / columns), None
    for i, picture in enumerate(pictures):
        image = bpy.data.images.load(str(picture))
        width, height = image.size
        pixels = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(pixels)
        bpy.data.images.remove(image)
        if sheet is None:
            sheet = np.ones((rows * (height + GUTTER) - GUTTER, columns * (width + GUTTER) - GUTTER, 4), np.float32)
        bottom = (rows - 1 - i // columns) * (height + GUTTER)      # Blender's rows start at the bottom
        left = i % columns * (width + GUTTER)
        sheet[bottom:bottom + height, left:left + width] = pixels.reshape(height, width, 4)
    result = bpy.data.images.new("contact sheet", width=sheet.shape[1], height=sheet.shape[0])
    result.pixels.foreach_set(sheet.ravel())
    result.filepath_raw, result.file_format = str(path), "PNG"
    path.parent.mkdir(parents=True, exist_ok=True)
    result.save()
    bpy.data.images.remove(result)

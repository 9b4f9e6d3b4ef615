# SPDX-License-Identifier: GPL-3.0-or-later
"""Fit cloth to bodies before a bake: the resolved start, as a change of the mesh.

One generator, as a bake. Blender's data is written once, at its end. Closing the generator cancels and changes nothing
but the scene's current frame, which is restored.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np

from ... import core
from ...core.stepping.resolve_start import resolving
from ..properties import baked_record
from ..properties.settings import scene_settings_of
from ..read.frame_window import world_matrix
from ..read.read_scene import read_scene
from ..write import fit
from ..write.key_coordinates import KeyFitter
from . import backends, first_compile
from .bake import frame_kept, view_layer_of
from .progress import Progress


@dataclass(frozen=True)
class Fitted:
    """Result of a fit: crossings before and after, and per pair of objects those that are left."""

    before: int
    after: int
    left: list[core.CrossingsLeft]


def fit_to_body(scene: bpy.types.Scene, objects: Sequence[bpy.types.Object], *, into_mesh: bool, move_pins: bool
                ) -> Generator[Progress, None, Fitted]:
    """Move the cloth `objects` out of colliders, themselves and each other, at the first frame of a bake.

    Yields Progress. The result goes into the mesh, or into a shape key. Cloth that crosses nothing stays as it is.

    Raises:
        core.ClothError: an object has a bake, or something cannot be simulated.
    """
    for obj in objects:
        if baked_record.has_bake(obj):
            raise core.SceneError("has a bake, whose frames would no longer fit the mesh; delete its bake first",
                                  object_name=obj.name)
    names = tuple(obj.name for obj in objects)
    settings, view_layer = scene_settings_of(scene), view_layer_of(scene, None)

    def progress(stage: str, done: int = 0, total: int = 1, *, touches_blender: bool) -> Progress:
        return Progress(settings.start, done, total, None, None, names, touches_blender, stage)

    yield progress("Reading", touches_blender=True)
    with frame_kept(scene):
        view_layer.update()
        inputs = read_scene(scene, settings, objects, view_layer)
        solver = settings.solver()
        first_compile.stop()
        backends.keep_compiled()
        result = None
        yield progress("Fitting", touches_blender=False)
        for result in resolving(inputs.scene, solver, move_pins=move_pins):
            first = max(result.crossings, 1)
            done = first - min(result.crossings_left, first)
            yield progress(f"Fitting: {result.crossings_left} crossings left", done, first, touches_blender=False)
        assert result is not None
        start = result.start()
        yield progress("Writing", 1, touches_blender=True)
        if start.crossings or start.left:
            changes = []
            for source, positions, cloth in zip(inputs.sources, start.positions, inputs.cloths, strict=True):
                fitter = KeyFitter(source, scene, view_layer, settings.metres_per_unit)
                inverse = np.linalg.inv(world_matrix(source.obj, scene, view_layer))
                before, after = ((x / settings.metres_per_unit) @ inverse[:3, :3].T + inverse[:3, 3]
                                 for x in (cloth.positions, positions))
                if fitter.is_needed:
                    before, after = (fitter.key_coordinates(local).astype(np.float64) for local in (before, after))
                changes.append(after - before)
            for source, change in zip(inputs.sources, changes, strict=True):
                (fit.write_mesh if into_mesh else fit.write_key)(source.obj, change)
    return Fitted(start.crossings, sum(pair.crossings for pair in start.left), start.left)

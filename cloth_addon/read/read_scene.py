# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Blender scene is to the solver at the first frame of a bake: cloths, colliders, and what acts on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ... import core
from ..properties.settings import SceneSettings, settings_of
from . import colliders, read_cloth, wind
from .frame_window import FrameWindow, as_text

THICK = 0.25
"""Of its own size, from which on a distance that cloth keeps is worth a note [-]."""


@dataclass(frozen=True)
class World:
    """`scene` is the core's, of `cloths` read from `sources` and of the colliders `solids`, in the wind of `fields`;
    their animation is read through `window`, which must be moved along frame by frame. `notes` are sentences that name
    what looks as if it took part and does not, and what is hardly meant so."""

    sources: list[read_cloth.ClothSource]
    solids: list[bpy.types.Object]
    window: FrameWindow
    cloths: list[core.Cloth]
    scene: core.Scene
    fields: list[bpy.types.Object]
    notes: list[str]


def read_world(scene: bpy.types.Scene, settings: SceneSettings, objects: Sequence[bpy.types.Object] | None,
               view_layer: bpy.types.ViewLayer, model: str | None = None) -> World:
    """The scene with `objects`, or all of its cloth; of `model` if given, and not of the one chosen in the panel.

    Raises:
        core.ClothError: naming the object, the element, the value and what to do.
    """
    _check_loads(settings)
    sources = [read_cloth.read_source(obj, scene, view_layer) for obj in read_cloth.cloth_objects(scene, objects)]
    if model is not None:
        sources = [replace(source, settings=settings_of(source.obj, scene, model)) for source in sources]
    solids = read_cloth.objects_of_kind(scene, "COLLIDER")
    for obj in solids:
        colliders.check_collider(obj, view_layer)
    fields = wind.wind_objects(scene, view_layer)
    window = FrameWindow(scene, view_layer,
                         {source.obj: source.generative for source in sources} | dict.fromkeys(solids),
                         first=settings.first, frame_rate=settings.frame_rate,
                         metres_per_unit=settings.metres_per_unit,
                         more=wind.samples(fields, view_layer, settings.metres_per_unit))
    cloths = [read_cloth.read_cloth(source, window, scene, view_layer) for source in sources]
    notes = left_out(scene, view_layer) + colliders.instancing(solids, view_layer)
    notes += [note for source in sources for note in read_cloth.weights_as_painted(source)]
    read = [colliders.read_collider(obj, scene, window, view_layer) for obj in solids]
    notes += _hardly_meant(sources, cloths, read, window.frame)
    return World(sources, solids, window, cloths, core.Scene(
        cloths, read, gravity=settings.gravity,
        wind=wind.air(window, settings.wind) if fields else settings.wind), fields, notes)


def left_out(scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer) -> list[str]:
    """Sentences that name what of the scene a bake leaves out, quick enough for drawing a panel."""
    return wind.left_out(scene, view_layer) + colliders.left_out(scene)


def _hardly_meant(sources: Sequence[read_cloth.ClothSource], cloths: Sequence[core.Cloth],
                  solids: Sequence[core.Collider], first: int) -> list[str]:
    """Sentences about settings that work, and that hardly anybody means; `first`: the first frame."""
    notes = [f"'{solid.name}' has no area at frame {first}, as at a scale of 0: while that is so it stops nothing"
             for solid in solids if not solid.has_area(0.0)]
    for number, (source, cloth) in enumerate(zip(sources, cloths, strict=True)):
        given, size = source.settings.thickness, float(np.ptp(cloth.positions, axis=0).max())
        if given is not None and given > THICK * size:
            notes.append(f"{source.name}: its Thickness of {given:.3g} m is much for cloth that is {size:.3g} m wide: "
                         "it stays that far away from what it falls on. 0 lets Muslin choose")
        same = [other.name for other, earlier in zip(sources[:number], cloths[:number], strict=True)
                if np.array_equal(earlier.positions, cloth.positions)]
        if same:
            notes.append(f"{source.name} starts exactly where {same[0]} does, as a duplicate that nobody has moved. "
                         "Delete one of them, or move it, if that is not meant")
    return notes


def _check_loads(settings: SceneSettings) -> None:
    for what, value, unit, where in (("gravity", settings.gravity, "m/s²", "Scene > Gravity"),
                                     ("the wind", settings.wind, "m/s", "Wind in the Bake panel")):
        if not np.linalg.norm(value) <= wind.STRONGEST:                       # nan fails too
            raise core.SceneError(f"{what} is {as_text(value)} {unit}, which is no number or above "
                                  f"{wind.STRONGEST:g}; correct {where}, or the unit scale in Scene > Units")

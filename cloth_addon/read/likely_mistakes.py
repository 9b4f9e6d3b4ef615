# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes on parts of a scene that can be simulated and are probably a mistake."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import bpy
import numpy as np

from ... import core
from ..properties.baked_record import is_own
from ..properties.number_text import number_text
from . import inward_faces, mesh_data
from .dependence import geometry_sources
from .frame_window import FrameWindow, matrix_name
from .read_cloth import ClothSource
from .unbaked_state import GENERATIVE, SHAPELESS, deforming_modifiers

LARGE_THICKNESS = 0.25
"""Thickness of cloth, or of a collider, over the size of the cloth from which on there is a note [-]."""
LARGEST_ROUNDING = 1e-4
"""Rounding of places in single precision over the size of the cloth from which on there is a note [-]."""


def note_on_hidden(obj: bpy.types.Object) -> str:
    """Return the note on an object whose monitor icon is animated."""
    role = {"CLOTH": "is simulated", "COLLIDER": "stops cloth"}.get(obj.muslin.kind, "counts")
    return (f"'{obj.name}' is hidden in the viewport by keys or a driver (its monitor icon) and {role} at all frames, "
            "hidden or not. To let cloth pass a collider, move the collider away")


def notes(sources: Sequence[ClothSource], cloths: Sequence[core.Cloth], solids: Sequence[core.Collider],
          collider_objects: Sequence[bpy.types.Object], window: FrameWindow) -> list[str]:
    """Return notes on settings that can be simulated and are probably a mistake. The scene is at the first frame."""
    found = [f"'{solid.name}' has no area at frame {window.frame}, as at a scale of 0, and stops nothing until it has"
             for solid in solids if not solid.has_area(0.0)]
    baked = [source.obj for source in sources]
    for obj in (*baked, *collider_objects):
        found += _notes_on_render_visibility(obj) + _notes_on_placement(obj, baked)
    for number, (source, cloth) in enumerate(zip(sources, cloths, strict=True)):
        thickness, size = source.settings.thickness, float(np.ptp(cloth.positions, axis=0).max())
        if thickness is not None and thickness > LARGE_THICKNESS * size:
            found.append(f"{source.name}: its Distance of {number_text(thickness, 3)} m is large for cloth that is "
                         f"{number_text(size, 3)} m wide: it keeps that distance from other surfaces. 0 lets Muslin "
                         "choose")
        found += [f"{solid.name}: its Thickness of {number_text(solid.thickness, 3)} m is large for {source.name}, "
                  f"which is {number_text(size, 3)} m wide: cloth keeps that distance from it. Set a smaller Thickness"
                  for solid in solids if solid.thickness > LARGE_THICKNESS * size]
        found += _notes_on_faces(source, cloth) + _notes_on_rest_key(source, cloth)
        found += _notes_on_edges(source.name, cloth) + _notes_on_order(source) + _notes_on_rounding(source, window)
        same = [other.name for other, earlier in zip(sources[:number], cloths[:number], strict=True)
                if np.array_equal(earlier.positions, cloth.positions)]
        if same:
            found.append(f"{source.name} starts exactly at the place of {same[0]}, as a duplicate that was not moved. "
                         "Delete one of them, or move it, if that is a mistake")
    return found + inward_faces.notes(sources, cloths)


def _notes_on_faces(source: ClothSource, cloth: core.Cloth) -> list[str]:
    """Return a note on a mesh that lacks the faces or edges which the chosen model needs."""
    if len(cloth.mesh.triangles) or source.obj.muslin.model in ("particles", "rope" if len(cloth.mesh.edges) else ""):
        return []
    if len(cloth.mesh.edges):
        return [f"{source.name}: its mesh has no faces: its edges are simulated as threads that do not bend. Choose "
                "the model Rope, or give the mesh faces, if that is a mistake"]
    return [f"{source.name}: its mesh has no edges and no faces: its {len(cloth.positions)} vertices are simulated as "
            "particles, without a fabric. Give the mesh faces, or choose the model Particles"]


def _notes_on_rest_key(source: ClothSource, cloth: core.Cloth) -> list[str]:
    """Return notes on a rest shape key that the cloth starts in, because the key itself has an effect on the mesh."""
    key = source.settings.rest.shape_key
    if not key or not source.obj.data.shape_keys.key_blocks[key].value:
        return []
    size = float(np.ptp(cloth.positions, axis=0).max())
    if np.abs(cloth.positions - cloth.mesh.positions).max() > LARGEST_ROUNDING * size:
        return []
    return [f"{source.name}: it starts in the shape of its Rest Shape Key '{key}', so that this key changes nothing. "
            "Set the Value of the key to 0 in Object Data > Shape Keys, if that is a mistake"]


def _notes_on_edges(name: str, cloth: core.Cloth) -> list[str]:
    """Return notes on vertices without edges, and on edges without faces that look like seams."""
    found, mesh = [], cloth.mesh
    loose = np.flatnonzero(mesh.kept_loose)
    if len(loose):
        found.append(f"{name}: loose vertices ({_some(loose)}) belong to no face or edge and are not simulated: they "
                     "stay with the object. Delete them with Mesh > Clean Up > Delete Loose, if that is a mistake")
    in_faces = np.zeros(len(mesh.positions), bool)
    in_faces[mesh.triangles] = True
    ends = in_faces[mesh.loose_edges]
    sewn = np.isin(mesh.loose_edges, cloth.seams).any(axis=1)           # a vertex in the middle of a seam
    bare = mesh.loose_edges[(ends.sum(axis=1) == 1) & ~sewn]
    if len(cloth.seams) and len(bare):
        found.append(f"{name}: Sewing leaves loose edges as threads where an end belongs to no face (vertices "
                     f"{_some(bare[~in_faces[bare]])}). To sew them, give these vertices faces, or join the vertices "
                     "of the faces directly")
    return found


def _notes_on_order(source: ClothSource) -> list[str]:
    """Return notes on modifiers that change the mesh before others deform it: these see another mesh when baked."""
    place = {modifier.name: number for number, modifier in enumerate(source.obj.modifiers)}
    deforming = deforming_modifiers(source.obj, source.generative)
    last = max((place[modifier.name] for modifier in deforming), default=-1)
    early = [name for name in source.generative if place[name] < last and source.obj.modifiers[name].show_viewport]
    return [f"{source.name}: the modifier '{name}' is above '{source.obj.modifiers[last].name}', which deforms: what "
            "is seen differs from the modified simulation. Move it below" for name in early]


def _notes_on_rounding(source: ClothSource, window: FrameWindow) -> list[str]:
    """Return notes on vertices so far from the object's origin that single precision moves them visibly."""
    local, extent = mesh_data.positions(source.obj.data), float(np.ptp(window.at(source.name, 0.0), axis=0).max())
    scale = float(np.linalg.norm(window.at(matrix_name(source.name), 0.0)[:3, :3], 2))
    error = float(np.abs(local).max(initial=0.0)) * float(np.finfo(np.float32).eps) * scale
    if error <= LARGEST_ROUNDING * extent:
        return []
    return [f"{source.name}: its vertices are up to {number_text(np.abs(local).max(), 3)} from the object's origin, "
            f"where Blender rounds places by {number_text(1000.0 * error, 2)} mm. Move the origin to the mesh (Object "
            "> Set Origin)"]


def _notes_on_render_visibility(obj: bpy.types.Object) -> list[str]:
    """Return notes on deforming modifiers that only the viewport or only the render shows."""
    only = {True: "the viewport", False: "the render"}
    return [f"{obj.name}: the modifier '{modifier.name}' is on in {only[modifier.show_viewport]} only. A bake is made "
            "with the modifiers of the viewport, so that the render would show another place"
            for modifier in obj.modifiers if modifier.show_viewport != modifier.show_render
            and modifier.type not in SHAPELESS and modifier.type not in GENERATIVE and not is_own(modifier)]


def _notes_on_placement(obj: bpy.types.Object, baked: Collection[bpy.types.Object]) -> list[str]:
    """Return a note if the shape of cloth in the same bake moves the object: it is read where that cloth is not
    simulated."""
    placing = sorted(other.name for other in geometry_sources(obj) if other in baked and other != obj)
    return [f"{obj.name}: the shape of '{name}', which is simulated at the same time, places or deforms it, and it is "
            f"read as that shape is without the simulation. Bake '{name}' first and alone, then {obj.name}"
            for name in placing]


def _some(vertices: Any) -> str:
    """Return the first numbers of vertices and how many there are."""
    numbers = np.unique(vertices)
    shown = ", ".join(map(str, numbers[:3])) + (", ..." if len(numbers) > 3 else "")
    return f"{shown}; {len(numbers)} in all" if len(numbers) > 1 else shown

# SPDX-License-Identifier: GPL-3.0-or-later
"""What crosses what in a scene as it is shown now: the core's audit of the evaluated meshes.

Where a cloth shows the vertices of its own mesh, its faces are cut into triangles as a bake cuts them, so that the
count is the certificate's. Positions are world positions in Blender units: crossings have no size.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ...core.description.triangulate import triangulate
from ...core.kernels import using
from ...core.stepping.audit import Audit, Auditor
from ...core.stepping.certificate import CrossingPair, crossing_pairs
from ..bake import backends
from ..properties.settings import kind_of, scene_settings_of
from . import mesh_data
from .frame_window import to_world

Mesh = mesh_data.Mesh
Ints = NDArray[Any]
Floats = NDArray[np.float32]
NOWHERE = np.zeros((0, 3), np.float32)


@dataclass(frozen=True)
class Crossings:
    """What crosses at one frame.

    Attributes:
        count: edges that pierce a face.   pairs: which objects cross which, most first.
        triangles (T, 3, 3): of cloth faces that are pierced or whose edge pierces, in world space [Blender units].
        edges (E, 2, 3): that pierce, of cloth and colliders.
        faces: by cloth, the indices of those faces in the mesh that is shown.
        problem: why nothing can be said, for the user; empty where something can.
    """

    count: int = 0
    pairs: list[CrossingPair] = field(default_factory=list)
    triangles: Floats = field(default_factory=lambda: np.zeros((0, 3, 3), np.float32))
    edges: Floats = field(default_factory=lambda: np.zeros((0, 2, 3), np.float32))
    faces: dict[str, Ints] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class _Shown:
    """One object as it is shown: positions (V, 3) in world space, faces by their corners, triangles (T, 3).

    face_of (T,): the face that each triangle is part of.   rest (V, 3): the shape by which faces were cut, in the
    object's space; empty where they were cut as they were shown.
    """

    name: str
    positions: NDArray[np.float64]
    corners: Ints
    starts: Ints
    triangles: Ints
    face_of: Ints
    rest: Floats

    def same_mesh(self, vertices: int, corners: Ints, starts: Ints) -> bool:
        return (len(self.positions) == vertices
                and np.array_equal(self.corners, corners) and np.array_equal(self.starts, starts))


class Look:
    """Looks at one view layer again and again: what did not change since the last time is not computed again.

    Attributes:
        found: by the last `find`.
    """

    def __init__(self) -> None:
        self.found = Crossings()
        self._cloths: list[_Shown] = []
        self._solids: list[_Shown] = []
        self._models: list[str] = []
        self._auditor: Auditor | None = None    # of the meshes above
        self._began = False

    def moved(self, view_layer: bpy.types.ViewLayer, depsgraph: bpy.types.Depsgraph) -> bool:
        """Takes in what is shown; whether anything is elsewhere, or otherwise, than the last time. Quick."""
        before = {kind: {shown.name: shown for shown in self._of(kind)} for kind in ("CLOTH", "COLLIDER")}
        seen: dict[str, list[_Shown]] = {"CLOTH": [], "COLLIDER": []}
        for obj in sorted(_visible(view_layer), key=lambda obj: obj.name_full):
            kind = _kind(obj, view_layer)
            shown = _read(obj, depsgraph, before[kind].get(obj.name_full))
            if shown is not None:
                seen[kind].append(shown)
        same_meshes = all(_names(seen[kind]) == _names(self._of(kind)) and all(
            a.triangles is b.triangles for a, b in zip(seen[kind], self._of(kind), strict=True)) for kind in seen)
        if self._began and same_meshes and all(
                np.array_equal(a.positions, b.positions, equal_nan=True)
                for kind in seen for a, b in zip(seen[kind], self._of(kind), strict=True)):
            return False
        if not same_meshes:
            self._auditor = None
        self._cloths, self._solids, self._began = seen["CLOTH"], seen["COLLIDER"], True
        self._models = sorted({obj.muslin.model for obj in _visible(view_layer) if obj.muslin.kind == "CLOTH"})
        return True

    def find(self, scene: bpy.types.Scene) -> None:
        """Finds what crosses where `moved` has seen everything last."""
        solver = scene_settings_of(scene).solver()
        with using(backends.at_hand(scene.muslin.backend, self._models, solver.linearisations)):
            self.found = self._looked()

    def _of(self, kind: str) -> list[_Shown]:
        return self._cloths if kind == "CLOTH" else self._solids

    def _looked(self) -> Crossings:
        if not self._cloths:
            return Crossings()
        try:
            if self._auditor is None:
                self._auditor = Auditor([(s.positions, s.triangles) for s in self._cloths],
                                        [(s.positions, s.triangles) for s in self._solids])
            return self._told(self._auditor.look([s.positions for s in self._cloths],
                                                 [s.positions for s in self._solids], gap=False))
        except (core.ClothError, ValueError) as error:          # a vertex somewhere at infinity
            return Crossings(problem=f"Cannot be said: {error}")

    def _told(self, audit: Audit) -> Crossings:
        things = [*self._cloths, *self._solids]
        edges = [thing.positions[audit.edges[audit.edge_object == number]] for number, thing in enumerate(things)]
        faces = {cloth.name: np.unique(np.concatenate([
                     cloth.face_of[audit.triangles[audit.triangle_object == number]],
                     _faces_at(cloth, audit.edges[audit.edge_object == number])]))
                 for number, cloth in enumerate(self._cloths)}
        triangles = [cloth.positions[cloth.triangles[np.isin(cloth.face_of, faces[cloth.name])]]
                     for cloth in self._cloths]
        return Crossings(
            audit.crossings, crossing_pairs(audit.by_objects(), _names(things)),
            np.concatenate([np.zeros((0, 3, 3)), *triangles]).astype(np.float32),
            np.concatenate([np.zeros((0, 2, 3)), *edges]).astype(np.float32), faces)


def shows_own_faces(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Whether no modifier makes other faces than the mesh's own, so that a face shown is the mesh's of that index."""
    return _same_faces(obj.evaluated_get(depsgraph).data, obj.data)


def _visible(view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    return [obj for obj in view_layer.objects
            if obj.type == "MESH" and _kind(obj, view_layer) != "NONE" and obj.visible_get(view_layer=view_layer)]


def _kind(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> str:
    scene: Any = view_layer.id_data
    return kind_of(obj, scene)


def _names(things: list[_Shown]) -> list[str]:
    return [thing.name for thing in things]


def _read(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, before: _Shown | None) -> _Shown | None:
    """What is shown of the object; None where Blender has not evaluated it."""
    evaluated = obj.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        return None
    if not obj.data.is_editmode:
        return _read_mesh(obj, evaluated, evaluated.data, before)
    try:                                    # what is edited has its data elsewhere
        return _read_mesh(obj, evaluated, evaluated.to_mesh(), before)
    finally:
        evaluated.to_mesh_clear()


def _read_mesh(obj: bpy.types.Object, evaluated: bpy.types.Object, mesh: Mesh, before: _Shown | None) -> _Shown:
    local = mesh_data.positions(mesh)
    positions = to_world(local, evaluated, 1.0)
    corners, starts = mesh_data.corners(mesh)
    cloth = obj.muslin.kind == "CLOTH"
    own = cloth and not obj.data.is_editmode and _same_faces(mesh, obj.data)
    rest = mesh_data.positions(obj.data) if own else NOWHERE
    same = before is not None and before.same_mesh(len(local), corners, starts)
    if same and (not own or np.array_equal(before.rest, rest)):
        return replace(before, positions=positions)
    face_of: Ints = np.zeros(0, np.int64)
    if cloth:
        shape = to_world(rest, evaluated, 1.0) if own else positions
        triangles, places = triangulate(shape, mesh_data.faces(mesh))
        face_of = np.searchsorted(starts, places[:, 0], side="right") - 1
    else:
        triangles = mesh_data.triangles(mesh).astype(np.int64)
    if same and np.array_equal(before.triangles, triangles):
        triangles = before.triangles        # the very array: another shape at rest, cut in the same way
    return _Shown(obj.name_full, positions, corners, starts, triangles, face_of, rest)


def _same_faces(mesh: Mesh, other: Mesh) -> bool:
    return len(mesh.vertices) == len(other.vertices) and all(
        np.array_equal(a, b) for a, b in zip(mesh_data.corners(mesh), mesh_data.corners(other), strict=True))


def _faces_at(cloth: _Shown, edges: Ints) -> Ints:
    """Faces of the triangles that have one of `edges` (N, 2) for a side."""
    sides = np.sort(np.concatenate([cloth.triangles[:, [0, 1]], cloth.triangles[:, [1, 2]],
                                    cloth.triangles[:, [2, 0]]]), axis=1)
    size = len(cloth.positions)
    wanted = np.sort(edges, axis=1)
    there = np.isin(sides[:, 0] * size + sides[:, 1], wanted[:, 0] * size + wanted[:, 1])
    return np.tile(cloth.face_of, 3)[there]

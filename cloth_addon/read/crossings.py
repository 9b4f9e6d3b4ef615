# SPDX-License-Identifier: GPL-3.0-or-later
"""Crossings in a scene as it is displayed: the core's audit of the evaluated meshes.

A cloth that is displayed on the vertices of its own mesh is triangulated as in a bake, so that the count equals that of
the certificate. Positions are in world space and Blender units: crossings do not depend on the unit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from ... import core
from ...core.contact.exclusions import Exclusions
from ...core.description.triangulate import triangulate
from ...core.kernels import using
from ...core.stepping.audit import Audit, Auditor
from ...core.stepping.certificate import CrossingPair, crossing_pairs
from ..properties.contact_settings import contact_settings_of
from ..properties.settings import kind_of, metres_per_unit
from . import mesh_data
from .cloth_contact import contact_of
from .frame_window import to_world

Mesh = mesh_data.Mesh
Ints = NDArray[Any]
Floats = NDArray[np.float32]
NO_POSITIONS = np.zeros((0, 3), np.float32)


@dataclass(frozen=True)
class Crossings:
    """Crossings at one frame: edges that pierce a face.

    Attributes:
        count: number of crossings.
        pairs: number of crossings by pair of objects, the largest first.
        triangles: triangles (T, 3, 3) of cloth faces that are pierced or have an edge that pierces another face, in
            world space [Blender units].
        edges: piercing edges (E, 2, 3) of cloth and colliders, in world space [Blender units].
        faces: indices of those faces in the displayed mesh, by cloth.
        problem: why crossings cannot be found, as text for the user; empty if they can.
    """

    count: int = 0
    pairs: list[CrossingPair] = field(default_factory=list)
    triangles: Floats = field(default_factory=lambda: np.zeros((0, 3, 3), np.float32))
    edges: Floats = field(default_factory=lambda: np.zeros((0, 2, 3), np.float32))
    faces: dict[str, Ints] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class _DisplayedMesh:
    """One object as it is displayed.

    Attributes:
        positions: (V, 3) in world space [Blender units].
        corners, starts: vertices (C,) of all face corners, and the first corner (F,) of each face.
        triangles: (T, 3) vertex indices.   face_of: face (T,) of each triangle.
        rest: positions (V, 3) in the object's space by which faces were triangulated; empty where the displayed
            positions were used.
    """

    name: str
    positions: NDArray[np.float64]
    corners: Ints
    starts: Ints
    triangles: Ints
    face_of: Ints
    rest: Floats

    def has_topology(self, vertices: int, corners: Ints, starts: Ints) -> bool:
        """Return whether the mesh has this number of vertices and these faces."""
        return (len(self.positions) == vertices
                and np.array_equal(self.corners, corners) and np.array_equal(self.starts, starts))


class CrossingsFinder:
    """Finds the crossings of one view layer repeatedly, and keeps the parts of the audit that have not changed.

    Attributes:
        found: result of the last `find`.
        models: models of the displayed cloth.
    """

    def __init__(self) -> None:
        self.found = Crossings()
        self.models: list[str] = []
        self._cloths: list[_DisplayedMesh] = []
        self._colliders: list[_DisplayedMesh] = []
        self._contacts: list[core.ClothContact] = []
        self._auditor: Auditor | None = None    # for the triangles and contacts of the meshes above
        self._is_updated = False

    def update(self, view_layer: bpy.types.ViewLayer, depsgraph: bpy.types.Depsgraph) -> bool:
        """Read the displayed meshes. Return whether any has moved or changed since the last update. Fast."""
        before = {kind: {mesh.name: mesh for mesh in self._meshes(kind)} for kind in ("CLOTH", "COLLIDER")}
        now: dict[str, list[_DisplayedMesh]] = {"CLOTH": [], "COLLIDER": []}
        for obj in sorted(_visible(view_layer), key=lambda obj: obj.name_full):
            kind = _kind(obj, view_layer)
            mesh = _read(obj, depsgraph, before[kind].get(obj.name_full))
            if mesh is not None:
                now[kind].append(mesh)
        contacts = _contacts(view_layer, now["CLOTH"], now["COLLIDER"])
        same_meshes = all(_names(now[kind]) == _names(self._meshes(kind)) and all(
            a.triangles is b.triangles for a, b in zip(now[kind], self._meshes(kind), strict=True)) for kind in now)
        same_meshes = same_meshes and _same_contacts(contacts, self._contacts)
        if self._is_updated and same_meshes and all(
                np.array_equal(a.positions, b.positions, equal_nan=True)
                for kind in now for a, b in zip(now[kind], self._meshes(kind), strict=True)):
            return False
        if not same_meshes:
            self._auditor = None
        self._cloths, self._colliders, self._is_updated = now["CLOTH"], now["COLLIDER"], True
        self._contacts = contacts
        self.models = sorted({obj.muslin.model for obj in _visible(view_layer) if obj.muslin.kind == "CLOTH"} - {""})
        return True

    def find(self, backend: str) -> None:
        """Find the crossings of the meshes of the last `update`, with the kernels of `backend`."""
        with using(backend):
            self.found = self._audited()

    def _meshes(self, kind: str) -> list[_DisplayedMesh]:
        return self._cloths if kind == "CLOTH" else self._colliders

    def _audited(self) -> Crossings:
        if not self._cloths:
            return Crossings()
        try:
            if self._auditor is None:
                self._auditor = Auditor([(mesh.positions, mesh.triangles) for mesh in self._cloths],
                                        [(mesh.positions, mesh.triangles) for mesh in self._colliders],
                                        exclusions=self._exclusions())
            return self._result(self._auditor.look([mesh.positions for mesh in self._cloths],
                                                   [mesh.positions for mesh in self._colliders], gap=False))
        except (core.ClothError, ValueError) as error:          # a vertex at infinity
            return Crossings(problem=f"Not known: {error}")

    def _exclusions(self) -> Exclusions:
        """Return what the displayed cloths exclude from contact."""
        counts = [len(mesh.positions) for mesh in self._cloths]
        first = np.cumsum([0, *counts])
        triangles = np.concatenate([mesh.triangles + begin for mesh, begin in zip(self._cloths, first, strict=False)])
        return Exclusions(self._contacts, counts, _names([*self._cloths, *self._colliders]), triangles,
                          np.zeros((0, 2), np.int64))

    def _result(self, audit: Audit) -> Crossings:
        meshes = [*self._cloths, *self._colliders]
        edges = [mesh.positions[audit.edges[audit.edge_object == number]] for number, mesh in enumerate(meshes)]
        faces = {cloth.name: np.unique(np.concatenate([
                     cloth.face_of[audit.triangles[audit.triangle_object == number]],
                     _faces_at(cloth, audit.edges[audit.edge_object == number])]))
                 for number, cloth in enumerate(self._cloths)}
        triangles = [cloth.positions[cloth.triangles[np.isin(cloth.face_of, faces[cloth.name])]]
                     for cloth in self._cloths]
        return Crossings(
            audit.crossings, crossing_pairs(audit.by_objects(), _names(meshes)),
            np.concatenate([np.zeros((0, 3, 3)), *triangles]).astype(np.float32),
            np.concatenate([np.zeros((0, 2, 3)), *edges]).astype(np.float32), faces)


def shows_own_faces(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """Return whether the displayed faces are those of the object's mesh, with the same indices."""
    return _same_faces(obj.evaluated_get(depsgraph).data, obj.data)


def _visible(view_layer: bpy.types.ViewLayer) -> list[bpy.types.Object]:
    return [obj for obj in view_layer.objects
            if obj.type == "MESH" and _kind(obj, view_layer) != "NONE" and obj.visible_get(view_layer=view_layer)]


def _kind(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> str:
    scene: Any = view_layer.id_data
    return kind_of(obj, scene)


def _contacts(view_layer: bpy.types.ViewLayer, cloths: list[_DisplayedMesh], colliders: list[_DisplayedMesh]
              ) -> list[core.ClothContact]:
    """Return what each displayed cloth collides with. Groups count where the mesh is displayed on its own vertices."""
    scene: Any = view_layer.id_data
    objects = {obj.name_full: obj for obj in view_layer.objects}
    others = {mesh.name: objects[mesh.name] for mesh in (*cloths, *colliders)}
    found = []
    for mesh in cloths:
        obj = objects[mesh.name]
        settings = contact_settings_of(obj.muslin, metres_per_unit(scene))
        if obj.data.is_editmode or len(obj.data.vertices) != len(mesh.positions):
            settings = replace(settings, object_collision_group="", self_collision_group="")
        try:
            found.append(contact_of(obj, settings, others))
        except core.ClothError:                                 # a group that is not there; a bake says so
            found.append(core.ClothContact())
    return found


def _same_contacts(one: list[core.ClothContact], other: list[core.ClothContact]) -> bool:
    """Return whether cloths exclude the same."""
    return len(one) == len(other) and all(
        (a.self_collision, a.collisions, a.colliders) == (b.self_collision, b.collisions, b.colliders)
        and all((x is None) == (y is None) and (x is None or np.array_equal(x, y))
                for x, y in ((a.not_self, b.not_self), (a.not_objects, b.not_objects)))
        for a, b in zip(one, other, strict=True))


def _names(meshes: list[_DisplayedMesh]) -> list[str]:
    return [mesh.name for mesh in meshes]


def _read(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph, before: _DisplayedMesh | None
          ) -> _DisplayedMesh | None:
    """Return the displayed mesh of the object, None if Blender has not evaluated it. `before` is the last one."""
    evaluated = obj.evaluated_get(depsgraph)
    if not evaluated.is_evaluated:
        return None
    if not obj.data.is_editmode:
        return _read_mesh(obj, evaluated, evaluated.data, before)
    try:                                    # a mesh in Edit Mode has its data elsewhere
        return _read_mesh(obj, evaluated, evaluated.to_mesh(), before)
    finally:
        evaluated.to_mesh_clear()


def _read_mesh(obj: bpy.types.Object, evaluated: bpy.types.Object, mesh: Mesh, before: _DisplayedMesh | None
               ) -> _DisplayedMesh:
    local = mesh_data.positions(mesh)
    positions = to_world(local, evaluated, 1.0)
    corners, starts = mesh_data.corners(mesh)
    cloth = obj.muslin.kind == "CLOTH"
    own = cloth and not obj.data.is_editmode and _same_faces(mesh, obj.data)
    rest = mesh_data.positions(obj.data) if own else NO_POSITIONS
    same = before is not None and before.has_topology(len(local), corners, starts)
    if same and (not own or np.array_equal(before.rest, rest)):
        return replace(before, positions=positions)
    face_of: Ints = np.zeros(0, np.int64)
    if cloth:
        shape = to_world(rest, evaluated, 1.0) if own else positions
        triangles, triangle_corners = triangulate(shape, mesh_data.faces(mesh))
        face_of = np.searchsorted(starts, triangle_corners[:, 0], side="right") - 1
    else:
        triangles = _colliding(obj, mesh, local)
    if same and np.array_equal(before.triangles, triangles):
        triangles = before.triangles        # the same array, by which `update` sees that triangles are the same
    return _DisplayedMesh(obj.name_full, positions, corners, starts, triangles, face_of, rest)


def _colliding(obj: Any, mesh: Mesh, local: NDArray[np.float32]) -> Ints:
    """Return the triangles (T, 3) of a displayed collider without those that are left out."""
    triangles = mesh_data.triangles(mesh).astype(np.int64)
    group = obj.vertex_groups.get(obj.muslin.left_out_group)
    if group is None or obj.data.is_editmode:
        return triangles
    try:
        return core.Collider(local, triangles, left_out=mesh_data.group_weights(mesh, group.index) > 0.0).triangles
    except core.ClothError:                                         # all of it; a bake says so
        return triangles


def _same_faces(mesh: Mesh, other: Mesh) -> bool:
    return len(mesh.vertices) == len(other.vertices) and all(
        np.array_equal(a, b) for a, b in zip(mesh_data.corners(mesh), mesh_data.corners(other), strict=True))


def _faces_at(cloth: _DisplayedMesh, edges: Ints) -> Ints:
    """Return the faces of the triangles that have one of `edges` (N, 2) as a side."""
    sides = np.sort(np.concatenate([cloth.triangles[:, [0, 1]], cloth.triangles[:, [1, 2]],
                                    cloth.triangles[:, [2, 0]]]), axis=1)
    size = len(cloth.positions)
    wanted = np.sort(edges, axis=1)
    found = np.isin(sides[:, 0] * size + sides[:, 1], wanted[:, 0] * size + wanted[:, 1])
    return np.tile(cloth.face_of, 3)[found]

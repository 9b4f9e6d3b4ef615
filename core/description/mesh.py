# SPDX-License-Identifier: GPL-3.0-or-later
"""The mesh of a piece of cloth and its rest shape, which are fixed for a whole simulation.

A triangle's rest shape is flat and lives in fabric coordinates (u, v) [m], u along the warp and v along the
weft. With `uv` the rest shape is the pattern that uv draws; without it, each triangle is laid flat as it is
modelled, with u along the projection of `grain`.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np

from ..arrays import (
    FARTHEST,
    BoolArray,
    FloatArray,
    IntArray,
    faces_wanted,
    float_array,
    float_rows,
    index_rows,
    is_flag,
    too_far,
)
from ..did_you_mean import names_arguments_of
from ..errors import MeshError
from ..number_text import number_text
from .arguments import keeps_arguments, keeps_change
from .topology import Topology, join_edges
from .triangulate import triangulate

SLIVER = 1e-8
"""Area of a triangle over its longest edge squared, below which it counts as without area [-]."""


@names_arguments_of(MeshError)
@keeps_arguments
class ClothMesh:
    """Positions, connectivity and rest shape of one piece of cloth, checked.

    Args:
        positions: (V, 3) [m] at rest, and at the start unless the cloth says otherwise.
        triangles: (T, 3) vertex indices.
        edges: (E, 2) loose edges (threads, ropes, seams); edges of triangles in it are ignored.
        uv: rest coordinates in the fabric [m], per vertex (V, 2) or per triangle corner (T, 3, 2).
        faces: quads and n-gons, instead of `triangles`; cut by the rule in `triangulate`.
        name: name in messages.
        grain: direction of the warp where there is no uv (3,).
        points: whether vertices may be loose, without face or edge: particles. Several may be at one place.
        ngon_triangles: (N, 3) triangles of the faces of five corners or more, as numbers of corners in the flat list of
            all faces' corners; cut by the rule of `triangulate` if not given.
        keep_loose: whether loose vertices are kept out of the simulation: they follow the targets of pins, and take no
            part in contact.
        split: whether borders at one place are joined until they tear, see `Tearing`: several vertices of faces may be
            at one place.

    Attributes:
        positions: (V, 3) [m] at rest.
        triangles: (T, 3) vertex indices.
        edges: (E, 2) every edge once.
        loose_edges: (L, 2) edges that belong to no triangle.
        is_diagonal: (E,) true for the edges by which quads and n-gons were cut into triangles.
        hinges: (H, 4) the two vertices that two triangles share, and their two opposite vertices.
        hinge_corners: (H, 2) as in `Topology`.
        hinge_branches: (H,) as in `Topology`.
        uv: (T, 3, 2) rest coordinates of each triangle's corners in the fabric [m].
        areas: (T,) of the triangles at rest [m^2].
        rest_lengths: (E,) of the edges [m].
        loose_lengths: (L,) of the loose edges at rest [m].
        vertex_areas: (V,) area at rest that each vertex stands for [m^2].
        vertex_lengths: (V,) length of loose edges at rest that each vertex stands for [m].
        mean_edge: mean rest length of the edges [m], 0 without edges.
        loose_points: (V,) true for vertices without triangle or edge.
        kept_loose: (V,) true for those of them that are kept out of the simulation.
        corners: (T, 3) indices of each triangle's corners in the flat list of face corners.
        scale: (V,) length at rest over that of `uv` or as modelled [-], 1 unless `scaled`.
        triangle_scale: (T,) the same for each triangle [-].
        curvature: (T, 3) curvature at rest, components uu, uv and vv [1/m], 0 unless `curved`.
        quads: (Q, 4) the faces if all of them have four corners, otherwise empty.
        split: as given.

    Raises:
        MeshError: there is no valid rest shape; the message has the vertex, edge or triangle.
    """

    def __init__(self, positions: Any, triangles: Any = None, edges: Any = None, uv: Any = None, *,
                 faces: Iterable[Sequence[int]] | None = None, name: str = "cloth",
                 grain: Sequence[float] = (1.0, 0.0, 0.0), points: bool = False, keep_loose: bool = False,
                 ngon_triangles: Any = None, split: bool = False) -> None:
        if not isinstance(name, str):
            raise MeshError(f"name is {name!r}, it must be text")
        for what, flag in (("points", points), ("keep_loose", keep_loose), ("split", split)):
            if not is_flag(flag):
                raise MeshError(f"{what} is {flag!r}, it must be True or False", object_name=name)
        self.name, self._points, self._keep_loose, self.split = name, points, keep_loose, bool(split)
        self.quads: IntArray = np.zeros((0, 4), dtype=np.int64)
        self.positions = self._read("positions", positions, 3)
        self._check_places()
        if faces is not None:
            if triangles is not None:
                self._fail("give triangles or faces, not both")
            rings = self._rings(faces)
            self._check_faces(rings)
            try:
                given = None if ngon_triangles is None else index_rows(ngon_triangles, 3)
                self.triangles, self.corners = triangulate(self.positions, rings, given)
            except ValueError as error:
                self._fail(f"ngon_triangles: {error}")
            sides = np.array([pair for ring in rings for pair in zip(ring, [*ring[1:], ring[0]], strict=True)],
                             dtype=np.int64).reshape(-1, 2)
            if all(len(ring) == 4 for ring in rings):
                self.quads = np.array(rings, dtype=np.int64).reshape(-1, 4)
        else:
            self.triangles = self._read("triangles", () if triangles is None else triangles, 3)
            self.corners, sides = np.arange(self.triangles.size).reshape(-1, 3), self.triangles[:, [0, 1, 1, 2, 2, 0]]
        loose = self._read("edges", () if edges is None else edges, 2)
        self._check_indices(loose)
        topology = Topology(self.triangles)
        self.hinges, self.hinge_corners = topology.hinges, topology.hinge_corners
        self.hinge_branches = topology.hinge_branches
        self.edges, self.loose_edges = join_edges(topology.edges, loose)
        self.is_diagonal: BoolArray = self._not_among(np.concatenate([sides.reshape(-1, 2), loose]))
        self._check_world_shape()
        self.uv = self._rest_coordinates(uv, self._checked_grain(grain))
        self.scale: FloatArray = np.ones(len(self.positions))
        self.triangle_scale: FloatArray = np.ones(len(self.triangles))
        self.curvature: FloatArray = np.zeros((len(self.triangles), 3))
        self._measure()

    # ------------------------------------------------------------------ variants of the mesh

    @keeps_change
    def without_loose(self, edges: IntArray) -> ClothMesh:
        """Return the mesh without the loose edges that are in `edges` (S, 2), the smaller vertex first."""
        result, n = copy(self), len(self.positions)
        gone = np.isin(self.loose_edges[:, 0] * n + self.loose_edges[:, 1], edges[:, 0] * n + edges[:, 1])
        result.loose_edges = self.loose_edges[~gone]
        result.edges = np.concatenate([self.edges[:len(self.edges) - len(gone)], result.loose_edges])
        result.is_diagonal = self.is_diagonal[:len(result.edges)]           # no loose edge is one
        result._measure()
        return result

    @keeps_change
    def scaled(self, scale: FloatArray) -> ClothMesh:
        """Return the mesh with lengths at rest times `scale` (V,) [-], above 0; a triangle has the mean of its corners.
        Areas and masses are those of the new size."""
        result, corners = copy(self), scale[self.triangles].mean(axis=1)
        result.scale, result.triangle_scale = self.scale * scale, self.triangle_scale * corners
        result.uv = self.uv * corners[:, None, None]
        result._measure()
        return result

    @keeps_change
    def curved(self, curvature: FloatArray, angle: float = 0.0) -> ClothMesh:
        """Return the mesh with `curvature` (V,) [1/m] added to its rest shape, in the direction at `angle` [rad] from
        the warp. Above 0, the surface rolls up to the side of its normals."""
        result, c, s = copy(self), np.cos(angle), np.sin(angle)
        more = curvature[self.triangles].mean(axis=1)[:, None] * [c * c, c * s, s * s]
        result.curvature = self.curvature + more
        return result

    # ------------------------------------------------------------------ the rest shape

    def _rest_coordinates(self, uv: Any, grain: FloatArray) -> FloatArray:
        if uv is None:
            return lay_flat(self.positions, self.triangles, grain)
        try:
            values = float_array(uv)
        except ValueError as error:
            raise MeshError(f"uv: {error}", object_name=self.name) from None
        if values.shape == (len(self.positions), 2):
            values = values[self.triangles]
        if values.shape != (len(self.triangles), 3, 2):
            raise MeshError(f"uv has shape {values.shape}, expected ({len(self.positions)}, 2) per vertex or "
                            f"({len(self.triangles)}, 3, 2) per triangle corner", object_name=self.name)
        bad = ~np.isfinite(values).all(axis=(1, 2))
        if bad.any():
            raise MeshError(f"uv of triangle {np.argmax(bad)} is not a number; unwrap the mesh again",
                            object_name=self.name)
        far = too_far(values)
        if far.any():
            t = int(np.argmax(far))
            raise MeshError(f"uv of triangle {t} is {values[t].tolist()} m, it must be within "
                            f"{number_text(FARTHEST)} m",
                            object_name=self.name)
        area, longest = _flat_areas(values)
        bad = ~(np.abs(area) > SLIVER * longest ** 2)
        if bad.any():
            t = int(np.argmax(bad))
            raise MeshError(f"uv of triangle {t} (vertices {self.triangles[t].tolist()}) has no area "
                            f"({number_text(abs(area[t]), 3)} m^2); unwrap that face or simulate without uv",
                            object_name=self.name)
        mirrored = area < 0.0                    # islands drawn mirrored are the same fabric seen from behind
        values[mirrored, :, 0] *= -1.0
        return values

    def _measure(self) -> None:
        signed, _ = _flat_areas(self.uv)
        self.areas: FloatArray = np.abs(signed)
        v = len(self.positions)
        self.vertex_areas: FloatArray = np.bincount(
            self.triangles.ravel(), weights=np.repeat(self.areas / 3.0, 3), minlength=v).astype(np.float64)
        self.rest_lengths = self._edge_lengths()
        self.loose_lengths: FloatArray = self.rest_lengths[len(self.edges) - len(self.loose_edges):]
        self.vertex_lengths: FloatArray = np.bincount(
            self.loose_edges.ravel(), weights=np.repeat(self.loose_lengths / 2.0, 2), minlength=v).astype(np.float64)
        self.mean_edge = float(self.rest_lengths.mean()) if len(self.rest_lengths) else 0.0

    def _edge_lengths(self) -> FloatArray:
        """Return the rest length of every edge [m]: the mean over its triangles, which differ at uv seams."""
        n = len(self.positions)
        lengths = np.linalg.norm(self.positions[self.edges[:, 1]] - self.positions[self.edges[:, 0]], axis=1)
        lengths *= self.scale[self.edges].mean(axis=1)
        inner = len(self.edges) - len(self.loose_edges)
        if inner:
            key = self.edges[:inner, 0] * n + self.edges[:inner, 1]
            ends = np.sort(np.stack([self.triangles, np.roll(self.triangles, -1, axis=1)], axis=-1), axis=-1)
            sides = np.linalg.norm(np.roll(self.uv, -1, axis=1) - self.uv, axis=-1)
            at = np.searchsorted(key, (ends[..., 0] * n + ends[..., 1]).ravel())
            lengths[:inner] = np.bincount(at, weights=sides.ravel(), minlength=inner) / np.bincount(at, minlength=inner)
        return lengths

    def _not_among(self, sides: IntArray) -> BoolArray:
        """Return which edges (E,) are not in `sides` (S, 2), whose ends are in any order."""
        n = len(self.positions)
        low, high = sides.min(axis=1, initial=n), sides.max(axis=1, initial=0)
        return ~np.isin(self.edges[:, 0] * n + self.edges[:, 1], low * n + high)

    # ------------------------------------------------------------------ checks

    def _read(self, what: str, values: Any, columns: int) -> Any:
        """Return rows of coordinates, or of vertex numbers."""
        try:
            return float_rows(values, columns) if what == "positions" else index_rows(values, columns)
        except ValueError as error:
            more = faces_wanted(values, "faces=...") if what == "triangles" else ""
            raise MeshError(f"{what}: {error}{more}", object_name=self.name) from None

    def _fail(self, message: str) -> None:
        raise MeshError(message, object_name=self.name)

    def _checked_grain(self, grain: Any) -> FloatArray:
        try:
            direction = float_array(grain)
        except ValueError as error:
            raise MeshError(f"grain: {error}", object_name=self.name) from None
        if direction.shape != (3,) or not np.isfinite(direction).all() or not direction.any():
            self._fail(f"grain is {direction.tolist()}, it must be a direction in space, such as [1, 0, 0]")
        return direction

    def _rings(self, faces: Any) -> list[list[int]]:
        try:
            rings = [list(face) for face in faces]
            whole = np.issubdtype(np.asarray([v for ring in rings for v in ring] or [0]).dtype, np.integer)
            rings = [[int(v) for v in ring] for ring in rings] if whole else rings       # messages show them
        except (TypeError, ValueError):
            whole = False
        if not whole:
            self._fail(f"faces is {reprlib.repr(faces)}, expected for each face a list of its vertices' numbers, which "
                       "are whole numbers")
        return rings

    def _check_faces(self, faces: list[list[int]]) -> None:
        for f, face in enumerate(faces):
            if len(face) < 3:
                self._fail(f"face {f} {face} has {len(face)} corners, it needs at least 3")
            if min(face) < 0 or max(face) >= len(self.positions):
                outside = next(v for v in face if not 0 <= v < len(self.positions))
                filled_up = f"; leave out what fills up the row, {[v for v in face if v >= 0]} will do: faces may " \
                            "differ in how many corners they have" if outside == -1 else ""
                self._fail(f"face {f} {face} names vertex {outside}, it must be in 0..{len(self.positions) - 1}"
                           + filled_up)
            if len(set(face)) < len(face):
                twice = next(v for v in face if face.count(v) > 1)
                self._fail(f"face {f} {face} of {len(face)} corners names vertex {twice} more than once, it needs at "
                           "least 3 different vertices, each once")

    def _check_places(self) -> None:
        bad = ~np.isfinite(self.positions).all(axis=1)
        if bad.any():
            vertex = int(np.argmax(bad))
            self._fail(f"vertex {vertex} is at {self.positions[vertex].tolist()}, which is not a number; "
                       "delete or move that vertex")
        far = too_far(self.positions)
        if far.any():
            vertex = int(np.argmax(far))
            self._fail(f"vertex {vertex} is at {self.positions[vertex].tolist()} m, it must be within "
                       f"{number_text(FARTHEST)} m; delete or move that vertex")

    def _check_indices(self, loose: IntArray) -> None:
        if self._points and len(self.positions) == 0:
            self._fail("no vertices; give it some, or remove it from the scene")
        if len(self.triangles) == 0 and len(loose) == 0 and not self._points:
            self._fail("no faces and no edges; cloth needs at least one face or edge, and particles points=True")
        for what, rows in (("triangle", self.triangles), ("edge", loose)):
            outside = (rows < 0) | (rows >= len(self.positions))
            if outside.any():
                row = int(np.argmax(outside.any(axis=1)))
                self._fail(f"{what} {row} {rows[row].tolist()} names a vertex that does not exist, they must be in "
                           f"0..{len(self.positions) - 1}")
            ordered = np.sort(rows, axis=1)
            twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
            if twice.any():
                row = int(np.argmax(twice))
                self._fail(f"{what} {row} {rows[row].tolist()} uses a vertex twice; remove that {what}")
        ordered = np.sort(self.triangles, axis=1)
        ordered = ordered[np.lexsort(ordered.T)]
        if (ordered[1:] == ordered[:-1]).all(axis=1).any():
            ordered, count = np.unique(ordered, axis=0, return_counts=True)
            self._fail(f"triangle {ordered[np.argmax(count > 1)].tolist()} is there {count.max()} times, because faces "
                       "with these vertices lie on each other; delete all but one of them (Edit Mode, X > Faces)")

    def _check_world_shape(self) -> None:
        used = np.zeros(len(self.positions), dtype=bool)
        used[self.edges] = True
        self.loose_points: BoolArray = ~used
        self.kept_loose: BoolArray = ~used & self._keep_loose
        if not (used.all() or self._points or self._keep_loose):
            self._fail(f"vertex {int(np.argmin(used))} belongs to no face or edge ({int((~used).sum())} such); "
                       "delete loose vertices (Mesh > Clean Up > Delete Loose)")
        span = self.positions[self.edges[:, 1]] - self.positions[self.edges[:, 0]]
        zero = ~span.any(axis=1)
        if zero.any():
            edge = self.edges[np.argmax(zero)]
            self._fail(f"edge {edge.tolist()} has length zero ({int(zero.sum())} such); "
                       "merge its ends (Mesh > Clean Up > Merge by Distance)")
        order = np.lexsort(self.positions.T)
        same = (np.diff(self.positions[order], axis=0) == 0.0).all(axis=1)
        same &= ~(self.loose_points[order[1:]] & self.loose_points[order[:-1]])
        same &= ~(self.kept_loose[order[1:]] | self.kept_loose[order[:-1]])
        if same.any() and not self.split:
            at = int(np.argmax(same))
            pair = sorted(order[at:at + 2].tolist())
            place = ", ".join(map(number_text, self.positions[pair[0]]))
            self._fail(f"vertices {pair[0]} and {pair[1]} are at the same place [{place}] ({int(same.sum())} such); "
                       "merge them (Mesh > Clean Up > Merge by Distance), or move one of each pair a little")
        if len(self.triangles):
            a, b, c = (self.positions[self.triangles[:, i]] for i in range(3))
            area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
            longest = np.max([np.linalg.norm(s, axis=1) for s in (b - a, c - b, a - c)], axis=0)
            flat = ~(area > SLIVER * longest ** 2)
            if flat.any():
                t = int(np.argmax(flat))
                self._fail(f"triangle {t} (vertices {self.triangles[t].tolist()}) has no area "
                           f"({number_text(area[t], 3)} m^2 with an edge of {number_text(longest[t], 3)} m, "
                           f"{int(flat.sum())} such); dissolve it (Mesh > Clean Up > Degenerate Dissolve), or bring "
                           "back a vertex that lies far away")


def lay_flat(positions: FloatArray, triangles: IntArray, grain: FloatArray) -> FloatArray:
    """Return each triangle laid into the plane without deformation, u along the projected grain.

    Args:
        positions: (V, 3) [m]; triangles: (T, 3); grain: (3,), any length but zero.

    Returns:
        (T, 3, 2) [m] with the first corner at the origin. Where a triangle is perpendicular to the grain,
        the axis least aligned with the grain is used instead.
    """
    a, b, c = (positions[triangles[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    grain = grain / np.linalg.norm(grain)
    spare = np.eye(3)[np.argmin(np.abs(grain))]
    u = grain - (normal @ grain)[:, None] * normal
    v = spare - (normal @ spare)[:, None] * normal
    steep = np.linalg.norm(u, axis=1) < 1e-3            # an angle, not a length: below 0.06 degrees
    u = np.where(steep[:, None], v, u)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    v = np.cross(normal, u)
    corners = np.stack([np.zeros_like(a), b - a, c - a], axis=1)
    return np.stack([np.einsum("tij,tj->ti", corners, u), np.einsum("tij,tj->ti", corners, v)], axis=-1)


def _flat_areas(uv: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return signed areas (T,) [m^2] and longest sides (T,) [m] of triangles in the plane (T, 3, 2)."""
    d1, d2 = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
    area = 0.5 * (d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0])
    sides = np.linalg.norm(np.roll(uv, -1, axis=1) - uv, axis=-1)
    return area, sides.max(axis=1, initial=0.0)

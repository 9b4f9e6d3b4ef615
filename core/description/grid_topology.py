# SPDX-License-Identifier: GPL-3.0-or-later
"""Regular grids of quads: n x m vertices in rows and columns, recognised from the faces, in any numbering.

A sheet of threads (000) is such a grid. A mesh made of quads keeps them. In a mesh of triangles, two triangles are
taken for the halves of a quad if they share an edge that is the longest side at rest of both. The grid is then built
row by row from a corner.
"""

from __future__ import annotations

import numpy as np

from ..arrays import IntArray
from ..errors import MeshError
from .mesh import ClothMesh

WAY_OUT = "take another model, or a mesh like Add > Mesh > Grid: a rectangle of quads, four around each inner vertex"


def grid_of(mesh: ClothMesh) -> IntArray:
    """Return the vertices of a mesh as a grid (n, m), the first index along the warp, or as near to it as possible.

    Raises:
        MeshError: the mesh is not a regular grid; the message names the place.
    """
    if len(mesh.loose_edges):
        raise _no_grid(mesh, f"edge {mesh.loose_edges[0].tolist()} belongs to no face")
    quads = mesh.quads if len(mesh.quads) else _paired_triangles(mesh)
    rows = _walk(mesh, quads)
    return rows if _runs_along_warp(mesh, rows) else np.ascontiguousarray(rows.T)


def _no_grid(mesh: ClothMesh, reason: str) -> MeshError:
    """Return the error that the mesh is not a regular grid, with the reason."""
    return MeshError(f"is no regular grid: {reason}; {WAY_OUT}", object_name=mesh.name)


def _paired_triangles(mesh: ClothMesh) -> IntArray:
    """Return the quads (Q, 4) that pairs of triangles of the mesh form.

    Raises MeshError if a triangle is not half of exactly one quad.
    """
    sides = np.linalg.norm(np.roll(mesh.uv, -1, axis=1) - mesh.uv, axis=-1)           # (T, 3), from corner i on
    apex = (np.argmax(sides, axis=1) + 2) % 3                                        # opposite the longest
    halves = (mesh.hinge_corners % 3 == apex[mesh.hinge_corners // 3]).all(axis=1)
    found = mesh.hinge_corners[halves] // 3
    times = np.bincount(found.ravel(), minlength=len(mesh.triangles))
    if (times != 1).any():
        t = int(np.argmax(times != 1))
        raise _no_grid(mesh, f"triangle {t} (vertices {mesh.triangles[t].tolist()}) is not half of a quad")
    a, b, c, d = mesh.hinges[halves].T
    return np.stack([a, d, b, c], axis=1)


class _Sides:
    """The sides of quads (Q, 4), found by the vertices at their ends.

    Side 4 q + s leads from corner s of quad q to the next corner.
    """

    def __init__(self, mesh: ClothMesh, quads: IntArray) -> None:
        self._count = len(mesh.positions)
        self.start, self.end = quads.ravel(), np.roll(quads, -1, axis=1).ravel()
        keys = self.key(self.start, self.end)
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        times = np.searchsorted(self._keys, keys, "right") - np.searchsorted(self._keys, keys)
        if (times > 2).any():
            at = int(np.argmax(times > 2))
            raise _no_grid(mesh, f"edge {[int(self.start[at]), int(self.end[at])]} has {times[at]} faces")
        self.on_border = times == 1

    def key(self, a: IntArray, b: IntArray) -> IntArray:
        """Return a number for each edge between vertices a and b (n,), equal for both directions."""
        keys: IntArray = np.minimum(a, b) * self._count + np.maximum(a, b)
        return keys

    def between(self, a: IntArray, b: IntArray, used: IntArray) -> IntArray:
        """Return the side between vertices a and b (n,), in either direction; -1 for none.

        used (Q,): sides of quads with a value other than 0 are left out.
        """
        keys = self.key(a, b)
        first = np.searchsorted(self._keys, keys)
        found = np.full(len(a), -1)
        for at in (first, first + 1):
            some = np.minimum(at, len(self._keys) - 1)
            side = self._order[some]
            good = (self._keys[some] == keys) & (at < len(self._keys)) & (used[side // 4] == 0) & (found < 0)
            found[good] = side[good]
        return found


def _walk(mesh: ClothMesh, quads: IntArray) -> IntArray:
    """Return the vertices (n, m) row by row; the first row is part of the border and begins at a corner."""
    sides = _Sides(mesh, quads)
    faces = np.bincount(quads.ravel(), minlength=len(mesh.positions))
    if (faces > 4).any():
        v = int(np.argmax(faces > 4))
        raise _no_grid(mesh, f"vertex {v} has {faces[v]} faces around it, in a grid none has more than 4")
    corners = np.flatnonzero(faces == 1)
    if len(corners) != 4:
        raise _no_grid(mesh, f"it has {len(corners)} corners" + (f", among them vertex {corners[0]}" if len(corners)
                                                                 else ", as a tube or a closed surface has"))
    rows = [_first_row(mesh, sides, int(corners[0]), set(corners.tolist()))]
    used = np.zeros(len(quads), dtype=np.int64)
    while not used.all():
        row = rows[-1]
        side = sides.between(row[:-1], row[1:], used)
        if (side < 0).any():
            raise _no_grid(mesh, f"no face follows edge {row[np.argmax(side < 0):][:2].tolist()}")
        quad, at = side // 4, side % 4
        used[quad] = 1
        beside_start, beside_end = quads[quad, (at + 3) % 4], quads[quad, (at + 2) % 4]
        turned = sides.start[side] != row[:-1]
        left, right = np.where(turned, beside_end, beside_start), np.where(turned, beside_start, beside_end)
        if (left[1:] != right[:-1]).any():
            raise _no_grid(mesh, f"the faces around vertex {row[1 + np.argmax(left[1:] != right[:-1])]} do not lie in "
                                 "two rows")
        rows.append(np.append(left, right[-1]))
    grid = np.array(rows)
    if grid.size != len(mesh.positions) or len(np.unique(grid)) != grid.size:
        raise _no_grid(mesh, f"{grid.shape[0]} rows of {grid.shape[1]} vertices do not make the mesh's "
                             f"{len(mesh.positions)}")
    return grid


def _first_row(mesh: ClothMesh, sides: _Sides, corner: int, corners: set[int]) -> IntArray:
    """Return the vertices of the border from `corner` to the next of the `corners`."""
    a, b = sides.start[sides.on_border], sides.end[sides.on_border]
    beside: dict[int, list[int]] = {}
    for one, other in zip([*a.tolist(), *b.tolist()], [*b.tolist(), *a.tolist()], strict=True):
        beside.setdefault(one, []).append(other)
    row, before = [corner], -1
    while len(row) == 1 or row[-1] not in corners:
        ahead = sorted(v for v in beside[row[-1]] if v != before)
        if not ahead or len(row) > 1 and len(ahead) > 1:
            raise _no_grid(mesh, f"the border branches at vertex {row[-1]}")
        before = row[-1]
        row.append(ahead[0])
    return np.array(row)


def _runs_along_warp(mesh: ClothMesh, grid: IntArray) -> bool:
    """Return whether the first index of the grid follows u more closely than the second one does, in the flat shape."""
    place = np.empty(len(mesh.positions), dtype=np.int64)
    place[grid.ravel()] = np.arange(grid.size)
    i, j = np.divmod(place[mesh.triangles], grid.shape[1])
    sides = np.roll(mesh.uv, -1, axis=1) - mesh.uv
    lean = np.abs(sides[..., 0]) / np.linalg.norm(sides, axis=-1)                     # cosine to the warp
    first = (i != np.roll(i, -1, axis=1)) & (j == np.roll(j, -1, axis=1))
    second = (j != np.roll(j, -1, axis=1)) & (i == np.roll(i, -1, axis=1))
    return float(lean[first].mean()) >= float(lean[second].mean())

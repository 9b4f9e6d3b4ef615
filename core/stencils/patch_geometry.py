# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending that does not depend on the triangulation: Morley's triangle with recovered edge slopes.

In a triangle of rest area A, the second derivatives of the map x(u, v) are the mean of its gradient over the boundary,

    F = 1/A sum_edges l n (x) g,      g = t (x_j - x_i) / l + n s,       F_uu, F_uv, F_vv  [1/m]

with l, t, n the edge's length, direction and outward normal in the fabric, and s the slope dx/dn across the edge, which
`edge_slopes` recovers from the vertices around it. All of it is linear in x: columns with constant weights.

    energy    E = A/2 (B_u |F_uu|^2 + (B_u + B_v) |F_uv|^2 + B_v |F_vv|^2)              [J]

On a sheet that keeps its lengths |F_uu| and its like are curvatures, so this is the plate's bending energy without
Poisson's effect; a cylinder that curves at an angle to the warp costs B_u cos^2 + B_v sin^2 of it.

Why it converges: both triangles at an edge use one slope, so constant moments are in equilibrium at every vertex; the
slopes are exact for quadratics, so constant curvature is exact on every triangulation; and the energy is that of
Morley's element (1968) restricted to some of its motions, so no shape but a flat one is free of it. Where Morley has
the slopes as unknowns of their own, here they follow from the vertices: the departure, and what makes it a stencil.

Free edges carry no moment: their slope is taken as the one that costs least, which takes the curvature across the
edge out of the triangle's stiffness.

Rest shape: a mesh that is modelled flat has constant, positive tangents (`Quadratic`). A curved one keeps its rest
columns: E = A/2 |F - r n|^2 with r the rest curvatures and n the triangle's present normal (`CurvedPatch`). What the
rest columns have in the triangle's plane follows its w_u and w_v: it is taken out of the weights.
"""

from __future__ import annotations

import numpy as np

from ..arrays import FloatArray, IntArray
from ..mesh import ClothMesh
from .edge_slopes import edge_slopes
from .hinge_geometry import HingeGeometry
from .stencil import Stencil

NEGLIGIBLE = 1e-10
"""Weights below this share of their triangle's largest are left out [-]."""

ROUNDING = 1e-12
"""Eigenvalues of a stiffness below this share of its largest are rounding [-]."""

FLAT = 1e-6
"""A mesh is modelled flat when no triangle's curvature times its size reaches this [-]."""


class PatchGeometry:
    """Columns and stiffness of the patch around every triangle.

    Attributes:
        stencil: columns (F_1, F_2, F_3), then w_u, w_v; F is (F_uu, F_uv, F_vv) times the triangle's size sqrt(A) and
            the symmetric root of the stiffness over `stiffness` [-];
        stiffness (T,): k with energy k/2 sum |F|^2 [N m];
        rest (T, 3): normal components of F at rest [-];
        is_flat: whether the rest shape is.
    """

    def __init__(self, mesh: ClothMesh, bend: tuple[float, float], *, flat: bool = False) -> None:
        triangle, vertex, curvature, free = _contributions(mesh)
        root, largest = _root_of_stiffness(free, bend)
        columns = np.einsum("ncd,nd->nc", (np.sqrt(mesh.areas)[:, None, None] * root)[triangle], curvature)
        gradient = _gradient_weights(mesh)                                            # (T, 3, 2)
        self.rest: FloatArray = np.zeros((len(mesh.triangles), 3))
        in_plane = np.zeros((len(mesh.triangles), 3, 3))
        if not flat:
            self.rest, in_plane = _rest_columns(mesh, triangle, vertex, columns, gradient)
        corners = np.concatenate([in_plane, gradient], axis=2).reshape(-1, 5)
        self.stencil = _merge(np.concatenate([triangle, np.repeat(np.arange(len(mesh.triangles)), 3)]),
                              np.concatenate([vertex, mesh.triangles.ravel()]),
                              np.concatenate([np.pad(columns, ((0, 0), (0, 2))), corners]), len(mesh.positions))
        self.stiffness: FloatArray = np.full(len(mesh.triangles), largest)
        self.is_flat = bool(np.all(np.abs(self.rest) < FLAT))


def flat_stencil(patch: PatchGeometry) -> Stencil:
    """The columns F_1, F_2, F_3 alone, each an element of its own: 3 t + c for F_c of triangle t."""
    T, k, _ = patch.stencil.weights.shape
    weights = patch.stencil.weights[:, :, :3].transpose(0, 2, 1).reshape(3 * T, k)
    needed = int((weights != 0.0).sum(axis=1).max(initial=1))
    order = np.argsort(weights == 0.0, axis=1, kind="stable")[:, :needed]
    vertices = np.take_along_axis(np.repeat(patch.stencil.vertices, 3, axis=0), order, axis=1)
    return Stencil(vertices, np.take_along_axis(weights, order, axis=1)[:, :, None])


def flat_stiffness(patch: PatchGeometry) -> FloatArray:
    """k (3 T,) [N m] of the elements of `flat_stencil`."""
    return np.repeat(patch.stiffness, 3)


def _rest_columns(mesh: ClothMesh, triangle: IntArray, vertex: IntArray, columns: FloatArray,
                  gradient: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Normal components (T, 3) of the columns at rest, and the weights (T, 3, 3) of each triangle's own corners that
    take the rest out of their plane: F_c - alpha w_u - beta w_v has none."""
    rest = np.empty((len(mesh.triangles), 3, 3))
    for axis in range(3):
        for c in range(3):
            rest[:, c, axis] = np.bincount(
                triangle, weights=columns[:, c] * mesh.positions[vertex, axis], minlength=len(rest))
    frame = np.einsum("tia,tic->tca", mesh.positions[mesh.triangles], gradient)       # w_u, w_v at rest
    normal = np.cross(frame[:, 0], frame[:, 1])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    dual = np.linalg.pinv(frame)                                                      # (T, 3, 2)
    return np.einsum("tca,ta->tc", rest, normal), -np.einsum("tca,tad,tid->tic", rest, dual, gradient)


def _gradient_weights(mesh: ClothMesh) -> FloatArray:
    """(T, 3, 2) [1/m]: d/du and d/dv of what is linear in each triangle."""
    side = np.roll(mesh.uv, 1, axis=1) - np.roll(mesh.uv, -1, axis=1)                 # from corner i+1 to i+2
    gradient: FloatArray = np.stack([-side[..., 1], side[..., 0]], axis=-1) / (2.0 * mesh.areas)[:, None, None]
    return gradient


def _contributions(mesh: ClothMesh) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Terms of (F_uu, F_uv, F_vv): triangle (N,), vertex (N,), weight (N, 3) [1/m^2]; and per triangle and corner
    the curvature (T, 3, 3) that the slope of the opposite edge makes, zero where that edge is not free."""
    hinge = HingeGeometry(mesh)
    count = len(mesh.triangles)
    side = np.roll(mesh.uv, 1, axis=1) - np.roll(mesh.uv, -1, axis=1)
    size = np.linalg.norm(side, axis=2)
    t = side / size[..., None]
    n = np.stack([t[..., 1], -t[..., 0]], axis=-1)                                    # outward: uv is anticlockwise
    over_area = 1.0 / mesh.areas[:, None]
    across = (size * over_area)[..., None] * _product(n, n)                           # (T, 3, 3) per unit of slope
    along = over_area[..., None] * _product(n, t)                                     # per unit of x_j - x_i
    free = np.ones((count, 3), dtype=np.bool_)
    pair = ~hinge.shared
    free[hinge.triangles[pair].ravel(), hinge.corners[pair].ravel()] = False

    rows = np.repeat(np.arange(count), 3)
    parts = [(rows, np.roll(mesh.triangles, 1, axis=1).ravel(), along.reshape(-1, 3)),
             (rows, np.roll(mesh.triangles, -1, axis=1).ravel(), -along.reshape(-1, 3))]
    vertices, weights = edge_slopes(mesh, hinge)
    for s, sign in ((0, -1.0), (1, 1.0)):                                             # n points from side 1 to side 0
        triangle, corner = hinge.triangles[pair, s], hinge.corners[pair, s]
        part = sign * weights[pair][..., None] * across[triangle, corner][:, None]    # (H, 8, 3)
        parts.append((np.repeat(triangle, 8), vertices[pair].ravel(), part.reshape(-1, 3)))
    own = np.einsum("tid,tkd->tki", _gradient_weights(mesh), n)                       # slope of the triangle itself
    part = own[..., None] * (across * free[..., None])[:, :, None]                    # (T, edge, vertex, 3)
    parts.append((np.repeat(np.arange(count), 9), np.tile(mesh.triangles, 3).ravel(), part.reshape(-1, 3)))
    triangles, columns, values = (np.concatenate(piece) for piece in zip(*parts, strict=True))
    return triangles, columns, values, _product(n, n) * free[..., None]


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Symmetric part of a b^T as (uu, uv, vv)."""
    return np.stack([a[..., 0] * b[..., 0], 0.5 * (a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]),
                     a[..., 1] * b[..., 1]], axis=-1)


def _root_of_stiffness(free: FloatArray, bend: tuple[float, float]) -> tuple[FloatArray, float]:
    """Symmetric roots (T, 3, 3) [-] of the stiffness over its scale, and the scale [N m].

    With D = diag(B_u, B_u + B_v, B_v) on (F_uu, F_uv, F_vv) and the curvatures b that free edges may take,
    the least energy over them is that of D - D b (b^T D b)^-1 b^T D.
    """
    warp, weft = bend
    largest = max(warp, weft)
    D = np.diag([warp, warp + weft, weft]) / largest
    b = free.transpose(0, 2, 1)                                                       # (T, 3, edge)
    stiffness = np.broadcast_to(D, (len(free), 3, 3)).copy()
    some = np.flatnonzero(free.any(axis=(1, 2)))
    Db = D @ b[some]
    stiffness[some] -= Db @ np.linalg.pinv(b[some].transpose(0, 2, 1) @ Db, hermitian=True) @ Db.transpose(0, 2, 1)
    values, axes = np.linalg.eigh(stiffness)
    values = np.where(values > ROUNDING * values[:, 2:], values, 0.0)                 # the root would blow rounding up
    return (axes * np.sqrt(values)[:, None]) @ axes.transpose(0, 2, 1), largest


def _merge(triangle: IntArray, vertex: IntArray, weights: FloatArray, vertex_count: int) -> Stencil:
    """Terms (N,), (N,), (N, C), several for a vertex, as a stencil of as many vertices as the widest needs."""
    key, group = np.unique(triangle * vertex_count + vertex, return_inverse=True)
    group = group.reshape(-1)
    total = np.stack([np.bincount(group, weights=w, minlength=len(key)) for w in weights.T], axis=1)
    row = key // vertex_count
    largest = np.zeros((int(row[-1]) + 1, weights.shape[1]))
    np.maximum.at(largest, row, np.abs(total))
    total[np.abs(total) <= NEGLIGIBLE * largest[row]] = 0.0
    kept = np.flatnonzero(total.any(axis=1))
    row, total, column = row[kept], total[kept], key[kept] % vertex_count
    starts = np.searchsorted(row, np.arange(len(largest)))
    place = np.arange(len(row)) - starts[row]
    width = int(place.max(initial=0)) + 1
    vertices = np.repeat(column[np.minimum(starts, len(column) - 1)][:, None], width, axis=1)
    vertices[row, place] = column
    packed = np.zeros((len(largest), width, weights.shape[1]))
    packed[row, place] = total
    return Stencil(vertices, packed)

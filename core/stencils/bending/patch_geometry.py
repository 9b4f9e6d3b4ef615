# SPDX-License-Identifier: GPL-3.0-or-later
"""Bending that does not depend on the triangulation: Morley's triangle with recovered edge slopes.

In a triangle of rest area A, the second derivatives of the map x(u, v) are approximated by an integral of its gradient
over the boundary,

    F = 1/A sum_edges l n (x) g,      g = t (x_j - x_i) / l + n s,       F_uu, F_uv, F_vv  [1/m]

with l, t, n the edge's length, direction and outward normal in the fabric, and s the slope dx/dn across the edge, which
`edge_slopes` recovers from the surrounding vertices. F is linear in x: columns with constant weights.

    energy    E = A/2 (B_u |F_uu|^2 + (B_u + B_v) |F_uv|^2 + B_v |F_vv|^2)              [J]

If the sheet keeps its lengths, |F_uu|, |F_uv| and |F_vv| are curvatures. E is then the bending energy of a plate
without Poisson's effect. A cylinder that curves at an angle to the warp has the stiffness B_u cos^2 + B_v sin^2.

Convergence: both triangles at an edge use one slope, so constant moments are in equilibrium at every vertex. The slopes
are exact for quadratics, so constant curvature is exact on every triangulation. And the energy is that of Morley's
element (1968), restricted to some of its motions, so only flat shapes have zero energy. The departure from Morley:
slopes are not unknowns but follow from the vertices, which makes the element a stencil.

Free edges carry no moment. Their slope is the one of least energy, which removes the curvature across the edge from the
stiffness of the triangle.

Rest shape: a mesh that is modelled flat has constant, positive tangents (`Quadratic`). A curved one has the energy E =
A/2 |F - r n|^2, with the rest curvatures r and the triangle's present normal n (see `rest_curvature`). The in-plane
part of the rest columns is a combination of w_u and w_v; it is subtracted from the weights.
"""

from __future__ import annotations

import numpy as np

from ...arrays import SINGLE_PRECISION, BoolArray, FloatArray, IntArray
from ...description.mesh import ClothMesh
from ..stencil import ELEMENTS_PER_BATCH, Stencil
from ..tolerances import ROUNDING_SHARE
from .edge_slopes import across_edges, edge_slopes
from .hinge_geometry import HingeGeometry

NEGLIGIBLE_WEIGHT = 1e-10
"""Weight below which a vertex is left out of a stencil, over the largest weight of its triangle [-]."""


class PatchGeometry:
    """Columns and stiffness of the patch around every triangle.

    Attributes:
        stencil: columns (F_1, F_2, F_3), w_u, w_v. (F_1, F_2, F_3) is (F_uu, F_uv, F_vv) times the triangle's size
            sqrt(A) and the symmetric root of the stiffness matrix over `stiffness` [-].
        stiffness (T,) [N m]: k of the energy k/2 sum |F|^2.
        rest (T, 3) [-]: normal components of F at rest.
        curved: indices of the triangles that are not modelled flat.
    """

    def __init__(self, mesh: ClothMesh, bend: tuple[float, float], *, flat: bool = False) -> None:
        count = len(mesh.triangles)
        self.rest: FloatArray = np.zeros((count, 3))
        slopes = _Slopes(mesh)
        pieces = []
        for first in range(0, count, ELEMENTS_PER_BATCH):
            some = slice(first, min(first + ELEMENTS_PER_BATCH, count))
            patch = _Patches(mesh, some, slopes)
            vertices, columns = patch.merged()
            root = _root_of_stiffness(mesh.areas[some], patch.free, bend)
            columns[..., :3] = columns[..., :3] @ root
            if not flat:                                    # the modelled shape, at the rest size
                rest = _remove_in_plane(mesh.positions[vertices], columns)
                self.rest[some] = mesh.triangle_scale[some, None] * rest
            self.rest[some] += np.einsum("tc,tcd->td", mesh.curvature[some], root)
            pieces.append(_without_negligible(vertices, columns))
        self.stencil = _joined(pieces)
        self.stiffness: FloatArray = np.full(count, max(bend))
        self.curved: IntArray = np.flatnonzero((np.abs(self.rest) >= SINGLE_PRECISION).any(axis=1))


def flat_stencil(patch: PatchGeometry) -> Stencil:
    """Return the columns F_1, F_2, F_3 as elements of their own; element 3 t + c is F_c of triangle t."""
    pieces = []
    for first in range(0, len(patch.stiffness), ELEMENTS_PER_BATCH):
        some = slice(first, first + ELEMENTS_PER_BATCH)
        weights = patch.stencil.weights[some, :, :3].transpose(0, 2, 1).reshape(-1, patch.stencil.weights.shape[1])
        pieces.append(_packed(np.repeat(patch.stencil.vertices[some], 3, axis=0), weights[:, :, None]))
    return _joined(pieces)


def flat_stiffness(patch: PatchGeometry) -> FloatArray:
    """Return k (3 T,) [N m] of the elements of `flat_stencil`."""
    return np.repeat(patch.stiffness, 3)


def rest_stencil(patch: PatchGeometry) -> Stencil:
    """Return the columns q = sum_c r_c F_c, w_u, w_v of the `curved` triangles.

    The triangle's own vertices come first; they are the hubs, because q is coupled to w_u and w_v only.
    """
    return _rest_columns(patch, patch.curved)[0]


def every_rest_stencil(patch: PatchGeometry) -> tuple[Stencil, FloatArray]:
    """Return the columns q, w_u, w_v of all triangles, and weights (T, k, 3) of F_1, F_2, F_3 on the same vertices."""
    return _rest_columns(patch, np.arange(len(patch.stiffness)))


def _rest_columns(patch: PatchGeometry, some: IntArray) -> tuple[Stencil, FloatArray]:
    vertices, weights = patch.stencil.vertices[some], patch.stencil.weights[some]
    order = np.argsort(~weights[..., 3:].any(axis=2), axis=1, kind="stable")
    vertices = np.take_along_axis(vertices, order, axis=1)
    weights = np.take_along_axis(weights, order[..., None], axis=1)
    q = np.einsum("twc,tc->tw", weights[..., :3], patch.rest[some])
    return (Stencil(vertices, np.concatenate([q[..., None], weights[..., 3:]], axis=2), hub_count=3),
            weights[..., :3])


class _Slopes:
    """The slope dw/dn of every edge, with n pointing out of its triangle.

    Attributes:
        vertices (H, 8), weights (H, 8) [1/m]: from `edge_slopes`.
        row (3 T,): the hinge of the edge opposite each corner, -1 if the edge has none.
        sign (3 T,): -1 where the outward normal is opposite to the hinge's n, else 1.
    """

    def __init__(self, mesh: ClothMesh) -> None:
        across, count = across_edges(mesh), len(mesh.hinges)
        self.vertices: IntArray = np.empty((count, 8), dtype=np.int64)
        self.weights: FloatArray = np.empty((count, 8))
        for first in range(0, count, ELEMENTS_PER_BATCH):
            some = slice(first, first + ELEMENTS_PER_BATCH)
            self.vertices[some], self.weights[some] = edge_slopes(mesh, HingeGeometry(mesh, some), across)
        self.row: IntArray = np.full(mesh.triangles.size, -1)
        self.sign: FloatArray = np.ones(mesh.triangles.size)
        pair = np.flatnonzero(~mesh.hinge_branches)
        inward, outward = mesh.hinge_corners[pair].T                                  # n points from side 1 to side 0
        self.row[inward], self.row[outward] = pair, pair
        self.sign[inward] = -1.0


class _Patches:
    """The stencils of the triangles `some`, t of them, before the stiffness is applied.

    Attributes:
        free (t, 3, 3): the curvature that a unit slope of the edge opposite each corner makes; zero if the edge is not
            free.
    """

    def __init__(self, mesh: ClothMesh, some: slice, slopes: _Slopes) -> None:
        self._corners, self._slopes = mesh.triangles[some], slopes
        uv, over_area = mesh.uv[some], 1.0 / mesh.areas[some][:, None]
        side = np.roll(uv, 1, axis=1) - np.roll(uv, -1, axis=1)                       # from corner i+1 to i+2
        self._gradient = np.stack([-side[..., 1], side[..., 0]], axis=-1) * (0.5 * over_area)[..., None]   # [1/m]
        size = np.linalg.norm(side, axis=2)
        t = side / size[..., None]
        n = np.stack([t[..., 1], -t[..., 0]], axis=-1)                                # outward: uv is anticlockwise
        bend, edges = _product(n, n), slice(3 * some.start, 3 * some.stop)
        self._across = (size * over_area)[..., None] * bend                           # (t, 3, 3) per unit of slope
        self._row, self._sign = slopes.row[edges].reshape(-1, 3), slopes.sign[edges].reshape(-1, 3)
        alone = (self._row < 0)[..., None]
        self.free: FloatArray = bend * alone
        along = over_area[..., None] * _product(n, t)                                 # per unit of x_j - x_i
        own = np.einsum("tid,tkd->tki", self._gradient, n)                            # slope of the triangle itself
        self._own: FloatArray = (np.roll(along, -1, axis=1) - np.roll(along, 1, axis=1)
                                 + np.einsum("tki,tkc->tic", own, self._across * alone))

    def merged(self) -> tuple[IntArray, FloatArray]:
        """Return vertices (t, w), each once per triangle, and their weights (t, w, 5).

        The five columns are F_uu, F_uv, F_vv, w_u, w_v. Unused places have weight zero.
        """
        t = len(self._corners)
        at, edge = np.nonzero(self._row >= 0)
        row = self._row[at, edge]
        weights = self._sign[at, edge, None] * self._slopes.weights[row]
        there, slot = np.nonzero(weights)
        bent = weights[there, slot, None] * self._across[at[there], edge[there]]
        own = np.concatenate([self._own, self._gradient], axis=2).reshape(-1, 5)
        return _merge(np.concatenate([np.repeat(np.arange(t), 3), at[there]]),
                      np.concatenate([self._corners.ravel(), self._slopes.vertices[row[there], slot]]),
                      np.concatenate([own, np.pad(bent, ((0, 0), (0, 2)))]))


def _product(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the symmetric part of a b^T as (uu, uv, vv)."""
    return np.stack([a[..., 0] * b[..., 0], 0.5 * (a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]),
                     a[..., 1] * b[..., 1]], axis=-1)


def _root_of_stiffness(areas: FloatArray, free: FloatArray, bend: tuple[float, float]) -> FloatArray:
    """Return sqrt(A) [m] times the symmetric roots (t, 3, 3) of the stiffness matrices over the larger of `bend`.

    With D = diag(B_u, B_u + B_v, B_v) on (F_uu, F_uv, F_vv) and the curvatures b of free edges, the least energy over
    the slopes of free edges has the matrix D - D b (b^T D b)^-1 b^T D.
    """
    warp, weft = bend
    D = np.diag([warp, warp + weft, weft]) / max(bend)
    roots = np.broadcast_to(np.sqrt(D), (len(free), 3, 3)).copy()
    some = np.flatnonzero(free.any(axis=(1, 2)))
    b = free[some].transpose(0, 2, 1)                                                 # (some, 3, edge)
    Db = D @ b
    stiffness = D - Db @ np.linalg.pinv(b.transpose(0, 2, 1) @ Db, hermitian=True) @ Db.transpose(0, 2, 1)
    values, axes = np.linalg.eigh(stiffness)
    values = np.where(values > ROUNDING_SHARE * values[:, 2:], values, 0.0)           # the root would amplify rounding
    roots[some] = (axes * np.sqrt(values)[:, None]) @ axes.transpose(0, 2, 1)
    return np.sqrt(areas)[:, None, None] * roots


def _remove_in_plane(x: FloatArray, columns: FloatArray) -> FloatArray:
    """Return the normal components (t, 3) of F at rest, and remove its in-plane part from the weights.

    Args:
        x (t, w, 3) [m]: the vertices of each patch at rest.
        columns (t, w, 5): its weights, changed in place to those of F_c - alpha w_u - beta w_v, which has no in-plane
            part at rest.
    """
    rest = np.einsum("twc,twa->tca", columns, x)
    F, u, v = rest[:, :3], rest[:, 3], rest[:, 4]
    normal = np.cross(u, v)
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    normal /= size
    dual = np.stack([np.cross(v, normal), np.cross(normal, u)], axis=1) / size[..., None]
    columns[..., :3] -= columns[..., 3:] @ (dual @ F.transpose(0, 2, 1))
    return np.einsum("tca,ta->tc", F, normal)


def _merge(row: IntArray, vertex: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return terms of rows as vertices (t, w) and weights (t, w, C), padded to the longest row.

    Args:
        row, vertex (N,): row and vertex of each term; weights of equal vertices in a row are added.
        weights (N, C): weights of the terms.
    """
    far = int(vertex.max()) + 1
    key, group = np.unique(row * far + vertex, return_inverse=True)
    group = group.reshape(-1)
    row, vertex = np.divmod(key, far)
    lengths = np.bincount(row)
    starts = np.cumsum(lengths) - lengths
    place = np.arange(len(row)) - starts[row]
    vertices = np.repeat(vertex[starts][:, None], lengths.max(), axis=1)
    vertices[row, place] = vertex
    merged = np.zeros((*vertices.shape, weights.shape[1]))
    for c, w in enumerate(weights.T):
        merged[row, place, c] = np.bincount(group, weights=w)
    return vertices, merged


def _without_negligible(vertices: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the rows without weights below NEGLIGIBLE_WEIGHT."""
    size = np.abs(weights)
    return _packed(vertices, np.where(size > NEGLIGIBLE_WEIGHT * size.max(axis=1, keepdims=True), weights, 0.0))


def _packed(vertices: IntArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return rows of vertices (t, w) and weights (t, w, C) without vertices of zero weight.

    Rows are padded with their first vertex, at weight zero.
    """
    there: BoolArray = weights.any(axis=2)
    lengths = there.sum(axis=1)
    width = int(lengths.max(initial=1))
    order = np.argsort(~there, axis=1, kind="stable")[:, :width]
    order = np.where(np.arange(width) < lengths[:, None], order, order[:, :1])
    kept = np.take_along_axis(weights, order[:, :, None], axis=1)
    kept[np.arange(width) >= lengths[:, None]] = 0.0
    return np.take_along_axis(vertices, order, axis=1), kept


def _joined(pieces: list[tuple[IntArray, FloatArray]]) -> Stencil:
    """Return a stencil of all rows, padded to the longest with vertices of zero weight."""
    count, width = sum(len(v) for v, _ in pieces), max(v.shape[1] for v, _ in pieces)
    vertices: IntArray = np.empty((count, width), dtype=np.int64)
    weights = np.zeros((count, width, pieces[0][1].shape[2]))
    first = 0
    for v, w in pieces:
        some, own = slice(first, first + len(v)), v.shape[1]
        vertices[some, :own], weights[some, :own] = v, w
        vertices[some, own:] = v[:, :1]
        first += len(v)
    return Stencil(vertices, weights)

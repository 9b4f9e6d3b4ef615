# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet as springs between vertices: which pairs, how long, and how stiff so that together they are the fabric.

Pairs are the edges of triangles, or the sides and both diagonals of quads. To a small strain a spring of stiffness k
[N/m] and length L in the direction n adds q = k L^2 / A to the sheet's stiffness where it has the area A to itself:

    C_uu = sum q n_u^4,   C_vv = sum q n_v^4,   C_uv = C_ss = sum q n_u^2 n_v^2    [N/m]

Three springs around a triangle are fitted to three of these, as far as springs that push and pull at will can be (least
squares, q >= C_ss, so that no edge of an irregular mesh is without): on right-angled cells exactly, as long as a
diagonal that resists all of the shear stretches no more than the fabric; cells longer than that keep the stretch and
lose shear. What springs cannot
be is stiff against shear without coupling warp and weft, C_uv = C_ss. So that a strip pulled along a thread has the
fabric's stretch K all the same, C is larger: C_uu - C_ss^2 / C_vv = K_u.
Quads are both of their triangulations, each with half of the area.

Provot 1995 (003) chooses stiffnesses by hand, per mesh; this makes them the fabric's, on every mesh.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...arrays import FloatArray, IntArray
from ...description.material import Material
from ...description.mesh import ClothMesh
from ..tolerances import ROUNDING_SHARE
from .pair_sums import sum_over_pairs

SHEAR_FIT_WEIGHT = 0.25
"""Weight of the shear in a fit that cannot have all three, over that of the stretch [-]."""
FIT_REGULARISATION = 1e-9
"""Share of its trace added to a fit's matrix, so that edges of one direction share alike [-]."""
COUPLING_REFITS = 2
"""Fits made with the coupling that the one before has."""


@dataclass(frozen=True)
class SheetSprings:
    """pairs (E, 2) of vertices, rest lengths (E,) [m] and stiffness (E,) [N/m]."""

    pairs: IntArray
    rest: FloatArray
    stiffness: FloatArray


def sheet_springs(mesh: ClothMesh, material: Material) -> tuple[SheetSprings, SheetSprings]:
    """Structural links, the edges of the faces; and shear links, the diagonals of quads, none on other meshes."""
    if not len(mesh.quads):
        return _fitted(mesh, material, mesh.triangles, mesh.uv, mesh.areas), _none()
    uv = quad_coordinates(mesh)
    three = np.array([[0, 1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 3]])
    corners = uv[:, three].reshape(-1, 3, 2)
    d1, d2 = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    areas = 0.25 * np.abs(d1[:, 0] * d2[:, 1] - d1[:, 1] * d2[:, 0])
    both = _fitted(mesh, material, mesh.quads[:, three].reshape(-1, 3), corners, areas)
    n = len(mesh.positions)
    sides = np.sort(np.stack([mesh.quads, np.roll(mesh.quads, -1, axis=1)], axis=-1), axis=-1).reshape(-1, 2)
    side = np.isin(both.pairs[:, 0] * n + both.pairs[:, 1], sides[:, 0] * n + sides[:, 1])
    structural, shear = (SheetSprings(both.pairs[s], both.rest[s], both.stiffness[s]) for s in (side, ~side))
    return structural, shear


def quad_coordinates(mesh: ClothMesh) -> FloatArray:
    """Corners (Q, 4, 2) of quads in the fabric [m]: their two triangles unfolded along the edge that they share."""
    local = mesh.corners.reshape(-1, 2, 3) % 4
    uv = mesh.uv.reshape(-1, 2, 3, 2)
    at = uv[..., 0] + 1j * uv[..., 1]                               # (Q, 2, 3)
    row = np.arange(len(local))[:, None]
    one, other = (np.full((len(local), 4), np.nan, dtype=complex) for _ in range(2))
    one[row, local[:, 0]], other[row, local[:, 1]] = at[:, 0], at[:, 1]
    missing = np.argmax(np.isnan(one), axis=1)
    row, p = row[:, 0], (missing + 1) % 4                           # the cut runs between the missing one's neighbours
    q = (missing + 3) % 4
    ratio = (other[row, missing] - other[row, p]) / (other[row, q] - other[row, p])
    one[row, missing] = one[row, p] + ratio * (one[row, q] - one[row, p])
    return np.stack([one.real, one.imag], axis=-1)


def coupled_stretch(stretch: tuple[FloatArray, FloatArray], coupling: FloatArray) -> tuple[FloatArray, FloatArray]:
    """C_uu, C_vv [N/m] with C_uu - C_uv^2 / C_vv = K_u and the same along v, for C_uv = `coupling`."""
    u, v = stretch
    ratio = np.sqrt(np.maximum(u, ROUNDING_SHARE * v) / np.maximum(v, ROUNDING_SHARE * u) if np.any(stretch) else 1.0)
    mean = np.sqrt(u * v)                                           # C_uu / C_vv = K_u / K_v solves both
    size = 0.5 * (mean + np.sqrt(mean ** 2 + 4.0 * coupling ** 2))
    return size * ratio, size / ratio


def _none() -> SheetSprings:
    return SheetSprings(np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0))


def _fitted(mesh: ClothMesh, material: Material, triangles: IntArray, uv: FloatArray,
            areas: FloatArray) -> SheetSprings:
    sides = np.roll(uv, -1, axis=1) - uv                            # (T, 3, 2), side i from corner i
    squared = np.einsum("tsi,tsi->ts", sides, sides)
    share = sides ** 2 / squared[..., None]                         # n_u^2, n_v^2
    parts = np.stack([share[..., 0] ** 2, share[..., 1] ** 2, share[..., 0] * share[..., 1]], axis=1)   # (T, 3, 3)
    ku, kv = (np.full(len(areas), float(k)) for k in material.stretch)
    shear = np.full(len(areas), float(material.shear))
    coupling = shear
    for _ in range(1 + COUPLING_REFITS):
        cu, cv = coupled_stretch((ku, kv), coupling)
        least = shear[:, None]
        q = least + _least_squares(parts, np.stack([cu, cv, shear], axis=1) - parts.sum(axis=2) * least)
        coupling = np.einsum("ts,ts->t", parts[:, 2], q)
    ends = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
    each = np.stack([(q * areas[:, None] / squared).ravel(), np.sqrt(squared).ravel(), np.ones(3 * len(areas))], axis=1)
    pairs, sums = sum_over_pairs(ends, len(mesh.positions), each)
    return SheetSprings(pairs, sums[:, 1] / sums[:, 2], sums[:, 0])


def _least_squares(parts: FloatArray, wanted: FloatArray) -> FloatArray:
    """q (T, 3) >= 0 that brings parts (T, 3, 3) q nearest to wanted (T, 3)."""
    size = np.maximum(wanted.max(axis=1, keepdims=True), np.finfo(float).tiny)
    weights = np.array([1.0, 1.0, SHEAR_FIT_WEIGHT]) / size
    A, b = parts * weights[:, :, None], wanted * weights
    best, error = np.zeros_like(b), np.sum(b * b, axis=1)
    for count in (1, 2, 3):
        for some in combinations(range(3), count):
            part = A[:, :, some]
            M = part.transpose(0, 2, 1) @ part
            M += FIT_REGULARISATION * np.trace(M, axis1=1, axis2=2)[:, None, None] * np.eye(count)
            q = np.zeros_like(b)
            q[:, some] = np.linalg.solve(M, part.transpose(0, 2, 1) @ b[:, :, None])[:, :, 0]
            left = np.sum((b - (A @ q[:, :, None])[:, :, 0]) ** 2, axis=1)
            better = (q >= 0.0).all(axis=1) & (left < error)
            best[better], error[better] = q[better], left[better]
    return best

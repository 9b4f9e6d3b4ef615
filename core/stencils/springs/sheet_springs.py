# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet as springs between vertices, with stiffnesses that together are the fabric's.

Pairs are the edges of triangles, or the sides and both diagonals of quads. Let A [m^2] be the area that belongs to a
spring of stiffness k [N/m], length L and direction n. For small strains it adds q = k L^2 / A to the sheet's stiffness:

    C_uu = sum q n_u^4,   C_vv = sum q n_v^4,   C_uv = C_ss = sum q n_u^2 n_v^2    [N/m]

The three springs of a triangle are fitted to three of these constants by least squares, with q >= C_ss so that no edge
of an irregular mesh is without a spring. On right-angled cells the fit is exact as long as the diagonal, which resists
all of the shear, stretches no more than the fabric. Longer cells keep the stretch and lose some of the shear.

Springs always couple warp and weft: C_uv = C_ss. A strip pulled along a thread still has the fabric's stretch K,
because C is larger: C_uu - C_ss^2 / C_vv = K_u. Quads are the mean of their two triangulations.

Provot 1995 (003) chooses stiffnesses by hand for each mesh. Here they follow from the fabric.
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
"""Weight of the shear residual in the least squares fit, over that of the stretch [-]."""
FIT_REGULARISATION = 1e-9
"""Share of its trace that is added to the diagonal of the fit's matrix, so that parallel edges get equal parts [-]."""
COUPLING_REFITS = 2
"""Number of fits that are repeated with the coupling of the previous fit [-]."""


@dataclass(frozen=True)
class SheetSprings:
    """Springs of a sheet.

    Attributes:
        pairs (E, 2): vertices.
        rest (E,) [m]: rest lengths.
        stiffness (E,) [N/m]: stiffnesses.
    """

    pairs: IntArray
    rest: FloatArray
    stiffness: FloatArray


def sheet_springs(mesh: ClothMesh, material: Material) -> tuple[SheetSprings, SheetSprings]:
    """Return structural and shear springs.

    Structural springs are the edges of the faces. Shear springs are the diagonals of quads; other meshes have none.
    """
    if not len(mesh.quads):
        return _fitted(mesh, material, mesh.triangles, mesh.uv, mesh.areas), _no_springs()
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
    """Return the corners (Q, 4, 2) of quads in fabric coordinates [m].

    The two triangles of a quad are unfolded along the edge that they share.
    """
    local = mesh.corners.reshape(-1, 2, 3) % 4
    uv = mesh.uv.reshape(-1, 2, 3, 2)
    at = uv[..., 0] + 1j * uv[..., 1]                               # (Q, 2, 3)
    row = np.arange(len(local))[:, None]
    one, other = (np.full((len(local), 4), np.nan, dtype=complex) for _ in range(2))
    one[row, local[:, 0]], other[row, local[:, 1]] = at[:, 0], at[:, 1]
    missing = np.argmax(np.isnan(one), axis=1)
    row, p = row[:, 0], (missing + 1) % 4                      # the diagonal joins the neighbours of the missing corner
    q = (missing + 3) % 4
    ratio = (other[row, missing] - other[row, p]) / (other[row, q] - other[row, p])
    one[row, missing] = one[row, p] + ratio * (one[row, q] - one[row, p])
    return np.stack([one.real, one.imag], axis=-1)


def coupled_stretch(stretch: tuple[FloatArray, FloatArray], coupling: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return C_uu, C_vv [N/m] of a sheet with C_uv = `coupling` whose strips have the stiffness `stretch`, K_u and K_v.

        C_uu - C_uv^2 / C_vv = K_u,      C_vv - C_uv^2 / C_uu = K_v
    """
    u, v = stretch
    ratio = np.sqrt(np.maximum(u, ROUNDING_SHARE * v) / np.maximum(v, ROUNDING_SHARE * u) if np.any(stretch) else 1.0)
    mean = np.sqrt(u * v)                                           # C_uu / C_vv = K_u / K_v satisfies both equations
    size = 0.5 * (mean + np.sqrt(mean ** 2 + 4.0 * coupling ** 2))
    return size * ratio, size / ratio


def _no_springs() -> SheetSprings:
    """Return an empty set of springs."""
    return SheetSprings(np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0))


def _fitted(mesh: ClothMesh, material: Material, triangles: IntArray, uv: FloatArray,
            areas: FloatArray) -> SheetSprings:
    """Return springs along the edges of triangles (T, 3), fitted to the material.

    Args:
        uv (T, 3, 2) [m]: corners in fabric coordinates.
        areas (T,) [m^2]: share of the sheet's area that each triangle stands for.
    """
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
    """Return q (T, 3) >= 0 that minimises |parts q - wanted|, for parts (T, 3, 3) and wanted (T, 3)."""
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

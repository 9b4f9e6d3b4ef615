# SPDX-License-Identifier: GPL-3.0-or-later
"""The slope of a sheet across each of its edges, recovered from the vertices around it.

Given heights w over the flat rest shape, the slope dw/dn at an edge's midpoint is a weighted sum of the w around it:
the two triangles of the edge and the up to four that adjoin them, unfolded into one plane (8 vertices). The weights

  1. start from the slopes s_0, s_1 of the two triangles, each weighted by the other's height, (h_1 s_0 + h_0 s_1) /
     (h_0 + h_1), which is exact for w linear and for w = n^2;
  2. are corrected by the smallest amount (in a norm that lets near vertices move more) that makes them exact for
     t^2 and t n too, t along the edge, as far as the vertices around it can tell these from the rest. They can but for
     a few edges at corners and on strips one cell wide.

Where the two triangles make a parallelogram, as on a grid cut by parallel diagonals or an equilateral mesh, step 2
has nothing to do and four vertices remain.
"""

from __future__ import annotations

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from ..mesh import ClothMesh
from .hinge_geometry import HingeGeometry

INDISTINCT = 0.03
"""A quadratic is told from the rest when what the rest leaves of it at the vertices reaches this share of it [-]."""


def edge_slopes(mesh: ClothMesh, hinge: HingeGeometry) -> tuple[IntArray, FloatArray]:
    """Vertices (H, 8) and weights (H, 8) [1/m] of dw/dn, with n pointing from side 1 to side 0 of each hinge.

    The weight of a vertex that is not there is 0.
    """
    vertices, points, present = _surroundings(mesh, hinge)
    spread = np.sqrt(np.mean(points[:, :4] ** 2, axis=1, keepdims=True))              # (H, 1, 2) [m]
    at = points / spread
    start = _mean_slope(hinge)                                                        # (H, 4) [1/m]
    x, y = at[..., 0], at[..., 1]
    root = np.where(present, 1.0 / (0.5 + x * x + y * y), 0.0)                        # square root of the norm's weight
    met = np.linalg.qr(root[..., None] * np.stack([np.ones_like(x), x, y, y * y], axis=-1))[0]
    quadratics = np.stack([x * x, x * y], axis=-1)
    missing = -np.einsum("hi,hic->hc", start, quadratics[:, :4])                      # the exact slope at 0 is 0
    basis = root[..., None] * quadratics
    whole = np.linalg.norm(basis, axis=(1, 2))
    basis = basis - met @ (met.transpose(0, 2, 1) @ basis)
    u, size, vt = np.linalg.svd(basis, full_matrices=False)
    clear = size > INDISTINCT * whole[:, None]
    inverse = np.where(clear, 1.0 / np.where(clear, size, 1.0), 0.0)
    weights = root * np.einsum("hic,hc->hi", u, inverse * np.einsum("hcd,hd->hc", vt, missing))
    weights[:, :4] += start
    return vertices, weights


def _mean_slope(hinge: HingeGeometry) -> FloatArray:
    """Step 1 on the hinge's own vertices (H, 4) [1/m]: v0, v1, the apex of side 0 and that of side 1."""
    h0, h1 = hinge.heights[:, 0], hinge.heights[:, 1]
    share = np.stack([h1 / h0, -h0 / h1], axis=1) / (h0 + h1)[:, None]
    ends = np.stack([1.0 - hinge.feet, hinge.feet], axis=1)                           # (H, end, side)
    return np.concatenate([-np.einsum("hes,hs->he", ends, share), share], axis=1)


def _surroundings(mesh: ClothMesh, hinge: HingeGeometry) -> tuple[IntArray, FloatArray, BoolArray]:
    """Vertices (H, 8), where they lie when unfolded into the plane of the hinge (H, 8, 2) [m] (origin at the edge's
    midpoint, axes along the edge and towards side 0), and whether they are there (H, 8)."""
    count, half = len(mesh.hinges), 0.5 * hinge.lengths
    across, opposite = _neighbours(mesh, hinge)
    vertices = np.concatenate([mesh.hinges, np.zeros((count, 4), dtype=np.int64)], axis=1)
    points = np.zeros((count, 8, 2))
    present = np.zeros((count, 8), dtype=np.bool_)
    points[:, 0, 0], points[:, 1, 0] = -half, half
    points[:, 2:4, 0] = (2.0 * hinge.feet - 1.0) * half[:, None]
    points[:, 2:4, 1] = hinge.heights * (1.0, -1.0)
    present[:, :4] = True
    for side in (0, 1):
        triangle = hinge.triangles[:, side]
        for end in (0, 1):                                        # the edge from that end to the apex
            slot = 4 + 2 * side + end
            other = hinge.ends[:, side, 1 - end]                  # the corner of the side opposite that edge
            beyond, corner = across[triangle, other], opposite[triangle, other]
            there = beyond >= 0
            foot, height = _apex(mesh, beyond, corner, vertices[:, end])
            start, span = points[:, end], points[:, 2 + side] - points[:, end]
            outward = np.stack([span[:, 1], -span[:, 0]], axis=1) / np.linalg.norm(span, axis=1)[:, None]
            inside = np.einsum("hi,hi->h", points[:, 1 - end] - start, outward)
            outward *= -np.sign(inside)[:, None]
            points[:, slot] = start + foot[:, None] * span + height[:, None] * outward
            vertices[:, slot] = np.where(there, mesh.triangles[beyond, corner], vertices[:, 0])
            points[~there, slot] = 0.0
            present[:, slot] = there
    return vertices, points, present


def _neighbours(mesh: ClothMesh, hinge: HingeGeometry) -> tuple[IntArray, IntArray]:
    """Per triangle and corner the triangle across the opposite edge (T, 3), -1 for none, and its corner there."""
    across = np.full((len(mesh.triangles), 3), -1, dtype=np.int64)
    opposite = np.zeros_like(across)
    pair = ~hinge.shared
    for a, b in ((0, 1), (1, 0)):
        place = hinge.triangles[pair, a], hinge.corners[pair, a]
        across[place], opposite[place] = hinge.triangles[pair, b], hinge.corners[pair, b]
    return across, opposite


def _apex(mesh: ClothMesh, triangle: IntArray, corner: IntArray, start: IntArray) -> tuple[FloatArray, FloatArray]:
    """Foot (H,) [-] from the vertex `start` and height (H,) [m] of a triangle's corner over the opposite edge."""
    rows = np.arange(len(triangle))
    uv, vertices = mesh.uv[triangle], mesh.triangles[triangle]
    one, two = (corner + 1) % 3, (corner + 2) % 3
    swap = vertices[rows, one] != start
    one, two = np.where(swap, two, one), np.where(swap, one, two)
    along, apex = uv[rows, two] - uv[rows, one], uv[rows, corner] - uv[rows, one]
    squared = np.einsum("hi,hi->h", along, along)
    return np.einsum("hi,hi->h", apex, along) / squared, 2.0 * mesh.areas[triangle] / np.sqrt(squared)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Points that are bound to a moving surface: each to the nearest point of it at the start.

A point is fixed in the frame of its triangle (a, b, c), with s^2 the length of the cross product of its sides,

    x = a + alpha (b - a) + beta (c - a) + gamma s n                                                [m]

so that it moves, turns, stretches and grows with the triangle.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mathutils.bvhtree import BVHTree
from numpy.typing import NDArray

Positions = NDArray[np.float64]
LEAST_SHAPE = 1e-6
"""Area of a triangle over its longest side squared, below which no point is bound to it [-]."""


class SurfaceBinding:
    """Points (n, 3) [m] on a surface of vertices (V, 3) [m] and triangles (T, 3) at the start.

    Raises:
        ValueError: no triangle has an area.
    """

    def __init__(self, points: Positions, vertices: Positions, triangles: NDArray[np.int32]) -> None:
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        longest = np.maximum.reduce([((q - p) ** 2).sum(axis=1) for p, q in ((a, b), (b, c), (c, a))])
        usable = np.linalg.norm(np.cross(b - a, c - a), axis=1) > LEAST_SHAPE * longest
        if not usable.any():
            raise ValueError("no triangle has an area")
        triangles = triangles[usable]
        centre = vertices.mean(axis=0)                             # the tree is in single precision
        tree = BVHTree.FromPolygons((vertices - centre).tolist(), triangles.tolist(), all_triangles=True)
        nearest = [tree.find_nearest(point)[2] for point in (points - centre).tolist()]
        self._corners: NDArray[np.int32] = triangles[np.array(nearest, dtype=np.int64)]
        origin, axes = self._frames(vertices)
        self._coordinates: Positions = np.linalg.solve(axes, (points - origin)[:, :, None])[:, :, 0]

    def at(self, vertices: Positions) -> Positions:
        """Return the points (n, 3) [m] on the surface with `vertices` (V, 3) [m]."""
        origin, axes = self._frames(vertices)
        found: Positions = origin + np.einsum("nij,nj->ni", axes, self._coordinates)
        return found

    def _frames(self, vertices: Positions) -> tuple[Positions, Positions]:
        """Return corner a (n, 3) and the columns b - a, c - a, s n (n, 3, 3) of each point's triangle [m]."""
        a, b, c = (vertices[self._corners[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        size: Any = np.linalg.norm(normal, axis=1, keepdims=True)
        scaled = np.divide(normal, np.sqrt(size), out=np.zeros_like(normal), where=size > 0.0)
        return a, np.stack([b - a, c - a, scaled], axis=2)

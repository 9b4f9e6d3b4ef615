# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of the scenes: sheets of quads, balls, floors and boxes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def sheet(count: int, side: float, *, height: float = 0.0) -> dict[str, Any]:
    """Return positions and faces of a square sheet of `count` x `count` vertices, `side` [m] wide, around the z axis at
    `height` [m]."""
    u, v = np.meshgrid(np.linspace(-side / 2, side / 2, count), np.linspace(-side / 2, side / 2, count), indexing="ij")
    corner = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    quads = np.stack([corner, corner + count, corner + count + 1, corner + 1], axis=1)
    return {"positions": np.stack([u, v, np.full_like(u, height)], axis=-1).reshape(-1, 3), "faces": quads}


def ball(radius: float, centre: tuple[float, float, float] = (0.0, 0.0, 0.0), *, segments: int = 32,
         rings: int = 16) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return positions (V, 3) [m] and triangles (T, 3) of a sphere with normals outwards."""
    theta = np.pi * np.arange(1, rings) / rings
    phi = 2.0 * np.pi * np.arange(segments) / segments
    belt = np.stack([np.outer(np.sin(theta), np.cos(phi)), np.outer(np.sin(theta), np.sin(phi)),
                     np.outer(np.cos(theta), np.ones(segments))], axis=-1).reshape(-1, 3)
    x = radius * np.concatenate([belt, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]]) + np.array(centre)
    i, j = np.arange(segments), (np.arange(segments) + 1) % segments
    top, bottom = len(belt), len(belt) + 1
    triangles = [np.stack([np.full(segments, top), i, j], axis=1)]
    for ring in range(rings - 2):
        a, b = ring * segments, (ring + 1) * segments
        triangles += [np.stack([a + i, b + i, b + j], axis=1), np.stack([a + i, b + j, a + j], axis=1)]
    last = (rings - 2) * segments
    triangles.append(np.stack([np.full(segments, bottom), last + j, last + i], axis=1))
    return x, np.concatenate(triangles)


def floor(side: float, height: float = 0.0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return positions (4, 3) [m] and triangles (2, 3) of a square."""
    s = side / 2
    return (np.array([[-s, -s, height], [s, -s, height], [s, s, height], [-s, s, height]]),
            np.array([[0, 1, 2], [0, 2, 3]]))


def block(size: tuple[float, float, float], counts: tuple[int, int, int]
          ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return positions (V, 3) [m] and faces (Q, 4) of a box of quads from the origin, with normals outwards."""
    corners = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        i, j = (a.ravel() for a in np.meshgrid(np.arange(counts[u]), np.arange(counts[v]), indexing="ij"))
        for side in (0, 1):
            place = np.zeros((len(i), 4, 3), dtype=np.int64)
            ring = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[::1 if side else -1]
            place[:, :, axis] = side * counts[axis]
            place[:, :, u], place[:, :, v] = i[:, None] + ring[:, 0], j[:, None] + ring[:, 1]
            corners.append(place)
    places, faces = np.unique(np.concatenate(corners).reshape(-1, 3), axis=0, return_inverse=True)
    return places / np.array(counts) * np.array(size), faces.reshape(-1, 4)

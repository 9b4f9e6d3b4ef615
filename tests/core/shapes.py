# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that many tests start from."""

import numpy as np


def grid(columns, rows, size=(1.0, 1.0)):
    """A flat sheet in the plane z = 0: positions ((columns + 1) (rows + 1), 3) [m] and triangles, u along x."""
    x, y = np.meshgrid(np.linspace(0.0, size[0], columns + 1), np.linspace(0.0, size[1], rows + 1), indexing="ij")
    positions = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    corner = (np.arange(columns)[:, None] * (rows + 1) + np.arange(rows)).ravel()
    a, b, c, d = corner, corner + rows + 1, corner + rows + 2, corner + 1
    return positions, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


def quads(columns, rows):
    """The faces of the same sheet, uncut."""
    corner = (np.arange(columns)[:, None] * (rows + 1) + np.arange(rows)).ravel()
    return np.column_stack([corner, corner + rows + 1, corner + rows + 2, corner + 1])


def ball(radius, level=3, centre=(0.0, 0.0, 0.0)):
    """An icosahedron's subdivision on a sphere: positions (V, 3) [m] and triangles (T, 3), normals pointing out."""
    golden = (1.0 + 5.0 ** 0.5) / 2.0
    points = [np.roll([0.0, a, b * golden], k) for k in range(3) for a in (-1.0, 1.0) for b in (-1.0, 1.0)]
    points = np.array(points) / np.hypot(1.0, golden)
    side = np.sort(np.linalg.norm(points[:, None] - points[None], axis=-1).ravel())[13]
    near = np.abs(np.linalg.norm(points[:, None] - points[None], axis=-1) - side) < 1e-6
    triangles = np.array([(i, j, k) for i in range(12) for j in range(i) for k in range(j)
                          if near[i, j] and near[j, k] and near[i, k]])
    for _ in range(level):
        a, b, c = triangles.T
        ends = np.sort(np.concatenate([np.stack(e, axis=1) for e in ((a, b), (b, c), (c, a))]), axis=1)
        edges, at = np.unique(ends, axis=0, return_inverse=True)
        middle = points[edges].sum(axis=1)
        ab, bc, ca = np.reshape(at, (3, -1)) + len(points)
        points = np.concatenate([points, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        triangles = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
    p, q, r = (points[triangles[:, i]] for i in range(3))
    inward = np.einsum("ti,ti->t", np.cross(q - p, r - p), p) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return radius * points + centre, triangles


def pillow(cells, gap=0.02):
    """Two square sheets of one metre with a common border, `gap` [m] apart: positions (V, 3) [m] and faces (Q, 4)."""
    u, v = (axis.ravel() for axis in np.meshgrid(*2 * [np.linspace(-0.5, 0.5, cells + 1)], indexing="ij"))
    rim = np.maximum(np.abs(u), np.abs(v)) > 0.5 - 0.5 / cells
    lower = quads(cells, cells)
    upper = np.arange(len(u))
    upper[~rim] = len(u) + np.arange(int((~rim).sum()))
    z = np.where(rim, 0.0, 0.5 * gap)
    positions = np.concatenate([np.column_stack([u, v, -z]), np.column_stack([u, v, z])[~rim]])
    return positions, np.concatenate([lower, upper[lower[:, ::-1]]])


def random_rotation(rng):
    """A rotation matrix (3, 3), uniformly distributed."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def block(size, counts):
    """The surface of a box from the origin to `size` (3,) [m], cut into `counts` (3,) squares along each side, normals
    pointing out: positions (V, 3) [m] and faces (Q, 4)."""
    counts = np.asarray(counts)
    corners = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        i, j = (a.ravel() for a in np.meshgrid(np.arange(counts[u]), np.arange(counts[v]), indexing="ij"))
        for side in (0, 1):
            place = np.zeros((len(i), 4, 3), dtype=np.int64)
            place[:, :, axis] = side * counts[axis]
            ring = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])[::1 if side else -1]
            place[:, :, u], place[:, :, v] = i[:, None] + ring[:, 0], j[:, None] + ring[:, 1]
            corners.append(place)
    places, faces = np.unique(np.concatenate(corners).reshape(-1, 3), axis=0, return_inverse=True)
    return places / counts * np.asarray(size), faces.reshape(-1, 4)

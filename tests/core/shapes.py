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


def random_rotation(rng):
    """A rotation matrix (3, 3), uniformly distributed."""
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q

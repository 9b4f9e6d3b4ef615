# SPDX-License-Identifier: GPL-3.0-or-later
"""Surfaces that the contact tests share, as (positions (V, 3) [m], triangles (T, 3))."""

import numpy as np


def ball(around=64, rings=32, radius=0.5):
    """A sphere of meridians and parallels, with one vertex at each pole."""
    polar = np.pi * np.arange(1, rings) / rings
    turn = 2 * np.pi * np.arange(around) / around
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    body = [np.column_stack([np.sin(p) * circle, np.full(around, np.cos(p))]) for p in polar]
    positions = radius * np.concatenate([[[0.0, 0.0, 1.0]], *body, [[0.0, 0.0, -1.0]]])
    j = np.arange(around)
    after, last = (j + 1) % around, len(positions) - 1
    triangles = [np.stack([0 * j, 1 + j, 1 + after], axis=1)]
    for ring in range(rings - 2):
        a, b = 1 + ring * around, 1 + (ring + 1) * around
        triangles.append(np.stack([a + j, b + j, b + after], axis=1))
        triangles.append(np.stack([a + j, b + after, a + after], axis=1))
    low = 1 + (rings - 2) * around
    triangles.append(np.stack([0 * j + last, low + after, low + j], axis=1))
    return positions, np.concatenate(triangles)


def bumpy_ball(around=48, rings=24, radius=0.5, depth=0.15):
    """A ball with hills and valleys: convex and concave places, closed."""
    positions, triangles = ball(around, rings, radius)
    turn = np.arctan2(positions[:, 1], positions[:, 0])
    slope = np.arccos(positions[:, 2] / radius)
    return positions * (1 + depth * np.sin(5 * turn) * np.sin(slope) ** 2 * np.sin(4 * slope))[:, None], triangles


def sheet(columns, rows, width=2.0, height=2.0):
    """An open rectangle in the plane z = 0, around the origin."""
    x, y = np.meshgrid(np.linspace(-width / 2, width / 2, columns), np.linspace(-height / 2, height / 2, rows))
    positions = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], axis=1)
    i = np.arange(columns * rows).reshape(rows, columns)
    a, b, c, d = (q.ravel() for q in (i[:-1, :-1], i[:-1, 1:], i[1:, 1:], i[1:, :-1]))
    return positions, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def box(size):
    """A closed box of the given (3,) size around the origin, two triangles a side."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners * np.asarray(size), np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def rotation(axis, angle):
    """Rotation matrix about an axis (Rodrigues)."""
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def winding(points, positions, triangles):
    """Generalised winding number of a surface around each point: 1 inside, 0 outside (Jacobson et al. 2013)."""
    a, b, c = (positions[triangles[:, k]][None] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(q, axis=2) for q in (a, b, c))
    numerator = np.einsum("pti,pti->pt", a, np.cross(b, c))
    dots = [np.einsum("pti,pti->pt", p, q) for p, q in ((a, b), (b, c), (c, a))]
    return np.arctan2(numerator, la * lb * lc + dots[0] * lc + dots[1] * la + dots[2] * lb).sum(axis=1) / (2 * np.pi)


def pierces(start, end, positions, triangles):
    """Whether each segment (P) passes through each triangle (T), by volumes: a boolean (P, T)."""
    a, b, c = (positions[triangles[:, k]][None] for k in range(3))
    p, q = start[:, None], end[:, None]

    def volume(i, j, k, m):
        return np.einsum("pti,pti->pt", np.cross(j - i, k - i), m - i)

    sides = volume(a, b, c, p) * volume(a, b, c, q) < 0
    around = np.stack([volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)])
    return sides & ((around > 0).all(axis=0) | (around < 0).all(axis=0))


def inside_out(shape):
    """The mesh with its faces wound the other way."""
    return shape[0], shape[1][:, ::-1]


def together(*shapes):
    """Meshes as one."""
    first = np.cumsum([0, *(len(x) for x, _ in shapes)])
    return np.concatenate([x for x, _ in shapes]), np.concatenate(
        [t + n for (_, t), n in zip(shapes, first, strict=False)])

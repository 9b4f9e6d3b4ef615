# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes that the examples share: plain arrays of positions [m] and of vertex indices."""

import numpy as np


def sheet(count, width, centre=(0.0, 0.0, 0.0)):
    """Return a flat square of count x count vertices: positions (V, 3) [m] and quads (Q, 4).

    Vertex (i, j) is number i * count + j; i runs along x and j along y.
    """
    line = width * np.linspace(-0.5, 0.5, count)
    x, y = np.meshgrid(line, line, indexing="ij")
    k = np.arange(count * count).reshape(count, count)
    quads = np.stack([k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]], axis=-1).reshape(-1, 4)
    return np.stack([x, y, 0.0 * x], axis=-1).reshape(-1, 3) + centre, quads


def ball(radius, centre=(0.0, 0.0, 0.0), segments=32, rings=16):
    """Return a closed sphere with normals outwards: positions (V, 3) [m] and triangles (T, 3)."""
    polar = np.pi * np.arange(1, rings) / rings
    azimuth = 2.0 * np.pi * np.arange(segments) / segments
    circles = np.stack([np.outer(np.sin(polar), np.cos(azimuth)), np.outer(np.sin(polar), np.sin(azimuth)),
                        np.outer(np.cos(polar), np.ones(segments))], axis=-1).reshape(-1, 3)
    k = np.arange(len(circles)).reshape(rings - 1, segments)
    right = np.roll(k, -1, axis=1)
    top, bottom = np.full(segments, k.size), np.full(segments, k.size + 1)
    triangles = np.concatenate([
        np.stack([top, k[0], right[0]], axis=-1),
        np.stack([k[:-1], k[1:], right[1:]], axis=-1).reshape(-1, 3),
        np.stack([k[:-1], right[1:], right[:-1]], axis=-1).reshape(-1, 3),
        np.stack([bottom, right[-1], k[-1]], axis=-1)])
    return radius * np.concatenate([circles, [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]]) + centre, triangles


def floor(width, height=0.0):
    """Return a horizontal square: positions (4, 3) [m] and triangles (2, 3)."""
    a = width / 2.0
    return np.array([[-a, -a, height], [a, -a, height], [a, a, height], [-a, a, height]]), [[0, 1, 2], [0, 2, 3]]

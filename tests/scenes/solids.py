# SPDX-License-Identifier: GPL-3.0-or-later
"""Closed solids of the contact scenes, as (positions (V, 3) [m], triangles (T, 3)), with outward normals."""

import numpy as np


def cone(radius, height, sides=8):
    """Return a cone that stands on the plane z = 0, with its tip above the origin."""
    a = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(a), radius * np.sin(a), 0 * a], axis=1)
    i = np.arange(sides)
    j = (i + 1) % sides
    tip, base = np.full(sides, sides), np.full(sides, sides + 1)
    return (np.concatenate([ring, [[0.0, 0.0, height]], [[0.0, 0.0, 0.0]]]),
            np.concatenate([np.stack([i, j, tip], axis=1), np.stack([j, i, base], axis=1)]))


def capsule(radius, length, around=20, rings=4, along=6):
    """Return a cylinder along -z with hemispherical ends around the origin and (0, 0, -length)."""
    polar = np.linspace(0.0, 0.5 * np.pi, rings + 1)[1:]
    levels = [(radius * np.sin(p), radius * np.cos(p)) for p in polar]
    levels += [(radius, -length * k / along) for k in range(1, along)]
    levels += [(radius * np.sin(p), -length - radius * np.cos(p)) for p in polar[::-1]]
    a = 2 * np.pi * np.arange(around) / around
    body = [np.stack([r * np.cos(a), r * np.sin(a), z + 0 * a], axis=1) for r, z in levels]
    x = np.concatenate([[[0.0, 0.0, radius]], *body, [[0.0, 0.0, -length - radius]]])
    i = np.arange(around)
    j = (i + 1) % around
    last, low = len(x) - 1, 1 + (len(levels) - 1) * around
    parts = [np.stack([0 * i, 1 + i, 1 + j], axis=1)]
    for level in range(len(levels) - 1):
        p, q = 1 + level * around, 1 + (level + 1) * around
        parts += [np.stack([p + i, q + i, q + j], axis=1), np.stack([p + i, q + j, p + j], axis=1)]
    parts.append(np.stack([0 * i + last, low + j, low + i], axis=1))
    return x, np.concatenate(parts)

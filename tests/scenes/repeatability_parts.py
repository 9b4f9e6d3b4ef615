# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of the repeatability scenes: solver settings, meshes, colliders and pins.

They use the public names of `core` alone and nothing of other tests, so that they run unchanged whatever is moved
inside of `core`.
"""

from dataclasses import dataclass

import numpy as np

import core

PANEL = {"integrator": "bdf2", "steps_per_frame": 1, "tolerance": 1e-2, "newton_iterations": 1}
"""Solver settings as the Blender panel has them by default."""
COTTON = core.Material.preset("cotton")
SOFT = core.Material(areal_density=0.2, stretch=(500.0, 300.0), shear=60.0, bend=1e-4, damping=0.005, friction=0.4)
"""A fabric that stretches visibly under its own weight."""


@dataclass(frozen=True)
class Act:
    """One simulation: a scene, how many frames after the first, and the solver's settings but for its backend."""

    scene: core.Scene
    frames: int
    settings: dict


def act(frames, cloths, colliders=(), world=None, **settings):
    """Return a simulation; `world` has further arguments of the scene, such as gravity and wind."""
    return Act(core.Scene(cloths, colliders, **(world or {})), frames, settings)


# ---------------------------------------------------------------------- meshes: positions (V, 3) [m], faces


def points(columns, rows, width, height):
    """Return the vertices of a level rectangle around the origin, row by row along y (V, 3) [m]."""
    y, x = np.meshgrid(np.linspace(-0.5, 0.5, rows) * height, np.linspace(-0.5, 0.5, columns) * width, indexing="ij")
    return np.stack([x.ravel(), y.ravel(), 0.0 * x.ravel()], axis=1)


def quads(columns, rows):
    """Return the faces of that rectangle (Q, 4)."""
    i = np.arange(columns * rows).reshape(rows, columns)
    return np.stack([i[:-1, :-1], i[:-1, 1:], i[1:, 1:], i[1:, :-1]], axis=-1).reshape(-1, 4)


def halves(faces):
    """Cut quads (Q, 4) into triangles (2 Q, 3), along the other diagonal in every second quad."""
    a, b, c, d = faces.T
    odd = (np.arange(len(faces)) % 2 == 1)[:, None]
    return np.concatenate([np.where(odd, np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1)),
                           np.where(odd, np.stack([b, c, d], axis=1), np.stack([a, c, d], axis=1))])


def sheet(columns, rows, width, height, **options):
    """Return the mesh of a rectangle that is cut into triangles."""
    return core.ClothMesh(points(columns, rows, width, height), halves(quads(columns, rows)), **options)


def ball(radius, around=12, rings=8):
    """Return a closed sphere around the origin, wound outwards: positions and triangles."""
    polar, turn = np.pi * np.arange(1, rings) / rings, 2.0 * np.pi * np.arange(around) / around
    belts = [np.stack([np.sin(p) * np.cos(turn), np.sin(p) * np.sin(turn), np.cos(p) + 0.0 * turn], axis=1)
             for p in polar]
    x = np.concatenate([[[0.0, 0.0, 1.0]], *belts, [[0.0, 0.0, -1.0]]])
    i, j, last = np.arange(around), (np.arange(around) + 1) % around, len(x) - 1
    parts = [np.stack([0 * i, 1 + i, 1 + j], axis=1)]
    for k in range(rings - 2):
        a, b = 1 + k * around, 1 + (k + 1) * around
        parts += [np.stack([a + i, b + i, b + j], axis=1), np.stack([a + i, b + j, a + j], axis=1)]
    low = 1 + (rings - 2) * around
    return radius * x, np.concatenate([*parts, np.stack([0 * i + last, low + j, low + i], axis=1)])


def box(size):
    """Return a closed box around the origin, wound outwards: positions and faces (6, 4)."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return corners * size, np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4],
                                     [1, 5, 7, 3]])


def turned(x, angle, axis):
    """Turn points (V, 3) by an angle [rad] about a coordinate axis through the origin."""
    i, j = ((1, 2), (2, 0), (0, 1))[axis]
    result, c, s = np.array(x, dtype=float), np.cos(angle), np.sin(angle)
    result[:, i], result[:, j] = c * x[:, i] - s * x[:, j], s * x[:, i] + c * x[:, j]
    return result


def tube(around, rings, radius, height):
    """Return an open upright tube, its upper ring first and at height 0: positions and faces (Q, 4)."""
    turn, i = 2.0 * np.pi * np.arange(around) / around, np.arange(around)
    x = np.concatenate([np.stack([radius * np.cos(turn), radius * np.sin(turn), -z + 0.0 * turn], axis=1)
                        for z in np.linspace(0.0, height, rings)])
    ring = np.stack([i, (i + 1) % around, (i + 1) % around + around, i + around], axis=1)
    return x, np.concatenate([ring + around * k for k in range(rings - 1)])


def chain(x):
    """Return the mesh of a rope through points (V, 3)."""
    return core.ClothMesh(x, edges=np.stack([np.arange(len(x) - 1), np.arange(1, len(x))], axis=1))


# ---------------------------------------------------------------------- cloths, colliders, pins


def cloth(columns, rows, width, height, place=(0.0, 0.0, 0.0), material=COTTON, model="baraff_witkin", **options):
    """Return a rectangle of cloth, moved by `place` (3,) [m] or to where the function `place` puts its points."""
    mesh = sheet(columns, rows, width, height)
    x = place(mesh.positions) if callable(place) else mesh.positions + place
    return core.Cloth(mesh, material, model, positions=x, **options)


def floor(height=0.0, friction=0.5, **options):
    """Return a wide level square, an open collider."""
    corners = points(2, 2, 8.0, 8.0) + [0.0, 0.0, height]
    return core.Collider(corners, [[0, 1, 3], [0, 3, 2]], friction=friction, name="floor", **options)


def solid(shape, way=None, friction=0.3, **options):
    """Return a collider of a shape (positions, faces), which `way` (t [s], positions) moves if it is given."""
    x, faces = shape
    triangles = faces if faces.shape[1] == 3 else np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    return core.Collider(x if way is None else lambda t: way(t, x), triangles, friction=friction, **options)


def carried(x, vertices, way):
    """Return pins {vertex: trajectory} that all move by one function (t [s], positions (n, 3)) -> (n, 3)."""
    return {int(v): (lambda t, p=x[v]: way(t, p[None])[0]) for v in vertices}

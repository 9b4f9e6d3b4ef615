# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes of the benchmarks as arrays, so that every system gets exactly the same meshes.

    hang     2 x 2 m sheet, horizontal at the start, pinned at two corners of one side
    sphere   the same sheet falling onto a sphere of radius 0.5 m (64 x 32) with friction, from 0.1 m above it
    drape    as sphere, with self-collision
    flag     2 x 1.2 m, upright, pinned at one short edge, wind of 8 m/s along it

Every scene has n x n vertices. Stretch is measured on the edges of the quads, warp and weft, in all systems, without
the diagonals, which are shear springs in some systems and edges of triangles in others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import core
from core.arrays import FloatArray, IntArray

FRAME_RATE = 24.0
GRAVITY = (0.0, 0.0, -9.81)
WIND = 8.0
"""Wind of the flag [m/s]."""
WIND_ANGLE = 5.0
"""Angle between the wind and the plane of the flag [degrees]. Without it a flat flag would not start to move."""
BALL_FRICTION = 0.3
CENTRE, RADIUS = (0.0, 0.0, -0.6), 0.5
"""Centre and radius of the sphere [m]."""


@dataclass(frozen=True)
class SceneLayout:
    """A scene at one resolution.

    Attributes:
        positions: initial positions (V, 3) [m].
        quads: (Q, 4) vertex indices.
        held: pinned vertices.
        wind: (3,) [m/s].
        ball: positions (B, 3) [m] and faces (lists of 3 or 4 vertices) of the sphere, or None.
        self_collision: whether the cloth collides with itself.
    """

    name: str
    size: int
    positions: FloatArray
    quads: IntArray
    held: tuple[int, ...]
    wind: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ball: tuple[FloatArray, list[list[int]]] | None = None
    self_collision: bool = False

    @property
    def edges(self) -> IntArray:
        """Edges of the quads (E, 2)."""
        sides = np.concatenate([self.quads[:, [i, (i + 1) % 4]] for i in range(4)])
        return np.unique(np.sort(sides, axis=1), axis=0)

    @property
    def edge_length(self) -> float:
        """Mean length of the edges [m]."""
        return float(lengths(self.positions, self.edges).mean())

    @property
    def vertex_area(self) -> float:
        """Area per vertex, on average [m^2]."""
        a, b, c, d = (self.positions[self.quads[:, i]] for i in range(4))
        return float(0.5 * np.linalg.norm(np.cross(c - a, d - b), axis=1).sum() / len(self.positions))


def lengths(x: FloatArray, edges: IntArray) -> FloatArray:
    """Return the length of every edge (E,) [m]."""
    return np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)


def scene_layout(name: str, size: int) -> SceneLayout:
    """Return the scene `name` with size x size vertices."""
    return _MAKERS[name](size)


def core_scene(layout: SceneLayout, fabric: core.Material) -> core.Scene:
    """Return the scene of Muslin's core."""
    mesh = core.ClothMesh(layout.positions, faces=layout.quads, name=layout.name)
    cloth = core.Cloth(mesh, fabric, pins=dict.fromkeys(layout.held))
    balls = []
    if layout.ball is not None:
        points, faces = layout.ball
        triangles = [[f[0], f[i], f[i + 1]] for f in faces for i in range(1, len(f) - 1)]
        balls = [core.Collider(points, triangles, friction=BALL_FRICTION, name="ball")]
    return core.Scene([cloth], balls, gravity=GRAVITY, wind=layout.wind)


def _grid(size: int, width: float, height: float) -> tuple[FloatArray, IntArray]:
    """Return positions (V, 2) [m] around the origin, row by row from below, and quads (Q, 4)."""
    u, v = np.meshgrid(np.linspace(-0.5 * width, 0.5 * width, size), np.linspace(-0.5 * height, 0.5 * height, size))
    number = np.arange(size * size).reshape(size, size)
    corners = [part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1])]
    return np.column_stack([u.ravel(), v.ravel()]), np.column_stack(corners)


def _hang(size: int) -> SceneLayout:
    points, quads = _grid(size, 2.0, 2.0)
    return SceneLayout("hang", size, np.pad(points, ((0, 0), (0, 1))), quads, held=(0, size - 1))


def _sphere(size: int) -> SceneLayout:
    points, quads = _grid(size, 2.0, 2.0)
    return SceneLayout("sphere", size, np.pad(points, ((0, 0), (0, 1))), quads, held=(), ball=ball_mesh(64, 32))


def _drape(size: int) -> SceneLayout:
    return replace(_sphere(size), name="drape", self_collision=True)


def _flag(size: int) -> SceneLayout:
    points, quads = _grid(size, 2.0, 1.2)
    upright = np.column_stack([points[:, 0], np.zeros(len(points)), points[:, 1]])
    angle = np.radians(WIND_ANGLE)
    wind = (WIND * float(np.cos(angle)), WIND * float(np.sin(angle)), 0.0)
    return SceneLayout("flag", size, upright, quads, held=tuple(range(0, size * size, size)), wind=wind)


def ball_mesh(segments: int, rings: int) -> tuple[FloatArray, list[list[int]]]:
    """Return vertices (B, 3) [m] and outward faces of a UV sphere as in Blender: quads, and triangles at the poles."""
    polar = np.pi * np.arange(1, rings) / rings
    around = 2.0 * np.pi * np.arange(segments) / segments
    ring = np.array([[np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)] for p in polar for a in around])
    points = np.concatenate([[[0.0, 0.0, 1.0]], ring, [[0.0, 0.0, -1.0]]]) * RADIUS + np.array(CENTRE)
    last = len(points) - 1
    faces: list[list[int]] = []
    for j in range(segments):
        k = (j + 1) % segments
        faces.append([0, 1 + j, 1 + k])
        faces += [[1 + i * segments + j, 1 + (i + 1) * segments + j, 1 + (i + 1) * segments + k, 1 + i * segments + k]
                  for i in range(rings - 2)]
        faces.append([last, 1 + (rings - 2) * segments + k, 1 + (rings - 2) * segments + j])
    return points, faces


_MAKERS = {"hang": _hang, "sphere": _sphere, "flag": _flag, "drape": _drape}
SCENES = tuple(_MAKERS)

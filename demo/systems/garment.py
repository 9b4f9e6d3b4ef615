# SPDX-License-Identifier: GPL-3.0-or-later
"""Garment: two flat panels in front of a body and behind it are sewn at their sides to a skirt."""

import numpy as np
from numpy.typing import NDArray

import core

from .run import Run

BODY = ((-0.62, 0.10), (-0.35, 0.17), (-0.15, 0.21), (0.02, 0.185), (0.15, 0.145), (0.30, 0.175), (0.42, 0.19),
        (0.55, 0.15), (0.62, 0.06))
"""Heights and radii of the body, which has a waist [m]."""
CLOSING_TIME, START_VELOCITY = 0.3, (0.0, 0.0, 1.4)
"""Time in which the seams close [s], and initial velocity that keeps the panels up meanwhile [m/s]."""


def skirt(across: int = 20, down: int = 16, *, waist: float = 0.16, hem: float = 0.36, length: float = 0.48,
          apart: float = 0.24, height: float = 0.08) -> tuple[core.ClothMesh, NDArray[np.int64]]:
    """Return the mesh of two panels with their pattern, two parts of a ring, and the seams (S, 2) of both sides.

    Closed, the panels are a cone. Vertex (i, j) of a panel has the number i (across + 1) + j, with i downwards. The
    front panel comes first.

    Args:
        across, down: number of quads of a panel.
        waist, hem, length: radii and length of the closed skirt [m].
        apart: distance of the panels from the axis at the start [m].
        height: height of their upper edges at the start [m].
    """
    i, j = (a.ravel() for a in np.meshgrid(np.arange(down + 1), np.arange(across + 1), indexing="ij"))
    around = np.pi * (hem - waist) / length * (j / across - 0.5)                          # [rad]
    out = waist * length / (hem - waist) + length * i / down                              # [m], from the cone's tip
    uv = np.stack([out * np.sin(around), out[0] - out * np.cos(around)], axis=1)
    front = np.stack([uv[:, 0], np.full(len(uv), -apart), height + uv[:, 1]], axis=1)
    back = front * [1.0, -1.0, 1.0]
    corner = (np.arange(down)[:, None] * (across + 1) + np.arange(across)).ravel()
    quads = np.stack([corner + across + 1, corner + across + 2, corner + 1, corner], axis=1)
    faces = np.concatenate([quads, quads[:, ::-1] + len(uv)])
    side = np.concatenate([np.arange(down + 1) * (across + 1), np.arange(down + 1) * (across + 1) + across])
    seams = np.stack([side, side + len(uv)], axis=1)
    positions = np.concatenate([front, back])
    bare = core.ClothMesh(positions, faces=faces.tolist())
    pattern = np.concatenate([uv, uv])[bare.triangles]
    return core.ClothMesh(positions, bare.triangles, edges=seams, uv=pattern, name="Skirt"), seams


def body(segments: int = 40, rings: int = 40) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the surface of revolution through the radii of BODY: positions (V, 3) [m] and triangles (T, 3)."""
    heights, radii = np.array(BODY).T
    z = np.linspace(heights[0], heights[-1], rings)
    r = np.interp(z, heights, radii)
    for _ in range(6):
        r[1:-1] = (r[:-2] + 2.0 * r[1:-1] + r[2:]) / 4.0
    phi = 2.0 * np.pi * np.arange(segments) / segments
    belt = np.stack([np.outer(r, np.cos(phi)), np.outer(r, np.sin(phi)), np.repeat(z[:, None], segments, axis=1)],
                    axis=-1).reshape(-1, 3)
    x = np.concatenate([belt, [[0.0, 0.0, z[0]], [0.0, 0.0, z[-1]]]])
    i, j = np.arange(segments), (np.arange(segments) + 1) % segments
    triangles = [np.stack([np.full(segments, len(belt)), j, i], axis=1)]
    for ring in range(rings - 1):
        a, b = ring * segments, (ring + 1) * segments
        triangles += [np.stack([a + i, a + j, b + j], axis=1), np.stack([a + i, b + j, b + i], axis=1)]
    last = (rings - 1) * segments
    triangles.append(np.stack([np.full(segments, len(belt) + 1), last + i, last + j], axis=1))
    return x, np.concatenate(triangles)


def build() -> Run:
    mesh, _ = skirt()
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), sewing=True, sewing_time=CLOSING_TIME,
                       velocities=np.tile(START_VELOCITY, (len(mesh.positions), 1)))
    scene = core.Scene([cloth], [core.Collider(*body(), friction=0.3)])
    return Run(scene=scene, solver=core.Solver(integrator="bdf2", steps_per_frame=2), pictured=(1, 5, 9, 60),
               eye=(0.9, -2.2, 0.5), target=(0.0, 0.0, 0.02), lens=60.0)

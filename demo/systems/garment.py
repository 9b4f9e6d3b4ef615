# SPDX-License-Identifier: GPL-3.0-or-later
"""A skirt sewn from two flat panels around a body: the panels hang in front and behind, and seams close their sides."""

import numpy as np

import core
from demo.systems.run import Run
from demo.systems.shapes import ball

WAIST, HEM, LENGTH = 0.18, 0.44, 0.36
"""Radii of the closed skirt, and its length [m]."""
RADIUS, APART, HEIGHT = 0.25, 0.30, 0.22
"""Of the body; where the panels start, in front and behind; height of their upper edges over its centre [m]."""


def skirt(across: int = 20, down: int = 16, *, waist: float = WAIST, hem: float = HEM, length: float = LENGTH,
          apart: float = APART, height: float = HEIGHT) -> tuple[core.ClothMesh, np.ndarray]:
    """Halves of a cone as a mesh with its pattern, two parts of a ring, and the seams (S, 2) of both sides, downwards.

    Vertex (i, j) of a panel is number i (across + 1) + j, i from the top down; the front panel comes first.
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


def build() -> Run:
    mesh, _ = skirt()
    cloth = core.Cloth(mesh, core.Material.preset("cotton"), sewing=True, sewing_time=0.8)
    scene = core.Scene([cloth], [core.Collider(*ball(RADIUS), friction=0.3)])
    return Run(scene=scene, solver=core.Solver(integrator="bdf2", steps_per_frame=2), pictured=(1, 12, 20, 60),
               eye=(0.9, -1.9, 0.45), target=(0.0, 0.0, -0.02), lens=55.0)

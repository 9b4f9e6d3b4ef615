# SPDX-License-Identifier: GPL-3.0-or-later
"""Ropes as loose edges, with a matrix-free product: a net that hangs from three ends falls onto a ball."""

import numpy as np

import core

from . import shapes
from .run import Run

ARMS, LINKS, RINGS = 9, 24, 4
"""Number of radial ropes, of links in each, and of ropes around."""


def build() -> Run:
    angles = 2.0 * np.pi * np.arange(ARMS) / ARMS
    out = np.arange(1, LINKS + 1) / LINKS * 0.75
    x = np.concatenate([[[0.0, 0.0, 0.0]], *(np.outer(out, (np.cos(a), np.sin(a), 0.0)) for a in angles)])
    edges = [(0 if i == 0 else arm * LINKS + i, arm * LINKS + i + 1) for arm in range(ARMS) for i in range(LINKS)]
    for ring in range(1, RINGS + 1):
        at, pieces = ring * LINKS // RINGS - 1, 2 * ring
        for arm in range(ARMS):
            a, b = arm * LINKS + 1 + at, (arm + 1) % ARMS * LINKS + 1 + at
            inner = x[a] + np.outer(np.arange(1, pieces) / pieces, x[b] - x[a])
            chain = [a, *range(len(x), len(x) + len(inner)), b]
            x = np.concatenate([x, inner])
            edges += list(zip(chain[:-1], chain[1:], strict=True))
    hemp = core.Material(areal_density=1.5, stretch=2e4, shear=0.0, bend=(2e-4, 2e-4), damping=0.01, friction=0.5,
                         thread_width=0.01)
    net = core.Cloth(core.ClothMesh(x + [0.0, 0.0, 0.5], edges=edges), hemp, model="rope",
                     pins={arm * LINKS + LINKS: None for arm in range(0, ARMS, 3)})
    ball = core.Collider(*shapes.ball(0.3, (0.0, 0.0, 0.1)), friction=0.5)
    return Run(scene=core.Scene([net], [ball]), solver=core.Solver(matrix="implicit"), pictured=(1, 6, 12, 40),
               eye=(1.6, -2.2, 1.3), target=(0.0, 0.0, 0.15), thickness=0.012)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared parts of the physics tests: reference values, grids and ropes, and functions that run a scene for a time or to
rest.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np

import core

GRAVITY = 9.81
REFERENCE = Path(__file__).resolve().parent.parent / "reference"


@cache
def reference(name):
    """Return a table of reference values; its `source` names their origin, its `tolerance` the accepted error."""
    return json.loads((REFERENCE / f"{name}.json").read_text(encoding="utf-8"))


def grid(cells, size, diagonals="right", shift=(0.0, 0.0, 0.0)):
    """Return positions (V, 3) [m] and triangles (T, 3) of a rectangle in the x-y plane.

    Args:
        cells: (n, m); vertex (i, j) has the number i (m + 1) + j, with i along x.
        size: (length, width) [m].
        diagonals: "right", or "alternating" like a chessboard.
    """
    (n, m), (length, width) = cells, size
    x, y = np.meshgrid(np.linspace(0.0, length, n + 1), np.linspace(0.0, width, m + 1), indexing="ij")
    positions = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1) + shift
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(m), indexing="ij"))
    a = i * (m + 1) + j
    b, c, d = a + m + 1, a + m + 2, a + 1
    turned = ((i + j) % 2 == 1) & (diagonals == "alternating")
    first = np.where(turned[:, None], np.stack([a, b, d], axis=1), np.stack([a, b, c], axis=1))
    second = np.where(turned[:, None], np.stack([b, c, d], axis=1), np.stack([a, c, d], axis=1))
    return positions, np.concatenate([first, second])


def sheet(cells, size, diagonals="right", shift=(0.0, 0.0, 0.0), **mesh_options):
    """Return the mesh of `grid`."""
    return core.ClothMesh(*grid(cells, size, diagonals, shift), **mesh_options)


def rope(positions):
    """Return the mesh of a rope through positions (V, 3)."""
    n = len(positions)
    return core.ClothMesh(positions, edges=np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))


def rope_fabric(mass_per_length, tension_stiffness, **constants):
    """Return a fabric for ropes from mass per length [kg/m] and EA [N]."""
    width = 0.01
    return core.Material(areal_density=mass_per_length / width, stretch=(tension_stiffness / width,) * 2, shear=0.0,
                         thread_width=width, **constants)


def fixed_steps(h, **settings):
    """Return a solver with one step of exactly h [s] per frame, each solved to convergence."""
    wanted = {"newton_iterations": "converge", "tolerance": 1e-9, **settings}
    return core.Solver(frame_rate=1.0 / h, steps_per_frame=1, adaptive=False, max_newton_iterations=200, **wanted)


def run(scene, solver, count):
    """Return all frames from the start to `count` frames later."""
    return list(core.simulate(scene, solver, range(count + 1)))


def settle(scene, h, count, tolerance=1e-6, **settings):
    """Return the frame at rest after `count` long steps of h [s], which implicit Euler damps strongly."""
    solver = fixed_steps(h, tolerance=tolerance, max_linear_iterations=20000, **settings)
    frame = run(scene, solver, count)[-1]
    assert frame.certificate.converged, frame.certificate
    return frame


def element_forces(cloth):
    """Return the element forces of a cloth from its model."""
    return core.stencils.registry.find(cloth.model)(cloth.mesh, cloth.material, **cloth.model_options)


def elastic_force(cloth, positions):
    """Return the elastic force on each vertex (V, 3) [N], without damping."""
    return sum(force.force(positions, np.zeros_like(positions)) for force in element_forces(cloth))


def elastic_energy(cloth, positions):
    """Return the elastic energy [J]."""
    return sum(force.energy(positions) for force in element_forces(cloth))


def masses(cloth):
    """Return the lumped masses (V,) [kg]."""
    mesh, fabric = cloth.mesh, cloth.material
    return fabric.areal_density * (mesh.vertex_areas + fabric.thread_width * mesh.vertex_lengths)

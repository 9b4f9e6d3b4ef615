# SPDX-License-Identifier: GPL-3.0-or-later
"""Equilibrium of a clamped strip at small deflections, and at large ones under weight or a load at the tip.

Used by bending_study.py and tests. It has a solver of its own, dense or with SciPy's sparse LU if that is installed, so
that a bending law is measured without the project's solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from benchmarks.triangulations import ROW_SPACING, TRIANGULATIONS
from core.arrays import FloatArray, IntArray
from core.description.material import Material
from core.description.mesh import ClothMesh
from core.stencils.bending.bend_forces import bend_forces
from core.stencils.membranes.stretch_shear import Shear, Stretch, membrane_stencil
from core.stencils.stencil import ElementForce

try:
    from scipy.sparse import csc_matrix
    from scipy.sparse.linalg import splu
except ImportError:
    splu = None

SILK = Material(areal_density=1.0, stretch=(0.0, 0.0), shear=0.0, bend=(1.0, 1.0))
"""Unit density and bending stiffness: only ratios matter here."""
STIFF = 1e4
"""Membrane stiffness over the strip's weight per width [-]."""


def flat_mesh(kind: str, cells: int, across: int, length: float = 1.0) -> ClothMesh:
    """Return a strip in the plane z = 0 from -d to `length` [m], d = length / cells."""
    points, triangles = TRIANGULATIONS[kind](cells, across, length / cells)
    return ClothMesh(np.pad(points, ((0, 0), (0, 1))), triangles, name=kind)


def solve(blocks: Sequence[tuple[IntArray, FloatArray]], size: int, free: IntArray, rhs: FloatArray) -> FloatArray:
    """Return x (size,) that solves (sum of element matrices) x = rhs on the unknowns `free`, and is zero elsewhere.

    `blocks` has unknowns (E, m) and matrices (E, m, m) for each family of elements.
    """
    rows = np.concatenate([np.broadcast_to(u[:, :, None], k.shape).ravel() for u, k in blocks])
    columns = np.concatenate([np.broadcast_to(u[:, None, :], k.shape).ravel() for u, k in blocks])
    values = np.concatenate([k.ravel() for _, k in blocks])
    x = np.zeros(size)
    if splu is not None:
        matrix = csc_matrix((values, (rows, columns)), shape=(size, size))
        x[free] = splu(matrix[free][:, free].tocsc()).solve(rhs[free])
    else:
        dense = np.bincount(rows * size + columns, weights=values, minlength=size * size).reshape(size, size)
        x[free] = np.linalg.solve(dense[np.ix_(free, free)], rhs[free])
    return x


def small_tip_ratio(kind: str, cells: int, across: int, law: str) -> float:
    """Return the tip deflection of a clamped plate under its weight at small angles, over the exact one [-].

    The exact one is that of length L + half a row.
    """
    mesh = flat_mesh(kind, cells, across)
    x = mesh.positions
    blocks = []
    for force in bend_forces(mesh, SILK, law):
        k = force.stencil.blocks(force.law.tangent(force.stencil.gather(x), force.parameters))
        blocks.append((force.stencil.vertices, np.ascontiguousarray(k[..., 2, 2])))
    w = solve(blocks, len(x), np.flatnonzero(x[:, 0] > 1e-9), mesh.vertex_areas)
    length = 1.0 + 0.5 * ROW_SPACING.get(kind, 1.0) / cells
    return float(w[x[:, 0] > 1.0 - 1e-9].mean() / (length ** 4 / 8.0))


def cylinder_ratio(mesh: ClothMesh, law: str, degrees: float, curvature: float = 0.2) -> float:
    """Return the energy of the sheet on a cylinder that curves in the given direction, over 1/2 B kappa^2 area [-]."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    u, v, _ = mesh.positions.T
    along, side = u * c + v * s, v * c - u * s
    x = np.stack([np.sin(along * curvature) / curvature, side, np.cos(along * curvature) / curvature], axis=1)
    energy = sum(force.energy(x) for force in bend_forces(mesh, SILK, law))
    return float(energy / (0.5 * curvature ** 2 * mesh.areas.sum()))


class Strip:
    """A clamped strip of unit length with bending stiffness 1 N m, under its weight or a load at its tip."""

    def __init__(self, kind: str, cells: int, across: int, law: str) -> None:
        self.mesh = flat_mesh(kind, cells, across)
        self.bend = bend_forces(self.mesh, SILK, law)
        x = self.mesh.positions
        self.x = x.copy()
        self.half_row = 0.5 * ROW_SPACING.get(kind, 1.0) / cells
        self.tip = np.flatnonzero(x[:, 0] > 1.0 - 1e-9)
        self.free: IntArray = (3 * np.flatnonzero(x[:, 0] > 1e-9)[:, None] + np.arange(3)).ravel()

    def hang(self, gamma: float) -> tuple[float, float]:
        """Return reach and drop of the tip [m] at rest under the weight gamma = sigma g L^3 / B."""
        return self._settle(gamma * self.mesh.vertex_areas, gamma)

    def load_tip(self, alpha: float) -> tuple[float, float]:
        """Return reach and drop of the tip [m] at rest under the load alpha = P L^2 / (B b), spread along the edge."""
        y = self.mesh.positions[self.tip, 1]
        order = np.argsort(y)
        gaps = np.diff(y[order])
        share = np.zeros(len(y))
        share[order] = 0.5 * (np.append(gaps, 0.0) + np.append(0.0, gaps))
        weight = np.zeros(len(self.x))
        weight[self.tip] = alpha * share
        return self._settle(weight, alpha)

    def _settle(self, weight: FloatArray, load: float) -> tuple[float, float]:
        stencil, a = membrane_stencil(self.mesh), self.mesh.areas * load * STIFF
        one = np.ones(len(a))
        forces = [ElementForce(stencil, Stretch(), (a, a, one, one)), ElementForce(stencil, Shear(), (0.5 * a,)),
                  *(replace(force) for force in self.bend)]
        for _ in range(300):
            total = np.sum([force.force(self.x, 0.0 * self.x) for force in forces], axis=0)
            total[:, 2] -= weight
            push = total.ravel()
            if np.abs(push[self.free]).max() < 1e-9 * weight.sum():
                return float(self.x[self.tip, 0].mean()), float(-self.x[self.tip, 2].mean())
            step = self._newton_step(forces, push, exact=True)
            if step @ push <= 0.0:                              # not a descent direction: use the projected matrix
                step = self._newton_step(forces, push, exact=False)
            self._line_search(forces, weight, step, float(step @ push))
        raise RuntimeError("no equilibrium found")

    def _newton_step(self, forces: Sequence[ElementForce], push: FloatArray, *, exact: bool) -> FloatArray:
        blocks = []
        for force in forces:
            law = force.law.tangent if exact else force.law.projected_tangent
            k = force.stencil.blocks(law(force.stencil.gather(self.x), force.parameters))
            unknowns = 3 * force.stencil.vertices[:, :, None] + np.arange(3)
            m = 3 * k.shape[1]
            blocks.append((unknowns.reshape(-1, m), k.transpose(0, 1, 3, 2, 4).reshape(-1, m, m)))
        return solve(blocks, self.x.size, self.free, push)

    def _line_search(self, forces: Sequence[ElementForce], weight: FloatArray, step: FloatArray, slope: float) -> None:
        def energy(x: FloatArray) -> float:
            return sum(force.energy(x) for force in forces) + float(weight @ x[:, 2])

        start, x0, move = energy(self.x), self.x, step.reshape(-1, 3)
        t = min(1.0, 0.3 / np.abs(step).max())
        while t > 1e-8:
            self.x = x0 + t * move
            if energy(self.x) <= start - 1e-4 * t * slope + 1e-13 * abs(start):
                return
            t *= 0.5

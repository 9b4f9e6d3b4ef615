# SPDX-License-Identifier: GPL-3.0-or-later
"""Thread cloth (000): a grid of n x m vertices as n + m threads woven in u and v.

Stretch springs and bending along every thread, and the area-preserving force between them. The fabric's constants
per width become a thread's times the strip w that it stands for:

    spring     k   = k_u w / dl                 [N/m]       bending    k_b = B_u w          [N m^2]
    area       k_a = 2 shear / SKEW^2           [N/m]

The area force resists a skew gamma by k_a gamma^4 / 4, the fabric by shear gamma^2 / 2: they agree at gamma = SKEW. It
also couples the threads: C_uv = 2 k_a. So that a strip pulled along its threads has the fabric's stretch K, the springs
have k_u = C_uu - 2 k_a with C_uu - C_uv^2 / C_vv = K_u. A large k_a would leave nothing for the springs of the weaker
threads, which got longer at the cost of small buckles across them that central differences do not see: k_a is at most
what leaves these SPRINGS of the fabric's stretch. With K < K' the stretch of the two, s = SPRINGS and e = 1 - 2 s,

    2 k_a <= K (e + sqrt(e^2 + (1 - K / K') (1 - e^2))) / (2 (1 - K / K'))

The slides take x_u and x_v as central differences at each crossing. Of a thread that turns by theta there, the central
difference is shorter by cos(theta / 2): the area force takes bending for a loss of area, and cloth that bends easily
droops by less than half of what it should. Here they are differences along the edges at each corner of each cell, which
has a quarter of the cell's area: the same energy where strain is the same all over, and nothing for bending.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import LARGEST, FloatArray, IntArray, is_number
from ...description.grid_topology import grid_of
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ..bending.thread_curvature import curvature_force
from ..membranes.area_preserving import AreaPreserving
from ..springs.sheet_springs import coupled_stretch
from ..springs.spring import Spring, edge_stencil
from ..stencil import ElementForce, Stencil

MATCHED_SKEW = 0.5
"""Skew at which the area force costs what the fabric's shear does [-]: 30 degrees."""
LEAST_CORNER_SINE = 0.1
"""Sine of a cell's angle up to which that corner has no area to keep [-]: 6 degrees."""
LEAST_SPRING_SHARE = 1.0 / 3.0
"""Least stiffness of the weaker threads' springs over the fabric's stretch [-]."""


@dataclass(frozen=True)
class Threads:
    """A grid (n, m) of vertices, with rest lengths along (n - 1, m) and across (n, m - 1) the first index [m]; and how
    much of the sheet a vertex has to itself along (n, m) and across (n, m) [m]."""

    grid: IntArray
    along: FloatArray
    across: FloatArray

    @staticmethod
    def of(mesh: ClothMesh) -> Threads:
        """The threads of a mesh; MeshError where it is no grid."""
        grid = grid_of(mesh)
        n = len(mesh.positions)
        keys = mesh.edges[:, 0] * n + mesh.edges[:, 1]

        def lengths(a: IntArray, b: IntArray) -> FloatArray:
            return mesh.rest_lengths[np.searchsorted(keys, np.minimum(a, b) * n + np.maximum(a, b))]

        return Threads(grid, lengths(grid[:-1], grid[1:]), lengths(grid[:, :-1], grid[:, 1:]))

    @property
    def share_along(self) -> FloatArray:
        """(n, m) [m]"""
        share = np.zeros(self.grid.shape)
        share[:-1] += 0.5 * self.along
        share[1:] += 0.5 * self.along
        return share

    @property
    def share_across(self) -> FloatArray:
        """(n, m) [m]"""
        share = np.zeros(self.grid.shape)
        share[:, :-1] += 0.5 * self.across
        share[:, 1:] += 0.5 * self.across
        return share


def build(mesh: ClothMesh, material: Material, *, area_stiffness: float | None = None) -> list[ElementForce]:
    """Element forces of a mesh that is a grid.

    Args:
        mesh, material: what it is made of.
        area_stiffness: k_a [N/m]; `area_modulus` if not given.

    Raises:
        MeshError: the mesh is no grid.
    """
    if area_stiffness is not None and not (is_number(area_stiffness) and 0.0 <= area_stiffness <= LARGEST):
        raise ClothError(f"area_stiffness is {area_stiffness!r} N/m, it must be a number from 0 to {LARGEST:g}",
                         object_name=mesh.name)
    k_a = area_modulus(material) if area_stiffness is None else float(area_stiffness)
    threads = Threads.of(mesh)
    forces = [_springs(threads, material, k_a)]
    if k_a:
        forces.append(_area(mesh, threads, k_a, material.damping))
    return forces + _bending(threads, material)


def area_modulus(material: Material) -> float:
    """k_a [N/m] that the fabric's shear asks for, as far as its weaker threads keep springs."""
    wanted = 2.0 * material.shear / MATCHED_SKEW ** 2
    weak, strong = sorted(material.stretch)
    if weak == strong:                                             # half of the stretch is left, however large k_a
        return wanted
    e, apart = 1.0 - 2.0 * LEAST_SPRING_SHARE, 1.0 - weak / strong
    most = 0.5 * weak * (e + (e * e + apart * (1.0 - e * e)) ** 0.5) / (2.0 * apart)
    return min(wanted, most)


def spring_moduli(material: Material, k_a: float) -> tuple[float, float]:
    """k_u, k_v [N/m] of the threads' springs beside an area force of k_a [N/m]."""
    whole = coupled_stretch((np.array(material.stretch[0]), np.array(material.stretch[1])), np.array(2.0 * k_a))
    return max(float(whole[0]) - 2.0 * k_a, 0.0), max(float(whole[1]) - 2.0 * k_a, 0.0)


def _springs(threads: Threads, material: Material, k_a: float) -> ElementForce:
    k_u, k_v = spring_moduli(material, k_a)
    grid, along, across = threads.grid, threads.along, threads.across
    wide, high = threads.share_across, threads.share_along
    strip_u, strip_v = 0.5 * (wide[:-1] + wide[1:]), 0.5 * (high[:, :-1] + high[:, 1:])
    # thread by thread, so that the next spring begins where one ends
    edges = np.concatenate([np.stack([grid.T[:, :-1], grid.T[:, 1:]], axis=-1).reshape(-1, 2),
                            np.stack([grid[:, :-1], grid[:, 1:]], axis=-1).reshape(-1, 2)])
    k = np.concatenate([(k_u * strip_u / along).T.ravel(), (k_v * strip_v / across).ravel()])
    return ElementForce(edge_stencil(edges), Spring(), (k, np.concatenate([along.T.ravel(), across.ravel()])),
                        material.damping)


def _area(mesh: ClothMesh, threads: Threads, k_a: float, damping: float) -> ElementForce:
    grid, x = threads.grid, mesh.positions
    n, m = grid.shape
    found, sides = [], []
    for i in (0, 1):
        for j in (0, 1):                                       # the corner of each cell at (i, j)
            at, along, across = (grid[a:n - 1 + a, b:m - 1 + b] for a, b in ((i, j), (1 - i, j), (i, 1 - j)))
            found.append(np.stack([at, along, across], axis=-1).reshape(-1, 3))
            sides.append(np.stack([threads.along[:, j:m - 1 + j], threads.across[i:n - 1 + i]], axis=-1).reshape(-1, 2))
    corners, lengths = np.concatenate(found), np.concatenate(sides)
    u, v = (x[corners[:, k]] - x[corners[:, 0]] for k in (1, 2))
    area, most = np.linalg.norm(np.cross(u, v), axis=1), np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    wide = area > LEAST_CORNER_SINE * most
    corners, lengths, apart = corners[wide], lengths[wide], area[wide] / most[wide]
    scale = 1.0 / (lengths * np.sqrt(apart)[:, None])          # a grid that is modelled askew is at rest so
    weights = np.zeros((len(corners), 3, 2))
    weights[:, 0], weights[:, 1, 0], weights[:, 2, 1] = -scale, scale[:, 0], scale[:, 1]   # g asks for no signs
    areas = 0.25 * lengths.prod(axis=1) * apart
    return ElementForce(Stencil(corners, weights), AreaPreserving(), (k_a * areas,), damping)


def _bending(threads: Threads, material: Material) -> list[ElementForce]:
    grid = threads.grid
    vertices, before, after, stiffness = [], [], [], []
    for g, length, share, B in ((grid, threads.along, threads.share_across, material.bend[0]),
                                (grid.T, threads.across.T, threads.share_along.T, material.bend[1])):
        if B and len(g) > 2:
            vertices.append(np.stack([g[:-2], g[1:-1], g[2:]], axis=-1).reshape(-1, 3))
            before.append(length[:-1].ravel())
            after.append(length[1:].ravel())
            stiffness.append((B * share[1:-1]).ravel())
    if not vertices:
        return []
    return [curvature_force(np.concatenate(vertices), np.concatenate(before), np.concatenate(after),
                            np.concatenate(stiffness), material.damping)]

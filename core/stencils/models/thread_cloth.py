# SPDX-License-Identifier: GPL-3.0-or-later
"""Thread cloth (Kim 2008, 000): a grid of n x m vertices as n + m threads woven along u and v.

Every thread has stretch springs and bending, and the area-preserving force couples the threads. The constants of the
fabric per width become those of a thread by the width w of the strip that it stands for:

    spring     k   = k_u w / dl                     [N/m]       bending    k_b = B_u w          [N m^2]
    area       k_a = 2 shear / MATCHED_SKEW^2       [N/m]

The area force resists a skew gamma with the energy k_a gamma^4 / 4, the fabric with shear gamma^2 / 2; they agree at
gamma = MATCHED_SKEW. The area force also couples the threads, C_uv = 2 k_a. For a strip pulled along its threads to
have the fabric's stretch K, the springs have k_u = C_uu - 2 k_a with C_uu - C_uv^2 / C_vv = K_u.

A large k_a would leave no stiffness for the springs of the weaker threads. These then grow longer by small buckles
across them that central differences do not see. k_a is therefore limited so that the springs keep the part
LEAST_SPRING_SHARE of the fabric's stretch. With K < K' the stretch of the two directions, s = LEAST_SPRING_SHARE and e
= 1 - 2 s,

    2 k_a <= K (e + sqrt(e^2 + (1 - K / K') (1 - e^2))) / (2 (1 - K / K'))

The source takes x_u and x_v as central differences at each crossing. On a thread that turns by theta, the central
difference is shorter by cos(theta / 2): the area force mistakes bending for a loss of area, and cloth that bends easily
sags by less than half of the right amount. Here x_u and x_v are differences along the edges at each corner of each
cell, which stands for a quarter of the cell's area. This gives the same energy for uniform strain, and none for
bending.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...arrays import LARGEST, FloatArray, IntArray, is_number
from ...description.grid_topology import grid_of
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ...number_text import number_text
from ..bending.thread_curvature import curvature_force
from ..membranes.area_preserving import AreaPreserving
from ..springs.sheet_springs import coupled_stretch
from ..springs.spring import Spring, edge_stencil
from ..stencil import ElementForce, Stencil

MATCHED_SKEW = 0.5
"""Skew at which the area force has the energy of the fabric's shear [-], 30 degrees."""
LEAST_CORNER_SINE = 0.1
"""Smallest sine of a cell's angle at a corner that has an area force [-], 6 degrees."""
LEAST_SPRING_SHARE = 1.0 / 3.0
"""Smallest stiffness of the weaker threads' springs, over the fabric's stretch [-]."""


@dataclass(frozen=True)
class Threads:
    """The threads of a grid of vertices.

    Attributes:
        grid (n, m): vertices.
        along (n - 1, m), across (n, m - 1) [m]: rest lengths in the direction of the first and the second index.
    """

    grid: IntArray
    along: FloatArray
    across: FloatArray

    @staticmethod
    def of(mesh: ClothMesh) -> Threads:
        """Return the threads of a mesh; raise a MeshError if it is not a grid."""
        grid = grid_of(mesh)
        n = len(mesh.positions)
        keys = mesh.edges[:, 0] * n + mesh.edges[:, 1]

        def lengths(a: IntArray, b: IntArray) -> FloatArray:
            return mesh.rest_lengths[np.searchsorted(keys, np.minimum(a, b) * n + np.maximum(a, b))]

        return Threads(grid, lengths(grid[:-1], grid[1:]), lengths(grid[:, :-1], grid[:, 1:]))

    @property
    def width_along(self) -> FloatArray:
        """Return the width (n, m) [m] of the sheet that belongs to each vertex in the direction of the first index."""
        share = np.zeros(self.grid.shape)
        share[:-1] += 0.5 * self.along
        share[1:] += 0.5 * self.along
        return share

    @property
    def width_across(self) -> FloatArray:
        """Return the width (n, m) [m] of the sheet that belongs to each vertex in the direction of the second index."""
        share = np.zeros(self.grid.shape)
        share[:, :-1] += 0.5 * self.across
        share[:, 1:] += 0.5 * self.across
        return share


def build(mesh: ClothMesh, material: Material, *, area_stiffness: float | None = None) -> list[ElementForce]:
    """Return the element forces of a mesh that is a grid.

    Args:
        mesh, material: the mesh and its fabric.
        area_stiffness: k_a [N/m]; `area_modulus` if not given.

    Raises:
        MeshError: the mesh is not a grid.
    """
    if area_stiffness is not None and not (is_number(area_stiffness) and 0.0 <= area_stiffness <= LARGEST):
        raise ClothError(f"area_stiffness is {area_stiffness!r} N/m, it must be a number from 0 to "
                         f"{number_text(LARGEST)}",
                         object_name=mesh.name)
    k_a = area_modulus(material) if area_stiffness is None else float(area_stiffness)
    threads = Threads.of(mesh)
    forces = [_springs(threads, material, k_a)]
    if k_a:
        forces.append(_area(mesh, threads, k_a, material.damping_of("shear")))
    return forces + _bending(threads, material)


def area_modulus(material: Material) -> float:
    """Return k_a [N/m] for the fabric's shear, limited so that the weaker threads keep their springs."""
    wanted = 2.0 * material.shear / MATCHED_SKEW ** 2
    weak, strong = sorted(material.stretch)
    if weak == strong:                                             # for every k_a, half of the stretch is left
        return wanted
    e, apart = 1.0 - 2.0 * LEAST_SPRING_SHARE, 1.0 - weak / strong
    most = 0.5 * weak * (e + (e * e + apart * (1.0 - e * e)) ** 0.5) / (2.0 * apart)
    return min(wanted, most)


def spring_moduli(material: Material, k_a: float) -> tuple[float, float]:
    """Return k_u, k_v [N/m] of the threads' springs for an area force of k_a [N/m]."""
    whole = coupled_stretch((np.array(material.stretch[0]), np.array(material.stretch[1])), np.array(2.0 * k_a))
    return max(float(whole[0]) - 2.0 * k_a, 0.0), max(float(whole[1]) - 2.0 * k_a, 0.0)


def _springs(threads: Threads, material: Material, k_a: float) -> ElementForce:
    """Return the springs along all threads."""
    k_u, k_v = spring_moduli(material, k_a)
    grid, along, across = threads.grid, threads.along, threads.across
    wide, high = threads.width_across, threads.width_along
    strip_u, strip_v = 0.5 * (wide[:-1] + wide[1:]), 0.5 * (high[:, :-1] + high[:, 1:])
    # thread by thread, so that consecutive springs share a vertex
    edges = np.concatenate([np.stack([grid.T[:, :-1], grid.T[:, 1:]], axis=-1).reshape(-1, 2),
                            np.stack([grid[:, :-1], grid[:, 1:]], axis=-1).reshape(-1, 2)])
    k = np.concatenate([(k_u * strip_u / along).T.ravel(), (k_v * strip_v / across).ravel()])
    return ElementForce(edge_stencil(edges), Spring(), (k, np.concatenate([along.T.ravel(), across.ravel()])),
                        material.damping)


def _area(mesh: ClothMesh, threads: Threads, k_a: float, damping: float) -> ElementForce:
    """Return the area-preserving force at all corners of all cells."""
    grid, x = threads.grid, mesh.positions
    n, m = grid.shape
    found, sides = [], []
    for i in (0, 1):
        for j in (0, 1):                                       # corner (i, j) of each cell
            at, along, across = (grid[a:n - 1 + a, b:m - 1 + b] for a, b in ((i, j), (1 - i, j), (i, 1 - j)))
            found.append(np.stack([at, along, across], axis=-1).reshape(-1, 3))
            sides.append(np.stack([threads.along[:, j:m - 1 + j], threads.across[i:n - 1 + i]], axis=-1).reshape(-1, 2))
    corners, lengths = np.concatenate(found), np.concatenate(sides)
    u, v = (x[corners[:, k]] - x[corners[:, 0]] for k in (1, 2))
    area, most = np.linalg.norm(np.cross(u, v), axis=1), np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    wide = area > LEAST_CORNER_SINE * most
    corners, lengths, apart = corners[wide], lengths[wide], area[wide] / most[wide]
    scale = 1.0 / (lengths * np.sqrt(apart)[:, None])          # a skew grid is at rest as modelled
    weights = np.zeros((len(corners), 3, 2))
    weights[:, 0], weights[:, 1, 0], weights[:, 2, 1] = -scale, scale[:, 0], scale[:, 1]   # signs do not change g
    areas = 0.25 * lengths.prod(axis=1) * apart
    return ElementForce(Stencil(corners, weights), AreaPreserving(), (k_a * areas,), damping)


def _bending(threads: Threads, material: Material) -> list[ElementForce]:
    """Return the bending of all threads."""
    grid = threads.grid
    vertices, before, after, stiffness = [], [], [], []
    for g, length, share, B in ((grid, threads.along, threads.width_across, material.bend[0]),
                                (grid.T, threads.across.T, threads.width_along.T, material.bend[1])):
        if B and len(g) > 2:
            vertices.append(np.stack([g[:-2], g[1:-1], g[2:]], axis=-1).reshape(-1, 3))
            before.append(length[:-1].ravel())
            after.append(length[1:].ravel())
            stiffness.append((B * share[1:-1]).ravel())
    if not vertices:
        return []
    return [curvature_force(np.concatenate(vertices), np.concatenate(before), np.concatenate(after),
                            np.concatenate(stiffness), material.damping_of("bend"))]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles: vertices that are free, or connected to their neighbours by springs.

    f_i = (k (|d| - L) + k_d (v_j - v_i) . d / |d|) d / |d|,   d = x_j - x_i,   f_j = -f_i               [N]

Susin 2015 (003). Neighbours are the ends of the mesh's edges, particles that start within a `radius` of each other, and
the `nearest` ones of each particle. L is their distance at rest.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FARTHEST, LARGEST, NUMBERS_PER_PIECE, FloatArray, IntArray, is_number, is_whole
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ...number_text import number_text
from ..springs.spring import Spring, edge_stencil
from ..stencil import ElementForce
from .built_model import BuiltModel


def build(mesh: ClothMesh, material: Material, *, mass: float | None = None, radius: float | None = None,
          nearest: int = 0, spring_stiffness: float = 10.0, spring_damping: float = 0.0) -> BuiltModel:
    """Return the model of the particles of a mesh.

    Args:
        mesh: its vertices are the particles.
        material: their friction, and their mass if `mass` is not given: a vertex without edges then has the mass of a
            square of fabric as wide as a thread.
        mass: mass of each particle [kg].
        radius: particles that start within this distance are neighbours [m]; None for no such neighbours.
        nearest: number of nearest particles that are neighbours of each particle as well.
        spring_stiffness: k [N/m].
        spring_damping: k_d [N s/m].

    Raises:
        ClothError: an option is out of range.
    """
    def check(what: str, value: object, good: bool, wanted: str) -> None:
        if not good:
            raise ClothError(f"{what} is {value!r}, it must be {wanted}", object_name=mesh.name)

    check("mass", mass, mass is None or (is_number(mass) and 0.0 < mass <= LARGEST),
          f"above 0 kg, {number_text(LARGEST)} at most")
    check("radius", radius, radius is None or (is_number(radius) and 0.0 < radius <= FARTHEST),
          f"above 0 m, {number_text(FARTHEST)} at most")
    check("nearest", nearest, is_whole(nearest, 0), "a whole number of 0 or more")
    check("spring_stiffness", spring_stiffness, is_number(spring_stiffness) and 0.0 < spring_stiffness <= LARGEST,
          f"above 0 N/m, {number_text(LARGEST)} at most")
    check("spring_damping", spring_damping, is_number(spring_damping) and 0.0 <= spring_damping <= LARGEST,
          f"0 N s/m or more, {number_text(LARGEST)} at most")
    x = mesh.positions
    pairs = neighbours(x, radius or 0.0, min(nearest, len(x) - 1))
    pairs = np.unique(np.concatenate([np.sort(mesh.edges, axis=1), pairs]), axis=0)
    forces = []
    if len(pairs):
        rest = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1) * mesh.scale[pairs].mean(axis=1)
        k = np.full(len(pairs), float(spring_stiffness))
        forces.append(ElementForce(edge_stencil(pairs), Spring(), (k, rest), spring_damping / spring_stiffness))
    return BuiltModel(forces, mass=None if mass is None else np.full(len(x), float(mass)), neighbours=pairs)


def neighbours(x: FloatArray, radius: float, nearest: int) -> IntArray:
    """Return the pairs (P, 2) of points (n, 3) [m] within a radius [m] of each other, or among the `nearest` of each
    other.

    It is enough that one point of a pair is among the `nearest` of the other. The smaller index comes first.
    """
    found: list[IntArray] = [np.zeros((0, 2), dtype=np.int64)]
    if not (radius or nearest):
        return found[0]
    rows = max(1, NUMBERS_PER_PIECE // len(x))
    for first in range(0, len(x), rows):
        some = np.arange(first, min(first + rows, len(x)))
        squared = np.zeros((len(some), len(x)))
        for axis in x.T:
            squared += (axis[some, None] - axis) ** 2
        squared[np.arange(len(some)), some] = np.inf
        found.append(np.argwhere(squared <= radius ** 2) + [first, 0])
        if nearest:
            close = np.argpartition(squared, nearest - 1, axis=1)[:, :nearest]
            found.append(np.column_stack([np.repeat(some, nearest), close.ravel()]))
    pairs: IntArray = np.unique(np.sort(np.concatenate(found), axis=1), axis=0)
    return pairs

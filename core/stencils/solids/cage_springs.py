# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs along the edges, face diagonals and body diagonals of a cage's cells, as stiff as a solid of Young's modulus
E.

Springs of stiffness k, length l and direction n in a cell of volume V give the elastic constants

    C_ijkl = 1/V sum k l^2 n_i n_j n_k n_l                                            [Pa]

which are symmetric in all indices: C_iijj = C_ijij, so Poisson's ratio is 1/4 for all stiffnesses (Cauchy). The seven
stiffnesses of a box with sides a_x, a_y, a_z are chosen so that C is isotropic: C_iiii = 3 mu and C_iijj = mu with mu =
2/5 E. Of the value C_iijj of the narrowest pair of sides, the body diagonals give a part BODY_DIAGONAL_SHARE. For a
cube of side a the stiffnesses are 3/5 E a along edges, 1/5 E a along face diagonals and 3/20 E a along body diagonals.

Each cell adds its share: a quarter of an edge's stiffness, half of a face diagonal's, times the fraction of the cell
that is inside. These are the lattice springs of Susin 2015 (003), with stiffnesses that do not depend on the
resolution.
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray, IntArray
from ..springs.spring import Spring, edge_stencil
from ..stencil import ElementForce
from .cage import CELL_CORNERS, Cage

SPRING_POISSON_RATIO = 0.25
"""Poisson's ratio of every lattice of springs that act along their own direction [-]."""
BODY_DIAGONAL_SHARE = 0.5
"""Part of C_iijj of the narrowest pair of sides that the body diagonals give [-]."""


def cage_springs(cage: Cage, first: int, young_modulus: float, damping: float) -> ElementForce:
    """Return the springs of a cage.

    Args:
        first: index of the cage's first node among all vertices.
        young_modulus: E [Pa].
        damping: tau [s].
    """
    pairs, stiffness = cell_springs(cage.size, young_modulus)
    ends = cage.cells[:, pairs].reshape(-1, 2)
    each = (cage.fraction[:, None] * stiffness).ravel()
    low, high = ends.min(axis=1), ends.max(axis=1)
    keys, number = np.unique(low * len(cage.nodes) + high, return_inverse=True)
    edges = np.column_stack(np.divmod(keys, len(cage.nodes)))
    k = np.bincount(number.ravel(), each, minlength=len(edges)).astype(np.float64)
    along = cage.nodes[edges[:, 1]] - cage.nodes[edges[:, 0]]
    return ElementForce(edge_stencil(edges + first), Spring(), (k, np.linalg.norm(along, axis=1)), damping)


def cell_springs(size: FloatArray, young_modulus: float) -> tuple[IntArray, FloatArray]:
    """Return the pairs (28, 2) of a cell's corners, and the stiffness (28,) [N/m] that one cell adds to each.

    `size` (3,) [m] has the sides of the cell.
    """
    pairs = np.array([[a, b] for a in range(8) for b in range(a)])
    differ = CELL_CORNERS[pairs[:, 0]] != CELL_CORNERS[pairs[:, 1]]                        # (28, 3)
    square = size ** 2
    per_pair = 0.4 * young_modulus * size.prod()                                 # V mu
    i, j = np.array([0, 0, 1]), np.array([1, 2, 2])                              # pairs of directions
    product = square[i] * square[j]
    body = BODY_DIAGONAL_SHARE * per_pair * square.sum() / (4.0 * product.max())                # each of 4 diagonals
    face = (per_pair - 4.0 * body * product / square.sum()) * (square[i] + square[j]) / (2.0 * product)
    edge = np.empty(3)
    for axis in range(3):
        across = [(face[p], square[i[p]] + square[j[p]]) for p in range(3) if axis in (i[p], j[p])]
        others = sum(2.0 * k * square[axis] ** 2 / l2 for k, l2 in across)
        edge[axis] = (3.0 * per_pair - others - 4.0 * body * square[axis] ** 2 / square.sum()) / square[axis]
    stiffness = np.full(len(pairs), body)
    kind = differ.sum(axis=1)
    stiffness[kind == 1] = edge[np.argmax(differ[kind == 1], axis=1)] / 4.0
    missing = np.argmin(differ[kind == 2], axis=1)                               # direction normal to the face
    stiffness[kind == 2] = face[2 - missing] / 2.0
    return pairs, stiffness

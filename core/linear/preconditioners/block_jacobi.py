# SPDX-License-Identifier: GPL-3.0-or-later
"""Block Jacobi: P is the 3x3 block diagonal of A.

001 uses the diagonal entries only; the whole block costs the same to apply and does not depend on the coordinate axes.
Where contacts and pins constrain directions of a vertex, the block is restricted to the free directions, without their
coupling to the constrained ones.

    P_i = S_i A_ii S_i + d_i (I - S_i),     d_i = trace(A_ii) / 3
"""

from __future__ import annotations

import numpy as np

from ...arrays import FloatArray
from ...kernels import current
from ..block_matrix import BlockMatrix
from ..constraint_filter import ConstraintFilter


class BlockJacobi:
    """r -> P^-1 r, P of the diagonal blocks of `matrix`, which must be positive definite in the free directions.

    Attributes:
        inverse: (V, 3, 3), P_i^-1.
    """

    def __init__(self, matrix: BlockMatrix, filter_: ConstraintFilter | None = None) -> None:
        p = matrix.pattern
        number, S = (filter_ or ConstraintFilter(p.vertex_count)).numbered()
        self.inverse: FloatArray = current().block_matrix.inverse_diagonal(matrix.data, matrix.scalars, p.line,
                                                                           p.own_places, number, S)

    def __call__(self, r: FloatArray) -> FloatArray:
        """Return P^-1 r for r (V, 3)."""
        result: FloatArray = np.einsum("nij,nj->ni", self.inverse, r)
        return result

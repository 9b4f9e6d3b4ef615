# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces per area at the vertices of cloth, as forces on the vertices.

A vertex i has the area a_i [m^2], a third of its triangles and the strip of its threads, of which l_i is the strips'.
The force per area is W_i, which acts whole, and N_i, of which only the component along the normal n of each triangle t
acts, and all on threads:

    f_i = a_i W_i + l_i N_i + M_i N_i,    M_i = sum_t A_t / 3 n_t n_t^T

With D_i = -dW_i/dv and b_i >= -dN_i/dv, both semi-definite, a_i D_i + b_i (l_i I + M_i) is the block of vertex i in the
matrix. Areas are those at rest in a_i and l_i, and those of the step's start in M_i.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import FloatArray, IntArray
from ..kernels import current
from ..stencils.stencil import Stencil


@dataclass(frozen=True)
class FieldForce:
    """f = push - block u of each vertex, at velocities u (V, 3) [m/s].

    Attributes:
        push: (V, 3) [N].
        blocks: (V, 3, 3) [kg/s], symmetric and semi-definite; None if all are zero.
    """

    push: FloatArray
    blocks: FloatArray | None


class FieldLoad:
    """The areas on which forces per area act.

    Args:
        area: (V,) of each vertex [m^2].
        loose: (V,) of its threads [m^2].
        triangles: (T, 3).
    """

    def __init__(self, area: FloatArray, loose: FloatArray, triangles: IntArray) -> None:
        self.area, self._loose = area, loose
        self._triangles = Stencil(triangles, np.ones((len(triangles), 3, 1)), held=True)

    def force(self, x: FloatArray, whole: FloatArray, blocks: FloatArray, normal: FloatArray, bounds: FloatArray
              ) -> FieldForce:
        """Return the force at positions x (V, 3) [m].

        whole: W (V, 3). blocks: D (V, 6), the numbers xx, xy, xz, yy, yz, zz; no rows if all are zero. normal: N
        (V, 3), and bounds: b (V,); no rows if all are zero.
        """
        push = self.area[:, None] * whole
        six = self.area[:, None] * blocks if len(blocks) else None
        if len(normal):
            triangles = self._triangles.vertices
            vectors = current().drag.drag_vectors(triangles, np.full(len(triangles), 3.0), x)       # q q^T = A/3 n n^T
            six = np.zeros((len(bounds), 6)) if six is None else six
            current().force_fields.add_along_normals(self._triangles, vectors, self._loose, normal, bounds, push, six)
        if six is None or not len(six):
            return FieldForce(push, None)
        return FieldForce(push, six[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3))

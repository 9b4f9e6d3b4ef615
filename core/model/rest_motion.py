# SPDX-License-Identifier: GPL-3.0-or-later
"""Rest shapes that move: the rest shape of a cloth is deformed as known positions are, from those at time 0 on.

    membranes   U = (C_0^-1/2 C_t C_0^-1/2)^1/2, with the metrics C of the triangle in fabric coordinates
    patches     r(t) = r + (F_c . n)(t) - (F_c . n)(0),     hinges   theta_rest(t) = theta_rest + theta(t) - theta(0)
    others      their size, such as the length of a spring

So a pattern, painted shrinking and painted curvature stay in addition. Rigid motion of the known positions changes
nothing, and the warp moves with its triangle. Masses, and the stiffness of bending per area, are those at time 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..description.mesh import SLIVER
from ..errors import ClothError, MeshError
from ..number_text import number_text
from ..stencils.bending.hinge import angle
from ..stencils.stencil import ElementForce
from .curved_patches import CurvedPatches
from .rest_values import metrics, resized, sizes, square_root, stretched, turned


class RestMotion:
    """The moving rest shape of one cloth.

    Args:
        cloth: one with `rest_motion`.
        forces: those of its model, with every patch of bending in `patches`, in the numbering of all particles.
        patches: the patches of bending.
        first: number of its first particle there.

    Raises:
        ClothError: the model has particles besides the vertices.
    """

    def __init__(self, cloth: Cloth, forces: Sequence[ElementForce], patches: CurvedPatches, first: int) -> None:
        self._cloth, self._patches, self._first, count = cloth, patches, first, len(cloth.mesh.positions)
        if any(((force.stencil.vertices < first) | (force.stencil.vertices >= first + count)).any()
               for force in forces):
            raise ClothError(f"its rest shape moves, but its model '{cloth.model}' has a rest shape inside of the "
                             "mesh, which does not; choose another model, or let the rest shape stand still",
                             object_name=cloth.name)
        self._flat = bool(cloth.options.get("flat", False))
        self._start = self._positions(0.0)
        self._normal_parts = patches.normal_parts(self._start)

    def curvatures(self, time: float) -> list[FloatArray]:
        """Return what the rest curvatures of each force of patches have gained at `time` [s] (T, 3) [-]."""
        if self._flat:
            return [np.zeros_like(before) for before in self._normal_parts]
        now = self._patches.normal_parts(self._positions(time))
        scale = self._cloth.mesh.triangle_scale[:, None]
        return [scale * (part - before) for part, before in zip(now, self._normal_parts, strict=True)]

    def changed(self, family: Sequence[ElementForce], time: float) -> list[ElementForce]:
        """Return forces that share a stencil in the rest shape at `time` [s], those of patches left out."""
        x, kind, stencil = self._positions(time), getattr(family[0].law, "rest_kind", None), family[0].stencil
        if np.array_equal(x, self._start) or family[0].law.constant_tangent or kind == "curvature":
            return list(family)
        if kind == "membrane":
            return stretched(family, self._stretch(family, x, time))
        if kind == "angle":
            by = 0.0 if self._flat else angle(stencil.gather(x)) - angle(stencil.gather(self._start))
            return [turned(force, force.parameters[1] + by) for force in family]
        return resized(family, sizes(stencil, x) / sizes(stencil, self._start))

    def edge_ratios(self, time: float) -> FloatArray:
        """Return the rest lengths of the cloth's edges at `time` [s] over those at time 0 (E,) [-]."""
        one, other = self._cloth.mesh.edges.T + self._first
        x, start = self._positions(time), self._start
        ratios: FloatArray = np.linalg.norm(x[other] - x[one], axis=1) / np.linalg.norm(start[other] - start[one],
                                                                                        axis=1)
        return ratios

    def _positions(self, time: float) -> FloatArray:
        """Return the known positions, in the numbering of all particles up to the last of this cloth (n, 3) [m]."""
        own = self._cloth.rest_positions(time)
        return np.concatenate([np.zeros((self._first, 3)), own])

    def _stretch(self, family: Sequence[ElementForce], x: FloatArray, time: float) -> FloatArray:
        """Return U (T, 2, 2) of the triangles of a membrane."""
        stencil = family[0].stencil
        inverse = np.linalg.inv(square_root(metrics(self._start, stencil)))
        C = inverse @ metrics(x, stencil) @ inverse
        area = np.sqrt(np.maximum(np.linalg.det(C), 0.0))
        if not area.min(initial=1.0) > SLIVER:                                                      # nan fails too
            t = int(np.argmin(area))
            raise MeshError(f"triangle {t} (vertices {(stencil.vertices[t] - self._first).tolist()}) of its moving "
                            f"rest shape has {number_text(area[t], 2)} times the area at the start at {time:.4f} s; "
                            "correct what deforms it, or switch off the moving rest shape",
                            object_name=self._cloth.name)
        return square_root(C)

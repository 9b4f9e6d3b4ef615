# SPDX-License-Identifier: GPL-3.0-or-later
"""The patches of bending of a cloth whose rest curvature changes: the law of the curved rest shape on every triangle.

A model gives the law `RestCurvature` to the triangles only that are curved at rest. Where rest curvatures change, all
triangles have it, so that the matrix has the entries of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..stencils.bending.patch_geometry import PatchGeometry, every_rest_stencil
from ..stencils.bending.rest_curvature import RestCurvature
from ..stencils.stencil import ElementForce
from .rest_values import CurvatureColumns


class CurvedPatches:
    """The patches of a cloth.

    Args:
        cloth: the cloth.
        forces: those of its model, in the numbering of all particles.
        bends: stiffness along warp and weft with which each force of flat patches was built [N m], in their order;
            those of the fabric if it is empty.
        first: number of its first particle.

    Attributes:
        rest: rest curvatures of each force of flat patches (T, 3) [-], as it was built. Empty if the cloth bends by
            other laws.
    """

    def __init__(self, cloth: Cloth, forces: Sequence[ElementForce], bends: Sequence[tuple[float, float]], first: int
                 ) -> None:
        self._columns: list[CurvatureColumns] = []
        self.rest: list[FloatArray] = []
        self._flat: list[int] = []
        if cloth.options.get("bending") != "patch":
            return
        self._flat = [place for place, force in enumerate(forces) if force.law.name == "quadratic"]
        for _, bend in zip(self._flat, bends or [cloth.material.bend][:len(self._flat)], strict=True):
            patch = PatchGeometry(cloth.mesh, bend, flat=bool(cloth.options.get("flat", False)))
            stencil, columns = every_rest_stencil(patch)
            self._columns.append(CurvatureColumns(replace(stencil, vertices=stencil.vertices + first), columns))
            self.rest.append(patch.rest)

    def completed(self, forces: Sequence[ElementForce], rest: Sequence[FloatArray]) -> list[ElementForce]:
        """Return forces, in the order of those given, with one of the curvatures `rest` behind each of flat patches."""
        if not self._flat:
            return list(forces)
        result = []
        for place, force in enumerate(forces):
            if force.law.name != RestCurvature.name:
                result.append(force)
            if place in self._flat:
                at = self._flat.index(place)
                result.append(self._columns[at].force(force.parameters[0], rest[at]))
        return result

    def normal_parts(self, x: FloatArray) -> list[FloatArray]:
        """Return F_c . n (T, 3) [-] of each force of patches at x (V, 3) [m]."""
        return [columns.normal_parts(x) for columns in self._columns]

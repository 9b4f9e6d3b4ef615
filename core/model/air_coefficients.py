# SPDX-License-Identifier: GPL-3.0-or-later
"""The coefficients of air drag and viscous drag of all cloths, which change over time where the fabric does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..description.material import Material
from ..loads.air_drag import drag_stencil
from ..stencils.stencil import Stencil
from .dof_numbering import patch_areas
from .latest import Latest


class AirCoefficients:
    """Coefficients of the drag of all cloths.

    Args:
        cloths: the cloths.
        slices: range of each cloth's vertices among all particles.
        count: number of all particles.

    Attributes:
        stencils: of the triangles of each cloth that the air drags at any time.
        changes: whether a coefficient changes over time.
    """

    def __init__(self, cloths: Sequence[Cloth], slices: Sequence[slice], count: int) -> None:
        self._cloths, self._count = cloths, count
        self._dragged = [cloth for cloth in cloths if len(cloth.mesh.triangles)
                         and (cloth.material.air_drag or _is_keyed(cloth, "air_drag"))]
        first = {id(cloth): span.start for cloth, span in zip(cloths, slices, strict=True)}
        self.stencils = [drag_stencil(cloth.mesh.triangles + first[id(cloth)]) for cloth in self._dragged]
        self.changes = any(_is_keyed(cloth, name) for cloth in cloths for name in ("air_drag", "viscous_drag"))
        self._latest_triangles: Latest[float, list[tuple[Stencil, FloatArray]]] = Latest()
        self._latest_viscous: Latest[float, FloatArray] = Latest()

    def triangles(self, time: float) -> list[tuple[Stencil, FloatArray]]:
        """Return the stencils and their k_d (T,) [kg/(m^2 s)] at `time` [s]."""
        return self._latest_triangles.at(time if self.changes else 0.0, self._made_triangles)

    def viscous(self, time: float) -> FloatArray:
        """Return the coefficients of viscous drag (N,) [kg/s] at `time` [s]."""
        return self._latest_viscous.at(time if self.changes else 0.0, self._made_viscous)

    def _made_triangles(self, time: float) -> list[tuple[Stencil, FloatArray]]:
        return [(stencil, np.full(len(cloth.mesh.triangles), float(_material(cloth, time).air_drag)))
                for cloth, stencil in zip(self._dragged, self.stencils, strict=True)]

    def _made_viscous(self, time: float) -> FloatArray:
        found = np.concatenate([_material(cloth, time).viscous_drag * patch_areas(cloth.mesh, cloth.material)
                                for cloth in self._cloths])
        return np.concatenate([found, np.zeros(self._count - len(found))])


def _is_keyed(cloth: Cloth, name: str) -> bool:
    return cloth.keyed_material is not None and name in cloth.keyed_material.changes


def _material(cloth: Cloth, time: float) -> Material:
    return cloth.material if cloth.keyed_material is None else cloth.keyed_material.at(time)

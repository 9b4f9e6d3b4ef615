# SPDX-License-Identifier: GPL-3.0-or-later
"""The coefficients of air drag and viscous drag of all cloths, which change over time where the fabric does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import BoolArray, FloatArray
from ..description.cloth import Cloth
from ..description.material import Material
from ..description.scene import Scene
from ..loads.air_drag import AirCoefficients, drag_stencil
from .dof_numbering import patch_areas
from .latest import Latest

OF_TRIANGLES = ("air_drag", "drag_coefficient", "skin_friction", "slow_drag_speed")
"""Constants of a fabric by which air acts on its triangles."""


class AirInTime:
    """Coefficients of the drag of all cloths.

    Args:
        scene: its cloths, and the density of its air.
        slices: range of each cloth's vertices among all particles.
        mass: (N,) of all particles [kg].

    Attributes:
        stencils: of the triangles of each cloth that the air drags at any time.
        changes: whether a coefficient changes over time.
        is_viscous: (N,) whether a particle has viscous drag at any time.
    """

    def __init__(self, scene: Scene, slices: Sequence[slice], mass: FloatArray) -> None:
        self._cloths, self._count, self._density = scene.cloths, len(mass), scene.air_density
        self._dragged = [(cloth, span) for cloth, span in zip(scene.cloths, slices, strict=True)
                         if len(cloth.mesh.triangles) and _is_dragged(cloth, scene.air_density)]
        self.stencils = [drag_stencil(cloth.mesh.triangles + span.start) for cloth, span in self._dragged]
        self._mass = [_triangle_mass(cloth, mass[span]) for cloth, span in self._dragged]
        self.changes = any(_is_keyed(cloth, name) for cloth in scene.cloths for name in (*OF_TRIANGLES, "viscous_drag"))
        self.is_viscous: BoolArray = np.zeros(self._count, dtype=np.bool_)
        for cloth, span in zip(scene.cloths, slices, strict=True):
            self.is_viscous[span] = _is_keyed(cloth, "viscous_drag") or cloth.material.viscous_drag != 0.0
        self._latest_triangles: Latest[float, list[AirCoefficients]] = Latest()
        self._latest_viscous: Latest[float, FloatArray] = Latest()

    def triangles(self, time: float) -> list[AirCoefficients]:
        """Return the coefficients of each cloth that the air drags, at `time` [s]."""
        return self._latest_triangles.at(time if self.changes else 0.0, self._made_triangles)

    def viscous(self, time: float) -> FloatArray:
        """Return the coefficients of viscous drag (N,) [kg/s] at `time` [s]."""
        return self._latest_viscous.at(time if self.changes else 0.0, self._made_viscous)

    def _made_triangles(self, time: float) -> list[AirCoefficients]:
        found = []
        for (cloth, _), stencil, mass in zip(self._dragged, self.stencils, self._mass, strict=True):
            fabric = _material(cloth, time)
            linear, normal, tangential, slow = (np.full(len(mass), c) for c in (
                fabric.air_drag or 0.0, 0.5 * self._density * fabric.drag_coefficient,
                0.5 * self._density * fabric.skin_friction, fabric.slow_drag_speed))
            quadratic = fabric.air_drag is None
            found.append(AirCoefficients(stencil, None if quadratic else linear, normal, tangential, slow, mass))
        return found

    def _made_viscous(self, time: float) -> FloatArray:
        found = np.concatenate([_material(cloth, time).viscous_drag * patch_areas(cloth.mesh, cloth.material)
                                for cloth in self._cloths])
        return np.concatenate([found, np.zeros(self._count - len(found))])


def _is_dragged(cloth: Cloth, density: float) -> bool:
    """Return whether air of a density [kg/m^3] drags the triangles of a cloth at any time."""
    fabric = cloth.material
    if _is_keyed(cloth, "air_drag") or fabric.air_drag is not None:
        return _is_keyed(cloth, "air_drag") or fabric.air_drag != 0.0
    return density > 0.0 and any(_is_keyed(cloth, name) or getattr(fabric, name)
                                 for name in ("drag_coefficient", "skin_friction"))


def _triangle_mass(cloth: Cloth, mass: FloatArray) -> FloatArray:
    """Return the mass (T,) [kg] that every corner of a triangle has at least, in proportion to its area."""
    mesh = cloth.mesh
    density = np.divide(mass, mesh.vertex_areas, out=np.zeros(len(mass)), where=mesh.vertex_areas > 0.0)
    least: FloatArray = mesh.areas * density[mesh.triangles].min(axis=1)
    return least


def _is_keyed(cloth: Cloth, name: str) -> bool:
    return cloth.keyed_material is not None and name in cloth.keyed_material.changes


def _material(cloth: Cloth, time: float) -> Material:
    return cloth.material if cloth.keyed_material is None else cloth.keyed_material.at(time)

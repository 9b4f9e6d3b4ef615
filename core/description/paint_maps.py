# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted values: a rubber map, a wrinkle map, and maps of stiffness.

002 paints garments with two maps, a wrinkle map and a rubber map. Both change the rest shape, before any model sees it:

    rubber    lengths at rest times s (V,) [-]: below 1 the cloth gathers, above 1 it has ease
    wrinkle   the surface wants a curvature c (V,) [1/m] more, across the folds that it is to have

and stiffness against stretching, shearing and bending is multiplied by factors (V,). An element has the mean of its
vertices' values, so that a map does not change what it is painted on where it is 1 (or no curvature).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..arrays import LARGEST, FloatArray, float_array, is_flag, is_number
from ..errors import ClothError
from ..stencils.stencil import ElementForce
from .mesh import ClothMesh


class Maps:
    """The maps of one cloth, checked. Each is one number or one per vertex (V,); None changes nothing.

    Args:
        mesh: what they are painted on.
        rest_scale: lengths at rest over those of the mesh [-], above 0.
        rest_curvature: curvature that the rest shape has more than the mesh [1/m], above 0 to the side that its
            normals point to. curl_angle: its direction from the warp [rad]: 0 curves the warp, pi/2 the weft.
        stretch, shear, bend: stiffness over that of the fabric [-], 0 or more.
    """

    def __init__(self, mesh: ClothMesh, *, rest_scale: Any = None, rest_curvature: Any = None, curl_angle: float = 0.0,
                 stretch: Any = None, shear: Any = None, bend: Any = None) -> None:
        self._name = mesh.name
        self.rest_scale = self._values(mesh, rest_scale, "rest_scale")
        self.rest_curvature = self._values(mesh, rest_curvature, "rest_curvature")
        self.stiffness = {what: values for what, given in (("stretch", stretch), ("shear", shear), ("bend", bend))
                          if (values := self._values(mesh, given, f"{what}_scale")) is not None}
        if not is_number(curl_angle):
            raise ClothError(f"curl_angle is {curl_angle!r}, it must be an angle [rad]", object_name=mesh.name)
        self.curl_angle = float(curl_angle)
        if self.rest_scale is not None:
            self._check(self.rest_scale, self.rest_scale > 0.0, "rest_scale", "above 0")
        for what, values in self.stiffness.items():
            self._check(values, values >= 0.0, f"{what}_scale", "0 or more")

    def rest_shape(self, mesh: ClothMesh) -> ClothMesh:
        """The mesh with the rest shape that is painted."""
        if self.rest_scale is not None:
            mesh = mesh.scaled(self.rest_scale)
        if self.rest_curvature is not None:
            mesh = mesh.curved(self.rest_curvature, self.curl_angle)
        return mesh

    def stiffened(self, forces: Sequence[ElementForce]) -> list[ElementForce]:
        """The forces with the stiffness that is painted.

        Raises:
            ClothError: a map of what none of the model's laws says that it resists.
        """
        result = list(forces)
        self._check_curl(forces)
        for what, factor in self.stiffness.items():
            rows = [row for row, force in enumerate(result) if what in _places(force)
                    and force.stencil.vertices.max(initial=-1) < len(factor)]      # further nodes are not painted
            if not rows and forces:
                laws = ", ".join(dict.fromkeys(force.law.name for force in forces))
                raise ClothError(f"{what}_scale is painted, but none of its laws ({laws}) has such a stiffness; "
                                 "leave that map out or choose another model", object_name=self._name)
            for row in rows:
                result[row] = _times(result[row], what, factor)
        return result

    def _check_curl(self, forces: Sequence[ElementForce]) -> None:
        if self.rest_curvature is not None and self.rest_curvature.any() and forces \
                and not any(getattr(force.law, "has_rest_curvature", False) for force in forces):
            raise ClothError("a rest curvature is painted, but nothing in its model can be curved at rest: either its "
                             "fabric has no bending stiffness, or the model is one of springs; leave that map out or "
                             "choose another model", object_name=self._name)

    def _values(self, mesh: ClothMesh, given: Any, what: str) -> FloatArray | None:
        if given is None:
            return None
        count = len(mesh.positions)
        try:
            if is_flag(given):
                raise ValueError(f"is {given}, expected a number or one per vertex")
            values = float_array(given)
            values = np.full(count, float(values)) if values.ndim == 0 else values
        except ValueError as error:
            raise ClothError(f"{what}: {error}", object_name=mesh.name) from None
        if values.shape != (count,):
            raise ClothError(f"{what} has shape {values.shape}, expected one number or ({count},), one per vertex",
                             object_name=mesh.name)
        self._check(values, np.abs(values) <= LARGEST, what, f"a number, {LARGEST:g} at most")
        return values

    def _check(self, values: FloatArray, good: Any, what: str, wanted: str) -> None:
        if not good.all():
            vertex = int(np.argmin(good))
            raise ClothError(f"{what} of vertex {vertex} is {values[vertex]:g} ({int((~good).sum())} such), it must be "
                             f"{wanted}", object_name=self._name)


def _places(force: ElementForce) -> Mapping[str, tuple[int, ...]]:
    """Which parameters of the law are stiffness against what; none where it does not say (see `Law`)."""
    places: Mapping[str, tuple[int, ...]] = getattr(force.law, "stiffness_parameters", {})
    return places


def _times(force: ElementForce, what: str, factor: FloatArray) -> ElementForce:
    """The force with its stiffness against `what` times the mean of `factor` (V,) over the vertices of each element."""
    stencil = force.stencil
    vertices = stencil.vertices if force.painted is None else force.painted
    takes_part = stencil.weights.any(axis=2) if force.painted is None else np.ones(vertices.shape, dtype=np.bool_)
    count = takes_part.sum(axis=1)                             # an element without any weight keeps what it has
    mean = np.where(count, (factor[vertices] * takes_part).sum(axis=1), 1.0) / np.maximum(count, 1)
    parameters = list(force.parameters)
    for place in _places(force)[what]:
        parameters[place] = parameters[place] * mean
    return replace(force, parameters=tuple(parameters))

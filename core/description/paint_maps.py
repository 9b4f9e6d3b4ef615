# SPDX-License-Identifier: GPL-3.0-or-later
"""Painted values: a rubber map, a wrinkle map, and maps of stiffness.

002 paints garments with two maps, a wrinkle map and a rubber map. Both change the rest shape of the mesh:

    rubber    lengths at rest times s (V,) [-]: below 1 the cloth gathers, above 1 it has ease
    wrinkle   curvature at rest c (V,) [1/m] in addition to that of the mesh, across the folds that are to appear

The other maps are factors (V,) of the stiffness against stretching, shearing and bending. An element has the mean of
the values of its vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import LARGEST, FloatArray, float_array, is_flag, is_number, takes
from ..errors import ClothError
from ..number_text import number_text
from .mesh import ClothMesh
from .vertex_values import shown


class PaintMaps:
    """The maps of one cloth, checked. Each is one number or one per vertex (V,); None changes nothing.

    Args:
        mesh: the mesh that is painted.
        rest_scale: lengths at rest, over those of the mesh [-], above 0; or a function of the time t [s] -> these.
        rest_curvature: curvature at rest, in addition to that of the mesh [1/m]; above 0 the surface curves to the side
            of its normals.
        curl_angle: direction of that curvature, from the warp [rad]: 0 curves the warp, pi/2 the weft.
        stretch, shear, bend: stiffness, over that of the fabric [-], 0 or more.

    Attributes:
        name: of the mesh, for messages.
        rest_scale, rest_curvature: (V,), None where nothing is painted; the scale at time 0.
        rest_scale_changes: whether the scale is a function of time.
        curl_angle: [rad].
        stiffness: {"stretch" | "shear" | "bend": factors (V,)} of the maps that are given.
    """

    def __init__(self, mesh: ClothMesh, *, rest_scale: Any = None, rest_curvature: Any = None, curl_angle: float = 0.0,
                 stretch: Any = None, shear: Any = None, bend: Any = None) -> None:
        self.name = mesh.name
        self.rest_scale_changes = callable(rest_scale)
        if self.rest_scale_changes and not takes(rest_scale, 1):
            raise ClothError(f"rest_scale is {shown(rest_scale)}, it must be a function of the time alone",
                             object_name=mesh.name)
        self._mesh, self._rest_scale = mesh, rest_scale
        self.rest_scale = self._values(mesh, rest_scale(0.0) if self.rest_scale_changes else rest_scale, "rest_scale")
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

    def rest_scale_at(self, time: float) -> FloatArray | None:
        """Return the scale (V,) at `time` [s], None where nothing is painted.

        Raises:
            ClothError: its function returns something else.
        """
        if not self.rest_scale_changes:
            return self.rest_scale
        what = f"rest_scale at {time:.4f} s"
        scale = self._values(self._mesh, self._rest_scale(time), what)
        if scale is None:
            raise ClothError(f"{what} is None, it must be a number or one per vertex", object_name=self.name)
        self._check(scale, scale > 0.0, what, "above 0")
        return scale

    def rest_shape(self, mesh: ClothMesh) -> ClothMesh:
        """Return the mesh with the painted rest shape."""
        if self.rest_scale is not None:
            mesh = mesh.scaled(self.rest_scale)
        if self.rest_curvature is not None:
            mesh = mesh.curved(self.rest_curvature, self.curl_angle)
        return mesh

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
        self._check(values, np.abs(values) <= LARGEST, what, f"a number, {number_text(LARGEST)} at most")
        return values

    def _check(self, values: FloatArray, good: Any, what: str, wanted: str) -> None:
        if not good.all():
            vertex = int(np.argmin(good))
            raise ClothError(f"{what} of vertex {vertex} is {number_text(values[vertex])} ({int((~good).sum())} such), "
                             f"it must be {wanted}", object_name=self.name)

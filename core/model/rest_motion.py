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
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray
from ..description.cloth import Cloth
from ..description.mesh import SLIVER
from ..errors import ClothError, MeshError
from ..stencils.bending.hinge import angle
from ..stencils.bending.patch_geometry import PatchGeometry, every_rest_stencil
from ..stencils.bending.rest_curvature import RestCurvature
from ..stencils.stencil import ElementForce
from .force_families import families
from .rest_values import CurvatureColumns, metrics, resized, sizes, square_root, stretched, turned


class RestMotion:
    """The moving rest shape of one cloth.

    Args:
        cloth: one with `rest_motion`.
        forces: those of its model, in the numbering of all particles.
        first: number of its first particle there.

    Attributes:
        forces: those of the model that take part in the motion, in the rest shape at time 0.

    Raises:
        ClothError: the model has particles besides the vertices.
    """

    def __init__(self, cloth: Cloth, forces: Sequence[ElementForce], first: int) -> None:
        self._cloth, self._first, count = cloth, first, len(cloth.mesh.positions)
        if any(((force.stencil.vertices < first) | (force.stencil.vertices >= first + count)).any()
               for force in forces):
            raise ClothError(f"its rest shape moves, but its model '{cloth.model}' has a rest shape inside of the "
                             "mesh, which does not; choose another model, or let the rest shape stand still",
                             object_name=cloth.name)
        self._flat = bool(cloth.options.get("flat", False))
        self._patches: CurvatureColumns | None = None
        self._rest: FloatArray = np.zeros((0, 3))
        self.forces = list(forces)
        if not self._flat and cloth.options.get("bending") == "patch":
            self._make_all_patches_curved()
        self._start = self._positions(0.0)
        self._families = [family for family in families(self.forces) if not family[0].law.constant_tangent]

    def at(self, time: float) -> list[ElementForce]:
        """Return the forces at `time` [s], in the order of `forces`."""
        x = self._positions(time)
        if np.array_equal(x, self._start):
            return list(self.forces)
        result = list(self.forces)
        for family in self._families:
            changed = self._changed(family, x, time)
            for force, new in zip(family, changed, strict=True):
                result[next(place for place, old in enumerate(self.forces) if old is force)] = new
        return result

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

    def _changed(self, family: Sequence[ElementForce], x: FloatArray, time: float) -> list[ElementForce]:
        kind, stencil = getattr(family[0].law, "rest_kind", None), family[0].stencil
        if kind == "membrane":
            return stretched(family, self._stretch(family, x, time))
        if kind == "angle":
            if self._flat:
                return list(family)
            by = angle(stencil.gather(x)) - angle(stencil.gather(self._start))
            return [turned(force, force.parameters[1] + by) for force in family]
        if kind == "curvature":
            if self._patches is None:
                return list(family)
            by = self._patches.normal_parts(x) - self._patches.normal_parts(self._start)
            scale = self._cloth.mesh.triangle_scale[:, None]
            return [self._patches.force(force, self._rest + scale * by) for force in family]
        return resized(family, sizes(stencil, x) / sizes(stencil, self._start))

    def _stretch(self, family: Sequence[ElementForce], x: FloatArray, time: float) -> FloatArray:
        """Return U (T, 2, 2) of the triangles of a membrane."""
        stencil = family[0].stencil
        inverse = np.linalg.inv(square_root(metrics(self._start, stencil)))
        C = inverse @ metrics(x, stencil) @ inverse
        area = np.sqrt(np.maximum(np.linalg.det(C), 0.0))
        if not area.min(initial=1.0) > SLIVER:                                             # nan fails too
            t = int(np.argmin(area))
            raise MeshError(f"triangle {t} (vertices {(stencil.vertices[t] - self._first).tolist()}) of its moving "
                            f"rest shape has {area[t]:.2g} times the area at the start at {time:.4f} s; correct what "
                            "deforms it, or switch off the moving rest shape", object_name=self._cloth.name)
        return square_root(C)

    def _make_all_patches_curved(self) -> None:
        """Let every triangle have a law of its rest curvature, so that the matrix has room for all of them."""
        mesh, material = self._cloth.mesh, self._cloth.material
        at = next((place for place, force in enumerate(self.forces) if force.law.name == "quadratic"), None)
        if at is None:
            return
        flat = self.forces[at]
        patch = PatchGeometry(mesh, material.bend)
        stencil, columns = every_rest_stencil(patch)
        stencil = replace(stencil, vertices=stencil.vertices + self._first)
        k = flat.parameters[0].reshape(-1, 3)
        most = np.maximum(k.max(axis=1), np.finfo(float).tiny)
        self._patches = CurvatureColumns(stencil, columns, k / most[:, None])
        self._rest = patch.rest
        law = ElementForce(stencil, RestCurvature(), (most, np.zeros(len(most))))
        law = self._patches.force(law, patch.rest)
        place = next((i for i, force in enumerate(self.forces) if force.law.name == law.law.name), None)
        if place is None:
            self.forces.insert(at + 1, law)
        else:
            self.forces[place] = law

# SPDX-License-Identifier: GPL-3.0-or-later
"""One numbering of the particles of all cloths: the vertices of one mesh after the other, then all inner nodes.

Contact and results concern the first of them, the vertices, only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..arrays import FloatArray, IntArray
from ..description.cloth import Cloth
from ..description.material import Material
from ..description.mesh import ClothMesh
from ..stencils.models.built_model import BuiltModel
from ..stencils.stencil import ElementForce
from .force_families import families


class SolverNodes:
    """N particles, the first V of them vertices.

    Args:
        cloths: the cloths.
        made: what the model of each has built.

    Attributes:
        surface_count: V.
        count: N.
        slices: per cloth its range of vertices.
        inner: per cloth its range of inner nodes.
        mass: (N,) [kg].
        carried: (N,) mass that moves with a particle that is held or in contact [kg].
        links: (L, 2) pairs of neighbours besides edges.
        rest, start: (N, 3) positions [m].
        velocities: (N, 3) at the start [m/s].
        forces: per cloth those of its model, in this numbering.
    """

    def __init__(self, cloths: Sequence[Cloth], made: Sequence[BuiltModel]) -> None:
        vertices, inner = [len(c.positions) for c in cloths], [len(b.inner_nodes) for b in made]
        bounds = np.cumsum([0, *vertices, *inner])
        spans = [slice(int(a), int(b)) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
        self.slices, self.inner = spans[:len(cloths)], spans[len(cloths):]
        self.surface_count, self.count = int(bounds[len(cloths)]), int(bounds[-1])
        masses = [patch_areas(c.mesh, c.material) * c.material.areal_density if b.mass is None else b.mass
                  for c, b in zip(cloths, made, strict=True)]
        carried = [m if b.effective_mass is None else np.concatenate([b.effective_mass, m[len(b.effective_mass):]])
                   for m, b in zip(masses, made, strict=True)]
        self.mass, self.carried = self._joined(masses), self._joined(carried)
        self.rest = self._joined([np.concatenate([c.mesh.positions, b.inner_nodes])
                                  for c, b in zip(cloths, made, strict=True)])
        self.start = self._joined([_extended(c.mesh.positions, c.positions, b.inner_nodes)
                                   for c, b in zip(cloths, made, strict=True)])
        self.velocities = self._joined([_extended(c.mesh.positions, c.velocities, b.inner_nodes)
                                        for c, b in zip(cloths, made, strict=True)])
        self.links: IntArray = np.concatenate([
            np.zeros((0, 2), dtype=np.int64), *(self._numbered(k, b.neighbours) for k, b in enumerate(made))])
        self.forces = [self._moved(k, b.forces) for k, b in enumerate(made)]

    def padded(self, surface: FloatArray) -> FloatArray:
        """Return a quantity of the vertices (V,) as one of all particles (N,), zero for inner nodes."""
        return np.concatenate([surface, np.zeros(self.count - self.surface_count)])

    def _joined(self, parts: Sequence[FloatArray]) -> FloatArray:
        """Return quantities of each cloth's vertices and inner nodes as one array."""
        vertices = [part[:s.stop - s.start] for part, s in zip(parts, self.slices, strict=True)]
        inner = [part[s.stop - s.start:] for part, s in zip(parts, self.slices, strict=True)]
        return np.concatenate([*vertices, *inner])

    def _numbered(self, cloth: int, own: IntArray) -> IntArray:
        """Return numbers of a cloth's own particles in the numbering of all."""
        first, count = self.slices[cloth].start, self.slices[cloth].stop - self.slices[cloth].start
        moved: IntArray = own + np.where(own < count, first, self.inner[cloth].start - count)
        return moved

    def _moved(self, cloth: int, forces: Sequence[ElementForce]) -> list[ElementForce]:
        """Return a cloth's forces in the numbering of all. Forces that share a stencil go on sharing one."""
        result = list(forces)
        for family in families(forces):
            stencil = family[0].stencil
            moved = replace(stencil, vertices=self._numbered(cloth, stencil.vertices))
            result = [ElementForce(moved, force.law, force.parameters, force.damping)
                      if force.stencil is stencil else force for force in result]
        return result


def patch_areas(mesh: ClothMesh, material: Material) -> FloatArray:
    """Return the area of fabric at each vertex (V,) [m^2].

    It is a third of each triangle and half of each loose edge's strip; for a vertex without either, a square as wide as
    a strip.
    """
    width = material.thread_width
    return mesh.vertex_areas + width * mesh.vertex_lengths + width ** 2 * mesh.loose_points


def _extended(rest: FloatArray, field: FloatArray, inner: FloatArray) -> FloatArray:
    """Return a field (V, 3) of vertices extended to inner nodes, by the affine field that fits it best.

    `rest` (V, 3) [m] and `inner` (N, 3) [m] are the positions at rest. The result is exact for a mesh that starts as
    modelled, or turned, or with a rigid motion.
    """
    if len(inner) == 0:
        return field
    centre = rest.mean(axis=0)
    known = np.column_stack([rest - centre, np.ones(len(rest))])
    affine = np.linalg.lstsq(known, field, rcond=None)[0]
    return np.concatenate([field, np.column_stack([inner - centre, np.ones(len(inner))]) @ affine])

# SPDX-License-Identifier: GPL-3.0-or-later
"""The result of a model that has more than forces between the vertices of a mesh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arrays import FloatArray, IntArray
from ..stencil import ElementForce


@dataclass(frozen=True)
class BuiltModel:
    """Forces of one cloth with V vertices, with further nodes, masses and neighbours.

    Attributes:
        forces: element forces; indices below V are vertices of the mesh, indices from V on are inner nodes.
        inner_nodes (N, 3) [m]: rest positions of further nodes. They are not part of the surface: contact, pins and
            results leave them out.
        mass (V + N,) [kg]: masses of vertices and nodes; None for those of the fabric.
        effective_mass (V,) [kg]: mass that moves with a vertex when a pin or contact holds it, from which their
            stiffness is chosen; None for the vertex's own mass.
        neighbours (L, 2): pairs of neighbours in addition to the mesh's edges.
    """

    forces: Sequence[ElementForce]
    inner_nodes: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    mass: FloatArray | None = None
    effective_mass: FloatArray | None = None
    neighbours: IntArray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a model may make of a mesh besides forces between its vertices: further nodes, other masses and neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...arrays import FloatArray, IntArray
from ..stencil import ElementForce


@dataclass(frozen=True)
class BuiltModel:
    """One cloth's model where element forces on its V vertices do not say all.

    Attributes:
        forces: with indices of the mesh's vertices, and from V on those of the inner nodes.
        inner (N, 3) [m]: where further nodes are at rest. They have no surface: contact, pins and results never see
            them.
        mass (V + N,) [kg]: of vertices and nodes; None where the fabric says it.
        carried (V,) [kg]: the mass that moves when something takes hold of a vertex, to choose how stiffly; None: its
            own.
        links (L, 2): pairs of neighbours besides the mesh's edges.
    """

    forces: Sequence[ElementForce]
    inner: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    mass: FloatArray | None = None
    carried: FloatArray | None = None
    links: IntArray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

# SPDX-License-Identifier: GPL-3.0-or-later
"""The dashpots of a fabric, along every edge of its mesh.

k_d [kg/s] of a sheet's edges is the material's own: edges of k_d each resist a rate of strain alike on every mesh of
one kind, as springs do. Of a loose edge it is that of a strip, k_d width / L.
"""

from __future__ import annotations

import numpy as np

from ...description.material import Material
from ...description.mesh import ClothMesh
from ..stencil import ElementForce
from .damping_laws import Dashpot, IsotropicDashpot
from .spring import edge_stencil

PARAMETER_DAMPING = 1.0
"""Damping of an element force is a ratio to the stiffness [s]; the parameter k_d is meant as it is."""


def dashpots(mesh: ClothMesh, material: Material) -> list[ElementForce]:
    """Of each edge of the mesh; none where the fabric has no such damping."""
    laws = ((material.isotropic_damping, IsotropicDashpot()), (material.spring_damping, Dashpot()))
    if not any(kd for kd, _ in laws) or len(mesh.edges) == 0:
        return []
    stencil, share = edge_stencil(mesh.edges), np.ones(len(mesh.edges))
    share[len(mesh.edges) - len(mesh.loose_edges):] = material.thread_width / mesh.loose_lengths
    return [ElementForce(stencil, law, (kd * share,), PARAMETER_DAMPING) for kd, law in laws if kd]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The damping forces of a fabric along every edge of its mesh.

The edges of a sheet have the material's k_d [kg/s]. On meshes of one pattern, edges of equal k_d resist a strain rate
equally at every resolution, as springs do. A loose edge stands for a strip of fabric and has k_d width / L.
"""

from __future__ import annotations

import numpy as np

from ...description.material import Material
from ...description.mesh import ClothMesh
from ..stencil import ElementForce
from .damping_laws import Dashpot, IsotropicDashpot
from .spring import edge_stencil

PARAMETER_DAMPING = 1.0
"""Damping ratio of an element force whose parameter is the damping coefficient itself [-]."""


def dashpots(mesh: ClothMesh, material: Material) -> list[ElementForce]:
    """Return the dashpots along all edges of the mesh; an empty list if the fabric has no such damping."""
    laws = ((material.isotropic_damping, IsotropicDashpot()), (material.spring_damping, Dashpot()))
    if not any(kd for kd, _ in laws) or len(mesh.edges) == 0:
        return []
    stencil, share = edge_stencil(mesh.edges), np.ones(len(mesh.edges))
    share[len(mesh.edges) - len(mesh.loose_edges):] = material.thread_width / mesh.loose_lengths
    return [ElementForce(stencil, law, (kd * share,), PARAMETER_DAMPING) for kd, law in laws if kd]

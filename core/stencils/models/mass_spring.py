# SPDX-License-Identifier: GPL-3.0-or-later
"""The mass-spring model of 003 (Provot 1995): structural, shear and bend springs.

    structural   the edges of the faces             resist stretch
    shear        the diagonals of quads             resist shear; on triangles the edges do both
    bend         second neighbours of a quad mesh, or the vertices opposite an edge of two triangles

Structural and shear springs are made so stiff that together they are the fabric (`lattice_springs`), which has one
limit: springs that are stiff against shear couple warp and weft.

A bend spring across a fold of angle theta gets shorter by theta^2: a linear spring there has no stiffness against
a gentle curve, whatever its k. So k is that with which it stores at 90 degrees what the fabric would, B w theta^2 / 2h:

    k = k_h (pi/2)^2 / (R(0) - R(90 degrees))^2                                    [N/m]

Gently curved, the sheet is softer than the fabric, and the more so the finer the mesh: `baraff_witkin` and
`thread_cloth` are not. Beside long thin triangles such a spring lies nearly along the fold, R hardly changes, and k
would make the sheet several times as stiff in its plane: k L is at most FOLDS of what structural springs have there.
"""

from __future__ import annotations

import numpy as np

from ...arrays import is_flag
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ..springs.bend_springs import bend_springs
from ..springs.sheet_springs import sheet_springs
from ..springs.spring import Spring, edge_stencil
from ..stencil import ElementForce
from .baraff_witkin import thread_springs

LARGEST_BEND_SHARE = 0.1
"""Most k L of a bend spring over that of the median structural one [-]."""


def build(mesh: ClothMesh, material: Material, *, flat: bool = False) -> list[ElementForce]:
    """Element forces of a mesh of quads, triangles and loose edges.

    Args:
        mesh, material: what it is made of.
        flat: the sheet wants to be flat instead of as it is modelled.
    """
    if not is_flag(flat):
        raise ClothError(f"flat is {flat!r}, it must be True or False", object_name=mesh.name)
    forces = []
    if len(mesh.triangles):
        structural, shear = sheet_springs(mesh, material)
        forces += [ElementForce(edge_stencil(links.pairs), Spring(), (links.stiffness, links.rest), material.damping)
                   for links in (structural, shear) if len(links.pairs)]
        bends = bend_springs(mesh, material.bend, flat=flat)
        if len(bends.pairs) and any(material.bend):
            zero = np.zeros(len(bends.pairs))
            shorter = bends.lengths(zero) - bends.lengths(zero + 0.5 * np.pi)
            rest = bends.lengths(bends.angle)
            most = (LARGEST_BEND_SHARE * np.median(structural.stiffness * structural.rest) / rest
                    if any(material.stretch) else np.inf)
            k = np.minimum(bends.rigidity * (0.5 * np.pi / shorter) ** 2, most)
            forces.append(ElementForce(edge_stencil(bends.pairs), Spring(), (k, rest), material.damping))
    if len(mesh.loose_edges):
        forces.append(thread_springs(mesh, material))
    return forces

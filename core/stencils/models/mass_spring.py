# SPDX-License-Identifier: GPL-3.0-or-later
"""The mass-spring model (Provot 1995; Susin 2015, 003): structural, shear and bend springs.

    structural   the edges of the faces             resist stretch
    shear        the diagonals of quads             resist shear; on triangles the edges resist both
    bend         second neighbours of a quad mesh, or the vertices opposite an edge of two triangles

Structural and shear springs get the stiffnesses that together make the fabric (`sheet_springs`), with one limit:
springs that resist shear couple warp and weft.

A bend spring across a fold of angle theta shortens by an amount proportional to theta^2. A linear spring therefore has
no stiffness against a gentle curve. Its k is chosen so that at 90 degrees it stores the energy of the fabric, B w
theta^2 / 2h:

    k = k_h (pi/2)^2 / (R(0) - R(90 degrees))^2                                    [N/m]

A gently curved sheet is softer than the fabric, more so on finer meshes; `baraff_witkin` and `thread_cloth` do not have
this limit. Beside long thin triangles such a spring is nearly parallel to the fold and R hardly changes, so k would
make the sheet several times too stiff in its plane. k L is therefore at most LARGEST_BEND_SHARE of the structural
springs'.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...arrays import FloatArray, is_flag
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ..springs.bend_springs import bend_springs
from ..springs.sheet_springs import sheet_springs
from ..springs.spring import Spring, edge_stencil
from ..springs.spring_forces import spring_force
from ..stencil import ElementForce
from .baraff_witkin import thread_springs

LARGEST_BEND_SHARE = 0.1
"""Largest k L of a bend spring, over the median k L of the structural springs [-]."""


def build(mesh: ClothMesh, material: Material, *, flat: bool = False) -> list[ElementForce]:
    """Return the element forces of a mesh of quads, triangles and loose edges.

    Args:
        mesh, material: the mesh and its fabric.
        flat: True if the sheet is flat at rest, False if its modelled shape is the rest shape.
    """
    if not is_flag(flat):
        raise ClothError(f"flat is {flat!r}, it must be True or False", object_name=mesh.name)
    forces = []
    if len(mesh.triangles):
        structural, shear = sheet_springs(mesh, material)
        pushed = _pushed(mesh, material) if material.two_sided else (None, None)
        shear_damping = material.damping_of("shear")
        dampings = (material.damping, material.damping_of("compression")), (shear_damping, shear_damping)
        forces += [spring_force(edge_stencil(s.pairs), s.stiffness, c, s.rest, damping)
                   for s, c, damping in zip((structural, shear), pushed, dampings, strict=True) if len(s.pairs)]
        bends = bend_springs(mesh, material.bend, flat=flat)
        if len(bends.pairs) and any(material.bend):
            zero = np.zeros(len(bends.pairs))
            shortening = bends.lengths(zero) - bends.lengths(zero + 0.5 * np.pi)
            rest = bends.lengths(bends.angle)
            most = (LARGEST_BEND_SHARE * np.median(structural.stiffness * structural.rest) / rest
                    if any(material.stretch) else np.inf)
            k = np.minimum(bends.rigidity * (0.5 * np.pi / shortening) ** 2, most)
            forces.append(ElementForce(edge_stencil(bends.pairs), Spring(), (k, rest),
                                       material.damping_of("bend")))
    if len(mesh.loose_edges):
        forces.append(thread_springs(mesh, material))
    return forces


def _pushed(mesh: ClothMesh, material: Material) -> list[FloatArray]:
    """Return the stiffness against compression of structural and of shear springs [N/m].

    The fabric that they are fitted to has less shear where its stretch is less, because every spring of a sheet without
    resistance to compression has to be slack.
    """
    push = material.compression or material.stretch
    if not any(push):
        return [0.0 * springs.stiffness for springs in sheet_springs(mesh, material)]
    part = min(c / k for c, k in zip(push, material.stretch, strict=True) if k > 0.0) if any(material.stretch) else 1.0
    fabric = replace(material, stretch=push, shear=min(part, 1.0) * material.shear)
    return [springs.stiffness for springs in sheet_springs(mesh, fabric)]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The immediate buckling model (002; Choi and Ko 2002): links that pull, and links that push by bending at once.

    type 1   edges and the diagonals of quads: pull when longer than at rest, nothing when shorter
    type 2   second neighbours of a quad mesh, or the vertices opposite an edge of two triangles: arcs

Type 1 is as stiff as the springs of `mass_spring`. A type 2 link of length L over a fold of rigidity k_h = B w / h has

    k_b = k_h R^3 / (2 h)^2 / 4          [N m^2]       B w / 2 on a grid, because links overlap by half

so that a sheet curved evenly stores B kappa^2 / 2 per area. It holds until it buckles with the stiffness c_b of type 1,
as far as that, spread over its length, goes; `hold` scales it.
"""

from __future__ import annotations

import numpy as np

from ...arrays import LARGEST, is_flag, is_number
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ..springs.bend_springs import bend_springs
from ..springs.buckling_arc import BucklingArc, arc_parameters
from ..springs.sheet_springs import sheet_springs
from ..springs.spring import edge_stencil
from ..springs.tension_spring import TensionSpring
from ..stencil import ElementForce
from .baraff_witkin import thread_springs


def build(mesh: ClothMesh, material: Material, *, flat: bool = False, hold: float = 1.0) -> list[ElementForce]:
    """Element forces of a mesh of quads, triangles and loose edges.

    Args:
        mesh, material: what it is made of.
        flat: the sheet wants to be flat instead of as it is modelled.
        hold: c_b over the stiffness of the links along the same edges [-].
    """
    if not (is_number(hold) and 0.0 < hold <= LARGEST):
        raise ClothError(f"hold is {hold!r}, it must be a number above 0, {LARGEST:g} at most", object_name=mesh.name)
    if not is_flag(flat):
        raise ClothError(f"flat is {flat!r}, it must be True or False", object_name=mesh.name)
    forces = []
    if len(mesh.triangles):
        usual = []
        for links in sheet_springs(mesh, material):
            if len(links.pairs):
                forces.append(ElementForce(edge_stencil(links.pairs), TensionSpring(), (links.stiffness, links.rest),
                                           material.damping))
                usual.append(float(np.median(links.stiffness * links.rest)))
        bends = bend_springs(mesh, material.bend, flat=flat)
        if len(bends.pairs) and any(material.bend):
            straight, rest = bends.lengths(np.zeros(len(bends.pairs))), bends.lengths(bends.angle)
            k_b = bends.rigidity * straight ** 3 / (4.0 * bends.heights.sum(axis=1) ** 2)
            forces.append(ElementForce(edge_stencil(bends.pairs), BucklingArc(),
                                       arc_parameters(k_b, rest, hold * usual[0] / rest), material.damping))
    if len(mesh.loose_edges):
        forces.append(thread_springs(mesh, material))
    return forces

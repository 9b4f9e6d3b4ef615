# SPDX-License-Identifier: GPL-3.0-or-later
"""The immediate buckling model (Choi and Ko 2002; 002): springs that only pull, and edges that buckle at once.

    type 1   edges and the diagonals of quads: they pull when longer than at rest, and have no force when shorter
    type 2   second neighbours of a quad mesh, or the vertices opposite an edge of two triangles: buckling arcs

Type 1 has the stiffnesses of the springs in `mass_spring`. An arc of length L over a fold of rigidity k_h = B w / h has

    k_b = k_h R^3 / (2 h)^2 / 4          [N m^2]       B w / 2 on a grid, because arcs overlap by half

so that an evenly curved sheet stores B kappa^2 / 2 per area. Before it buckles, an arc has the stiffness c_b, which is
`hold` times the median k L of the structural springs, over the arc's length.
"""

from __future__ import annotations

import numpy as np

from ...arrays import LARGEST, is_flag, is_number
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ...number_text import number_text
from ..springs.bend_springs import bend_springs
from ..springs.buckling_arc import BucklingArc, arc_parameters
from ..springs.sheet_springs import sheet_springs
from ..springs.spring import edge_stencil
from ..springs.tension_spring import TensionSpring
from ..stencil import ElementForce
from .baraff_witkin import thread_springs


def build(mesh: ClothMesh, material: Material, *, flat: bool = False, hold: float = 1.0) -> list[ElementForce]:
    """Return the element forces of a mesh of quads, triangles and loose edges.

    Args:
        mesh, material: the mesh and its fabric.
        flat: True if the sheet is flat at rest, False if its modelled shape is the rest shape.
        hold: c_b over the stiffness of the structural springs in the same direction [-].
    """
    if not (is_number(hold) and 0.0 < hold <= LARGEST):
        raise ClothError(f"hold is {hold!r}, it must be a number above 0, {number_text(LARGEST)} at most",
                         object_name=mesh.name)
    if not is_flag(flat):
        raise ClothError(f"flat is {flat!r}, it must be True or False", object_name=mesh.name)
    forces = []
    if len(mesh.triangles):
        axial_stiffness = []
        for springs in sheet_springs(mesh, material):
            if len(springs.pairs):
                forces.append(ElementForce(edge_stencil(springs.pairs), TensionSpring(),
                                           (springs.stiffness, springs.rest), material.damping))
                axial_stiffness.append(float(np.median(springs.stiffness * springs.rest)))
        bends = bend_springs(mesh, material.bend, flat=flat)
        if len(bends.pairs) and any(material.bend):
            straight, rest = bends.lengths(np.zeros(len(bends.pairs))), bends.lengths(bends.angle)
            k_b = bends.rigidity * straight ** 3 / (4.0 * bends.heights.sum(axis=1) ** 2)
            forces.append(ElementForce(edge_stencil(bends.pairs), BucklingArc(),
                                       arc_parameters(k_b, rest, hold * axial_stiffness[0] / rest),
                                       material.damping_of("bend")))
    if len(mesh.loose_edges):
        forces.append(thread_springs(mesh, material))
    return forces

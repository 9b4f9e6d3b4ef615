# SPDX-License-Identifier: GPL-3.0-or-later
"""Ropes (Kim 2008, 000): chains and branching nets of loose edges, as springs, with bending at vertices of two edges.

A rope stands for a strip of the fabric that is `thread_width` wide. It has the axial stiffness EA = K_u width [N], the
bending stiffness k_b = B width [N m^2], and the mass of the strip. It is straight at rest.
"""

from __future__ import annotations

import numpy as np

from ...arrays import IntArray, is_flag
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError, MeshError
from ..bending.thread_curvature import curvature_force
from ..stencil import ElementForce
from .baraff_witkin import thread_springs


def build(mesh: ClothMesh, material: Material, *, bending: bool = True) -> list[ElementForce]:
    """Return the element forces of a mesh of loose edges.

    Args:
        mesh, material: the mesh and its fabric.
        bending: True if the rope resists bending.

    Raises:
        MeshError: the mesh has faces.
    """
    if len(mesh.triangles):
        raise MeshError(f"has faces (triangle {mesh.triangles[0].tolist()} the first), a rope is edges alone; delete "
                        "them (Delete > Only Faces), or take a model of cloth", object_name=mesh.name)
    if not is_flag(bending):
        raise ClothError(f"bending is {bending!r}, it must be True or False", object_name=mesh.name)
    forces = [thread_springs(mesh, material)]
    at = chain_vertices(mesh)
    if bending and len(at) and material.bend[0]:
        length = dict(zip(map(tuple, mesh.loose_edges.tolist()), mesh.loose_lengths.tolist(), strict=True))
        before = np.array([length[min(a, b), max(a, b)] for a, b, _ in at.tolist()])
        after = np.array([length[min(b, c), max(b, c)] for _, b, c in at.tolist()])
        forces.append(curvature_force(at, before, after, np.full(len(at), material.bend[0] * material.thread_width),
                                      material.damping_of("bend")))
    return forces


def chain_vertices(mesh: ClothMesh) -> IntArray:
    """Return the vertices of exactly two edges with their two neighbours (n, 3), the vertex itself in the middle.

    The neighbour with the smaller index comes first.
    """
    ends = np.concatenate([mesh.loose_edges, mesh.loose_edges[:, ::-1]])
    ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
    degree = np.bincount(ends[:, 0], minlength=len(mesh.positions))
    inner = np.flatnonzero(degree == 2)
    first = np.searchsorted(ends[:, 0], inner)
    rows: IntArray = np.stack([ends[first, 1], inner, ends[first + 1, 1]], axis=1)
    return rows

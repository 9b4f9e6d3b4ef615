# SPDX-License-Identifier: GPL-3.0-or-later
"""The ways a sheet can resist bending, by name, for models to choose from.

`patch` has the stiffness of the fabric on every triangulation and is what a model should take. `hinge` is 001's,
`quadratic` its linearisation; both depend on the triangulation (docs/bending.md gives the figures).
"""

from __future__ import annotations

import numpy as np

from ...arrays import is_flag
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ..quadratic import Quadratic
from ..stencil import ElementForce, Stencil
from .hinge import Hinge, hinge_parameters, hinge_stencil
from .isometric import isometric_parameters, isometric_stencil
from .patch_geometry import PatchGeometry, flat_stencil, flat_stiffness, rest_stencil
from .rest_curvature import RestCurvature

LAWS = ("patch", "hinge", "quadratic")
"""Names that `bend_forces` takes."""


def bend_forces(mesh: ClothMesh, material: Material, law: str = "patch", *, flat: bool = False) -> list[ElementForce]:
    """Element forces against bending.

    Args:
        mesh, material: what it is made of.
        law: one of LAWS.
        flat: the sheet wants to be flat, whatever shape it is modelled in; `quadratic` always does.

    Returns:
        Forces with vertex indices of the mesh; none where nothing can bend or the fabric does not resist.
    """
    if not isinstance(law, str) or law not in LAWS:
        raise ClothError(f"no bending law '{law}'; there are: {', '.join(LAWS)}", object_name=mesh.name)
    if not is_flag(flat):
        raise ClothError(f"flat is {flat!r}, it must be True or False", object_name=mesh.name)
    if len(mesh.hinges) == 0 or not any(material.bend):
        return []
    if law == "hinge":
        return [ElementForce(hinge_stencil(mesh), Hinge(), hinge_parameters(mesh, material.bend, flat=flat),
                             material.damping)]
    if law == "quadratic":
        if mesh.curvature.any():
            raise ClothError("a rest curvature is painted, but the bending law 'quadratic' is always flat at rest; "
                             "choose 'patch' or 'hinge'", object_name=mesh.name)
        return [ElementForce(isometric_stencil(mesh), Quadratic(), isometric_parameters(mesh, material.bend),
                             material.damping)]
    return _patch_forces(mesh, material, flat)


def _patch_forces(mesh: ClothMesh, material: Material, flat: bool) -> list[ElementForce]:
    patch = PatchGeometry(mesh, material.bend, flat=flat)
    # both are as stiff as what is painted on the triangle: a part of one without the other is no energy of a shape
    forces = [ElementForce(flat_stencil(patch), Quadratic(), (flat_stiffness(patch),), material.damping,
                           np.repeat(mesh.triangles, 3, axis=0))]
    if len(patch.curved):
        k, rho = patch.stiffness[patch.curved], (patch.rest[patch.curved]**2).sum(axis=1)
        forces.append(ElementForce(rest_stencil(patch), RestCurvature(), (k, rho),
                                   painted=mesh.triangles[patch.curved]))
    shared = np.flatnonzero(mesh.hinge_branches)
    if len(shared):                                   # seams of three and more triangles, where no patch reaches across
        stencil = hinge_stencil(mesh)
        k, rest = hinge_parameters(mesh, material.bend, flat=flat)
        forces.append(ElementForce(Stencil(stencil.vertices[shared], stencil.weights[shared]), Hinge(),
                                   (k[shared], rest[shared]), material.damping))
    return forces

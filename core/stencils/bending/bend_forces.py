# SPDX-License-Identifier: GPL-3.0-or-later
"""The bending laws of a sheet, by name, for models to choose from.

`patch` has the stiffness of the fabric on every triangulation; models use it by default. `hinge` is the law of Baraff
and Witkin 1998 and `quadratic` its linearisation. Both depend on the triangulation (docs/bending.md gives figures).
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
    """Return the element forces against bending.

    Args:
        mesh, material: the sheet and its fabric.
        law: one of LAWS.
        flat: True if the sheet is flat at rest for every modelled shape; `quadratic` always is.

    Returns:
        Forces with vertex indices of the mesh. The list is empty if the mesh has no inner edge or the fabric no bending
        stiffness.
    """
    if not isinstance(law, str) or law not in LAWS:
        raise ClothError(f"no bending law '{law}'; there are: {', '.join(LAWS)}", object_name=mesh.name)
    if not is_flag(flat):
        raise ClothError(f"flat is {flat!r}, it must be True or False", object_name=mesh.name)
    if len(mesh.hinges) == 0 or not any(material.bend):
        return []
    if law == "hinge":
        return [ElementForce(hinge_stencil(mesh), Hinge(), hinge_parameters(mesh, material.bend, flat=flat),
                             material.damping_of("bend"))]
    if law == "quadratic":
        if mesh.curvature.any():
            raise ClothError("a rest curvature is painted, but the bending law 'quadratic' is always flat at rest; "
                             "choose 'patch' or 'hinge'", object_name=mesh.name)
        return [ElementForce(isometric_stencil(mesh), Quadratic(), isometric_parameters(mesh, material.bend),
                             material.damping_of("bend"))]
    return _patch_forces(mesh, material, flat)


def _patch_forces(mesh: ClothMesh, material: Material, flat: bool) -> list[ElementForce]:
    """Return the forces of the law `patch`."""
    patch = PatchGeometry(mesh, material.bend, flat=flat)
    # both parts use the stiffness painted on the triangle, because only their sum has the modelled rest shape
    forces = [ElementForce(flat_stencil(patch), Quadratic(), (flat_stiffness(patch),), material.damping_of("bend"),
                           np.repeat(mesh.triangles, 3, axis=0))]
    if len(patch.curved):
        k, rho = patch.stiffness[patch.curved], (patch.rest[patch.curved]**2).sum(axis=1)
        forces.append(ElementForce(rest_stencil(patch), RestCurvature(), (k, rho),
                                   painted_vertices=mesh.triangles[patch.curved]))
    shared = np.flatnonzero(mesh.hinge_branches)
    if len(shared):                                   # edges of three or more triangles, which patches do not cross
        stencil = hinge_stencil(mesh)
        k, rest = hinge_parameters(mesh, material.bend, flat=flat)
        forces.append(ElementForce(Stencil(stencil.vertices[shared], stencil.weights[shared]), Hinge(),
                                   (k[shared], rest[shared]), material.damping_of("bend")))
    return forces

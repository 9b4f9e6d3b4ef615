# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of projective dynamics (Bouaziz et al. 2014, 004): triangles that keep their rest shape up to a rotation.

Bending is that of `bend_forces`. The source has w = G = E / (2 (1 + nu)), the shear modulus [Pa]; a sheet of thickness
t has w = G t [N/m]. Without E, the fabric's stretch stiffness is used, w = (k_u + k_v) / 2: a strip then resists
tension as the fabric does. The energy does not distinguish warp and weft, and w also determines the shear modulus,
which is w / 2.
"""

from __future__ import annotations

from ...arrays import LARGEST, is_number
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ...number_text import number_text
from ..bending.bend_forces import bend_forces
from ..membranes.projective_local_step import triangle_forces
from ..membranes.stretch_shear import membrane_stencil
from ..stencil import ElementForce
from .baraff_witkin import thread_springs


def build(mesh: ClothMesh, material: Material, *, young_modulus: float | None = None,
          poisson_ratio: float | None = None, sheet_thickness: float | None = None, bending: str = "patch",
          flat: bool = False) -> list[ElementForce]:
    """Return the element forces of a mesh made of a fabric.

    Args:
        mesh, material: the mesh and its fabric. Loose edges become springs of a strip of fabric,
            `material.thread_width` wide.
        young_modulus, poisson_ratio, sheet_thickness: E [Pa], nu [-] (0.3 if not given) and t [m]. Give E and t
            together, or neither for the stretch stiffness of the material.
        bending, flat: as in `baraff_witkin`.
    """
    stiffness = _stiffness(mesh, material, young_modulus, poisson_ratio, sheet_thickness)
    forces = []
    if len(mesh.triangles):
        forces += triangle_forces(membrane_stencil(mesh), mesh.areas, stiffness, material.damping)
        forces += bend_forces(mesh, material, bending, flat=flat)
    if len(mesh.loose_edges):
        forces.append(thread_springs(mesh, material))
    return forces


def shear_modulus(young_modulus: float, poisson_ratio: float, *, object_name: str | None = None) -> float:
    """Return G = E / (2 (1 + nu)) [Pa].

    Raises:
        ClothError: E is not above 0, or nu is not in -1..0.5.
    """
    if not (is_number(young_modulus) and 0.0 < young_modulus <= LARGEST):
        raise ClothError(f"young_modulus is {young_modulus!r}, it must be a number above 0 [Pa], "
                         f"{number_text(LARGEST)} at most",
                         object_name=object_name)
    if not (is_number(poisson_ratio) and -1.0 < poisson_ratio <= 0.5):
        raise ClothError(f"poisson_ratio is {poisson_ratio!r}, it must be above -1 and at most 0.5",
                         object_name=object_name)
    return young_modulus / (2.0 * (1.0 + poisson_ratio))


def _stiffness(mesh: ClothMesh, material: Material, young_modulus: float | None, poisson_ratio: float | None,
               sheet_thickness: float | None) -> float:
    """Return w [N/m]."""
    if young_modulus is None:
        for name, value in (("poisson_ratio", poisson_ratio), ("sheet_thickness", sheet_thickness)):
            if value is not None:
                raise ClothError(f"{name} is {value!r} without young_modulus; give both, or neither for the "
                                 "fabric's own stretch", object_name=mesh.name)
        return 0.5 * (material.stretch[0] + material.stretch[1])
    if not (is_number(sheet_thickness) and sheet_thickness is not None and sheet_thickness > 0.0):
        raise ClothError(f"sheet_thickness is {sheet_thickness!r}; young_modulus needs it, a number above 0 [m]",
                         object_name=mesh.name)
    modulus = shear_modulus(young_modulus, 0.3 if poisson_ratio is None else poisson_ratio, object_name=mesh.name)
    return modulus * sheet_thickness

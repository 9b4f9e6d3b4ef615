# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of Baraff and Witkin 1998 (001): stretch, shear and bending, each damped along its own condition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...arrays import is_flag, is_number, is_series
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ..bending.bend_forces import bend_forces
from ..membranes.buckling_stretch import BucklingStretch, load
from ..membranes.stretch_shear import Shear, Stretch, membrane_stencil
from ..membranes.two_sided_stretch import TwoSidedStretch
from ..springs.spring import edge_stencil
from ..springs.spring_forces import spring_force
from ..stencil import ElementForce


def build(mesh: ClothMesh, material: Material, *, bending: str = "patch", flat: bool = False,
          rest_stretch: Sequence[float] = (1.0, 1.0), buckling: bool = False) -> list[ElementForce]:
    """Return the element forces of a mesh made of a fabric.

    Args:
        mesh, material: the mesh and its fabric. Loose edges become springs of a strip of fabric,
            `material.thread_width` wide.
        bending: the bending law, one of `bend_forces.LAWS`; "hinge" is that of 001.
        flat: True if the sheet is flat at rest, False if its modelled shape is the rest shape.
        rest_stretch: b_u, b_v of 001 [-], the rest length over the modelled length along warp and weft. Below 1 the
            cloth shrinks, above 1 it has ease.
        buckling: whether triangles buckle under compression (`buckling_stretch`). A fabric with a compression of its
            own, or without bending stiffness, keeps its law.
    """
    forces = []
    ease = tuple(rest_stretch) if is_series(rest_stretch) else ()
    if len(ease) != 2 or not all(is_number(b) and b > 0.0 for b in ease):
        raise ClothError(f"rest_stretch is {rest_stretch!r}, it must be two numbers above 0, of warp and weft",
                         object_name=mesh.name)
    if not is_flag(buckling):
        raise ClothError(f"buckling is {buckling!r}, it must be True or False", object_name=mesh.name)
    if len(mesh.triangles):
        stencil = membrane_stencil(mesh)
        a, one = mesh.areas, np.ones(len(mesh.areas))
        (ku, kv), (bu, bv) = material.stretch, ease
        if material.two_sided:
            cu, cv = material.compression or material.stretch
            taus = material.damping, material.damping_of("compression")
            tk, tc = (one * (tau / max(taus) if any(taus) else 1.0) for tau in taus)
            forces.append(ElementForce(stencil, TwoSidedStretch(10.0 * cu < ku or 10.0 * cv < kv), (
                a * ku, a * kv, a * cu, a * cv, tk, tc, one * bu, one * bv), max(taus)))
        elif buckling and any(material.bend):
            reach = 0.1 * one                              # steps that change most edges by more are rejected
            forces.append(ElementForce(stencil, BucklingStretch(), (
                a * ku, a * kv, load(material.bend[0]) * one, load(material.bend[1]) * one, reach, reach, one * bu,
                one * bv), material.damping))
        else:
            forces.append(ElementForce(stencil, Stretch(), (a * ku, a * kv, one * bu, one * bv), material.damping))
        forces.append(ElementForce(stencil, Shear(), (a * material.shear,), material.damping_of("shear")))
        forces += bend_forces(mesh, material, bending, flat=flat)
    if len(mesh.loose_edges):
        forces.append(thread_springs(mesh, material))
    return forces


def thread_springs(mesh: ClothMesh, material: Material) -> ElementForce:
    """Return springs along the loose edges, with k = k_u width / L [N/m].

    A chain of them then has the axial stiffness EA = k_u width [N] on every mesh.
    """
    k = material.stretch[0] * material.thread_width / mesh.loose_lengths
    c = (material.compression or material.stretch)[0] * material.thread_width / mesh.loose_lengths
    return spring_force(edge_stencil(mesh.loose_edges), k, c if material.two_sided else None, mesh.loose_lengths,
                        (material.damping, material.damping_of("compression")))

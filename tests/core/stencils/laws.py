# SPDX-License-Identifier: GPL-3.0-or-later
"""All laws with builders of their elements, and the states in which they are tested. A new law is one line in LAWS."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from core.description.material import Material
from core.description.mesh import ClothMesh
from core.stencils.bending.hinge import Hinge, hinge_parameters, hinge_stencil
from core.stencils.bending.isometric import isometric_parameters, isometric_stencil
from core.stencils.bending.patch_geometry import PatchGeometry, flat_stencil, flat_stiffness
from core.stencils.bending.rest_curvature import RestCurvature
from core.stencils.bending.thread_curvature import ThreadCurvature, curvature_force
from core.stencils.component_algebra import add, scale, scale_block
from core.stencils.membranes.area_preserving import AreaPreserving
from core.stencils.membranes.buckling_stretch import BucklingStretch
from core.stencils.membranes.projective_local_step import (
    ProjectiveTetrahedron,
    ProjectiveTriangle,
    tetrahedron_stencil,
    triangle_forces,
)
from core.stencils.membranes.stretch_shear import Shear, Stretch, membrane_stencil
from core.stencils.membranes.two_sided_stretch import TwoSidedStretch
from core.stencils.quadratic import Quadratic
from core.stencils.solids.volume_preserving import VolumePreserving
from core.stencils.springs.buckling_arc import BucklingArc, arc_parameters
from core.stencils.springs.damping_laws import Dashpot, IsotropicDashpot
from core.stencils.springs.seam_spring import SeamSpring
from core.stencils.springs.soft_pin import SoftPin, point_stencil
from core.stencils.springs.spring import Spring, edge_stencil
from core.stencils.springs.tension_spring import TensionSpring
from core.stencils.springs.two_sided_spring import TwoSidedSpring
from core.stencils.stencil import ElementForce
from tests.core.shapes import grid, random_rotation

FABRIC = Material(areal_density=0.2, stretch=(900.0, 400.0), shear=150.0, bend=(3e-5, 1e-5))
CELLS = [1e-3, 1.0, 1e3]                                           # [m]
STATES = ["near rest", "noisy", "compressed", "crushed", "sheared", "pulled"]


@dataclass(frozen=True)
class Member:
    """A law, a builder of its elements, and the optional clauses of the contract that it fulfils."""

    law: object
    build: Callable                                                # mesh -> stencil, parameters
    analytic: bool = True                                          # the law accepts complex numbers
    moves_freely: bool = True                                      # rigid motion changes no energy
    clamps: bool = True                                            # the projection clamps eigenvalues
    stores: bool = True                                            # has energy, not only damping
    turns: bool = True                                             # damping has no effect on rotation
    may_go_slack: bool = False                                         # the stiffness can vanish
    damps: bool = True                                             # energy is stored along its conditions

    def force(self, mesh, damping=0.0):
        stencil, parameters = self.build(mesh)
        return ElementForce(stencil, self.law, parameters, damping)


def stretch(mesh):
    a = mesh.areas
    return membrane_stencil(mesh), (900.0 * a, 400.0 * a, 1.0 + 0.0 * a, 0.95 + 0.0 * a)


def two_sided_stretch(mesh):
    a = mesh.areas
    one = np.ones(len(a))
    return membrane_stencil(mesh), (900.0 * a, 400.0 * a, 90.0 * a, 500.0 * a, one, 0.3 * one, one, 0.95 * one)


def buckling_stretch(mesh):
    """Build triangles that buckle: warp within a shortening of a hundredth, weft at half their length."""
    a = mesh.areas
    return membrane_stencil(mesh), (900.0 * a, 400.0 * a, 9.0 * a, 200.0 * a, 0.1 + 0.0 * a, 0.0 * a, 1.0 + 0.0 * a,
                                    0.95 + 0.0 * a)


def shear(mesh):
    return membrane_stencil(mesh), (150.0 * mesh.areas,)


def spring(mesh):
    return edge_stencil(mesh.edges), (250.0 + 0.0 * mesh.rest_lengths, mesh.rest_lengths)


def two_sided_spring(mesh):
    one = np.ones(len(mesh.rest_lengths))
    return edge_stencil(mesh.edges), (250.0 * one, 30.0 * one, 0.4 * one, one, mesh.rest_lengths)


def anchor(mesh):
    target = 1.1 * mesh.positions + 0.3 * mesh.mean_edge
    return point_stencil(np.arange(len(target))), (30.0 + 0.0 * target[:, 0], *target.T)


def seam(mesh):
    """Build seams of three kinds in turn: open, closed, and open with a force limit reached at a tenth of the edge
    length.
    """
    rest, kind = mesh.rest_lengths, np.arange(len(mesh.rest_lengths)) % 3
    most = np.where(kind == 2, 25.0 * rest, np.inf)
    return edge_stencil(mesh.edges), (250.0 + 0.0 * rest, np.where(kind == 1, 0.0, 0.5 * rest), most)


def dashpot(mesh):
    return edge_stencil(mesh.edges), (0.3 + 0.0 * mesh.rest_lengths,)


def projective_triangle(mesh):
    (force,) = triangle_forces(membrane_stencil(mesh), mesh.areas, 300.0)
    return force.stencil, force.parameters


def projective_tetrahedron(mesh):
    """Build a tetrahedron from every hinge; at rest, every other vertex is lifted off the sheet."""
    at_rest = mesh.positions + mesh.mean_edge * np.outer(np.arange(len(mesh.positions)) % 3 - 1.0, (0.0, 0.0, 0.8))
    corners = at_rest[mesh.hinges]
    volume = np.abs(np.linalg.det(corners[:, :3] - corners[:, 3:])) / 6.0
    return tetrahedron_stencil(at_rest, mesh.hinges), (300.0 / mesh.mean_edge * volume,)


def hinge(mesh):
    return hinge_stencil(mesh), hinge_parameters(mesh, FABRIC.bend)


def isometric(mesh):
    return isometric_stencil(mesh), isometric_parameters(mesh, FABRIC.bend)


def patch(mesh):
    geometry = PatchGeometry(mesh, FABRIC.bend, flat=True)
    return flat_stencil(geometry), (flat_stiffness(geometry),)


class CurvedPatch:
    """The law of a flat patch plus that of its rest curvature; only the sum is positive semi-definite.

    Columns F_1, F_2, F_3, w_u, w_v; parameters k, r_1, r_2, r_3.
    """

    flat, rest = Quadratic(), RestCurvature()

    @staticmethod
    def _added(F, p):
        q = tuple(sum(r * column[axis] for r, column in zip(p[1:], F[:3], strict=True)) for axis in range(3))
        return (q, *F[3:]), (p[0], p[1] * p[1] + p[2] * p[2] + p[3] * p[3])

    def energy(self, F, p):
        return sum(self.flat.energy((column,), p[:1]) for column in F[:3]) + self.rest.energy(*self._added(F, p))

    def stress(self, F, p):
        to_q, *to_w = self.rest.stress(*self._added(F, p))
        return (*(add(self.flat.stress((column,), p[:1])[0], scale(r, to_q))
                  for r, column in zip(p[1:], F[:3], strict=True)), *to_w)

    def _tangent(self, F, p, which):
        H = getattr(self.rest, which)(*self._added(F, p))
        own, nothing = getattr(self.flat, which)(F[:1], p[:1])[0][0], scale_block(0.0 * p[0], H[0][0])
        return (*((*(own if c == d else nothing for d in range(3)), *(scale_block(p[1 + c], H[0][w]) for w in (1, 2)))
                  for c in range(3)),
                *((*(scale_block(p[1 + d], H[w][0]) for d in range(3)), *H[w][1:]) for w in (1, 2)))

    def tangent(self, F, p):
        return self._tangent(F, p, "tangent")

    def projected_tangent(self, F, p):
        return self._tangent(F, p, "projected_tangent")

    def conditions(self, F, p):
        still = (0.0 * p[0],) * 3
        found = []
        for c in range(3):
            ((k, (g,)),) = self.flat.conditions((F[c],), p[:1])
            found.append((k, tuple(g if d == c else still for d in range(5))))
        return tuple(found)


def curved_patch(mesh):
    geometry = PatchGeometry(mesh, FABRIC.bend)
    return geometry.stencil, (geometry.stiffness, *geometry.rest.T)


def arc(mesh):
    rest = mesh.rest_lengths
    return edge_stencil(mesh.edges), arc_parameters(3e-5 * mesh.mean_edge + 0.0 * rest, rest, 80.0 + 0.0 * rest)


def curvature(mesh):
    """Build thread curvature on the vertices 0, 2, 3 of each hinge, as if they were on one thread."""
    rest = mesh.mean_edge + 0.0 * mesh.hinges[:, 0]
    force = curvature_force(mesh.hinges[:, [0, 2, 3]], rest, 1.4 * rest, 3e-5 * rest, 0.0)
    return force.stencil, force.parameters


def area_preserving(mesh):
    return membrane_stencil(mesh), (150.0 * mesh.areas,)


LAWS = {
    "stretch": Member(Stretch(), stretch),
    "two-sided stretch": Member(TwoSidedStretch(), two_sided_stretch),
    "buckling stretch": Member(BucklingStretch(), buckling_stretch, clamps=False),
    "two-sided spring": Member(TwoSidedSpring(), two_sided_spring),
    "shear": Member(Shear(), shear),
    "spring": Member(Spring(), spring),
    "seam": Member(SeamSpring(), seam, clamps=False),
    "anchor": Member(SoftPin(), anchor, moves_freely=False),
    "dashpot": Member(Dashpot(), dashpot, stores=False),
    "isotropic dashpot": Member(IsotropicDashpot(), dashpot, stores=False, turns=False),
    "projective triangle": Member(ProjectiveTriangle(), projective_triangle, analytic=False),
    "projective tetrahedron": Member(ProjectiveTetrahedron(), projective_tetrahedron, analytic=False),
    "tension": Member(TensionSpring(), spring, may_go_slack=True),
    "arc": Member(BucklingArc(), arc),
    "curvature": Member(ThreadCurvature(), curvature, clamps=False),
    "area preserving": Member(AreaPreserving(), area_preserving, clamps=False),
    "volume": Member(VolumePreserving(), projective_tetrahedron, clamps=False),
    "hinge": Member(Hinge(), hinge, analytic=False, clamps=False),
    "isometric": Member(Quadratic(), isometric),
    "patch": Member(Quadratic(), patch),
    "curved patch": Member(CurvedPatch(), curved_patch, analytic=False, clamps=False, damps=False),
}


# ---------------------------------------------------------------------- states


@cache
def jittered_mesh(cell):
    """Return a sheet of uneven triangles, modelled wavy, with warp and weft oblique to its edges."""
    rng = np.random.default_rng(11)
    positions, triangles = grid(4, 3, (4.0, 3.0))
    positions[:, :2] += rng.uniform(-0.25, 0.25, size=(len(positions), 2))
    positions[:, 2] = 0.15 * np.sin(2.0 * positions[:, 0]) + 0.05 * rng.normal(size=len(positions))
    return ClothMesh(cell * positions, triangles, grain=(1.0, 0.4, 0.0))


def deformed(mesh, state, seed=0):
    """Return positions (V, 3) [m] of a mesh in one of STATES, with a random rigid motion."""
    rng = np.random.default_rng(seed)
    size, x = mesh.mean_edge, mesh.positions.copy()
    noise = rng.normal(size=x.shape)
    if state == "near rest":
        x += 1e-3 * size * noise
    elif state == "noisy":
        x += 0.3 * size * noise
    elif state == "compressed":
        x = 0.3 * x + 0.1 * size * noise
    elif state == "crushed":
        x = 0.01 * (x + 0.2 * size * noise)
    elif state == "sheared":
        x[:, 0] += 0.8 * x[:, 1]
        x += 0.02 * size * noise
    else:
        x = x * (1.0, 2.5, 1.0) + 0.05 * size * noise
    return x @ random_rotation(rng).T + 2.0 * size * rng.normal(size=3)

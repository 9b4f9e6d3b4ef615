# SPDX-License-Identifier: GPL-3.0-or-later
"""Jelly: what is inside a closed mesh is elastic, and the mesh is its skin.

A cage of cells around the mesh holds the material, as springs along the cells' edges and diagonals (003) or as
tetrahedra (004, and a resistance against a change of volume); the mesh's own vertices are tied to it. They are what
contact, pins and results are about, the cage's nodes are further particles that nobody else sees.

    springs      E, Poisson's ratio 1/4                                     (`stencils/lattice`)
    tetrahedra   psi = mu V |F - R|^2 + lambda/2 V (J - 1)^2                [J] (`projective` with w = 2 mu, `volume`)
                 mu = E / (2 (1 + nu)),   lambda = E nu / ((1 + nu)(1 - 2 nu))   [Pa]
    ties         psi = TIE E a / 2 |x_s - sum_i w_i x_i|^2                  [J] (`embedding`), a the side of a cell [m]

004 has w = mu and nothing for the volume, which is a solid of half the Young's modulus that is asked for, and of a
Poisson's ratio of zero. The whole weighs density times the mesh's volume; of each node's mass SKIN goes to the vertices
tied to it. Cells that the mesh cuts count by what is inside of them.
"""

from __future__ import annotations

import numpy as np

from ...arrays import LARGEST, FloatArray, IntArray, is_number, is_whole
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError
from ..membranes.projective_local_step import ProjectiveTetrahedron, tetrahedron_stencil
from ..quadratic import Quadratic
from ..solids.cage import Cage, build_cage, trilinear
from ..solids.cage_springs import SPRING_POISSON_RATIO, cage_springs
from ..solids.cage_tetrahedra import barycentric, cut_cells
from ..solids.cage_ties import tie_stencil, tie_weights_per_node
from ..solids.inside_points import check_closed
from ..solids.volume_preserving import VolumePreserving
from ..stencil import ElementForce
from ..tolerances import SINGLE_PRECISION_NOISE
from .built_model import BuiltModel

STRUCTURES = ("tetrahedra", "lattice")
"""Names that `structure` takes."""
TIE_STIFFNESS = 20.0
"""Stiffness of a tie over E a [-]."""
SURFACE_MASS_SHARE = 0.2
"""Part of a node's mass that the vertices tied to it have [-]."""
EDGES_PER_CELL = 2.0
"""Mean edge lengths of the mesh along a cell, where nobody says how many cells [-]."""
DEFAULT_CELLS = (4, 12)
"""Smallest and largest number of cells along the longest side, if the number is not given."""
MOST_CELLS = 64
"""Largest number of cells along the longest side that may be given."""
LARGEST_POISSON_RATIO = 0.49
"""Poisson's ratio above which tetrahedra would no longer bend [-]."""


def build(mesh: ClothMesh, material: Material, *, structure: str = "tetrahedra", young_modulus: float = 2e4,
          poisson_ratio: float | None = None, density: float = 1000.0, cells: int | None = None) -> BuiltModel:
    """The body of a closed mesh.

    Args:
        mesh: its skin. material: damping [s] of the inside, and friction; its other constants are those of sheets.
        structure: "tetrahedra" or "lattice", of springs.
        young_modulus: E [Pa]. poisson_ratio: nu [-], 0.3 for tetrahedra if not given; of springs it is 1/4.
        density: [kg/m^3].
        cells: along the longest side; if not given, as many as make a cell two mean edge lengths wide, 4 to 12.

    Raises:
        MeshError: the mesh is open. ClothError: an option out of range.
    """
    nu = _checked(mesh, structure, young_modulus, poisson_ratio, density, cells)
    check_closed(mesh.positions, mesh.triangles, mesh.name)
    lattice = build_cage(mesh.positions, mesh.triangles, mesh.edges, cells or default_cells(mesh))
    first, count = len(mesh.positions), len(lattice.nodes)
    at, inside = lattice.locate(mesh.positions)
    if structure == "lattice":
        nodes, weights = lattice.cells[at], trilinear(inside)
        forces = [cage_springs(lattice, first, young_modulus, material.damping)]
        links = forces[0].stencil.vertices
    else:
        nodes, weights = barycentric(lattice.cells[at], lattice.coordinates[at], inside)
        forces = _tetrahedra(lattice, first, young_modulus, nu, material.damping)
        links = _edges_of(forces[0].stencil.vertices)
    stiffness = TIE_STIFFNESS * young_modulus * float(np.cbrt(lattice.size.prod()))
    forces.append(ElementForce(tie_stencil(np.arange(first), nodes + first, weights), Quadratic(),
                               (np.full(first, stiffness),)))
    ties = np.column_stack([np.repeat(np.arange(first), nodes.shape[1]), nodes.ravel() + first])
    some = np.where(weights > SINGLE_PRECISION_NOISE, weights, 0.0)
    own, behind = density * lattice.node_volumes, tie_weights_per_node(nodes, some, count)
    carried: FloatArray = (some * (own / np.where(behind > 0.0, behind, 1.0))[nodes]).sum(axis=1)
    mass = np.concatenate([SURFACE_MASS_SHARE * carried, np.where(behind > 0.0, (1.0 - SURFACE_MASS_SHARE) * own, own)])
    return BuiltModel(forces, lattice.nodes, mass, carried, np.concatenate([links, ties]))


def default_cells(mesh: ClothMesh) -> int:
    """Cells along the longest side of a mesh that nobody gave a number for."""
    longest = float(np.ptp(mesh.positions, axis=0).max())
    return int(np.clip(round(longest / (EDGES_PER_CELL * mesh.mean_edge)), *DEFAULT_CELLS))


def _tetrahedra(lattice: Cage, first: int, young_modulus: float, nu: float, damping: float) -> list[ElementForce]:
    stencil = tetrahedron_stencil(lattice.nodes, cut_cells(lattice.cells, lattice.coordinates))
    volume = np.tile(np.array([2.0, 1.0, 1.0, 1.0, 1.0]) * lattice.size.prod() / 6.0, len(lattice.cells))
    volume *= np.repeat(lattice.fraction, 5)
    mu, lame = young_modulus / (2.0 * (1.0 + nu)), young_modulus * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    moved = type(stencil)(stencil.vertices + first, stencil.weights)
    forces = [ElementForce(moved, ProjectiveTetrahedron(), (2.0 * mu * volume,), damping)]
    if lame > 0.0:
        forces.append(ElementForce(moved, VolumePreserving(), (lame * volume,), damping))
    return forces


def _edges_of(tetrahedra: IntArray) -> IntArray:
    """All edges (L, 2) of tetrahedra (Q, 4), each once."""
    ends = np.concatenate([tetrahedra[:, [a, b]] for a in range(4) for b in range(a)])
    edges: IntArray = np.unique(np.sort(ends, axis=1), axis=0)
    return edges


def _checked(mesh: ClothMesh, structure: str, young_modulus: float, poisson_ratio: float | None, density: float,
             cells: int | None) -> float:
    """Poisson's ratio [-]; raises ClothError where an option is out of range."""
    def fail(message: str) -> None:
        raise ClothError(message, object_name=mesh.name)

    if (mesh.scale != 1.0).any():
        fail("rest_scale is painted, but what a jelly is at rest fills its mesh; leave that map out, and scale the "
             "mesh instead")
    if not isinstance(structure, str) or structure not in STRUCTURES:
        fail(f"structure is {structure!r}, it must be one of {', '.join(STRUCTURES)}")
    for what, value, unit in (("young_modulus", young_modulus, "Pa"), ("density", density, "kg/m^3")):
        if not (is_number(value) and 0.0 < value <= LARGEST):
            fail(f"{what} is {value!r}, it must be a number above 0 {unit}, {LARGEST:g} at most")
    if cells is not None and not is_whole(cells, 1, MOST_CELLS):
        fail(f"cells is {cells!r}, it must be a whole number from 1 to {MOST_CELLS}")
    if poisson_ratio is None:
        return SPRING_POISSON_RATIO if structure == "lattice" else 0.3
    if not (is_number(poisson_ratio) and 0.0 <= poisson_ratio <= LARGEST_POISSON_RATIO):
        fail(f"poisson_ratio is {poisson_ratio!r}, it must be a number from 0 to {LARGEST_POISSON_RATIO}")
    if structure == "lattice" and poisson_ratio != SPRING_POISSON_RATIO:
        fail(f"poisson_ratio is {poisson_ratio}, but that of a lattice of springs is 1/4 whatever their stiffness; "
             "take structure 'tetrahedra' for another")
    return float(poisson_ratio)

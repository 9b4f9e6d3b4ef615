# SPDX-License-Identifier: GPL-3.0-or-later
"""Jelly: a closed mesh filled with elastic material.

A cage of cells around the mesh holds the material, as springs along the edges and diagonals of the cells (Susin 2015,
003), or as tetrahedra (004) with a resistance to changes of volume. The vertices of the mesh are tied to the nodes of
the cage. Contact, pins and results use the vertices only; the nodes are internal.

    springs      E, Poisson's ratio 1/4                                     (`cage_springs`)
    tetrahedra   psi = mu V |F - R|^2 + lambda/2 V (J - 1)^2                [J] (`projective_local_step` with w = 2 mu,
                                                                            and `volume_preserving`)
                 mu = E / (2 (1 + nu)),   lambda = E nu / ((1 + nu)(1 - 2 nu))   [Pa]
    ties         psi = TIE_STIFFNESS E a / 2 |x_s - sum_i w_i x_i|^2        [J] (`cage_ties`), a the side of a cell [m]

The source 004 has w = mu and no resistance to volume changes: a solid of half the given Young's modulus and a Poisson's
ratio of zero. The total mass is density times the volume of the mesh. Of each node's mass, SURFACE_MASS_SHARE goes to
the vertices tied to it. A cell that the surface cuts has the stiffness and mass of its part inside.
"""

from __future__ import annotations

import numpy as np

from ...arrays import LARGEST, SINGLE_PRECISION, FloatArray, IntArray, is_number, is_whole
from ...description.material import Material
from ...description.mesh import ClothMesh
from ...errors import ClothError, MeshError
from ...number_text import number_text
from ..membranes.projective_local_step import ProjectiveTetrahedron, tetrahedron_stencil
from ..quadratic import Quadratic
from ..solids.cage import Cage, build_cage, trilinear
from ..solids.cage_springs import SPRING_POISSON_RATIO, cage_springs
from ..solids.cage_tetrahedra import barycentric, cut_cells
from ..solids.cage_ties import tie_stencil, tie_weights_per_node
from ..solids.inside_points import check_closed
from ..solids.volume_preserving import VolumePreserving
from ..stencil import ElementForce
from .built_model import BuiltModel

STRUCTURES = ("tetrahedra", "lattice")
"""Names that `structure` takes."""
TIE_STIFFNESS = 20.0
"""Stiffness of a tie over E times the side of a cell [-]."""
SURFACE_MASS_SHARE = 0.2
"""Part of a node's mass that goes to the vertices tied to it [-]."""
EDGES_PER_CELL = 2.0
"""Mean edge lengths of the mesh in the side of a cell, if the number of cells is not given [-]."""
DEFAULT_CELLS = (4, 12)
"""Smallest and largest number of cells along the longest side, if the number is not given [-]."""
MOST_CELLS = 64
"""Largest number of cells along the longest side that may be given [-]."""
LARGEST_POISSON_RATIO = 0.49
"""Largest Poisson's ratio of tetrahedra [-]; closer to 1/2 they cannot bend."""


def build(mesh: ClothMesh, material: Material, *, structure: str = "tetrahedra", young_modulus: float = 2e4,
          poisson_ratio: float | None = None, density: float = 1000.0, cells: int | None = None) -> BuiltModel:
    """Return the model of a closed mesh.

    Args:
        mesh: the surface.
        material: its damping [s] is that of the inside, and its friction that of the surface; the constants of sheets
            are not used.
        structure: "tetrahedra", or "lattice" for springs.
        young_modulus: E [Pa].
        poisson_ratio: nu [-], 0.3 for tetrahedra if not given; springs have 1/4.
        density: [kg/m^3].
        cells: number of cells along the longest side; if not given, a cell is two mean edge lengths wide, with 4 to 12
            cells.

    Raises:
        MeshError: the mesh is open, or encloses no volume.
        ClothError: an option is out of range.
    """
    nu = _checked(mesh, structure, young_modulus, poisson_ratio, density, cells)
    check_closed(mesh.positions, mesh.triangles, mesh.name)
    cage = build_cage(mesh.positions, mesh.triangles, mesh.edges, cells or default_cells(mesh))
    if not cage.volume > 0.0:
        raise MeshError("encloses no volume, so its jelly has no mass: its sides cross or lie on each other; "
                        "straighten the mesh, or take a model for sheets", object_name=mesh.name)
    first, count = len(mesh.positions), len(cage.nodes)
    at, inside = cage.locate(mesh.positions)
    if structure == "lattice":
        nodes, weights = cage.cells[at], trilinear(inside)
        forces = [cage_springs(cage, first, young_modulus, material.damping)]
        neighbours = forces[0].stencil.vertices
    else:
        nodes, weights = barycentric(cage.cells[at], cage.coordinates[at], inside)
        forces = _tetrahedra(cage, first, young_modulus, nu, material.damping)
        neighbours = _edges_of(forces[0].stencil.vertices)
    stiffness = TIE_STIFFNESS * young_modulus * float(np.cbrt(cage.size.prod()))
    forces.append(ElementForce(tie_stencil(np.arange(first), nodes + first, weights), Quadratic(),
                               (np.full(first, stiffness),)))
    ties = np.column_stack([np.repeat(np.arange(first), nodes.shape[1]), nodes.ravel() + first])
    tied_weights = np.where(weights > SINGLE_PRECISION, weights, 0.0)
    node_mass, tie_weights = density * cage.node_volumes, tie_weights_per_node(nodes, tied_weights, count)
    mass_per_weight = node_mass / np.where(tie_weights > 0.0, tie_weights, 1.0)
    effective_mass: FloatArray = (tied_weights * mass_per_weight[nodes]).sum(axis=1)
    mass = np.concatenate([SURFACE_MASS_SHARE * effective_mass,
                           np.where(tie_weights > 0.0, (1.0 - SURFACE_MASS_SHARE) * node_mass, node_mass)])
    return BuiltModel(forces, cage.nodes, mass, effective_mass, np.concatenate([neighbours, ties]))


def default_cells(mesh: ClothMesh) -> int:
    """Return the number of cells along the longest side of a mesh for which none is given."""
    longest = float(np.ptp(mesh.positions, axis=0).max())
    return int(np.clip(round(longest / (EDGES_PER_CELL * mesh.mean_edge)), *DEFAULT_CELLS))


def _tetrahedra(cage: Cage, first: int, young_modulus: float, nu: float, damping: float) -> list[ElementForce]:
    """Return the forces of the tetrahedra of a cage whose first node has the index `first`."""
    stencil = tetrahedron_stencil(cage.nodes, cut_cells(cage.cells, cage.coordinates))
    volume = np.tile(np.array([2.0, 1.0, 1.0, 1.0, 1.0]) * cage.size.prod() / 6.0, len(cage.cells))
    volume *= np.repeat(cage.fraction, 5)
    mu, lame = young_modulus / (2.0 * (1.0 + nu)), young_modulus * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    moved = type(stencil)(stencil.vertices + first, stencil.weights)
    forces = [ElementForce(moved, ProjectiveTetrahedron(), (2.0 * mu * volume,), damping)]
    if lame > 0.0:
        forces.append(ElementForce(moved, VolumePreserving(), (lame * volume,), damping))
    return forces


def _edges_of(tetrahedra: IntArray) -> IntArray:
    """Return all edges (L, 2) of tetrahedra (Q, 4), each once."""
    ends = np.concatenate([tetrahedra[:, [a, b]] for a in range(4) for b in range(a)])
    edges: IntArray = np.unique(np.sort(ends, axis=1), axis=0)
    return edges


def _checked(mesh: ClothMesh, structure: str, young_modulus: float, poisson_ratio: float | None, density: float,
             cells: int | None) -> float:
    """Return Poisson's ratio [-]; raise a ClothError if an option is out of range."""
    def fail(message: str) -> None:
        raise ClothError(message, object_name=mesh.name)

    if (mesh.scale != 1.0).any():
        fail("rest_scale is painted, but the rest shape of jelly is that of its mesh; leave that map out, and "
             "scale the mesh instead")
    if not isinstance(structure, str) or structure not in STRUCTURES:
        fail(f"structure is {structure!r}, it must be one of {', '.join(STRUCTURES)}")
    for what, value, unit in (("young_modulus", young_modulus, "Pa"), ("density", density, "kg/m^3")):
        if not (is_number(value) and 0.0 < value <= LARGEST):
            fail(f"{what} is {value!r}, it must be a number above 0 {unit}, {number_text(LARGEST)} at most")
    if cells is not None and not is_whole(cells, 1, MOST_CELLS):
        fail(f"cells is {cells!r}, it must be a whole number from 1 to {MOST_CELLS}")
    if poisson_ratio is None:
        return SPRING_POISSON_RATIO if structure == "lattice" else 0.3
    if not (is_number(poisson_ratio) and 0.0 <= poisson_ratio <= LARGEST_POISSON_RATIO):
        fail(f"poisson_ratio is {poisson_ratio!r}, it must be a number from 0 to {LARGEST_POISSON_RATIO}")
    if structure == "lattice" and poisson_ratio != SPRING_POISSON_RATIO:
        fail(f"poisson_ratio is {poisson_ratio}, but that of a lattice of springs is 1/4 for every stiffness; "
             "take structure 'tetrahedra' for another")
    return float(poisson_ratio)

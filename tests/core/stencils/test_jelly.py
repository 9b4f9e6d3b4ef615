# SPDX-License-Identifier: GPL-3.0-or-later
"""Jelly as a material: for every size of cells, a uniform strain has the energy of linear elasticity."""

import numpy as np
import pytest

import core
from core.stencils.models.jelly import build
from core.stencils.solids.cage import CELL_CORNERS
from core.stencils.solids.cage_springs import cell_springs
from tests.cases import cases
from tests.core.shapes import ball, block, random_rotation

FABRIC = core.Material(areal_density=0.2, stretch=1e3, shear=1e2)
SIZE = (0.3, 0.2, 0.1)
E = 2e4


def mesh_of_block(name="Block"):
    positions, faces = block(SIZE, (6, 4, 2))
    return core.ClothMesh(positions, faces=faces, name=name)


def energy_of(body, mesh, F):
    """Return the energy [J] of the block and its nodes under x -> F x."""
    x = np.concatenate([mesh.positions, body.inner_nodes]) @ np.asarray(F).T + [1.0, -2.0, 0.5]
    return sum(force.energy(x) for force in body.forces)


STRAINS = {
    "pull": np.diag([1.0, 0.0, 0.0]), "squeeze": -np.eye(3),
    "shear": np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    "all": np.array([[0.3, 0.2, -0.4], [0.2, -0.5, 0.1], [-0.4, 0.1, 0.7]]),
}


@cases("strain", STRAINS)
@cases(("structure", "nu"), [("lattice", 0.25), ("tetrahedra", 0.0), ("tetrahedra", 0.25),
                             ("tetrahedra", 0.45)])
@cases("cells", [3, 7])
def test_a_small_uniform_strain_has_the_energy_of_linear_elasticity(structure, nu, cells, strain):
    mesh = mesh_of_block()
    body = build(mesh, FABRIC, structure=structure, poisson_ratio=nu, young_modulus=E, cells=cells)
    mu, lame = E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))
    e = 1e-4 * STRAINS[strain]
    wanted = 0.006 * (mu * np.sum(e * e) + 0.5 * lame * np.trace(e) ** 2)
    turn = random_rotation(np.random.default_rng(1))
    both = [energy_of(body, mesh, turn @ (np.eye(3) + s * e)) for s in (1.0, -1.0)]     # third-order terms cancel
    assert np.mean(both) == pytest.approx(wanted, rel=2e-6)


@cases("structure", ["lattice", "tetrahedra"])
def test_rotation_has_no_energy_and_a_uniform_strain_no_force_on_inner_nodes(structure):
    mesh = mesh_of_block()
    body = build(mesh, FABRIC, structure=structure, cells=6)
    turn = random_rotation(np.random.default_rng(2))
    assert energy_of(body, mesh, turn) <= 1e-18 * E * 0.006
    rest = np.concatenate([mesh.positions, body.inner_nodes])
    x = rest @ (turn @ np.diag([1.1, 0.95, 1.0])).T
    f = sum(force.force(x, np.zeros_like(x)) for force in body.forces)
    deep = np.flatnonzero(((rest > 1e-9) & (rest < np.array(SIZE) - 1e-9)).all(axis=1))
    assert len(deep) > 0
    assert np.abs(f[deep]).max() <= 1e-11 * np.abs(f).max()
    assert np.abs(f.sum(axis=0)).max() <= 1e-11 * np.abs(f).max()


@cases("structure", ["lattice", "tetrahedra"])
def test_ties_conserve_momentum_and_have_no_force_in_affine_motion(structure):
    positions, triangles = ball(0.3)
    mesh = core.ClothMesh(positions, triangles)
    body = build(mesh, FABRIC, structure=structure)
    tie, rng = body.forces[-1], np.random.default_rng(3)
    x = np.concatenate([positions, body.inner_nodes])
    affine = x @ rng.normal(size=(3, 3)) + 1.0
    assert np.abs(np.array(tie.stencil.gather(affine))).max() <= 1e-13
    x = x + 0.02 * rng.normal(size=x.shape)
    f = tie.force(x, np.zeros_like(x))
    assert np.abs(f.sum(axis=0)).max() <= 1e-12 * np.abs(f).sum()
    assert np.abs(np.cross(x, f).sum(axis=0)).max() <= 1e-12 * np.abs(f).sum()


@cases("structure", ["lattice", "tetrahedra"])
def test_the_mass_is_density_times_volume_and_every_node_has_mass(structure):
    positions, triangles = ball(0.5, centre=(1.0, 0.0, 2.0))
    mesh = core.ClothMesh(positions, triangles)
    body = build(mesh, FABRIC, structure=structure, density=500.0)
    a, b, c = (positions[triangles[:, k]] - [1.0, 0.0, 2.0] for k in range(3))
    assert body.mass.sum() == pytest.approx(500.0 * np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0, rel=1e-12)
    assert body.mass.min() > 0.0
    centre = body.mass @ np.concatenate([positions, body.inner_nodes]) / body.mass.sum()
    np.testing.assert_allclose(centre, [1.0, 0.0, 2.0], atol=2e-3)


@cases("y", np.linspace(0.8, 1.2, 5))
@cases("z", np.linspace(0.8, 1.2, 5))
def test_springs_of_a_box_are_isotropic_and_have_positive_stiffness(y, z):
    size = 0.1 * np.array([1.0, y, z])
    pairs, k = cell_springs(size, E)
    d = (CELL_CORNERS[pairs[:, 0]] - CELL_CORNERS[pairs[:, 1]]) * size
    l2 = np.einsum("si,si->s", d, d)
    C = np.einsum("s,si,sj,sk,sl->ijkl", k / l2, d, d, d, d) / size.prod()
    mu, eye = 0.4 * E, np.eye(3)
    wanted = mu * (np.einsum("ij,kl->ijkl", eye, eye) + np.einsum("ik,jl->ijkl", eye, eye)
                   + np.einsum("il,jk->ijkl", eye, eye))
    np.testing.assert_allclose(C, wanted, atol=1e-12 * mu)
    assert k.min() > 0.0


BAD = {
    "structure": ({"structure": "foam"}, "structure is 'foam', it must be one of tetrahedra, lattice"),
    "young": ({"young_modulus": 0.0}, "young_modulus is 0.0, it must be a number above 0 Pa"),
    "density": ({"density": np.nan}, "density is nan, it must be a number above 0 kg/m^3"),
    "poisson": ({"poisson_ratio": 0.5}, "poisson_ratio is 0.5, it must be a number from 0 to 0.49"),
    "lattice": ({"structure": "lattice", "poisson_ratio": 0.3}, "of a lattice of springs is 1/4"),
    "cells": ({"cells": 0}, "cells is 0, it must be a whole number from 1 to 64"),
}


@cases("name", BAD)
def test_an_option_out_of_range_is_refused_by_name_and_value(name):
    options, message = BAD[name]
    with pytest.raises(core.ClothError, match="^Block: ") as caught:
        build(mesh_of_block(), FABRIC, **options)
    assert message in str(caught.value)


@cases(("thin", "cells"), [(1.0, 1), (0.3, 1), (0.1, 1), (0.03, 4), (0.03, 12)])
def test_a_rod_thinner_than_its_samples_has_its_volume(thin, cells):
    positions, faces = block((1.0, thin, thin), (4, 1, 1))
    rod = build(core.ClothMesh(positions, faces=faces), FABRIC, density=500.0, cells=cells)
    assert rod.mass.sum() == pytest.approx(500.0 * thin * thin, rel=1e-9)


@cases("structure", ["lattice", "tetrahedra"])
def test_a_mesh_without_volume_is_refused(structure):
    """Its mass would be 0. All sides of a flattened box lie in one plane."""
    positions, faces = block(SIZE, (6, 4, 2))
    flat = core.ClothMesh(positions @ [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.37, 0.21, 0.0]], faces=faces, name="Flat")
    with pytest.raises(core.MeshError, match="^Flat: encloses no volume, .*straighten"):
        build(flat, FABRIC, structure=structure)


def test_options_are_checked_before_the_first_step():
    with pytest.raises(core.ClothError, match="wobble"):
        core.Cloth(mesh_of_block(), FABRIC, model="jelly", wobble=1.0)

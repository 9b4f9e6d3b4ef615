# SPDX-License-Identifier: GPL-3.0-or-later
"""Forces linear in the velocity: their product and their part of a step's matrix are one linear map, on any backend."""

import numpy as np
import pytest

import core
from core.kernels import using
from core.kernels.backend import why_not
from core.linear.block_matrix import BlockPattern
from core.loads.air_drag import AirCoefficients, AirDrag, drag_stencil
from core.model.elastic_forces import ConstantStiffness, ElasticForces
from core.model.particle_system import ParticleSystem
from core.model.turned_start import TurnedStart
from core.model.velocity_forces import RateForce
from core.stencils.bending.isometric import isometric_parameters, isometric_stencil
from core.stencils.membranes.stretch_shear import Shear, Stretch, membrane_stencil
from core.stencils.quadratic import Quadratic
from core.stencils.springs.spring import Spring, edge_stencil
from core.stencils.stencil import ElementForce
from tests.cases import cases
from tests.core.shapes import grid

WIND = np.array([2.0, -1.0, 0.5])
FABRIC = {"areal_density": 0.2, "stretch": (900.0, 400.0), "shear": 150.0, "bend": (3e-5, 1e-5)}
QUADRATIC = {"drag_coefficient": 1.2, "skin_friction": 0.1, "slow_drag_speed": 0.2}
FORCES = {"damped": {"damping": 0.02}, "in linear air": {"air_drag": 0.8}, "in air": QUADRATIC,
          "viscous": {"viscous_drag": 0.5}, "all": {"damping": 0.02, "viscous_drag": 0.5, **QUADRATIC}}


def two_cloths(bending="patch", **changes):
    """A system of two sheets, of which the second has no drag and no damping, with three fields (V, 3): x, v, u."""
    first = core.Cloth(core.ClothMesh(*grid(5, 4)), core.Material(**FABRIC, **changes), bending=bending)
    second = core.Cloth(core.ClothMesh(*grid(3, 3)), core.Material(**FABRIC))
    system = ParticleSystem(core.Scene([first, second], wind=WIND))
    rng = np.random.default_rng(3)
    x = system.initial_state().x
    return system, x + 0.02 * rng.normal(size=x.shape), rng.normal(size=x.shape), rng.normal(size=x.shape)


def difference(elastic, rate, x, h, u):
    """D u, out of matrices with and without D."""
    with_rate, without = elastic.stiffness(x, h * h, rate=rate, rate_factor=h), elastic.stiffness(x, h * h)
    return (with_rate.multiply(u) - without.multiply(u)) / h


@cases("elsewhere", [False, True])
@cases("bending", ["patch", "hinge"])
@cases("changes", FORCES.values(), ids=FORCES)
def test_the_matrix_of_a_step_holds_the_map_of_the_product(backend, changes, bending, elsewhere):
    """Linearised at x, whatever the positions are that the stiffness is taken at."""
    system, x, v, u = two_cloths(bending, **changes)
    rate = system.rate_force(x, v, 0.0)
    y = x + 0.02 * v if elsewhere else x
    product = rate.product(u)
    found = difference(system.elastic(0.0), rate, y, 0.02, u)
    assert np.abs(product).max() > 0.0
    np.testing.assert_allclose(found, product, rtol=0.0, atol=1e-10 * np.abs(product).max())


@cases("changes", FORCES.values(), ids=FORCES)
def test_what_is_linear_in_the_velocity_never_drives_and_is_symmetric(backend, changes):
    system, x, v, u = two_cloths(**changes)
    rate = system.rate_force(x, v, 0.0)
    assert np.vdot(u, rate.product(u)) > 0.0
    assert np.vdot(v, rate.product(u)) == pytest.approx(np.vdot(u, rate.product(v)), rel=1e-10)


def test_backends_agree_on_the_product_and_the_push():
    found = {}
    for name in ("numpy", "numba"):
        if why_not(name):
            pytest.skip(why_not(name))
        system, x, v, u = two_cloths(**FORCES["all"])
        with using(name):
            rate = system.rate_force(x, v, 0.0)
            found[name] = rate.push, rate.product(u)
    for ours, theirs in zip(*found.values(), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=1e-12 * np.abs(ours).max())


def test_air_drags_each_corner_by_a_third_of_its_triangles_force(backend):
    """-k_d A (n . v) n with v the mean of the corners."""
    system, x, v, u = two_cloths(air_drag=0.8)
    triangles = system.scene.cloths[0].mesh.triangles
    wanted = np.zeros_like(x)
    for corners in triangles:
        a, b, c = x[corners]
        normal = np.cross(b - a, c - a)
        area, normal = 0.5 * np.linalg.norm(normal), normal / np.linalg.norm(normal)
        wanted[corners] += 0.8 * area * (normal @ u[corners].mean(axis=0)) * normal / 3.0
    np.testing.assert_allclose(system.rate_force(x, v, 0.0).product(u), wanted, atol=1e-13 * np.abs(wanted).max())


def test_cloth_that_goes_with_the_wind_feels_none(backend):
    system, x, v, _ = two_cloths(air_drag=0.8)
    rate = system.rate_force(x, v, 0.0)
    carried = np.tile(WIND, (len(x), 1))
    assert np.abs(rate.push).max() > 0.0
    np.testing.assert_allclose(rate.product(carried), rate.push, atol=1e-13 * np.abs(rate.push).max())


def test_nothing_that_is_damped_and_nothing_in_air_is_no_force():
    system, x, v, _ = two_cloths()
    assert system.rate_force(x, v, 0.0) is None


def test_air_also_drags_triangles_that_no_law_acts_on(backend):
    mesh = core.ClothMesh(*grid(4, 3))
    spring = ElementForce(edge_stencil(mesh.edges), Spring(), (np.full(len(mesh.edges), 9.0), mesh.rest_lengths))
    stencil = drag_stencil(mesh.triangles)
    pattern = BlockPattern(len(mesh.positions), [spring.stencil.vertices, stencil.vertices])
    x, u = np.random.default_rng(2).normal(size=(2, len(mesh.positions), 3))
    elastic = ElasticForces([spring], pattern, np.zeros_like(x), ConstantStiffness([spring], pattern.scalar))
    none = np.zeros(len(mesh.triangles))
    drag = AirDrag.at(AirCoefficients(stencil, none + 0.8, none, none, none, none), x, 0.0 * x, 0.0)
    rate = RateForce(TurnedStart(x, 1.0), 1.0, np.zeros_like(x), None, [], [], None, [drag], None, None, pattern)
    np.testing.assert_allclose(difference(elastic, rate, x, 0.02, u), rate.product(u), atol=1e-9)


@cases("exact", [False, True])
@cases("laws", [(Stretch, Shear), (Shear, Stretch), (Stretch,)])
def test_stiffness_of_a_family_is_the_sum_over_its_laws_element_by_element(backend, laws, exact):
    """Against K_ij = sum w w H, put together as a dense matrix."""
    mesh = core.ClothMesh(*grid(4, 3))
    stencil, a = membrane_stencil(mesh), mesh.areas
    parameters = {Stretch: (900.0 * a, 400.0 * a, 1.0 + 0.0 * a, 0.9 + 0.0 * a), Shear: (150.0 * a,)}
    forces = [ElementForce(stencil, law(), parameters[law], 0.1) for law in laws]
    pattern = BlockPattern(len(mesh.positions), [stencil.vertices])
    rng = np.random.default_rng(5)
    x = mesh.positions + 0.02 * rng.normal(size=mesh.positions.shape)
    F = stencil.gather(x)
    wanted = np.zeros((len(x), 3, len(x), 3))
    for force in forces:
        tangent = (force.law.tangent if exact else force.law.projected_tangent)(F, force.parameters)
        for corners, blocks in zip(stencil.vertices, stencil.blocks(tangent), strict=True):
            for i, row in zip(corners, blocks, strict=True):
                for j, block in zip(corners, row, strict=True):
                    wanted[i, :, j] += 0.25 * block
    elastic = ElasticForces(forces, pattern, np.zeros_like(x), ConstantStiffness(forces, pattern.scalar))
    matrix = elastic.stiffness(x, 0.25, exact=exact)
    found = np.zeros_like(wanted)
    found.transpose(0, 2, 1, 3)[pattern.rows, pattern.columns] = matrix.blocks()
    np.testing.assert_allclose(found, wanted, atol=1e-13 * np.abs(wanted).max())


def test_constant_stiffness_is_summed_anew_when_the_factors_change():
    mesh = core.ClothMesh(*grid(4, 3))
    force = ElementForce(isometric_stencil(mesh), Quadratic(), isometric_parameters(mesh, (3e-5, 1e-5)), 0.5)
    constant = ConstantStiffness([force], BlockPattern(len(mesh.positions), [], [force.stencil.vertices]).scalar)
    for factor, damping_factor in [(1.0, 0.0), (2.0, 0.0), (2.0, 3.0), (2.0, 3.0), (0.0, 1.0)]:
        np.testing.assert_allclose(constant.sum(factor, damping_factor).values,
                                   (factor + 0.5 * damping_factor) * constant.linear.values, rtol=1e-14)

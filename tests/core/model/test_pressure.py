# SPDX-License-Identifier: GPL-3.0-or-later
"""Pressure: force and stiffness are derivatives of the energy, closed pieces keep their momentum, volumes are right."""

import numpy as np
import pytest

import core
from core.kernels import using
from core.model.particle_system import ParticleSystem
from tests.core.refusals import refused
from tests.core.shapes import ball, block, grid

FABRIC = core.Material(areal_density=0.2, stretch=1000.0, shear=300.0)
DOWN = np.array([0.0, 0.0, -9.81])
H = 1.0 / 24.0


def cup(level=2):
    """Return a ball without its top: positions (V, 3) [m], triangles (T, 3)."""
    positions, triangles = ball(0.5, level)
    used, low = np.unique(triangles[positions[triangles].mean(axis=1)[:, 2] < 0.25], return_inverse=True)
    return positions[used], low.reshape(-1, 3)


def sewn(gap=0.2, cells=6):
    """Return two square panels of the same winding whose borders are joined by seams."""
    flat, triangles = grid(cells, cells)
    border = np.flatnonzero(np.isin(flat[:, :2], [flat[:, :2].min(), flat[:, :2].max()]).any(axis=1))
    return core.ClothMesh(np.concatenate([flat, flat + [0.0, 0.0, gap]]),
                          np.concatenate([triangles, triangles + len(flat)]),
                          np.column_stack([border, border + len(flat)]))


def turned_at_random(triangles):
    """Return triangles (T, 3) with every second one reversed, but not the first."""
    reverse = np.random.default_rng(3).random(len(triangles)) < 0.5
    reverse[0] = False
    return np.where(reverse[:, None], triangles[:, ::-1], triangles)


def pieces():
    """Return a mesh of two balls and a box."""
    one, two = ball(0.5, 2), ball(0.3, 1, (2.0, 0.0, 0.0))
    box, faces = block((1.0, 0.5, 0.2), (4, 3, 2))
    return core.ClothMesh(np.concatenate([one[0], two[0], box + [3.0, 0.0, 0.0]]), faces=[
        *one[1].tolist(), *(two[1] + len(one[0])).tolist(), *(faces + len(one[0]) + len(two[0])).tolist()])


def mesh_of(shape):
    """Return the mesh, and the options of the cloth, of a shape by name."""
    positions, triangles = ball(0.5, 2)
    if shape == "ball":
        return core.ClothMesh(positions, triangles), {}
    if shape == "mixed":
        return core.ClothMesh(positions, turned_at_random(triangles)), {}
    if shape == "pieces":
        return pieces(), {}
    if shape == "sewn":
        return sewn(), {"sewing": True}
    return core.ClothMesh(*cup()), {}


CLOSED, ALL = ("ball", "mixed", "pieces", "sewn"), ("ball", "mixed", "pieces", "sewn", "cup")
SETTINGS = {"gas": {"uniform": 100.0, "gas": 1000.0}, "uniform": {"uniform": -50.0},
            "target": {"gas": 500.0, "target_volume": 3.0}, "fluid": {"fluid_density": 1000.0, "gas": 2000.0},
            "around": {"fluid_density": -1000.0}, "flat": {"gas": 500.0, "target_volume": 50.0}}


def system_of(shape, **pressure):
    mesh, options = mesh_of(shape)
    return ParticleSystem(core.Scene([core.Cloth(mesh, FABRIC, pressure=core.Pressure(**pressure), **options)]))


def moved(system, size=0.01, seed=0):
    return system.nodes.start + size * np.random.default_rng(seed).normal(size=system.nodes.start.shape)


def in_step(system, x):
    """Return the pressure in a step that ends near x (V, 3) [m] and comes from elsewhere."""
    return system.pressure.at(0.0).in_step(x, x + 0.05, H, np.tile(DOWN, (len(x), 1)))


def force(pressure, x):
    total = np.zeros_like(x)
    pressure.add_force(x, total)
    return total


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_force_and_stiffness_are_derivatives_of_the_energy(backend, settings):
    if backend == "numba":
        pytest.importorskip("numba")
    with using(backend):
        for shape in ALL:
            system = system_of(shape, **settings)
            x = moved(system)
            pressure, y = in_step(system, x), x + 0.01 * np.random.default_rng(2).normal(size=x.shape)
            d, eps = np.random.default_rng(1).normal(size=x.shape), 1e-6
            slope = (pressure.energy(y + eps * d) - pressure.energy(y - eps * d)) / (2.0 * eps)
            size = np.linalg.norm(force(pressure, y)) * np.linalg.norm(d)
            assert slope == pytest.approx(-np.sum(force(pressure, y) * d), abs=1e-6 * size), shape
            if shape == "sewn":                                    # whose direction does not change in the matrix
                continue
            change = (force(pressure, y - eps * d) - force(pressure, y + eps * d)) / (2.0 * eps)
            product = np.zeros_like(x)
            pressure.stiffness(y, 1.0).add_product(d, product)
            assert np.abs(product - change).max() <= 1e-6 * np.abs(change).max() + 1e-6, shape


@pytest.mark.parametrize("shape", CLOSED)
def test_closed_pieces_have_no_momentum_and_no_torque(shape):
    system = system_of(shape, uniform=100.0, gas=1000.0)
    x = moved(system)
    f = force(in_step(system, x), x)
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * np.abs(f).sum()
    assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12 * np.abs(f).sum()


@pytest.mark.parametrize("shape", ALL)
def test_the_stiffness_is_symmetric_and_its_definite_part_has_no_negative_curvature(shape):
    system, rng = system_of(shape, uniform=100.0, gas=1000.0, fluid_density=1000.0), np.random.default_rng(5)
    x = moved(system)
    operator = in_step(system, x).stiffness(x, 1.0)
    for _ in range(5):
        a, b = rng.normal(size=x.shape), rng.normal(size=x.shape)
        Ka, Kb, definite = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        operator.add_product(a, Ka)
        operator.add_product(b, Kb)
        operator.definite().add_product(a, definite)
        assert np.sum(Ka * b) == pytest.approx(np.sum(Kb * a), rel=1e-9, abs=1e-9 * np.abs(Ka).sum())
        assert np.sum(definite * a) >= 0.0


def test_the_fluid_of_a_ball_has_its_weight_and_its_inertia():
    system = system_of("ball", fluid_density=1000.0)
    x, surface = system.nodes.start, system.pressure.surface
    pressure = system.pressure.at(0.0).in_step(x, x, H, np.tile(DOWN, (len(x), 1)))
    mass = 1000.0 * surface.volumes(x, areas(surface, x))[0]
    assert force(pressure, x).sum(axis=0) == pytest.approx(mass * DOWN, abs=1e-9 * mass)
    step = np.array([0.02, 0.0, -0.1])
    late = force(pressure, x + step).sum(axis=0) - force(pressure, x).sum(axis=0)
    assert late == pytest.approx(-mass * step / H ** 2, abs=1e-6 * mass)


def areas(surface, x):
    """Return the area vectors (T, 3) [m^2]."""
    a, b, c = (x[corner] for corner in surface.triangles.T)
    return 0.5 * np.cross(b - a, c - a)


def test_volumes_are_those_of_the_pieces_whatever_the_winding():
    for shape in ("ball", "mixed"):
        system = system_of(shape, gas=1.0)
        assert system.pressure.at(0.0).target == pytest.approx([4.0 / 3.0 * np.pi * 0.125], rel=0.05)
    assert system_of("pieces", gas=1.0).pressure.at(0.0).target[2] == pytest.approx(0.1)
    inside_out = core.ClothMesh(ball(0.5, 2)[0], ball(0.5, 2)[1][:, ::-1])
    system = ParticleSystem(core.Scene([core.Cloth(inside_out, FABRIC, pressure=core.Pressure(10.0))]))
    x = system.nodes.start
    assert np.einsum("vi,vi->v", force(system.pressure.at(0.0), x), x).min() > 0.0


def test_a_target_volume_is_shared_by_the_pieces_in_proportion():
    own = system_of("pieces", gas=1.0).pressure.at(0.0).target
    shared = system_of("pieces", gas=1.0, target_volume=2.0).pressure.at(0.0).target
    assert shared == pytest.approx(2.0 * own / own.sum())


def test_an_open_piece_has_the_volume_up_to_the_plane_of_its_boundary():
    box, faces = block((1.0, 0.5, 0.2), (4, 3, 2))
    used, kept = np.unique(faces[(box[faces][:, :, 2] < 0.19).any(axis=1)], return_inverse=True)
    box, open_box = box[used], kept.reshape(-1, 4).tolist()
    mesh = core.ClothMesh(box, faces=open_box)
    for shift in (0.0, 5.0):                                       # wherever it is
        cloth = core.Cloth(mesh, FABRIC, positions=box + shift, pressure=core.Pressure(gas=1.0))
        system = ParticleSystem(core.Scene([cloth]))
        assert system.pressure.at(0.0).target == pytest.approx([0.1])
        assert not system.pressure.surface.closed.any()
    # the force is that of the faces alone, with none on the lid: nothing holds against that on the bottom
    system = ParticleSystem(core.Scene([core.Cloth(mesh, FABRIC, pressure=core.Pressure(100.0))]))
    assert force(system.pressure.at(0.0), system.nodes.start).sum(axis=0) == pytest.approx([0.0, 0.0, -50.0])


def test_panels_of_one_winding_are_closed_by_their_seams_and_pushed_apart():
    system = system_of("sewn", uniform=10.0)
    assert system.pressure.surface.closed.all()
    f = force(system.pressure.at(0.0), system.nodes.start)[:, 2]
    half = len(f) // 2
    assert f[:half].sum() < 0.0 < f[half:].sum()
    assert f.sum() == pytest.approx(0.0, abs=1e-12)


def test_weights_scale_the_pressure_and_leave_out_faces_with_a_zero():
    positions, triangles = ball(0.5, 2)
    weights = np.where(positions[:, 2] > 0.0, 0.5, 0.0)
    mesh = core.ClothMesh(positions, triangles)
    whole, part = (ParticleSystem(core.Scene([core.Cloth(mesh, FABRIC, pressure=core.Pressure(10.0, weights=w))]))
                   for w in (None, weights))
    f, g = (force(system.pressure.at(0.0), positions) for system in (whole, part))
    high, low = positions[:, 2] > 0.3, positions[:, 2] < 0.0
    assert g[high] == pytest.approx(0.5 * f[high])
    assert (g[low] == 0.0).all()


def test_a_pressure_can_change_over_time():
    mesh, _ = mesh_of("ball")
    cloth = core.Cloth(mesh, FABRIC, pressure=core.Pressure(lambda time: 100.0 * time))
    system = ParticleSystem(core.Scene([cloth]))
    x = system.nodes.start
    assert np.abs(system.elastic(0.0).force(x) - system.elastic(0.0).force(x)).max() == 0.0
    growth = system.elastic(2.0).force(x) - system.elastic(1.0).force(x)
    assert np.einsum("vi,vi->v", growth, x).sum() > 0.0
    late = core.Cloth(mesh, FABRIC, pressure=core.Pressure(gas=lambda time: 1.0 - time))
    refused(core.ClothError, lambda: ParticleSystem(core.Scene([late])).elastic(2.0), "gas", "keyframes")


@pytest.mark.parametrize("options", [{"gas": -1.0}, {"target_volume": -1.0}, {"uniform": np.nan}, {"uniform": "much"},
                                     {"fluid_density": np.inf}, {"weights": [0.5]}, {"weights": np.full(162, 2.0)},
                                     {"weights": np.full(162, np.nan)}])
def test_what_no_pressure_can_be_is_refused(options):
    mesh, _ = mesh_of("ball")
    refused(core.ClothError, lambda: core.Cloth(mesh, FABRIC, pressure=core.Pressure(**options)), next(iter(options)))


def test_a_pressure_needs_faces_and_a_fluid_an_implicit_integrator():
    rope = core.ClothMesh([[0.0, 0, 0], [1.0, 0, 0]], edges=[[0, 1]])
    refused(core.ClothError, lambda: core.Cloth(rope, FABRIC, "rope", pressure=core.Pressure(1.0)), "no faces")
    refused(core.ClothError, lambda: core.Cloth(mesh_of("ball")[0], FABRIC, pressure=500.0), "it must be a Pressure")
    scene = core.Scene([core.Cloth(mesh_of("ball")[0], FABRIC, pressure=core.Pressure(fluid_density=1000.0))])
    refused(core.SolverError, lambda: list(core.simulate(scene, core.Solver(integrator="verlet"), range(2))),
            "implicit integrator")

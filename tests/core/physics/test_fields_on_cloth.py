# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields on cloth: forces per area, the wind factor, weights, derivatives, and stability in long steps."""

import numpy as np
import pytest

import core
from core import Cloth, ClothMesh, FieldWeights, ForceField, Scene, field_values
from core.integrators.stability_limit import of_symplectic_euler
from core.kernels import using
from core.kernels.backend import why_not
from core.model.field_forces import Step
from core.model.particle_system import ParticleSystem
from tests.core.physics.scenes import fixed_steps, run, sheet

BACKENDS = [pytest.param(name, marks=pytest.mark.skipif(bool(why_not(name)), reason="cannot run here"))
            for name in ("numpy", "numba")]
SIGMA = 0.2
FABRIC = core.Material(areal_density=SIGMA, stretch=(500.0, 500.0), shear=100.0, bend=(1e-5, 1e-5))
NO_GRAVITY = (0.0, 0.0, 0.0)


def cloth(fabric=FABRIC, **options):
    flat = sheet((4, 4), (0.4, 0.4))
    return Cloth(ClothMesh(flat.positions, flat.triangles), fabric, **options)


def uniform(wind_factor=0.0, **options):
    """A uniform force per area (3, 0, 4) N/m^2: a texture of one sample."""
    return ForceField("texture", field_values(strength=1.0, wind_factor=wind_factor),
                      lattice=np.array([3.0, 0.0, 4.0]).reshape(1, 1, 1, 3), lattice_map=np.eye(3, 4), **options)


def system(fields, **options):
    return ParticleSystem(Scene([cloth(**options)], gravity=NO_GRAVITY, fields=fields))


def test_a_uniform_force_per_area_accelerates_a_sheet_by_its_areal_density():
    made = system([uniform()])
    x = made.initial_state().x
    f = made.rate_force(x, np.zeros_like(x), 0.0).push
    np.testing.assert_allclose(f / made.mass[:, None], np.tile([3.0, 0.0, 4.0], (len(x), 1)) / SIGMA, rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_wind_factor_leaves_the_component_along_the_normal(backend):
    with using(backend):
        for factor in (1.0, 0.25):
            made = system([uniform(factor)])
            x = made.initial_state().x
            f = made.rate_force(x, np.zeros_like(x), 0.0).push
            wanted = np.array([(1.0 - factor) * 3.0, 0.0, 4.0])
            wanted = np.tile(wanted, (len(x), 1)) / SIGMA
            np.testing.assert_allclose(f / made.mass[:, None], wanted, rtol=1e-10, atol=1e-12)


def test_threads_and_single_points_feel_fields_by_their_width():
    positions = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]])
    rope = Cloth(ClothMesh(positions, edges=[[0, 1], [1, 2]]), FABRIC, model="rope")
    made = ParticleSystem(Scene([rope], gravity=NO_GRAVITY, fields=[uniform(0.5)]))
    f = made.rate_force(positions, np.zeros_like(positions), 0.0).push
    area = FABRIC.thread_width * 0.2
    np.testing.assert_allclose(f.sum(axis=0), area * np.array([3.0, 0.0, 4.0]), rtol=1e-12)


AXIS_OF_LINE = np.array([-0.8, 0.0, 0.6])
STRONG = {
    "harmonic": ForceField("harmonic", field_values(strength=5.0, rest_length=0.1, damping=0.3, z=0.3)),
    "drag": ForceField("drag", field_values(linear_drag=0.4, quadratic_drag=1.5)),
    "force": ForceField("force", field_values(strength=-3.0, z=0.3)),
    "line": ForceField("harmonic", field_values(strength=5.0, rest_length=0.1, z=0.3, zz=0.6, xz=-0.8), "line"),
    "plane": ForceField("harmonic", field_values(strength=5.0, z=0.3), "plane"),
    "flow": ForceField("force", field_values(strength=1.0, flow=0.7, z=-2.0), "plane"),
    "vortex": ForceField("vortex", field_values(strength=0.0), "line")}


@pytest.mark.parametrize("backend", BACKENDS)
def test_blocks_are_the_semi_definite_part_of_the_derivatives(backend):
    rng, h = np.random.default_rng(2), 0.04
    with using(backend):
        for name, field in STRONG.items():
            made = system([field])
            x = made.initial_state().x + 0.05 * rng.normal(size=(25, 3))
            v = rng.normal(size=x.shape)

            def force(x, v, made=made):
                rate = made.rate_force(x, v, 0.0)
                return rate.push - rate.product(v)

            lin = made.rate_force(x, v, 0.0, Step(h, x - h * v, v))
            np.testing.assert_allclose(lin.push - lin.product(v), force(x, v), atol=1e-12, err_msg=name)
            assert np.linalg.eigvalsh(lin.blocks).min() > -1e-12, name
            eps = 1e-6
            exact = np.stack([-(force(x + h * eps * e, v + eps * e) - force(x - h * eps * e, v - eps * e)) / (2.0 * eps)
                              for e in np.eye(3)], axis=2)
            assert np.linalg.eigvalsh(lin.blocks - 0.5 * (exact + exact.transpose(0, 2, 1))).min() > -1e-7, name
            d = x - [0.0, 0.0, 0.3]
            far = np.linalg.norm(d - (d @ AXIS_OF_LINE)[:, None] * AXIS_OF_LINE * (name == "line"), axis=1) > 0.1
            assert far.sum() > 15                               # nearer, a harmonic field with a length pushes away
            np.testing.assert_allclose(lin.blocks[far], exact[far], atol=1e-7, err_msg=name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_strong_fields_are_stable_in_one_step_per_frame(backend):
    """An explicit step of 1/25 s would grow without bound: h^2 S / sigma is 32, h drag / sigma is 1."""
    for field in (ForceField("harmonic", field_values(strength=4000.0, x=0.2, y=0.2, z=0.2)),
                  ForceField("drag", field_values(linear_drag=2.0, quadratic_drag=2.0)),
                  ForceField("force", field_values(strength=500.0, flow=50.0, z=-0.5), "plane")):
        frames = run(Scene([cloth(velocities=np.tile([3.0, 0.0, 0.0], (25, 1)))], gravity=NO_GRAVITY, fields=[field]),
                     fixed_steps(1 / 25, newton_iterations=1, backend=backend), 20)
        speed = np.array([np.abs(frame.velocities[0]).max() for frame in frames])
        assert np.isfinite(speed).all() and speed.max() < 12.0, field.kind


def test_explicit_steps_are_limited_by_the_stiffness_and_drag_of_fields():
    usual = of_symplectic_euler(weak := system([]), weak.initial_state(), core.Solver())
    for field, most in ((ForceField("harmonic", field_values(strength=1e8)), 2.0 / np.sqrt(1e8 / SIGMA)),
                        (ForceField("force", field_values(flow=1e6), "plane"), 2.0 / (1e6 / SIGMA))):
        limit = of_symplectic_euler(made := system([field]), made.initial_state(), core.Solver())
        assert 0.3 * most < limit < min(most, 0.5 * usual), field.kind


def test_magnetic_fields_turn_velocities_and_do_no_work():
    """In steps of any length; the period is 2 pi sigma / B for short ones."""
    field = ForceField("magnetic", field_values(strength=SIGMA * 2.0 * np.pi), "plane")
    still = cloth(velocities=np.tile([1.0, 0.0, 0.5], (25, 1)))
    for h, count in ((1 / 100, 100), (1 / 10, 10), (1 / 2, 20)):
        v = run(Scene([still], gravity=NO_GRAVITY, fields=[field]), fixed_steps(h, newton_iterations=1), count)
        v = np.array([frame.velocities[0].mean(axis=0) for frame in v])
        assert np.linalg.norm(v, axis=1) == pytest.approx(np.sqrt(1.25), rel=1e-5)
        assert v[:, 2] == pytest.approx(0.5, rel=1e-5)
        if h == 1 / 100:
            assert v[-1] == pytest.approx([1.0, 0.0, 0.5], abs=0.02)


def test_weights_of_a_cloth_scale_gravity_and_fields():
    fields = [uniform(name="one"), ForceField("force", field_values(strength=1.0, z=-1.0), "plane", name="two")]
    cloths = [cloth(field_weights=weights) for weights in (
        None, FieldWeights(gravity=0.5, texture=2.0), FieldWeights(all=0.0), FieldWeights(fields=["two"], gravity=0.0))]
    made = ParticleSystem(Scene(cloths, gravity=(0.0, 0.0, -10.0), fields=fields))
    x = made.initial_state().x
    f = made.force(x, np.zeros_like(x), 0.0) / made.mass[:, None]
    found = [f[span].mean(axis=0) for span in made.slices]
    all_wanted = [15.0, 0.0, 15.0], [30.0, 0.0, 40.0], [0.0, 0.0, -10.0], [0.0, 0.0, 5.0]
    for a, wanted in zip(found, all_wanted, strict=True):
        assert a == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_a_gravity_weight_that_changes_is_followed():
    swinging = cloth(field_weights=FieldWeights(gravity=lambda t: 1.0 if t < 0.1 - 1e-9 else 0.0))
    frames = run(Scene([swinging], gravity=(0.0, 0.0, -10.0)), fixed_steps(1 / 50, newton_iterations=1), 10)
    speed = [frame.velocities[0][:, 2].mean() for frame in frames]
    assert speed[3:6] == pytest.approx([-0.6, -0.8, -0.8]) and speed[-1] == pytest.approx(-0.8)


@pytest.mark.parametrize("backend", BACKENDS)
def test_wind_of_a_field_moves_the_air(backend):
    speed, k_d, h = 4.0, 1.5, 1 / 50
    fabric = core.Material(areal_density=SIGMA, stretch=(500.0, 500.0), shear=100.0, bend=(1e-5, 1e-5), air_drag=k_d)
    field = ForceField("wind", field_values(strength=speed, flow=5.0, z=-1.0), "plane")
    frames = run(Scene([cloth(fabric)], gravity=NO_GRAVITY, fields=[field]),
                 fixed_steps(h, newton_iterations=1, backend=backend), 1)
    wanted = np.tile([0.0, 0.0, speed * k_d * h / (SIGMA + k_d * h)], (25, 1))
    assert frames[-1].velocities[0] == pytest.approx(wanted, rel=1e-6, abs=1e-9)
    still = Scene([cloth(fabric, field_weights=FieldWeights(wind=0.0))], gravity=NO_GRAVITY, fields=[field])
    calm = run(still, fixed_steps(h, newton_iterations=1, backend=backend), 1)[-1].velocities[0]
    assert np.abs(calm).max() < 1e-12

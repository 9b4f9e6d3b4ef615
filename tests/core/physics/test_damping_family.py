# SPDX-License-Identifier: GPL-3.0-or-later
"""The five damping forces of 002: the motion that each damps, the motion that it does not damp, and its df/dv.

With f = - c v on a mode, a step of implicit Euler multiplies its velocity by 1 / (1 + h c / m).
"""

import numpy as np
import pytest

import core
from core.integrators.linearisation import Constant, SolveMemory, Tangent
from core.kernels import backend
from core.kernels.backend import using
from core.model.particle_system import ParticleSystem
from tests.cases import cases
from tests.core.physics.scenes import fixed_steps, masses, rope, run, sheet

WIDTH, LENGTH, KD, H = 0.01, 0.5, 0.8, 1.0 / 60.0
both = cases("which", ["numpy", "numba"])


def pair(velocities, **damping):
    """Return the velocities of the ends of a thread without stiffness after one step, and their mass."""
    fabric = core.Material(areal_density=4.0, stretch=0.0, shear=0.0, thread_width=WIDTH, **damping)
    mesh = rope(np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]]))
    cloth = core.Cloth(mesh, fabric, velocities=velocities)
    last = run(core.Scene([cloth], gravity=(0, 0, 0)), fixed_steps(H), 1)[-1]
    return last.velocities[0], masses(cloth)[0]


APART = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
TURNING = np.array([[0.0, -1.0, 0.5], [0.0, 1.0, -0.5]])
TOGETHER = np.array([[0.3, -0.2, 0.5], [0.3, -0.2, 0.5]])


@pytest.mark.parametrize(("what", "stops"), [
    ("viscous_drag", ("apart", "turning", "together")), ("isotropic_damping", ("apart", "turning")),
    ("spring_damping", ("apart",))])
@pytest.mark.parametrize("motion", ["apart", "turning", "together"])
def test_each_damps_the_motions_it_should_at_its_rate_and_no_other(what, stops, motion):
    v = {"apart": APART, "turning": TURNING, "together": TOGETHER}[motion]
    found, mass = pair(v, **{what: KD})
    if motion not in stops:
        assert np.abs(found - v).max() < 1e-9
        return
    # each end has the drag of half the strip; the dashpot between them has k_d width / L
    rate = KD * 0.5 * LENGTH * WIDTH / mass if what == "viscous_drag" else 2.0 * KD * WIDTH / LENGTH / mass
    assert found == pytest.approx(v / (1.0 + H * rate), rel=1e-6)


def test_damping_along_conditions_stops_stretching_and_not_turning():
    fabric = core.Material(areal_density=4.0, stretch=200.0, shear=0.0, thread_width=WIDTH, damping=0.05)
    mesh = rope(np.array([[0.0, 0.0, 0.0], [LENGTH, 0.0, 0.0]]))
    k, m = 200.0 * WIDTH / LENGTH, 4.0 * WIDTH * LENGTH / 2.0
    wanted = 1.0 / (1.0 + 2.0 * (0.05 * H + H * H) * k / m)
    for v, factor in ((1e-6 * APART, wanted), (1e-6 * TURNING, 1.0)):
        cloth = core.Cloth(mesh, fabric, velocities=v)
        last = run(core.Scene([cloth], gravity=(0, 0, 0)), fixed_steps(H), 1)[-1]
        assert last.velocities[0] == pytest.approx(factor * v, rel=1e-5, abs=1e-13)


ALL = {"damping": 0.01, "air_drag": 0.7, "viscous_drag": 0.3, "isotropic_damping": 0.05, "spring_damping": 0.2}


@both
@cases("what", ALL)
def test_the_matrix_of_each_is_minus_df_dv_and_symmetric(what, which):
    if backend.why_not(which):
        pytest.skip(backend.why_not(which))
    rng = np.random.default_rng(5)
    mesh = sheet((3, 3), (0.6, 0.5))
    fabric = core.Material(areal_density=0.2, stretch=100.0, shear=20.0, **{what: ALL[what]})
    with using(which):
        system = ParticleSystem(core.Scene([core.Cloth(mesh, fabric)]))
        x, v = mesh.positions + 0.03 * rng.normal(size=(16, 3)), rng.normal(size=(16, 3))
        rate = system.rate_force(x, v, 0.0)
        elastic, tangent = system.elastic(0.0), Tangent(system, SolveMemory(None), in_flight=False)
        h = 0.01
        A, plain = tangent.matrix(elastic, x, h, rate), None
        d = rng.normal(size=x.shape)
        with_rate = A.multiply(d).copy()
        plain = tangent.matrix(elastic, x, h, None).multiply(d)
        D = (with_rate - plain) / h
        assert rate.product(d) == pytest.approx(D, rel=1e-9, abs=1e-9 * np.abs(D).max())
        # f = push - D v is linear in v
        eps = 1e-6
        there, back = (system.rate_force(x, v + s * eps * d, 0.0) for s in (1.0, -1.0))
        slope = (there.push - there.product(v + eps * d) - back.push + back.product(v - eps * d)) / (2.0 * eps)
        assert slope == pytest.approx(-D, rel=1e-6, abs=1e-6 * np.abs(D).max())
        e = rng.normal(size=x.shape)
        assert np.vdot(e, rate.product(d)) == pytest.approx(np.vdot(d, rate.product(e)), rel=1e-9)
        # the constant matrix of projective dynamics is an upper bound
        constant = Constant(system, core.Solver(integrator="projective_dynamics"), 0.0)
        x = mesh.positions
        rate = system.rate_force(x, v, 0.0)
        for _ in range(20):
            d = rng.normal(size=x.shape)
            less = np.vdot(d, tangent.matrix(elastic, x, h, rate).multiply(d))
            assert less <= np.vdot(d, constant.matrix(elastic, x, h, rate).multiply(d)) * (1.0 + 1e-12)


@cases("name", ["isotropic_damping", "spring_damping", "viscous_drag"])
def test_damping_below_zero_is_refused_by_name(name):
    with pytest.raises(core.MaterialError, match=name):
        core.Material(areal_density=0.2, stretch=1.0, shear=1.0, **{name: -1.0})

# SPDX-License-Identifier: GPL-3.0-or-later
"""Explicit integrators: the longest stable step, the errors for longer steps, and the motion itself."""

import numpy as np
import pytest

import core
from core.integrators import stability_limit
from core.model.particle_system import ParticleSystem
from core.number_text import number_text
from tests.cases import cases
from tests.core.physics.scenes import masses, reference, rope, rope_fabric, sheet

LEAPFROGS = ("symplectic_euler", "verlet")
FABRIC = core.Material(areal_density=0.2, stretch=60.0, shear=15.0, bend=1e-5)
TREMBLING = 1e-4


def fixed(name, h, steps=1, **settings):
    return core.Solver(integrator=name, frame_rate=1.0 / (h * steps), steps_per_frame=steps, adaptive=False,
                       self_collision=False, **settings)


def fastest(cloth):
    """Return the largest frequency [rad/s] of the cloth near rest, from its full stiffness matrix."""
    system = ParticleSystem(core.Scene([cloth]))
    x, found = system.initial_state().x, []
    root = np.repeat(system.mass, 3) ** -0.5
    for size in (1.0, 1.02):                                         # springs that only pull have no stiffness at rest
        K = system.elastic(0.0).stiffness(size * x, 1.0)
        dense = np.stack([K.multiply(e.reshape(-1, 3)).ravel() for e in np.eye(x.size)])
        found.append(np.sqrt(np.linalg.eigvalsh(dense * root * root[:, None])[-1]))
    return max(found)


def trembling(name, h, fabric, count, **settings):
    """Return the growth of small noise on a sheet after `count` steps of h [s]."""
    mesh = sheet((5, 4), (0.5, 0.4))
    v = TREMBLING * np.random.default_rng(0).normal(size=mesh.positions.shape)
    scene = core.Scene([core.Cloth(mesh, fabric, velocities=v)], gravity=(0, 0, 0))
    try:
        for frame in core.simulate(scene, fixed(name, h, 5, **settings), range(count // 5 + 1)):
            size = np.linalg.norm(frame.velocities[0]) / np.linalg.norm(v)
            if size > 100.0:
                break
    except core.SolverError as error:
        assert "runs away" in str(error)
        return np.inf
    return size


# ---------------------------------------------------------------------- the estimate


@cases("model", ["baraff_witkin", "projective", "mass_spring", "immediate_buckling"])
@cases("cells", [1e-3, 1.0])
def test_the_estimate_is_a_close_lower_bound(model, cells):
    mesh = sheet((6, 5), (6 * cells, 5 * cells), "alternating")
    x = mesh.positions.copy()
    x[:, :2] += 0.15 * cells * np.random.default_rng(1).uniform(-1.0, 1.0, size=(len(x), 2))
    cloth = core.Cloth(core.ClothMesh(x, mesh.triangles), FABRIC, model=model)
    system = ParticleSystem(core.Scene([cloth]))
    longest = stability_limit.of_symplectic_euler(system, system.initial_state(), core.Solver())
    exact = 2.0 / fastest(cloth)
    assert 0.5 * exact < longest < exact


@pytest.mark.parametrize("name", LEAPFROGS)
@pytest.mark.parametrize("damping", [0.0, 3e-4, 3e-3])
def test_below_the_estimate_noise_stays_and_above_the_true_limit_it_grows(name, damping, monkeypatch):
    fabric = core.Material(areal_density=0.2, stretch=60.0, shear=15.0, damping=damping)
    cloth = core.Cloth(sheet((5, 4), (0.5, 0.4)), fabric)
    system = ParticleSystem(core.Scene([cloth]))
    longest = getattr(stability_limit, f"of_{name}")(system, system.initial_state(), fixed(name, 1.0))
    assert trembling(name, 0.999 * longest, fabric, 400) < 2.0
    omega = fastest(cloth)
    d = damping * omega ** 2
    beyond = 2.5 if name == "verlet" and damping > 1e-3 else 1.1                     # its damping acts on half the step
    beyond *= (np.sqrt(d * d + 4.0 * omega ** 2) - d) / omega ** 2
    monkeypatch.setattr(stability_limit, "STABLE_PART", 10.0)                            # switch the estimate off
    assert trembling(name, beyond, fabric, 60) > 10.0


def test_explicit_euler_is_stable_where_damping_outweighs_the_step(monkeypatch):
    fabric = core.Material(areal_density=0.2, stretch=60.0, shear=15.0, damping=1e-3)
    system = ParticleSystem(core.Scene([core.Cloth(sheet((5, 4), (0.5, 0.4)), fabric)]))
    longest = stability_limit.of_explicit_euler(system, system.initial_state(), core.Solver())
    assert longest == pytest.approx(1e-3, rel=0.05)                                   # tau, with a small growth
    assert trembling("explicit_euler", 0.999 * longest, fabric, 400) < 1.5
    monkeypatch.setattr(stability_limit, "STABLE_PART", 10.0)
    assert trembling("explicit_euler", 2.5 * longest, fabric, 400) > 10.0


# ---------------------------------------------------------------------- the error


def first_frame(name, fabric=FABRIC, **settings):
    cloth = core.Cloth(sheet((12, 12), (0.5, 0.5)), fabric)
    return list(core.simulate(core.Scene([cloth]), core.Solver(integrator=name, **settings), range(2)))[-1]


@cases("name", LEAPFROGS)
def test_steps_that_are_too_long_are_refused_with_a_stable_one(name):
    with pytest.raises(core.UnstableStepError, match="implicit_euler, bdf2 or projective_dynamics") as caught:
        first_frame(name, max_halvings=1)
    error = caught.value
    assert isinstance(error, core.SolverError)
    longest, tried = number_text(error.longest, 3), number_text(error.step, 3)
    assert f"steps of up to {longest} s" in str(error) and f"of {tried} s" in str(error)
    assert f"set steps_per_frame to {error.steps_per_frame}" in str(error)
    assert error.step == pytest.approx(1.0 / 24.0 / 2 / 2)
    assert f"steps of {number_text(1.0 / 48.0, 3)} s, halved 1 times," in str(error)
    assert f"to {error.steps_per_frame} or more ({2 * error.steps_per_frame} after halving)" in str(error)
    frame = first_frame(name, max_halvings=1, steps_per_frame=error.steps_per_frame)
    assert frame.certificate.step_max <= error.longest and np.isfinite(frame.positions[0]).all()
    with pytest.raises(core.UnstableStepError):
        first_frame(name, max_halvings=1, steps_per_frame=error.steps_per_frame - 1)


@cases("name", LEAPFROGS)
def test_steps_that_halving_makes_stable_are_halved_silently(name):
    frame = first_frame(name)
    assert frame.certificate.rejected == 0 and frame.certificate.steps >= 16


@cases("name", LEAPFROGS)
def test_a_frame_of_more_stable_steps_than_it_may_take_is_refused_unless_they_are_asked_for(name):
    stiff = core.Material(areal_density=0.2, stretch=1.5e5, shear=15.0)
    with pytest.raises(core.UnstableStepError, match="which are more than 1000: set steps_per_frame to") as caught:
        first_frame(name, stiff, steps_per_frame=100)
    wanted = caught.value.steps_per_frame
    assert wanted > 1000 and caught.value.step < caught.value.longest
    assert first_frame(name, stiff, steps_per_frame=wanted).certificate.steps == wanted


def test_the_error_names_damping_if_it_limits_the_step():
    damped = core.Material(areal_density=0.2, stretch=60.0, shear=15.0, damping=0.5)
    with pytest.raises(core.UnstableStepError, match="damp it less"):
        first_frame("verlet", damped)


def test_explicit_euler_says_that_without_damping_it_always_grows():
    with pytest.raises(core.UnstableStepError, match="damp the fabric more, without which explicit Euler always"):
        first_frame("explicit_euler")


@cases("kd", [-0.1, 1.1, float("nan"), None, "1"])
def test_kd_out_of_range_is_refused(kd):
    with pytest.raises(core.SolverError, match="verlet_kd is"):
        core.Solver(integrator="verlet", verlet_kd=kd)


# ---------------------------------------------------------------------- the motion


@cases("kd", [0.5, 0.9, 1.0])
def test_kd_is_the_product_of_the_roots_of_a_step(kd):
    mesh = rope(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]]))
    cloth = core.Cloth(mesh, rope_fabric(1.4, 0.7 * (2.0 * np.pi) ** 2), pins={0: None},
                       positions=mesh.positions + [[0, 0, 0], [0, 0, 0.1]])
    frames = core.simulate(core.Scene([cloth], gravity=(0, 0, 0)), fixed("verlet", 1 / 60, verlet_kd=kd), range(9))
    x = np.array([frame.positions[0][1, 2] + 1.0 for frame in frames])[1:]
    total, product = np.linalg.lstsq(np.stack([x[1:-1], -x[:-2]], axis=1), x[2:], rcond=None)[0]
    assert product == pytest.approx(kd, abs=1e-9)
    assert total == pytest.approx(1.0 + kd - (2.0 * np.pi / 60) ** 2, abs=1e-9)


@pytest.mark.parametrize("name", LEAPFROGS)
def test_a_pendulum_keeps_its_swing_and_its_period(name):
    row = reference("pendulum_integrators")["pendulum"][0]
    angle, h, steps = np.radians(row["amplitude_deg"]), 1 / 60, 5
    mesh = rope(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -row["length"]]]))
    turned = np.array([[0.0, 0.0, 0.0], [np.sin(angle), 0.0, -np.cos(angle)]])
    cloth = core.Cloth(mesh, rope_fabric(2.0 * row["mass"], row["rod_stiffness"]), pins={0: None}, positions=turned)
    assert masses(cloth)[1] == pytest.approx(row["mass"])
    count = round(2.3 * row["exact_period"] / h)
    frames = core.simulate(core.Scene([cloth]), fixed(name, h / steps, steps), range(count + 1))
    swing = np.array([np.degrees(np.arctan2(f.positions[0][1, 0], -f.positions[0][1, 2])) for f in frames])
    crossing = np.flatnonzero((swing[:-1] > 0.0) & (swing[1:] <= 0.0))
    at = h * (crossing + swing[crossing] / (swing[crossing] - swing[crossing + 1]))
    assert np.diff(at) == pytest.approx(row["exact_period"], rel=1e-3)
    assert swing[count // 2:].max() == pytest.approx(row["amplitude_deg"], abs=0.05)


@cases("name", LEAPFROGS)
def test_a_hanging_sheet_moves_as_by_an_implicit_integrator_of_short_steps(name):
    def lowest(settings):
        cloth = core.Cloth(sheet((5, 5), (0.5, 0.5)), FABRIC, pins={0: None, 5: None})
        return list(core.simulate(core.Scene([cloth]), settings, range(8)))[-1].positions[0][:, 2].min()

    wanted = lowest(core.Solver(integrator="bdf2", steps_per_frame=16, newton_iterations="converge", tolerance=1e-6,
                                self_collision=False))
    assert wanted < -0.2
    found = lowest(core.Solver(integrator=name, self_collision=False))
    assert found == pytest.approx(wanted, abs=6e-3 if name == "symplectic_euler" else 3e-3)     # one step of fall

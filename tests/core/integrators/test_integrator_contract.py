# SPDX-License-Identifier: GPL-3.0-or-later
"""What every integrator owes: falling, its order of convergence, what becomes of energy and momentum, pins, solids,
cloth on cloth, and the same bytes twice."""

import numpy as np
import pytest

import core
from core.kernels import backend
from tests.cases import cases
from tests.core.integrators.members import GRAVITY, MEMBERS
from tests.core.physics.scenes import elastic_energy, masses, reference, rope, rope_fabric, sheet

SOFT = core.Material(areal_density=0.2, stretch=30.0, shear=10.0, bend=1e-5, damping=5e-3, friction=0.3)
LIMP = core.Material(areal_density=0.2, stretch=0.0, shear=0.0)
UNDAMPED = core.Material(areal_density=0.2, stretch=60.0, shear=10.0)

each = cases("name", core.integrators())
kept = cases("name", [name for name, member in MEMBERS.items() if member.energy == "kept"])
both = pytest.mark.parametrize("which", ["numpy", "numba"])


def solver(name, h, steps=1, **settings):
    """Steps of exactly h [s], so many per frame, solved to the end."""
    wanted = {"newton_iterations": "converge", "tolerance": 1e-9, "adaptive": False, "max_newton_iterations": 2000,
              **settings}
    return core.Solver(integrator=name, frame_rate=1.0 / (h * steps), steps_per_frame=steps, **wanted)


def loosely(name, **settings):
    """As a user has it."""
    iterations = 8 if name == "projective_dynamics" else 1
    return core.Solver(integrator=name, steps_per_frame=4, newton_iterations=iterations, **settings)


def run(scene, settings, count):
    return list(core.simulate(scene, settings, range(count + 1)))


def test_every_integrator_is_under_contract():
    assert set(MEMBERS) == set(core.integrators())


# ---------------------------------------------------------------------- motion


@each
@cases(("rate", "steps"), [(24.0, 1), (60.0, 2)])
def test_free_fall_is_the_methods_own_to_rounding(name, rate, steps):
    mesh = sheet((3, 2), (0.6, 0.4))
    settings = core.Solver(integrator=name, frame_rate=rate, steps_per_frame=steps, adaptive=False)
    thrown = np.tile([0.5, -0.2, 1.0], (len(mesh.positions), 1))
    frames = run(core.Scene([core.Cloth(mesh, LIMP, velocities=thrown)]), settings, 12)
    h = 1.0 / (rate * steps)
    for i, frame in enumerate(frames):
        n = i * steps
        wanted = mesh.positions + n * h * thrown - [0.0, 0.0, GRAVITY * h * h * MEMBERS[name].fallen(n)]
        assert np.abs(frame.positions[0] - wanted).max() < 1e-10
        assert np.abs(frame.velocities[0] - thrown + [0.0, 0.0, GRAVITY * h * n]).max() < 1e-10


def swing(name, h, seconds):
    """Place and velocity of a mass on a spring of 0.5 Hz that starts at rest length with 1 m/s, and what they should
    be."""
    mesh = core.ClothMesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    weight = 1.0 / 101.0                                            # k / m = (2 pi 5)^2 / 100
    cloth = core.Cloth(mesh, core.Material(areal_density=0.3, stretch=0.0, shear=0.0), pins=np.full(4, weight),
                       velocities=np.tile([0.0, 0.0, 1.0], (4, 1)))
    last = run(core.Scene([cloth], gravity=(0, 0, 0)), solver(name, h, round(seconds / h), self_collision=False), 1)[-1]
    omega = 2.0 * np.pi * 0.5
    found = np.array([last.positions[0][2, 2], last.velocities[0][2, 2] / omega])
    return found, np.array([np.sin(omega * seconds), np.cos(omega * seconds)]) / omega


@each
def test_errors_shrink_with_the_step_by_the_methods_order(name):
    errors = []
    for h in (1 / 40, 1 / 80, 1 / 160):
        found, wanted = swing(name, h, 0.7)
        errors.append(np.linalg.norm(found - wanted))
    order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.abs(order - MEMBERS[name].order).max() < 0.15, (errors, order)


ROWS = [row for row in reference("pendulum_integrators")["linear_oscillator"]
        if row["frequency_hz"] * row["h"] < 0.3]


@kept
@cases("row", ROWS, ids=lambda r: f"{r['frequency_hz']} Hz h={r['h']:.4f}")
def test_a_vibration_is_kept_with_the_frequency_of_the_reference(name, row):
    mesh = rope(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -1.0]]))
    fabric = rope_fabric(1.4, 0.7 * (2.0 * np.pi * row["frequency_hz"]) ** 2)
    cloth = core.Cloth(mesh, fabric, pins={0: None}, positions=mesh.positions + [[0, 0, 0], [0, 0, 0.1]])
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), solver(name, row["h"]), 8)
    x = np.array([frame.positions[0][1, 2] + 1.0 for frame in frames])[1:]
    total, product = np.linalg.lstsq(np.stack([x[1:-1], -x[:-2]], axis=1), x[2:], rcond=None)[0]
    wanted = row["symplectic_euler"]
    assert np.sqrt(product) == pytest.approx(wanted["amplification_per_step"], abs=1e-6)
    omega = np.arctan2(np.sqrt(4.0 * product - total ** 2), total) / row["h"]
    assert omega == pytest.approx(wanted["omega_numeric"], rel=1e-6)


@each
def test_energy_of_a_swing_falls_is_kept_or_grows(name):
    size = []
    for seconds in (0.0, 2.0, 4.0):                                   # whole periods
        found = swing(name, 1 / 40, seconds)[0] if seconds else np.array([0.0, 1.0 / np.pi])
        size.append(np.sum(found ** 2))
    change = np.diff(size) / size[0]
    if MEMBERS[name].energy == "kept":
        assert np.abs(change).max() < 5e-3
    else:
        assert (change < 0.0).all() if MEMBERS[name].energy == "falls" else (change > 0.05).all()


@kept
def test_energy_of_a_shaken_sheet_does_not_drift(name):
    mesh = sheet((4, 4), (0.4, 0.4))
    v = 0.3 * np.random.default_rng(3).normal(size=mesh.positions.shape)
    cloth = core.Cloth(mesh, UNDAMPED, velocities=v, pins={0: None})
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), solver(name, 1 / 400, 4, self_collision=False), 100)
    energy = np.array([elastic_energy(cloth, f.positions[0])
                       + 0.5 * masses(cloth)[1:] @ np.sum(f.velocities[0][1:] ** 2, axis=1) for f in frames[1:]])
    early, late = energy[:25].mean(), energy[-25:].mean()
    assert late == pytest.approx(early, rel=0.05)
    assert energy.max() < 1.3 * early


# ---------------------------------------------------------------------- momentum


@each
def test_momentum_is_kept_and_by_some_the_angular_one(name):
    mesh = sheet((4, 3), (0.4, 0.3))
    v = 0.5 * np.random.default_rng(4).normal(size=mesh.positions.shape)
    cloth = core.Cloth(mesh, SOFT, velocities=v)
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), loosely(name), 4)
    m = masses(cloth)
    size = m @ np.linalg.norm(v, axis=1)
    for frame in frames:
        assert np.abs(m @ (frame.velocities[0] - v)).max() < 1e-10 * size
    if MEMBERS[name].spins:
        free = core.Cloth(mesh, UNDAMPED, velocities=v)
        frames = run(core.Scene([free], gravity=(0, 0, 0)), loosely(name, self_collision=False), 4)
        L = [np.cross(f.positions[0], m[:, None] * f.velocities[0]).sum(axis=0) for f in frames]
        assert np.abs(L[-1] - L[0]).max() < 1e-9 * size


# ---------------------------------------------------------------------- pins, solids, cloth


@each
def test_pins_are_exactly_where_they_should_be(name):
    mesh = sheet((3, 3), (0.6, 0.6))

    def path(t):
        return mesh.positions[3] + [0.2 * np.sin(3.0 * t), 0.1 * t, 0.0]

    cloth = core.Cloth(mesh, SOFT, pins={0: None, 3: path},
                       attachments=[core.Attachment(15, directions=[(0.0, 0.0, 1.0)])])
    for frame in run(core.Scene([cloth]), loosely(name), 12):
        assert (frame.positions[0][0] == mesh.positions[0]).all()
        assert np.abs(frame.positions[0][3] - path(frame.time)).max() < 1e-15
        assert abs(frame.positions[0][15, 2]) < 1e-12
        assert frame.certificate.crossings == 0
    assert frame.positions[0][:, 2].min() < -0.1


FLOOR = np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 12.0, 0.0]])


@pytest.mark.parametrize("name", core.integrators())
@both
def test_a_sheet_that_falls_quickly_lies_on_a_solid_and_on_another_sheet(name, which):
    if backend.why_not(which):
        pytest.skip(backend.why_not(which))
    low = core.Cloth(sheet((3, 3), (0.6, 0.6), shift=(0.0, 0.0, 0.05)), SOFT, thickness=0.01)
    high = sheet((3, 3), (0.6, 0.6), shift=(0.1, 0.05, 0.2))
    top = core.Cloth(high, SOFT, thickness=0.01, velocities=np.tile([0.0, 0.0, -3.0], (16, 1)))
    floor = core.Collider(FLOOR, [[0, 1, 2]], friction=0.3)
    frames = run(core.Scene([low, top], [floor]), loosely(name, backend=which), 6)
    for frame in frames:
        assert frame.certificate.crossings == 0
        assert all(x[:, 2].min() > 0.0 for x in frame.positions)
    assert frames[-1].positions[1][:, 2].mean() < 0.1
    assert np.abs(frames[-1].velocities[0]).max() < 0.5


@each
def test_two_runs_give_the_same_bytes(name):
    def last():
        mesh = sheet((4, 4), (0.4, 0.4), shift=(0.0, 0.0, 0.05))
        cloth = core.Cloth(mesh, SOFT, pins={0: None})
        frame = run(core.Scene([cloth], [core.Collider(FLOOR, [[0, 1, 2]])]), loosely(name), 2)[-1]
        return frame.positions[0].tobytes() + frame.velocities[0].tobytes()

    assert last() == last()

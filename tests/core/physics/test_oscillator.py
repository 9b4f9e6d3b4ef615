# SPDX-License-Identifier: GPL-3.0-or-later
"""A mass on a spring: the recursion of implicit Euler for a linear oscillator with damping.

With f = -k x - tau k v and w^2 = k/m the two roots of a step have the product 1 / (1 + tau h w^2 + h^2 w^2) and the sum
(2 + tau h w^2) times that product. The amplification per step is the square root of the product.
"""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import fixed_steps, reference, rope, rope_fabric, run

ROWS = reference("pendulum_integrators")["linear_oscillator"]
LENGTH, MASS = 1.0, 0.7


def bob(frequency, h, newton_iterations, damping=0.0, pins=None, count=6):
    """Return the heights above rest, after each step, of a mass on a vertical spring released 0.1 m too high."""
    k = MASS * (2.0 * np.pi * frequency) ** 2
    mesh = rope(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -LENGTH]]))
    fabric = rope_fabric(2.0 * MASS / LENGTH, k * LENGTH, damping=damping)
    start = mesh.positions + [[0.0, 0.0, 0.0], [0.0, 0.0, 0.1]]
    cloth = core.Cloth(mesh, fabric, pins={0: None}, positions=start)
    solver = fixed_steps(h, newton_iterations=newton_iterations)
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), solver, count)
    return np.array([frame.positions[0][1, 2] + LENGTH for frame in frames])


def roots(series):
    """Return sum and product of the two roots of a recursion x'' = sum x' - product x, fitted to a series."""
    A = np.stack([series[1:-1], -series[:-2]], axis=1)
    return np.linalg.lstsq(A, series[2:], rcond=None)[0]


@cases("row", ROWS, ids=lambda r: f"{r['frequency_hz']} Hz h={r['h']:.4f}")
@cases("newton_iterations", [1, "converge"])
def test_amplification_and_frequency_are_those_of_implicit_euler(row, newton_iterations):
    total, product = roots(bob(row["frequency_hz"], row["h"], newton_iterations))
    wanted = row["implicit_euler"]
    assert np.sqrt(product) == pytest.approx(wanted["amplification_per_step"], abs=1e-6)
    omega = np.arctan2(np.sqrt(4.0 * product - total ** 2), total) / row["h"]
    assert omega == pytest.approx(wanted["omega_numeric"], rel=1e-4)


@cases("damping", [1e-3, 0.02, 0.3])
@cases("h", [1 / 24, 1 / 60, 1 / 240])
@cases("newton_iterations", [1, "converge"])
def test_damping_is_a_ratio_to_stiffness_and_implicit(damping, h, newton_iterations):
    omega = 2.0 * np.pi * 2.0
    total, product = roots(bob(2.0, h, newton_iterations, damping))
    wanted = 1.0 / (1.0 + damping * h * omega ** 2 + (h * omega) ** 2)
    assert product == pytest.approx(wanted, abs=1e-6)
    assert total == pytest.approx((2.0 + damping * h * omega ** 2) * wanted, abs=1e-6)


@cases("weight", [0.2, 0.5, 0.9])
def test_a_soft_pin_pulls_by_its_weight_in_every_direction(weight):
    """The documented stiffness is w / (1 - w) m (2 pi 5 Hz)^2; the whole sheet oscillates about its targets as one
    mass.
    """
    mesh = core.ClothMesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    fabric = core.Material(areal_density=0.3, stretch=1e3, shear=1e2)
    away = np.array([0.1, 0.2, -0.05])
    cloth = core.Cloth(mesh, fabric, pins=np.full(4, weight), velocities=np.tile(away, (4, 1)))
    h = 1 / 120
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), fixed_steps(h), 8)
    omega2 = weight / (1.0 - weight) * (2.0 * np.pi * 5.0) ** 2
    for vertex in range(4):
        for axis in range(3):
            series = np.array([f.positions[0][vertex, axis] - mesh.positions[vertex, axis] for f in frames])
            total, product = roots(series)
            assert product == pytest.approx(1.0 / (1.0 + h * h * omega2), abs=1e-6)
            assert total == pytest.approx(2.0 / (1.0 + h * h * omega2), abs=1e-6)

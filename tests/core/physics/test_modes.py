# SPDX-License-Identifier: GPL-3.0-or-later
"""Small oscillations: a hanging chain, a stretched membrane, a bending cantilever.

One mode is excited alone, and its coordinate q_n is fitted by the recursion of implicit Euler, q_{n+2} = total q_{n+1}
- product q_n. The fit gives the numerical frequency atan(omega h) / h, from which omega follows, and the decay (1 +
omega^2 h^2)^(-1/2) per step.
"""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import fixed_steps, masses, reference, rope, rope_fabric, run, settle, sheet

TABLE = reference("chain_modes")
H = 1 / 240


def omega_of(series, h=H):
    """Return omega [1/s] of the continuous motion that implicit Euler integrates, checked against its decay."""
    A = np.stack([series[1:-1], -series[:-2]], axis=1)
    total, product = np.linalg.lstsq(A, series[2:], rcond=None)[0]
    assert total ** 2 < 4.0 * product, "no oscillation"
    omega = np.tan(np.arctan2(np.sqrt(4.0 * product - total ** 2), total)) / h
    assert np.sqrt(product) == pytest.approx(1.0 / np.hypot(1.0, omega * h), rel=1e-4)
    return omega


def zero_crossing_period(t, q):
    at = np.flatnonzero(np.sign(q[1:]) != np.sign(q[:-1]))
    crossings = t[at] + (t[at + 1] - t[at]) * q[at] / (q[at] - q[at + 1])
    return 2.0 * float(np.mean(np.diff(crossings)))


# ---------------------------------------------------------------------- a chain hanging from one end

def chain_shapes(length, links, gravity):
    """Return omega (N,) and shapes (N, N) of a chain of N links with lumped masses, half a mass at the end."""
    d = length / links
    tension = gravity * (links - np.arange(links) - 0.5)                          # per mass of a link
    K = np.zeros((links, links))
    for i in range(links):
        K[i, i] += tension[i] / d
        if i:
            K[i - 1, i - 1] += tension[i] / d
            K[i - 1, i] = K[i, i - 1] = -tension[i] / d
    m = np.ones(links)
    m[-1] = 0.5
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(m, m)))
    return np.sqrt(values), vectors / np.sqrt(m)[:, None], m


def swinging_chain(length, links, mode, gravity, count, newton_iterations=1):
    _, shapes, m = chain_shapes(length, links, gravity)
    shape = shapes[:, mode - 1] / np.abs(shapes[:, mode - 1]).max()
    z = -np.linspace(0.0, length, links + 1)
    mesh = rope(np.stack([0 * z, 0 * z, z], axis=1))
    weight = 0.1 * gravity
    cloth = core.Cloth(mesh, rope_fabric(0.1, 1e4 * weight * length), pins={0: None})
    x = settle(core.Scene([cloth], gravity=(0, 0, -gravity)), 1.0, 3).positions[0]
    x[1:, 0] = 1e-5 * length * shape
    cloth = core.Cloth(mesh, cloth.material, pins={0: None}, positions=x)
    solver = fixed_steps(H, newton_iterations=newton_iterations, tolerance=1e-10)
    frames = run(core.Scene([cloth], gravity=(0, 0, -gravity)), solver, count)
    return np.array([(m * shape) @ frame.positions[0][1:, 0] for frame in frames])


CHAINS = [(row, n, mode) for row in TABLE["rows"] for n, mode in ((8, 1), (8, 3), (16, 2), (32, 1), (32, 4))]


@cases(("row", "links", "mode"), CHAINS, ids=[f"{r['length']} m N={n} n={k}" for r, n, k in CHAINS])
def test_a_hanging_chain_has_the_frequencies_of_its_links(row, links, mode):
    q = swinging_chain(row["length"], links, mode, row["gravity"], 40)
    omega = omega_of(q)
    assert omega == pytest.approx(row["lumped_omega"][str(links)][mode - 1], rel=0.005)
    if links == 32 and mode == 1:
        assert omega == pytest.approx(row["continuum"][0]["omega"], rel=0.01)


@cases(("length", "gravity"), [(3.0, 9.81), (0.5, 1.62)])
def test_bernoullis_chain_swings_at_any_length_and_gravity(length, gravity):
    """omega_1 = j_01 / 2 sqrt(g / L)"""
    omega = omega_of(swinging_chain(length, 32, 1, gravity, 40))
    assert omega == pytest.approx(2.404825557695773 / 2.0 * np.sqrt(gravity / length), rel=0.01)


def test_the_chains_period_between_zero_crossings_is_that_of_its_first_mode():
    row = TABLE["rows"][1]
    wanted = np.arctan(row["lumped_omega"]["8"][0] * H) / H
    q = swinging_chain(row["length"], 8, 1, row["gravity"], 300)
    assert 2.0 * np.pi / zero_crossing_period(H * np.arange(len(q)), q) == pytest.approx(wanted, rel=0.005)


# ---------------------------------------------------------------------- a stretched membrane

MEMBRANES = [*(tuple(r[k] for k in ("k", "stretch", "sigma", "side")) for r in TABLE["membrane"]),
             (2e3, 1.02, 0.1, 0.4)]


def membrane(k, stretch, sigma, side, mode):
    """Return the measured frequency [Hz] and the exact c / 2 side sqrt(m^2 + n^2) with c^2 = k (stretch - 1) / (stretch
    sigma).
    """
    n = 24
    mesh = sheet((n, n), (side, side))
    X = mesh.positions / side
    rim = np.flatnonzero((np.abs(X[:, :2] - 0.5) > 0.499).any(axis=1))
    shape = np.sin(mode[0] * np.pi * X[:, 0]) * np.sin(mode[1] * np.pi * X[:, 1])
    start = stretch * mesh.positions + np.outer(1e-4 * side * shape, [0, 0, 1])
    fabric = core.Material(areal_density=sigma, stretch=k, shear=0.3 * k)
    cloth = core.Cloth(mesh, fabric, pins=dict.fromkeys(rim.tolist()), positions=start)
    f = np.sqrt(k * (stretch - 1.0) / (stretch * sigma)) / (2.0 * side) * np.hypot(*mode)
    h = 1.0 / (60.0 * f)
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), fixed_steps(h, newton_iterations=1, tolerance=1e-9), 8)
    q = np.array([(masses(cloth) * shape) @ frame.positions[0][:, 2] for frame in frames])
    return omega_of(q, h) / (2.0 * np.pi), f


@cases(("k", "stretch", "sigma", "side"), MEMBRANES)
@cases("mode", [(1, 1), (1, 2)])
def test_a_stretched_membrane_sounds_at_its_exact_pitch(k, stretch, sigma, side, mode):
    found, f = membrane(k, stretch, sigma, side, mode)
    assert found == pytest.approx(f, rel=0.005)
    row = TABLE["membrane"][0]
    if (k, stretch) == (row["k"], row["stretch"]):
        assert f == pytest.approx(row["f11" if mode == (1, 1) else "f12"], rel=1e-9)


# ---------------------------------------------------------------------- a bending cantilever without weight

BEAMS = [tuple(r[k] for k in ("B", "sigma", "length")) for r in TABLE["bending_cantilever"]] + [(1e-5, 0.1, 0.1)]
ROOTS = (1.8751040687, 4.6940911330)


def beam(B, sigma, length, mode):
    """Return the measured omega [1/s] and the exact one, root^2 sqrt(B / sigma) / (L + d/2)^2 by the half-cell rule."""
    n = 40
    d = length / n
    mesh = sheet((n + 1, 2), (length + d, 2 * d), shift=(-d, 0.0, 0.0))
    s = (mesh.positions[:, 0] + 0.5 * d) / (length + 0.5 * d)
    beta = ROOTS[mode - 1]
    ratio = (np.cosh(beta) + np.cos(beta)) / (np.sinh(beta) + np.sin(beta))
    shape = np.cosh(beta * s) - np.cos(beta * s) - ratio * (np.sinh(beta * s) - np.sin(beta * s))
    shape[s < 0.6 / n] = 0.0                                                       # the two pinned rows
    fabric = core.Material(areal_density=sigma, stretch=1e4 * B / d ** 2, shear=1e3 * B / d ** 2, bend=B)
    cloth = core.Cloth(mesh, fabric, pins=dict.fromkeys(range(6)),
                       positions=mesh.positions + np.outer(1e-4 * d * shape, [0, 0, 1]))
    omega = beta ** 2 * np.sqrt(B / sigma) / (length + 0.5 * d) ** 2
    h = 1.0 / (20.0 * omega)
    frames = run(core.Scene([cloth], gravity=(0, 0, 0)), fixed_steps(h, newton_iterations=1, tolerance=1e-10), 30)
    q = np.array([(masses(cloth) * shape) @ frame.positions[0][:, 2] for frame in frames])
    return omega_of(q, h), omega


@cases(("B", "sigma", "length"), BEAMS)
@cases("mode", [1, 2])
def test_a_cantilever_vibrates_as_euler_and_bernoullis_beam(B, sigma, length, mode):
    found, omega = beam(B, sigma, length, mode)
    assert found == pytest.approx(omega, rel=0.01)
    row = TABLE["bending_cantilever"][0]
    if row["B"] == B:
        exact = ROOTS[mode - 1] ** 2 * np.sqrt(B / sigma) / length ** 2 / (2 * np.pi)
        assert exact == pytest.approx(row[f"f{mode}"], rel=1e-6)

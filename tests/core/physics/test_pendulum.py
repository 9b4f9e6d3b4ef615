# SPDX-License-Identifier: GPL-3.0-or-later
"""A bead on a rod, and a spinning sheet: the energy loss of implicit Euler, converged and with one linear solve.

The reference was integrated from the definitions without cloth code: a swing of 10 degrees first returns to 9.20
degrees at h = 1/60 if each step is solved to convergence, and to 8.99 with the single linearisation of 001.
"""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import fixed_steps, reference, rope, rope_fabric, run, sheet

TABLE = reference("pendulum_integrators")
CASES = [(row, case) for row in TABLE["pendulum"] for case in row["implicit_euler"]]
KINDS = {"converge": "converged_spring_peaks", 1: "baraff_witkin_one_linear_solve_spring_peaks"}


def swing(row, h, newton_iterations, count):
    """Return times [s] and angles [degrees] of a bead on a stiff rod released from rest."""
    length, mass = row["length"], row["mass"]
    start = np.radians(row["amplitude_deg"])
    mesh = rope(np.array([[0.0, 0.0, 0.0], [length * np.sin(start), 0.0, -length * np.cos(start)]]))
    fabric = rope_fabric(2.0 * mass / length, row["rod_stiffness"] * length)
    cloth = core.Cloth(mesh, fabric, pins={0: None})
    frames = run(core.Scene([cloth]), fixed_steps(h, newton_iterations=newton_iterations), count)
    x = np.array([frame.positions[0][1] for frame in frames])
    assert np.abs(x[:, 1]).max() == 0.0
    return h * np.arange(len(x)), np.degrees(np.arctan2(x[:, 0], -x[:, 2]))


def maxima(t, angle):
    """Return times and heights of the successive maxima of |angle| after the start, by a parabola through three points.
    """
    size = np.abs(angle)
    at = np.flatnonzero((size[1:-1] >= size[:-2]) & (size[1:-1] > size[2:])) + 1
    left, middle, right = size[at - 1], size[at], size[at + 1]
    shift = 0.5 * (left - right) / (left - 2.0 * middle + right)
    return t[at] + shift * (t[1] - t[0]), middle - 0.25 * (left - right) * shift


@pytest.mark.parametrize("newton_iterations", ["converge", 1])
@pytest.mark.parametrize(("row", "case"), [
    pytest.param(r, c, id=f"{r['amplitude_deg']} deg h={c['h']:.4f}", marks=pytest.mark.slow if c["h"] < 0.01 else ())
    for r, c in CASES])
def test_the_peaks_of_a_pendulum_are_those_of_implicit_euler(row, case, newton_iterations):
    h = case["h"]
    wanted = np.array(case[KINDS[newton_iterations]])[:4 if h > 0.01 else 3 if h > 0.002 else 1]
    t, angle = swing(row, h, newton_iterations, int((wanted[-1, 0] + 0.05) / h))
    times, peaks = maxima(t, angle)
    assert peaks[:len(wanted)] == pytest.approx(wanted[:, 1], rel=0.01)
    assert times[:len(wanted)] == pytest.approx(wanted[:, 0], rel=0.005)


def test_one_linear_solve_damps_a_swinging_rod_more_than_the_converged_step():
    row = TABLE["pendulum"][0] | {"amplitude_deg": 30}
    first = {kind: maxima(*swing(row, 1 / 60, kind, 70))[1][0] for kind in ("converge", 1)}
    assert first["converge"] == pytest.approx(27.23, abs=0.05)
    assert first[1] == pytest.approx(22.81, abs=0.05)


def spin(omega, h, count):
    """Return the final angular speed [rad/s] of a stiff sheet spinning in its plane, the angle per step over h."""
    mesh = sheet((2, 2), (0.3, 0.3), shift=(-0.15, -0.15, 0.0))
    fabric = core.Material(areal_density=0.2, stretch=1e6, shear=1e6)
    cloth = core.Cloth(mesh, fabric, velocities=np.cross([0.0, 0.0, omega], mesh.positions))
    solver = fixed_steps(h, tolerance=1e-6)
    x = [frame.positions[0] for frame in run(core.Scene([cloth], gravity=(0, 0, 0)), solver, count)[-2:]]
    cross = x[0][:, 0] * x[1][:, 1] - x[0][:, 1] * x[1][:, 0]
    return np.arctan2(cross.sum(), (x[0] * x[1]).sum()) / h


@pytest.mark.parametrize("row", [
    pytest.param(r, id=f"{r['omega0']} rad/s h={r['h']:.4f}",
                 marks=pytest.mark.slow if r["h"] < 0.01 and r["omega0"] < 10 else ())
    for r in TABLE["spin_converged_implicit_euler"]])
def test_a_spinning_sheet_slows_down_at_the_rate_of_implicit_euler_and_no_faster(row):
    h = row["h"]
    assert spin(row["omega0"], h, round(1.0 / h)) == pytest.approx(row["omega_at_1s"], rel=0.002)


@cases(("omega", "h"), [(3.0, 1 / 24), (20.0, 1 / 48), (0.5, 1 / 100)])
def test_the_spin_law_holds_at_other_speeds_and_steps(omega, h):
    a = np.arctan(omega * h)                                    # the start has v = omega x r
    for _ in range(11):
        a = np.arctan2(np.sin(a), 2.0 - np.cos(a))
    assert spin(omega, h, 12) == pytest.approx(a / h, rel=0.002)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Air drag: the speed of a flat sheet over time, its terminal speed, its glide, and the angle at which it hangs in
wind.
"""

import numpy as np
import pytest

import core
from tests.cases import cases
from tests.core.physics.scenes import GRAVITY, fixed_steps, reference, run, settle, sheet

TABLE = reference("air_drag")


def fabric(sigma, k_d, **changes):
    return core.Material(**{"areal_density": sigma, "stretch": 2e3, "shear": 500.0, "air_drag": k_d, **changes})


def falling(sigma, k_d, h, count, mesh=None, **scene):
    cloth = core.Cloth(mesh or sheet((3, 2), (0.6, 0.4)), fabric(sigma, k_d))
    # one linear solve, because drag is linear in the velocity
    return run(core.Scene([cloth], **scene), fixed_steps(h, newton_iterations=1), count)


@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", TABLE["drag"], ids=lambda r: f"sigma={r['sigma']} k_d={r['k_d']}")
def test_a_falling_sheet_reaches_the_reference_speeds(row, h):
    count = round(row["times"][-1] / h)
    frames = falling(row["sigma"], row["k_d"], h, count)
    for time, speeds in row["implicit_euler_speed_at"].items():
        falls = -frames[max(1, round(float(time) / h))].velocities[0]
        assert falls[:, 2] == pytest.approx(speeds[f"h={h:.6g}"], rel=0.001)
        assert np.abs(falls[:, :2]).max() < 1e-9
    assert -frames[-1].velocities[0][:, 2] == pytest.approx(row["terminal_speed"], rel=0.001)


@cases(("sigma", "k_d", "h"), [(0.05, 0.3, 1 / 24), (0.4, 3.0, 1 / 48), (1.0, 20.0, 1 / 100)])
def test_the_transient_is_that_of_implicit_euler_for_other_sheets(sigma, k_d, h):
    """v_n = v_inf (1 - (1 + k_d h / sigma)^-n)"""
    frames = falling(sigma, k_d, h, 8)
    for n, frame in enumerate(frames):
        wanted = sigma * GRAVITY / k_d * (1.0 - (1.0 + k_d * h / sigma) ** -n)
        assert -frame.velocities[0][:, 2] == pytest.approx(wanted, rel=0.001)


@pytest.mark.parametrize("tilt", [TABLE["tilted_free_fall"][0]["tilt_deg"], 90.0])
def test_a_tilted_sheet_glides(tilt):
    row = TABLE["tilted_free_fall"][0]
    sigma, k_d, time, h = row["sigma"], row["k_d"], row["time"], 1 / 1000
    flat = sheet((2, 2), (0.4, 0.4))
    c, s = np.cos(np.radians(tilt)), np.sin(np.radians(tilt))
    mesh = core.ClothMesh(flat.positions @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]), flat.triangles)
    last = falling(sigma, k_d, h, round(time / h), mesh)[-1]
    along, normal = np.array([c, 0.0, -s]), np.array([s, 0.0, c])
    tau = sigma / k_d
    across = -GRAVITY * c * tau * (1.0 - np.exp(-time / tau))
    if tilt == row["tilt_deg"]:
        assert across == pytest.approx(-row["normal_speed"], rel=1e-6)
        assert np.abs(last.velocities[0] - [row["vx"], 0.0, row["vz"]]).max() < 0.001 * row["tangential_speed"]
    assert last.velocities[0] @ along == pytest.approx(GRAVITY * s * time, rel=0.001)
    assert last.velocities[0] @ normal == pytest.approx(across, rel=0.001, abs=1e-6)
    assert np.ptp(last.positions[0] @ normal) < 1e-9                             # it stays flat


# Not stronger: where the wind along the sheet is faster than its waves, the straight line is unstable and the sheet
# flutters, both in the equations and in reality.
HUNG = [(r["sigma"], r["k_d"], r["wind"], 0.0) for r in TABLE["hanging_in_wind"]]


def hung_in_wind(sigma, k_d, wind, heading, diagonals):
    """Return the angles (8, 5) [degrees] from the vertical of the rows of a hanging sheet, and the exact angle."""
    flat = sheet((8, 4), (0.4, 0.2), diagonals)
    to = np.array([np.cos(np.radians(heading)), np.sin(np.radians(heading)), 0.0])
    aside = np.array([-to[1], to[0], 0.0])
    # hung by its first edge, which lies across the wind
    hung = flat.positions[:, :1] * [0.0, 0.0, -1.0] + flat.positions[:, 1:2] * aside
    cloth = core.Cloth(core.ClothMesh(hung, flat.triangles, grain=(0, 0, 1)), fabric(sigma, k_d),
                       pins=dict.fromkeys(range(5)))
    x = settle(core.Scene([cloth], wind=wind * to), 0.2, 60).positions[0].reshape(9, 5, 3)
    angles = np.degrees(np.arctan2((x[1:] - x[:1]) @ to, -(x[1:] - x[:1])[..., 2]))
    return angles, np.degrees(np.arctan(k_d * wind / (sigma * GRAVITY)))


@pytest.mark.parametrize(("sigma", "k_d", "wind", "heading"), [*HUNG, (0.3, 0.2, 3.0, 90.0), (0.15, 2.0, 1.2, 35.0)])
@pytest.mark.parametrize("diagonals", ["right", "alternating"])
def test_a_sheet_hung_in_wind_is_a_straight_line_at_the_angle_of_drag_to_weight(sigma, k_d, wind, heading, diagonals):
    angles, wanted = hung_in_wind(sigma, k_d, wind, heading, diagonals)
    assert np.abs(angles - wanted).max() < 0.5

# SPDX-License-Identifier: GPL-3.0-or-later
"""A sheet on an inclined sheet: it sticks below tan(theta) = mu, slides above, and accelerates by Coulomb's law."""

import numpy as np
import pytest

import core
from core.kernels import backend
from tests.scenes.scenes_of_layers import down_the_slope, slope
from tests.scenes.staging import AS_IN_BLENDER, AS_IN_CORE

G, RATE = 9.81, 48.0
SETTINGS = {"as in Blender": AS_IN_BLENDER, "as in core": AS_IN_CORE}
settings = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


@pytest.fixture(autouse=True)
def _only_with_numba():
    if backend.why_not("numba"):
        pytest.skip(backend.why_not("numba"))


def travels(mu, degrees, frames, settings, heading=20.0, size=5):
    """Return the mean travel [m] of the upper sheet at each frame."""
    staged = slope(size, mu=mu, degrees=degrees, heading=heading)
    found = [down_the_slope(staged, frame, degrees, heading) for frame in
             core.simulate(staged.scene, core.Solver(**{**settings, "frame_rate": RATE}), range(1, frames + 1))]
    assert max(away for _, away in found) < 0.25 * staged.thickness
    return np.array([down for down, _ in found])


@settings
@pytest.mark.parametrize("mu", [0.1, 0.3, 0.6])
def test_a_sheet_sticks_two_percent_below_the_threshold_and_slides_two_percent_above(mu, settings):
    stuck = travels(mu, np.degrees(np.arctan(0.98 * mu)), 49, settings)
    assert np.abs(stuck[-1] - stuck[12]) < 5e-4
    degrees = np.degrees(np.arctan(1.02 * mu))
    slid = travels(mu, degrees, 49, settings)
    gain = G * (np.sin(np.radians(degrees)) - mu * np.cos(np.radians(degrees)))
    assert slid[-1] - slid[12] > 0.7 * gain * (1.0**2 - 0.25**2) / 2.0


@settings
@pytest.mark.parametrize(("mu", "size"), [(0.1, 5), (0.3, 5), (0.6, 5), (0.45, 9)])
def test_a_sliding_sheet_gains_speed_as_coulomb_says(mu, size, settings):
    """The finer sheet slides over at least one edge of the lower one in every step."""
    degrees = np.degrees(np.arctan(1.5 * mu))
    x = travels(mu, degrees, 25, settings, size=size)
    gain = G * (np.sin(np.radians(degrees)) - mu * np.cos(np.radians(degrees)))
    t = np.arange(12, 25) / RATE
    assert 2.0 * np.polyfit(t, x[12:], 2)[0] == pytest.approx(gain, rel=0.03)

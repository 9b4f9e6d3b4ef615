# SPDX-License-Identifier: GPL-3.0-or-later
"""Flags in a steady wind flutter as often as those of published experiments do."""

import numpy as np
import pytest

import core
from tests.core.physics.scenes import reference, sheet

TABLE = reference("flag_flutter")
LENGTH, HEIGHT, FRAME_RATE = 1.2, 0.72, 24.0


def tip_of(fabric, speed, seconds, steps=8, cells=(20, 12)):
    """The way of the tip across the wind [m], frame by frame, of a flag that starts with a slight swing."""
    flat, across = sheet(cells, (LENGTH, HEIGHT), "alternating"), cells[1] + 1
    x = flat.positions[:, [0, 2, 1]]
    v = 0.05 * np.random.default_rng(0).normal(size=x.shape)
    v[:, 1] += 0.3 * x[:, 0] / LENGTH
    v[:across] = 0.0
    cloth = core.Cloth(core.ClothMesh(x, flat.triangles, grain=(1.0, 0.0, 0.0)), core.Material.preset(fabric),
                       pins=dict.fromkeys(range(across)), velocities=v)
    solver = core.Solver(integrator="bdf2", steps_per_frame=steps, frame_rate=FRAME_RATE, tolerance=1e-2,
                         self_collision=False)
    frames = core.simulate(core.Scene([cloth], wind=(speed, 0.0, 0.0)), solver, range(int(seconds * FRAME_RATE) + 1))
    return np.array([frame.positions[0][-1 - across // 2, 1] for frame in frames])


def flutter(y):
    """Frequency [1/s] of the largest line of the spectrum above 0.2 Hz, and root mean square [m]."""
    y = y - y.mean()
    size = 8 * len(y)
    line = np.abs(np.fft.rfft(y * np.hanning(len(y)), size))
    frequency = np.fft.rfftfreq(size, 1.0 / FRAME_RATE)
    return frequency[np.argmax(np.where(frequency > 0.2, line, 0.0))], y.std()


@pytest.mark.slow
@pytest.mark.parametrize(("fabric", "speed"), [("silk", 6.0), ("cotton", 9.0)])
def test_a_light_and_a_heavy_flag_flutter_as_often_as_in_experiments(fabric, speed):
    """The range of the tip is a half to a quarter of that of experiments: air has no wake and no mass here."""
    frequency, size = flutter(tip_of(fabric, speed, 12.0)[96:])
    assert TABLE["frequency"]["least"] <= frequency * LENGTH / speed <= TABLE["frequency"]["most"]
    assert size > 0.03 * LENGTH

# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure how often and how far flags flutter at one step a frame and at eight, for several starts.

    python benchmarks/flutter.py [--fabric cotton] [--wind 6 9] [--steps 1 8] [--seeds 4] [--seconds 10]

A flag of 1.2 x 0.72 m with 36 x 22 vertices, *Buckling* on, the panel's tolerance, 24 frames per second. Flags flutter
without a period, so that two starts differ by a tenth and more: compare means. Of the motion of the free edge across
the wind, after two seconds, the table has the frequency of the highest peak of the spectrum, its median (half of the
power is below it), and the root mean square; and the steps and the processor time a frame.
"""

import argparse
import sys
from pathlib import Path
from time import process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import core
from benchmarks.muslin_cloth import compile_kernels

SIZE, VERTICES = (1.2, 0.72), (36, 22)
FRAME_RATE = 24
SETTLES = 48
"""Frames after which the motion counts."""
JITTER = 1e-5
"""Standard deviation of the start's positions between seeds [m]."""
LOWEST = 0.2
"""Lowest frequency that counts [Hz]: below is the drift of the mean position."""
BINS = 4096
"""Least number of samples of the spectrum, with zeros after those measured."""


def flag(fabric: str, wind: float, seed: int) -> core.Scene:
    """Return a flag held along one edge in a `wind` [m/s]; vertices at the free edge come last."""
    across, up = np.meshgrid(*(np.linspace(0.0, s, n) for s, n in zip(SIZE, VERTICES, strict=True)), indexing="ij")
    x = np.stack([across, 0.01 * np.sin(3.0 * across), up], axis=-1).reshape(-1, 3)
    x += JITTER * np.random.default_rng(seed).normal(size=x.shape)
    rows = np.arange(len(x)).reshape(VERTICES)
    quads = np.stack([rows[:-1, :-1], rows[1:, :-1], rows[1:, 1:], rows[:-1, 1:]], axis=-1).reshape(-1, 4)
    held = dict.fromkeys(rows[0].tolist())
    cloth = core.Cloth(core.ClothMesh(x, faces=quads), core.Material.preset(fabric), pins=held, buckling=True)
    return core.Scene([cloth], wind=(wind, 0.0, 0.0))


def spectrum(y: np.ndarray) -> tuple[float, float]:
    """Return the frequency of the highest peak, and the median frequency [Hz], of y (frames, points)."""
    windowed = (y - y.mean(axis=0)) * np.hanning(len(y))[:, None]
    power = (np.abs(np.fft.rfft(windowed, max(BINS, len(y)), axis=0)) ** 2).sum(axis=1)
    frequency = np.fft.rfftfreq(max(BINS, len(y)), 1.0 / FRAME_RATE)
    power = power[frequency > LOWEST]
    frequency = frequency[frequency > LOWEST]
    share = np.cumsum(power) / power.sum()
    return float(frequency[power.argmax()]), float(frequency[np.searchsorted(share, 0.5)])


def measured(fabric: str, wind: float, steps: int, seed: int, seconds: float) -> tuple[float, ...]:
    """Return peak and median frequency [Hz], root mean square [mm], steps and processor time [ms] a frame."""
    solver = core.Solver(integrator="bdf2", steps_per_frame=steps, tolerance=0.01, frame_rate=FRAME_RATE)
    compile_kernels(solver)
    edge, taken, count = [], 0, round(seconds * FRAME_RATE)
    began = process_time()
    for frame in core.simulate(flag(fabric, wind, seed), solver, range(1, count + 2)):
        edge.append(frame.positions[0][-VERTICES[1]:, 1].astype(float))
        taken += frame.certificate.steps
    spent = 1e3 * (process_time() - began) / count
    y = np.array(edge[SETTLES:])
    return *spectrum(y), 1e3 * float(y.std(axis=0).mean()), taken / count, spent


def main() -> None:
    """Print the table of means, with standard deviations between seeds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fabric", default="cotton")
    parser.add_argument("--wind", type=float, nargs="+", default=[6.0, 9.0])
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=10.0)
    options = parser.parse_args()
    if options.seconds * FRAME_RATE < 2 * SETTLES:
        parser.error(f"--seconds {options.seconds:g} is too short: at least {2 * SETTLES / FRAME_RATE:g}")
    print("| wind [m/s] | steps asked for | peak [Hz] | median [Hz] | rms [mm] | steps taken | processor [ms] |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for wind in options.wind:
        for steps in options.steps:
            found = np.array([measured(options.fabric, wind, steps, seed, options.seconds)
                              for seed in range(1, 1 + options.seeds)])
            mean, spread = found.mean(axis=0), found.std(axis=0)
            print(f"| {wind:g} | {steps} | {mean[0]:.2f} ± {spread[0]:.2f} | {mean[1]:.2f} ± {spread[1]:.2f} "
                  f"| {mean[2]:.0f} ± {spread[2]:.0f} | {mean[3]:.1f} | {mean[4]:.0f} |", flush=True)


if __name__ == "__main__":
    main()

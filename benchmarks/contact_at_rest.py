# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the cost of contact beside the elastic solve: a drape with self-collision, while it falls and at rest.

    python -m benchmarks.contact_at_rest [last frame] [vertices along a side ...]

Prints median milliseconds per frame with the panel's settings, for windows of frames, of the fabrics that Blender's
factory and tuned settings stand for, and of cotton. *Elastic* is the sum of forces, assembly, preconditioner and solve.
*Speed* is the root mean square speed of all vertices in the window.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

import core
from benchmarks.muslin_cloth import compile_kernels
from benchmarks.scenes import core_scene, scene_layout
from benchmarks.systems import start_fabric

PANEL = core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2)
FABRICS = ("factory", "tuned", "cotton")
ELASTIC = ("forces", "assembly", "preconditioner", "solve")
WINDOW = 30
"""Number of frames of a window."""


def costs(size: int, fabric: str, last: int) -> np.ndarray:
    """Return (F, 4) for frames from the second on: time, contact, elastic part [ms], and speed [m/s]."""
    coming = core.simulate(core_scene(scene_layout("drape", size), start_fabric(fabric, "drape", size)), PANEL,
                           frames=range(1, last + 1))
    next(coming)
    rows, start = [], perf_counter()
    for frame in coming:
        now, seconds = perf_counter(), frame.certificate.seconds
        speed = np.sqrt(np.mean(np.sum(frame.velocities[0] ** 2, axis=1)))
        elastic = sum(seconds[name] for name in ELASTIC)
        rows.append((1e3 * (now - start), 1e3 * seconds["contact"], 1e3 * elastic, speed))
        start = perf_counter()
    return np.array(rows)


def main(last: int, sizes: list[int]) -> None:
    """Print the table in Markdown."""
    compile_kernels(PANEL)
    titles = "drape", "fabric", "frames", "frame [ms]", "contact", "elastic", "contact / elastic", "speed [m/s]"
    print("| " + " | ".join(titles) + " |\n|" + len(titles) * " --- |")
    for size in sizes:
        for fabric in FABRICS:
            found = costs(size, fabric, last)
            for begin in range(0, len(found), WINDOW):
                whole, contact, elastic, speed = np.median(found[begin:begin + WINDOW], axis=0)
                print(f"| {size}^2 | {fabric} | {begin + 2} to {min(begin + WINDOW, len(found)) + 1} | {whole:.1f} | "
                      f"{contact:.1f} | {elastic:.1f} | {contact / elastic:.2f} | {speed:.4f} |", flush=True)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 121, numbers[1:] or [100, 129])

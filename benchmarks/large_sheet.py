# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the cost per vertex on small and large sheets: set-up, time per frame, and peak memory.

    python -m benchmarks.large_sheet [frames] [vertices along a side ...]

A 2 x 2 m sheet of cotton, pinned at two corners, each size in a process of its own, with the panel's settings. Kernels:
time to load or compile them. First frame: time for mesh, system and audit. Memory: growth of the process from when the
kernels are loaded to its peak.
"""

from __future__ import annotations

import sys

from benchmarks.worker import Job
from core import Material

COLUMNS = ("vertices", "kernels", "first frame", "a frame", "per vertex", "iterations", "per iteration", "memory",
           "per vertex")

PANEL = {"integrator": "bdf2", "steps_per_frame": 1, "tolerance": 1e-2, "self_collision": True}


def row(side: int, frames: int) -> tuple[str, ...]:
    """Return one row of the table."""
    fabric = Material.preset("cotton")
    run = Job("muslin", "hang", side, frames, {name: getattr(fabric, name) for name in (
        "areal_density", "stretch", "shear", "bend", "damping", "friction", "drag_coefficient", "skin_friction",
        "slow_drag_speed")},
        PANEL).run()
    got, vertices = run.measures(), side * side
    ms, iterations = got["ms_median"], max(got["iterations"], 1.0)
    return (f"{side}^2", f"{got['compile_s']:.1f} s", f"{1e-3 * got['ms_first']:.2f} s", f"{ms:.0f} ms",
            f"{1e3 * ms / vertices:.2f} us", f"{iterations:.0f}", f"{1e6 * ms / vertices / iterations:.0f} ns",
            f"{got['growth_mb']:.0f} MB", f"{1e3 * got['growth_mb'] / vertices:.1f} kB")


def main(frames: int, sides: list[int]) -> None:
    """Print the table."""
    print("| " + " | ".join(COLUMNS) + " |")
    print("|" + " --- |" * len(COLUMNS))
    for side in sides:
        print("| " + " | ".join(row(side, frames)) + " |", flush=True)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 6, numbers[1:] or [100, 200, 400])

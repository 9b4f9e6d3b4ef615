# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure the cost of pressure in a pillow that is blown up on a floor.

    python -m benchmarks.pressure [--cells N] [--frames N] [--gas PRESSURE]

Prints the mean time of a frame, the part of the pressure's own passes in it, and the rejected steps after the first
five frames.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import core
from core.linear.preconditioners.low_rank import LowRankCorrection
from core.linear.side_operator import SideOperator
from core.model.pressure_forces import PressureAt
from tests.core.shapes import pillow

HEIGHT = 0.3
"""Height of the pillow above the floor [m]."""


class Clock:
    """Adds up the time that methods take [s]; a method that another timed one calls counts once."""

    def __init__(self) -> None:
        self.seconds, self._inside = 0.0, False

    def timed(self, owner: type, name: str) -> None:
        """Time a method of a class from now on."""
        method: Callable[..., Any] = getattr(owner, name)

        def run(*given: Any, **named: Any) -> Any:
            if self._inside:
                return method(*given, **named)
            self._inside, start = True, time.perf_counter()
            try:
                return method(*given, **named)
            finally:
                self.seconds += time.perf_counter() - start
                self._inside = False

        setattr(owner, name, run)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=70)
    parser.add_argument("--frames", type=int, default=30)
    parser.add_argument("--gas", type=float, default=0.0, help="[Pa]")
    given = parser.parse_args()
    floor = core.Collider([[-9.0, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], [[0, 1, 2], [0, 2, 3]])
    pressure = core.Pressure(300.0, given.gas, target_volume=0.2 if given.gas else None)
    x, faces = pillow(given.cells)
    mesh = core.ClothMesh(x + [0.0, 0.0, HEIGHT], faces=faces)
    scene = core.Scene([core.Cloth(mesh, core.Material.preset("cotton"), pressure=pressure)], [floor])
    clock = Clock()
    for owner, names in ((PressureAt, ("in_step", "energy", "add_force", "add_magnitude", "stiffness")),
                         (SideOperator, ("add_product",)), (LowRankCorrection, ("_is_stiff", "_deflate"))):
        for name in names:
            clock.timed(owner, name)
    seconds, own, rejected = [], [], []
    start = time.perf_counter()
    solver = core.Solver(integrator="bdf2", frame_rate=24.0, steps_per_frame=1)
    for frame in core.simulate(scene, solver, range(given.frames + 1)):
        seconds.append(time.perf_counter() - start)
        own.append(clock.seconds)
        rejected.append(frame.certificate.rejected)
        start, clock.seconds = time.perf_counter(), 0.0
    late, count = slice(6, None), len(scene.cloths[0].positions)
    part = 100.0 * np.sum(own[late]) / np.sum(seconds[late])
    print(f"{count} vertices: {1e3 * np.mean(seconds[late]):.0f} ms a frame, pressure {part:.1f} %, "
          f"{sum(rejected[late])} rejected steps after frame 5")


if __name__ == "__main__":
    main()

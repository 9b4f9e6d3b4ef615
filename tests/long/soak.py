# SPDX-License-Identifier: GPL-3.0-or-later
"""One long simulation at constant memory: `python -m tests.long.soak FRAMES`.

A sheet on a ball, in wind and with self-collision, of which every frame is looked at and dropped. After the first
tenth of the frames the memory of the process must not grow any more. The last line is the record, as JSON.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time

import numpy as np

import core
from tests.core.shapes import ball, grid

MOST_GROWTH = 8 * 2 ** 20
"""Largest growth of the memory after the first tenth of the frames [bytes]: less than one array of 6 numbers for each
of the 49 vertices kept in each of 4,500 frames."""


def memory() -> int:
    """Return the resident memory of this process [bytes]; 0 where it cannot be told."""
    gc.collect()
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def main(frames: int) -> dict[str, object]:
    """Run the simulation and return its record."""
    x, triangles = grid(6, 6)
    sheet = core.Cloth(core.ClothMesh(x - [0.5, 0.5, 0.0], triangles), core.Material.preset("cotton"), pins={0: None})
    solid = core.Collider(lambda t: ball(0.3, 1)[0] + [0.1 * np.sin(3.0 * t), 0.0, -0.35], ball(0.3, 1)[1])
    scene = core.Scene([sheet], [solid], wind=lambda t: (2.0 * np.sin(t), 1.0, 0.0))
    failures, slowest, worst, after_warm_up = [], 0.0, 0, 0
    last = time.process_time()
    for frame in core.simulate(scene, core.Solver(integrator="bdf2", steps_per_frame=1, tolerance=1e-2),
                               range(frames + 1)):
        took, last = time.process_time() - last, time.process_time()
        if took > slowest and frame.index > 1:
            slowest, worst = took, frame.index
        if not np.isfinite(frame.positions[0]).all():
            failures.append(f"frame {frame.index} is not finite")
            break
        if frame.index == max(1, frames // 10):
            after_warm_up = memory()
    grown = memory() - after_warm_up
    if grown > MOST_GROWTH:
        failures.append(f"memory grew by {grown / 2 ** 20:.1f} MB after the first tenth of {frames} frames")
    return {"cases": frames, "failures": failures, "slowest": slowest, "worst": f"frame {worst}"}


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulation of the scenes by Muslin, frame by frame. Used by worker.py and other benchmarks.

The time of a frame is that of the generator's next(), with certificate and audit. Compiling and the first frame, in
which the scene is set up, are reported separately.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import numpy as np

import core
from benchmarks.scenes import SceneLayout, core_scene
from core.stepping.jit_warmup import warm_up


def compile_kernels(solver: core.Solver) -> float:
    """Compile all kernels of this solver, and return the time [s]."""
    start = perf_counter()
    for _ in warm_up(solver):
        pass
    return perf_counter() - start


def muslin_frames(layout: SceneLayout, fabric: core.Material, solver: core.Solver, frames: int
                  ) -> Iterator[dict[str, Any]]:
    """Simulate, and yield a dict for each frame.

    It has x: positions (V, 3) [m]; ms: time; cpu_ms: processor time of all threads; iterations; certificate.
    """
    coming = core.simulate(core_scene(layout, fabric), solver, frames=range(1, frames + 1))
    for _ in range(frames):
        start, work = perf_counter(), process_time()
        frame = next(coming)
        ms, cpu_ms = 1e3 * (perf_counter() - start), 1e3 * (process_time() - work)
        yield {"x": frame.positions[0].astype(np.float32), "ms": ms, "cpu_ms": cpu_ms,
               "iterations": frame.certificate.iterations, "certificate": frame.certificate.as_dict()}

# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenes in Muslin: core.simulate, frame by frame.

A frame's time is that of the generator's next(), certificate and audit included. Compiling, and the first frame, in
which the scene is set up, are reported apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter, process_time
from typing import Any

import numpy as np

import core
from benchmarks.scenes import Setting, core_scene
from core.stepping.jit_warmup import warm_up


def compile_kernels(solver: core.Solver) -> float:
    """Seconds until nothing is left to compile for this solver."""
    start = perf_counter()
    for _ in warm_up(solver):
        pass
    return perf_counter() - start


def muslin_frames(place: Setting, fabric: core.Material, solver: core.Solver, frames: int) -> Iterator[dict[str, Any]]:
    """Frame by frame: positions (V, 3) [m], ms, processor ms of all threads, iterations, certificate."""
    coming = core.simulate(core_scene(place, fabric), solver, frames=range(1, frames + 1))
    for _ in range(frames):
        start, work = perf_counter(), process_time()
        frame = next(coming)
        ms, cpu_ms = 1e3 * (perf_counter() - start), 1e3 * (process_time() - work)
        yield {"x": frame.positions[0].astype(np.float32), "ms": ms, "cpu_ms": cpu_ms,
               "iterations": frame.certificate.iterations, "certificate": frame.certificate.as_dict()}

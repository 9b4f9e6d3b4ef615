# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the core's simulation with a given motion, to test reading and writing without the solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def simulate_as(core: Any, motion: Callable[[np.ndarray, int], np.ndarray], simulated: list[Any] | None = None) -> Any:
    """Return a `core.simulate` by which each cloth is at motion(initial positions (V, 3) [m], frames since the first).

    Every simulated core.Scene is appended to `simulated`.
    """
    def simulate(scene: Any, solver: Any, frames: Any) -> Any:
        if simulated is not None:
            simulated.append(scene)
        for frame in frames:
            since = frame - frames[0]
            positions = [motion(np.array(cloth.positions), since) for cloth in scene.cloths]
            yield core.Frame(frame, since / solver.frame_rate, positions, [np.zeros_like(p) for p in positions],
                             core.Certificate(stretch_max=1.0 + since / 100, stretch_p99=1.0, steps=2))
    return simulate


def crumple(start: np.ndarray, since: int) -> np.ndarray:
    """Return positions with a reproducible random displacement of every vertex, which no affine map could produce."""
    noise = np.random.default_rng(since).normal(size=start.shape)
    return start + 0.1 * since * np.ptp(start, axis=0).max() * noise

# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the core's simulation that moves cloth as told, to test what surrounds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def simulate_as(core: Any, motion: Callable[[np.ndarray, int], np.ndarray], seen: list[Any] | None = None) -> Any:
    """A `core.simulate` where each cloth is at motion(start (V, 3) [m], frames since the first).

    `seen` receives the core.Scene that was asked for.
    """
    def simulate(scene: Any, solver: Any, frames: Any) -> Any:
        if seen is not None:
            seen.append(scene)
        for frame in frames:
            since = frame - frames[0]
            positions = [motion(np.array(cloth.positions), since) for cloth in scene.cloths]
            yield core.Frame(frame, since / solver.frame_rate, positions, [np.zeros_like(p) for p in positions],
                             core.Certificate(stretch_max=1.0 + since / 100, stretch_p99=1.0, steps=2))
    return simulate


def crumple(start: np.ndarray, since: int) -> np.ndarray:
    """A motion that no rigid or linear map makes: every vertex elsewhere, reproducibly."""
    noise = np.random.default_rng(since).normal(size=start.shape)
    return start + 0.1 * since * np.ptp(start, axis=0).max() * noise

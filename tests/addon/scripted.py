# SPDX-License-Identifier: GPL-3.0-or-later
"""A stand-in for the core's simulation with a given motion, to test reading and writing without the solver."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np


def simulate_as(core: Any, motion: Callable[[np.ndarray, int], np.ndarray], simulated: list[Any] | None = None) -> Any:
    """Return a `core.simulate` by which each cloth is at motion(initial positions (V, 3) [m], frames since the first).

    Every simulated core.Scene is appended to `simulated`.
    """
    def simulate(scene: Any, solver: Any, frames: Any, start: Any = None, clock: Any = None) -> Any:
        if simulated is not None:
            simulated.append(scene)
        for frame in frames:
            since = frame - frames[0]
            positions = [motion(np.array(cloth.positions), since) for cloth in scene.cloths]
            yield core.Frame(frame, since / solver.frame_rate, positions, [np.zeros_like(p) for p in positions],
                             core.Certificate(stretch_max=1.0 + since / 100, stretch_p99=1.0, steps=2),
                             checkpoint(core, frame, frames[0], positions))
    return simulate


def checkpoint(core: Any, frame: int, first: int, positions: list[np.ndarray]) -> Any:
    """Return a state of these cloths at a frame, at rest."""
    state = importlib.import_module(f"{core.__name__}.state")
    x = np.nan_to_num(np.concatenate(positions))
    return core.Checkpoint(frame, first, tuple(map(len, positions)), (0,), (), 24.0, 1, 0,
                           state.State(x, np.zeros_like(x), 0.0, state.Touch.none(len(x))))


def replace_simulation(monkeypatch: Any, core: Any, simulate: Any) -> None:
    """Let bakes and comparisons call this function instead of `core.simulate`."""
    monkeypatch.setattr(core, "simulate", simulate)
    monkeypatch.setattr(importlib.import_module(f"{core.__name__}.cache.bake"), "simulate", simulate)


def crumple(start: np.ndarray, since: int) -> np.ndarray:
    """Return positions with a reproducible random displacement of every vertex, which no affine map could produce."""
    noise = np.random.default_rng(since).normal(size=start.shape)
    return start + 0.1 * since * np.ptp(start, axis=0).max() * noise

# SPDX-License-Identifier: GPL-3.0-or-later
"""Compiling the kernels before they are needed, by simulating some dozens of vertices.

A compiled kernel is made when it is first called: some 35 seconds on a machine that has none yet, a second where they
are kept from an earlier run. A caller who wants to show that calls this first, and stays able to cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .cloth import Attachment, Cloth
from .collider import Collider
from .kernels.backend import choose, rule_out
from .material import Material
from .mesh import ClothMesh
from .scene import Scene
from .simulate import simulate
from .solver import Solver

FINE, COARSE = 12, 4
"""Vertices along an edge of a sheet that multigrid preconditions, and of one that is solved directly at once."""
FABRIC = Material(areal_density=0.15, stretch=(1000.0, 800.0), shear=100.0, bend=(1e-5, 1e-5), damping=0.01,
                  friction=0.3, air_drag=0.1)
_done: set[tuple[str, str, bool]] = set()       # backends with laws, and whether for more than one Newton iteration


def is_warm(solver: Solver, models: Sequence[str] = ("baraff_witkin",)) -> bool:
    """Whether nothing is left to compile for this solver and these laws. May import Numba."""
    return choose(solver.backend) == "numpy" or _done.issuperset(_keys(solver, models))


def warm_up(solver: Solver, models: Sequence[str] = ("baraff_witkin",)) -> Iterator[float]:
    """Compile what simulations by this solver with these laws use; yields how much is done, 0 to 1, between its parts.

    Where the backend was left open and compiling fails, Numba counts as one that cannot run here.

    Raises:
        SolverError: the backend wanted cannot run here.
    """
    yield 0.0
    todo = [] if is_warm(solver, models) else [(model, part) for model in models for part in _PARTS]
    for done, (model, part) in enumerate(todo):
        yield 0.1 + 0.9 * done / len(todo)
        try:
            for _ in simulate(part(model), replace(solver, steps_per_frame=1, frame_rate=24.0), range(2)):
                pass
        except Exception as error:
            if solver.backend is not None:
                raise
            rule_out("numba", error)
            return
    _done.update(_keys(solver, models))


def _keys(solver: Solver, models: Sequence[str]) -> set[tuple[str, str, bool]]:
    return {(choose(solver.backend), model, solver.newton_iterations != 1) for model in models}


def _sheet(height: float, side: int) -> ClothMesh:
    u, v = np.meshgrid(np.linspace(0.0, 1.0, side), np.linspace(0.0, 1.0, side), indexing="ij")
    grid = np.arange(side * side).reshape(side, side)
    quads = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=-1).reshape(-1, 4)
    return ClothMesh(np.stack([u, v, np.full_like(u, height)], axis=-1).reshape(-1, 3), faces=quads)


def _hanging(model: str) -> Scene:
    return Scene([Cloth(_sheet(1.0, FINE), FABRIC, model, pins={0: None})], wind=(0.0, 3.0, 0.0))


def _lying(model: str) -> Scene:
    """A sheet on another on a solid, with two vertices that are held in part: by a spring, and along one direction."""
    solid = Collider([[-3.0, -3.0, 0.0], [6.0, -3.0, 0.0], [-3.0, 6.0, 0.0], [0.0, 0.0, -2.0]],
                     [[0, 1, 2], [1, 0, 3], [2, 1, 3], [0, 2, 3]], friction=0.5)
    pins = np.zeros(COARSE * COARSE)
    pins[0] = 0.5
    line = Attachment(COARSE * COARSE - 1, directions=[(1.0, 0.0, 0.0)])
    cloth = Cloth(_sheet(0.01, COARSE), FABRIC, model, pins=pins, attachments=[line])
    return Scene([cloth, Cloth(_sheet(0.08, COARSE), FABRIC, model)], [solid], wind=(0.0, 3.0, 0.0))


_PARTS: tuple[Callable[[str], Scene], ...] = (_hanging, _lying)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The integrators by name. Each is a function (system, state, h, settings, surfaces, stopwatch) -> StepResult."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import SolverError
from . import bdf2, implicit_euler, projective_dynamics
from .implicit_euler import StepResult

Step = Callable[..., StepResult]

INTEGRATORS: dict[str, Step] = {
    "implicit_euler": implicit_euler.step,
    "bdf2": bdf2.step,
    "projective_dynamics": projective_dynamics.step,
}


def integrators() -> tuple[str, ...]:
    """Names that `Solver(integrator=...)` takes."""
    return tuple(INTEGRATORS)


def find(name: str) -> Step:
    """The step function of an integrator; SolverError with the names there are if there is none."""
    if name not in INTEGRATORS:
        raise SolverError(f"no integrator '{name}'; there are: {', '.join(INTEGRATORS)}")
    return INTEGRATORS[name]

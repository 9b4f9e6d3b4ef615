# SPDX-License-Identifier: GPL-3.0-or-later
"""The integrators by name. Each is a function (system, state, h, context) -> StepResult."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import SolverError
from ..model.particle_system import ParticleSystem
from ..state import State
from . import bdf2, explicit, implicit_euler, projective_dynamics, stability_limit
from .post_step import StepResult

if TYPE_CHECKING:
    from ..description.settings import Solver

Step = Callable[..., StepResult]
Longest = Callable[[ParticleSystem, State, "Solver"], float]

STEP_FUNCTIONS: dict[str, Step] = {
    "implicit_euler": implicit_euler.step,
    "bdf2": bdf2.step,
    "projective_dynamics": projective_dynamics.step,
    "explicit_euler": explicit.explicit_euler,
    "symplectic_euler": explicit.symplectic_euler,
    "verlet": explicit.verlet,
}
LONGEST_STEP: dict[str, Longest] = {
    "explicit_euler": stability_limit.of_explicit_euler,
    "symplectic_euler": stability_limit.of_symplectic_euler,
    "verlet": stability_limit.of_verlet,
}
"""Functions for the longest stable step [s], of integrators that are not stable for every step."""
TANGENT = frozenset(("implicit_euler", "bdf2"))
"""Integrators that solve with the tangent stiffness."""


def integrators() -> tuple[str, ...]:
    """Return the names for `Solver(integrator=...)`."""
    return tuple(STEP_FUNCTIONS)


def find(name: str) -> Step:
    """Return the step function of an integrator.

    Raises:
        SolverError: there is no integrator of that name.
    """
    if not isinstance(name, str) or name not in STEP_FUNCTIONS:
        raise SolverError(f"no integrator '{name}'; there are: {', '.join(STEP_FUNCTIONS)}")
    return STEP_FUNCTIONS[name]


def prepare(system: ParticleSystem, settings: Solver) -> None:
    """Set up what the solves of all steps need of a system, so that no single step takes longer for it."""
    if settings.integrator in TANGENT and settings.matrix == "assembled":
        system.preconditioners.prepare()

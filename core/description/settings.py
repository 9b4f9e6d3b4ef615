# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a simulation: integrator, steps, tolerances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..arrays import is_flag, is_number, is_whole
from ..did_you_mean import names_arguments_of, perhaps
from ..errors import SolverError

INTEGRATOR_NAMES = ("implicit_euler", "bdf2", "projective_dynamics", "explicit_euler", "symplectic_euler", "verlet")
"""Names that `Solver(integrator=...)` takes."""
BACKEND_NAMES = ("numpy", "numba")
"""Names that `Solver(backend=...)` takes, besides None for the quickest that can run here."""
PROJECTIVE_SOLVES = ("factor", "cg")
"""Names that `Solver(projective_solve=...)` takes."""
SOLID_CONTACTS = ("constraints", "springs")
"""Names that `Solver(solid_contact=...)` takes."""
MATRICES = ("assembled", "implicit")
"""Names that `Solver(matrix=...)` takes."""
PROJECTIVE_ITERATIONS = 150
"""Largest number of outer iterations of projective dynamics in a step, unless given."""
MOST_HALVINGS = 60
"""Largest number of times that a step is halved [-]: a shorter one changes positions by less than rounding."""


@names_arguments_of(SolverError)
@dataclass(frozen=True)
class Solver:
    """Settings of a simulation.

    Sources by number, as in `docs/systems.md`: 001 Baraff and Witkin 1998; 003 Susin 2015; 004 Bouaziz et al. 2014.

    Attributes:
        integrator: a name out of `integrators()`: "implicit_euler", as 001 has it; "bdf2", of second order and more
            exact at the same cost, the default in Blender; "projective_dynamics" (004), implicit Euler's equations by a
            constant matrix; "explicit_euler", "symplectic_euler" and "verlet" (003), for steps short enough.
        steps_per_frame: steps from one frame to the next, before any halving.
        frame_rate: frames per second [1/s]. A `FrameClock` makes frames of different lengths.
        newton_iterations: linearisations per step; 1 is 001's method, "converge" solves the step's nonlinear
            equations to `tolerance`. None for as many as the integrator needs: 1, 4 where links go slack (002), and
            of projective dynamics until it is close to the solution, 150 at most.
        projective_solve: how projective dynamics solves with its constant matrix: "factor", made once; or "cg",
            conjugate gradients without preconditioner, as published. Its outer iterations are `newton_iterations`.
        projective_window: how many of its outer iterations look ahead together; 0 for each by itself, as published.
        matrix: how implicit integrators hold their matrix: "assembled", with the preconditioners that takes; or
            "implicit" (000), as products with the elements, with block Jacobi: little memory, many iterations.
        verlet_kd: k_d of 003, the part of its motion that "verlet" keeps from step to step, in 0..1; 1 damps nothing.
        self_collision: cloth does not pass through itself, nor through the scene's other cloths.
        solid_contact: contact of cloth vertices with faces of colliders: by "springs", the penalty that all other
            contact uses, or by "constraints" of the solve as in 001, which are exact.
        tolerance: of the linear solve, and of Newton's method, relative to the right-hand side [-].
        backend: library of the inner loops, "numpy" or "numba"; None for the quickest that can run here. Numba is
            looked for when the simulation starts, because that takes a second or two.
        adaptive: halve a step that changes the strain too much, makes energy out of nothing or fails, and double again
            after success.
        max_strain_change: stretch that a step may add to an edge before it is halved [-]. In a cloth of a
            thousand edges or more, one edge in a hundred may have more than a fifth of it, one in a thousand more than
            twice, and none more than four times (`step_strain`). In a coarser cloth the bound is a tenth of it in a
            step whose contacts did not settle.
        max_halvings: smallest step is the first one divided by 2 to this power. Below a sixteenth, only a step without
            a usable solution is halved, and one in which pins move by more than half an edge.
        max_linear_iterations: conjugate gradient products per solve before it counts as not converged.
        max_newton_iterations: bound of "converge".
        resolve_start: free a start that crosses colliders or cloth of its crossings before the first frame, as
            `core.resolve_start` does. Otherwise it comes apart in the simulation.
        coarse_frames: number of frames after the first in which cloth of four times `coarse_vertices` vertices or more
            is simulated on a mesh of about `coarse_vertices` vertices, by which all of its vertices move: dense cloth
            falls to rest several times as fast. Cloth of other models than "baraff_witkin", or with seams, buttons,
            pressure, plasticity, tearing, rest motion, inner springs, attachments or a uv keeps its own mesh.
        coarse_vertices: see `coarse_frames`.
        measure_energy: put the energy of each frame into its certificate; it takes as long as a step's forces.
    """

    integrator: str = "implicit_euler"
    steps_per_frame: int = 2
    frame_rate: float = 24.0
    newton_iterations: int | Literal["converge"] | None = None
    projective_solve: str = "factor"
    projective_window: int = 10
    matrix: str = "assembled"
    verlet_kd: float = 1.0
    self_collision: bool = True
    solid_contact: str = "springs"
    tolerance: float = 1e-3
    backend: str | None = None
    adaptive: bool = True
    max_strain_change: float = 0.5
    max_halvings: int = 6
    max_linear_iterations: int = 2000
    max_newton_iterations: int = 50
    measure_energy: bool = False
    resolve_start: bool = True
    coarse_frames: int = 0
    coarse_vertices: int = 2500

    def __post_init__(self) -> None:
        if not (isinstance(self.integrator, str) and self.integrator in INTEGRATOR_NAMES):
            self._refuse_name(f"no integrator '{self.integrator}'; there are: {', '.join(INTEGRATOR_NAMES)}")
        if not (self.backend is None or isinstance(self.backend, str) and self.backend in BACKEND_NAMES):
            self._refuse_name(f"no backend {self.backend!r}; there are: {', '.join(BACKEND_NAMES)}, and None for the "
                              "quickest there is")
        for name, names in (("solid_contact", SOLID_CONTACTS), ("projective_solve", PROJECTIVE_SOLVES),
                            ("matrix", MATRICES)):
            value = getattr(self, name)
            if not (isinstance(value, str) and value in names):
                raise SolverError(f"{name} is {value!r}, it must be one of {', '.join(names)}"
                                  + perhaps(value, names))
        for name in ("self_collision", "adaptive", "measure_energy", "resolve_start"):
            if not is_flag(getattr(self, name)):
                raise SolverError(f"{name} is {getattr(self, name)!r}, it must be True or False")
        if not (is_number(self.verlet_kd) and 0.0 <= self.verlet_kd <= 1.0):
            raise SolverError(f"verlet_kd is {self.verlet_kd!r}, it must be a number in 0..1")
        converge = isinstance(self.newton_iterations, str) and self.newton_iterations == "converge"
        if not (converge or self.newton_iterations is None or is_whole(self.newton_iterations, 1)):
            raise SolverError(f"newton_iterations is {self.newton_iterations!r}, it must be a whole number of 1 or "
                              "more, 'converge', or None for what the integrator needs")
        for name in ("steps_per_frame", "max_linear_iterations", "max_newton_iterations",
                     "coarse_vertices"):
            if not is_whole(getattr(self, name), 1):
                raise SolverError(f"{name} is {getattr(self, name)!r}, it must be a whole number of 1 or more")
        for name in ("projective_window", "coarse_frames"):
            if not is_whole(getattr(self, name), 0):
                raise SolverError(f"{name} is {getattr(self, name)!r}, it must be a whole number of 0 or more")
        if not is_whole(self.max_halvings, 0, MOST_HALVINGS):
            raise SolverError(f"max_halvings is {self.max_halvings!r}, it must be a whole number in 0..{MOST_HALVINGS}")
        for name in ("frame_rate", "tolerance", "max_strain_change"):
            value = getattr(self, name)
            if not (is_number(value) and value > 0.0):
                raise SolverError(f"{name} is {value!r}, it must be a number above 0")
        if self.tolerance >= 1.0:
            raise SolverError(f"tolerance is {self.tolerance}, it must be below 1")

    def _refuse_name(self, message: str) -> None:
        near = perhaps(self.integrator, INTEGRATOR_NAMES) + perhaps(self.backend, BACKEND_NAMES)
        raise SolverError(message + near)

    @property
    def linearisations(self) -> int | Literal["converge"]:
        """`newton_iterations`, or the default of the integrator."""
        if self.newton_iterations is None:
            return PROJECTIVE_ITERATIONS if self.integrator == "projective_dynamics" else 1
        return self.newton_iterations

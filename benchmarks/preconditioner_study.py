# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the preconditioners on the linear systems of a hanging sheet.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.preconditioner_study 50 100 200

A 2 x 2 m sheet, pinned at two corners, falls and swings. At 0.25 s (falling) and 1 s (hanging, folded) the system of
the next step is solved with every preconditioner. Iterations are counted until the error in the norm of A, relative to
the solution, is below 1e-2 and 1e-3: residuals in the norms of different preconditioners could not be compared. Times
are processor seconds of one thread, the shortest of several. "whole" is making the preconditioner and iterating.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

import core
from core.kernels import using
from core.kernels.backend import BACKENDS
from core.linear.modified_pcg import modified_pcg
from core.linear.preconditioners.aggregation_multigrid import AggregationMultigrid
from core.linear.preconditioners.block_jacobi import BlockJacobi
from core.linear.preconditioners.constant_matrix import ConstantMatrix
from core.linear.preconditioners.neighbour_cholesky import NeighbourCholesky
from core.linear.preconditioners.select import LARGEST_FACTOR
from core.model.particle_system import ParticleSystem
from core.model.projective_matrix import constant_elements

FABRICS = {
    "soft": core.Material(areal_density=0.3, stretch=250.0, shear=50.0, bend=1e-5, viscous_drag=0.05),
    "cotton": core.Material(areal_density=0.15, stretch=5e3, shear=1e3, bend=1e-5, viscous_drag=0.05),
}
TIMES = (0.25, 1.0)
GOALS = (1e-2, 1e-3)


def sheet(n: int, fabric: core.Material) -> ParticleSystem:
    """Return the system of a sheet of n x n vertices, 2 x 2 m, pinned at two corners."""
    side = np.linspace(0.0, 2.0, n)
    x, y = np.meshgrid(side, side)
    number = np.arange(n * n).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    mesh = core.ClothMesh(np.column_stack([x.ravel(), y.ravel(), 0.0 * x.ravel()]), triangles)
    return ParticleSystem(core.Scene([core.Cloth(mesh, fabric, pins={0: None, n - 1: None})]))


class Study:
    """One sheet, and the parts of the preconditioners that are made once."""

    def __init__(self, n: int, fabric: str, h: float) -> None:
        self.n, self.fabric, self.h = n, fabric, h
        self.system = sheet(n, FABRICS[fabric])
        rest = self.system.initial_state().x
        self.drag = FABRICS[fabric].viscous_drag / FABRICS[fabric].areal_density
        self.mass = self.system.mass * (1.0 + h * self.drag)
        self.constant = ConstantMatrix(constant_elements(self.system._forces.final, rest, bounding=False), rest)
        pattern = self.system.elastic(0.0).stiffness(rest, 1.0).pattern
        self.direct = NeighbourCholesky(pattern, self.system.edges, rest)
        self.multigrid = AggregationMultigrid(pattern, self.system.edges, rest)

    def equations(self, state):
        """Return A, b and the constraint filter of the next step."""
        h, elastic = self.h, self.system.elastic(state.time + self.h)
        A = elastic.stiffness(state.x, h * h)
        A.add_diagonal(self.mass)
        w = h * state.v
        b = h * elastic.force(state.x) - (A.multiply(w) - self.mass[:, None] * w) / h
        b -= h * self.drag * self.system.mass[:, None] * state.v
        return A, b, self.system.pins(state, h)

    def makers(self, A, pins):
        """Return functions that make each preconditioner as every step must, by name."""
        makers = {"block Jacobi": lambda: BlockJacobi(A, pins),
                  "constant matrix": lambda: self.constant.at(self.h, self.mass, pins.rows, A, filter_=pins),
                  "multigrid": lambda: self.multigrid.at(A, pins)}
        if self.direct.bytes(single=True) <= LARGEST_FACTOR:
            makers["direct"] = lambda: self.direct.at(A, pins)
        return makers

    def run(self, until: float) -> None:
        """Simulate to the time `until` [s], and measure at TIMES."""
        state = self.system.initial_state()
        for count in range(1, round(until / self.h) + 1):
            A, b, pins = self.equations(state)
            P = self.constant.at(self.h, self.mass, pins.rows, A, filter_=pins)
            step = modified_pcg(A.multiply, b, precondition=P, project=pins.project, z=pins.z, tolerance=1e-3)
            v = state.v + step.solution
            state = replace(state, x=state.x + self.h * v, v=v, time=count * self.h)
            if any(abs(state.time - t) < 0.5 * self.h for t in TIMES):
                self.measure(state)

    def measure(self, state) -> None:
        """Print one row for each preconditioner."""
        A, b, pins = self.equations(state)
        masses = iter([self.mass * (1.0 + 1e-9 * k) for k in (1, 2, 3)])        # new ones, whose factors are not stored
        first = clocked(lambda: self.constant.factor(self.h, next(masses), pins.rows), 3)
        factor = self.constant.factor(self.h, self.mass, pins.rows)
        best = self.constant.at(self.h, self.mass, pins.rows, A, single=False)
        exact = modified_pcg(A.multiply, b, precondition=best, project=pins.project, z=pins.z, tolerance=1e-7,
                             max_iterations=5000).solution
        product = clocked(lambda: A.multiply(b), 10)
        for name, make in self.makers(A, pins).items():
            setup, P = clocked(make, 2), make()
            apply = clocked(lambda P=P: P(b), 10)
            counts = iterations(A, b, pins, P, exact)
            seconds = clocked(lambda P=P, k=counts[0]: modified_pcg(
                A.multiply, b, precondition=P, project=pins.project, tolerance=1e-15, max_iterations=k), 1)
            memory = factor.bytes if name == "constant matrix" else getattr(P, "bytes", 72 * len(b))
            once = f"{first:.3f}" if name == "constant matrix" else ""
            print(f"| {self.n}^2 | {self.fabric} | 1/{round(1 / self.h)} | {state.time:.2f} | {name} | {counts[0]} | "
                  f"{counts[1]} | {1e3 * product:.2f} | {1e3 * apply:.2f} | {once} | {setup:.3f} | "
                  f"{setup + seconds:.3f} | {memory / 1e6:.1f} |", flush=True)


def iterations(A, b, pins, P, exact):
    """Return the number of products until the error is below each of GOALS, by the loop of modified_pcg."""
    x = pins.z - pins.project(pins.z)
    size = np.vdot(exact - x, A.multiply(exact - x))
    r = pins.project(b - A.multiply(x))
    c = pins.project(P(r))
    delta, counts, k = np.vdot(r, c), [], 0
    while len(counts) < len(GOALS) and k < 3000:
        q = pins.project(A.multiply(c))
        alpha = delta / np.vdot(c, q)
        x, r, k = x + alpha * c, r - alpha * q, k + 1
        error = np.vdot(x - exact, A.multiply(x - exact))
        while len(counts) < len(GOALS) and error <= GOALS[len(counts)] ** 2 * size:
            counts.append(k)
        s = P(r)
        before, delta = delta, np.vdot(r, s)
        c = pins.project(s + delta / before * c)
    return counts + [k] * (len(GOALS) - len(counts))


def clocked(work, times):
    """Return the shortest processor time of `times` runs [s]."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[50, 100], help="vertices along a side")
    parser.add_argument("--fabrics", nargs="*", default=list(FABRICS), choices=list(FABRICS))
    parser.add_argument("--steps-per-second", nargs="*", type=int, default=[48, 24])
    parser.add_argument("--until", type=float, default=TIMES[-1], help="seconds to simulate")
    parser.add_argument("--backend", default="numpy", choices=BACKENDS, help="backend of the kernels")
    arguments = parser.parse_args()
    with using(arguments.backend):
        study(arguments)


def study(arguments: argparse.Namespace) -> None:
    """Study all sheets, fabrics and steps of the command line."""
    print("| sheet | fabric | h [s] | t [s] | preconditioner | to 1e-2 | to 1e-3 | product [ms] | apply [ms] | "
          "once [s] | each time [s] | whole, 1e-2 [s] | memory [MB] |\n|" + " --- |" * 13)
    for n in arguments.sizes:
        for fabric in arguments.fabrics:
            for rate in arguments.steps_per_second:
                Study(n, fabric, 1.0 / rate).run(arguments.until)


if __name__ == "__main__":
    main()
